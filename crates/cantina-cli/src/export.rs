//! Files that are there entirely or not at all.
//!
//! A file is written beside its final place, flushed to the disk, and renamed. What was there
//! before stays as it is until then, and for ever where nobody has said that it may be replaced.

use crate::args::Out;
use crate::failure::Failure;
use crate::interrupt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;

/// Where a run goes of which nothing is said.
const DEFAULT: &str = "cantina-out";

/// A directory that can be written to.
#[derive(Clone, Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// Whether what is there already may be replaced.
    overwrite: bool,
}

impl Folder {
    /// The directory of a run: the one that was named, or else the first of the default's that has none of these files.
    pub(crate) fn of_run(out: &Out, names: &[&str]) -> Result<Self, Failure> {
        match &out.folder {
            Some(folder) => Self::open(folder, names, out.overwrite),
            None if out.overwrite => Self::open(Path::new(DEFAULT), names, true),
            None => Self::open(&vacant(Path::new(DEFAULT), names), names, false),
        }
    }

    /// Creates the directory if need be and makes sure that files of these names can be written
    /// into it: before a long run, not after.
    pub(crate) fn open(path: &Path, names: &[&str], overwrite: bool) -> Result<Self, Failure> {
        let refuse = |what: String| {
            let shown = path.display();
            Failure::BadInput(format!("cannot write to `{shown}`: {what}; allowed: a directory"))
        };
        if path.exists() && !path.is_dir() {
            return Err(refuse("it is a file".into()));
        }
        fs::create_dir_all(path).map_err(|error| refuse(error.to_string()))?;
        if let Some(name) = names.iter().find(|name| path.join(name).is_dir()) {
            return Err(refuse(format!("there is a directory called {name} in it")));
        }
        if let Some(name) = names.iter().find(|name| !overwrite && path.join(name).exists()) {
            let shown = path.display();
            return Err(Failure::BadInput(format!(
                "there is a {name} in `{shown}`; allowed: another --out, or --overwrite"
            )));
        }
        let folder = Self { path: path.to_owned(), overwrite };
        interrupt::whole(|| match folder.temporary("probe") {
            Ok(_removed_at_once) => Ok(folder),
            Err(error) => Err(refuse(error.to_string())),
        })
    }

    /// Writes files, each entirely or not at all, and gives their paths. None is replaced before
    /// all are on the disk. What has come there since, from another run, is not: then they go to a directory with
    /// another number.
    pub(crate) fn write(&self, files: &[(&str, &str)]) -> Result<Vec<PathBuf>, Failure> {
        interrupt::writes(|| {
            self.replace(files).map_err(|error| {
                Failure::Failed(format!("cannot write to `{}`: {error}", self.path.display()))
            })
        })
    }

    fn replace(&self, files: &[(&str, &str)]) -> io::Result<Vec<PathBuf>> {
        let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
        if !self.overwrite && is_taken(&self.path, &names) {
            let path = vacant(&self.path, &names);
            fs::create_dir_all(&path)?;
            return Self { path, overwrite: false }.replace(files);
        }
        let mut written = Vec::new();
        for (name, contents) in files {
            let mut temporary = self.temporary(name)?;
            temporary.file.write_all(contents.as_bytes())?;
            temporary.file.sync_all()?;
            written.push((temporary, self.path.join(name)));
        }
        let paths = written.iter().map(|(_, path)| path.clone()).collect();
        for (temporary, path) in written {
            temporary.rename(&path)?;
        }
        // The names, too, survive a power cut, where a directory can be flushed.
        let _ = File::open(&self.path).and_then(|directory| directory.sync_all());
        Ok(paths)
    }

    fn temporary(&self, name: &str) -> io::Result<Temporary> {
        let path = self.path.join(format!(".{name}.{}.tmp", process::id()));
        let file = OpenOptions::new().write(true).create_new(true).open(&path)?;
        Ok(Temporary { path, file })
    }
}

/// A file of its own that was named.
#[derive(Clone, Debug)]
pub(crate) struct OneFile {
    folder: Folder,
    name: String,
}

impl OneFile {
    /// The one that was named, or else `default`, which has a number where there is one already that may not be replaced.
    pub(crate) fn of_run(
        named: Option<&Path>,
        default: &str,
        option: &str,
        overwrite: bool,
    ) -> Result<Self, Failure> {
        let path = match named {
            Some(named) => named.to_owned(),
            None if overwrite => PathBuf::from(default),
            None => {
                numbered(Path::new(default)).find(|path| !path.exists()).expect("numbers go on")
            }
        };
        Self::open(&path, option, overwrite)
    }

    /// Makes sure that a file can be written there, and that there is none yet unless it may be replaced. `option` is how another
    /// one is named.
    pub(crate) fn open(path: &Path, option: &str, overwrite: bool) -> Result<Self, Failure> {
        let shown = path.display();
        let refuse = |what: &str, allowed: &str| {
            Err(Failure::BadInput(format!("cannot write to `{shown}`: {what}; allowed: {allowed}")))
        };
        if path.is_dir() {
            return refuse("it is a directory", "a file");
        }
        let Some(name) = path.file_name() else { return refuse("it names no file", "a file") };
        let Some(name) = name.to_str() else {
            return refuse("its name is not UTF-8", "a file whose name is");
        };
        if path.exists() && !path.is_file() {
            return refuse("it is no plain file", "another one");
        }
        if path.exists() && !overwrite {
            return Err(Failure::BadInput(format!(
                "there is a `{shown}`; allowed: another {option}, or --overwrite"
            )));
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let folder = Folder::open(parent.unwrap_or(Path::new(".")), &[name], overwrite)?;
        Ok(Self { folder, name: name.to_owned() })
    }

    /// Writes it, entirely or not at all, and gives its path: another one if somebody else has written there meanwhile.
    pub(crate) fn write(&self, contents: &str) -> Result<PathBuf, Failure> {
        Ok(self.folder.write(&[(&self.name, contents)])?.remove(0))
    }
}

/// `path`, and then with a number before its extension.
fn numbered(path: &Path) -> impl Iterator<Item = PathBuf> {
    let (stem, extension) =
        (path.file_stem().unwrap_or_default(), path.extension().unwrap_or_default());
    let with = move |number: u32| {
        let mut name = stem.to_owned();
        name.push(format!("-{number}."));
        name.push(extension);
        path.with_file_name(name)
    };
    std::iter::once(path.to_owned()).chain((2..).map(with))
}

/// Whether one of these files is in the directory.
fn is_taken(path: &Path, names: &[&str]) -> bool {
    names.iter().any(|name| path.join(name).exists())
}

/// `path`, or the first of `path-2`, `path-3` and so on that has none of these files. Where it ends without a name, as `.` and `..`
/// do, those are in it, and have the default one.
fn vacant(path: &Path, names: &[&str]) -> PathBuf {
    let numbered = |number: u32| match (number, path.file_name()) {
        (1, _) => path.to_owned(),
        (_, Some(name)) => {
            let mut name = name.to_owned();
            name.push(format!("-{number}"));
            path.with_file_name(name)
        }
        (_, None) => path.join(format!("{DEFAULT}-{number}")),
    };
    (1..).map(numbered).find(|path| !is_taken(path, names)).expect("there is always a number more")
}

/// A file that goes away unless it is renamed.
#[derive(Debug)]
struct Temporary {
    path: PathBuf,
    file: File,
}

impl Temporary {
    fn rename(self, to: &Path) -> io::Result<()> {
        fs::rename(&self.path, to)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // After a rename there is nothing left to remove.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory of its own for a test. It goes away with the value.
    struct Scratch(PathBuf);

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn scratch(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("cantina-export-{name}-{}", process::id()));
        fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    fn names(path: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_folder_is_created_and_left_empty_until_something_is_written() {
        let scratch = scratch("created");
        let path = scratch.0.join("a/b");
        let folder = Folder::open(&path, &["x"], false).unwrap();
        assert!(names(&path).is_empty());
        assert_eq!(
            folder.write(&[("x", "1"), ("y", "2")]).unwrap(),
            [path.join("x"), path.join("y")]
        );
        assert_eq!(names(&path), ["x", "y"]);
        assert_eq!(fs::read_to_string(path.join("y")).unwrap(), "2");
    }

    #[test]
    fn what_was_there_is_replaced_where_that_was_said_and_refused_otherwise() {
        let scratch = scratch("replaced");
        let path = scratch.0.clone();
        fs::write(path.join("x"), "a longer text than the new one").unwrap();
        let refused = Folder::open(&path, &["x"], false).unwrap_err();
        assert!(
            refused.to_string().contains("allowed: another --out, or --overwrite"),
            "{refused}"
        );
        Folder::open(&path, &["x"], true).unwrap().write(&[("x", "new")]).unwrap();
        assert_eq!(fs::read_to_string(path.join("x")).unwrap(), "new");
        assert_eq!(names(&path), ["x"]);
    }

    #[test]
    fn what_another_run_has_written_meanwhile_is_kept() {
        let scratch = scratch("meanwhile");
        let path = scratch.0.join("out");
        let folder = Folder::open(&path, &["x"], false).unwrap();
        fs::write(path.join("x"), "the other one's").unwrap();
        let written = folder.write(&[("x", "ours")]).unwrap();
        assert_eq!(written, [scratch.0.join("out-2").join("x")]);
        assert_eq!(fs::read_to_string(path.join("x")).unwrap(), "the other one's");
        assert_eq!(fs::read_to_string(&written[0]).unwrap(), "ours");
        assert_eq!(names(&scratch.0), ["out", "out-2"]);
    }

    #[test]
    fn numbered_directories_stand_beside_the_one_that_was_named_however_it_is_written() {
        let scratch = scratch("written");
        let out = scratch.0.join("out");
        fs::create_dir(&out).unwrap();
        fs::write(out.join("x"), "").unwrap();
        for written in ["out", "out/", "out/.", "./out//"] {
            assert_eq!(vacant(&scratch.0.join(written), &["x"]), scratch.0.join("out-2"));
        }
        for nameless in [out.join(".."), PathBuf::from("..")] {
            fs::write(scratch.0.join("x"), "").unwrap();
            let found = vacant(&nameless, &["x"]);
            let expected = if nameless.join("x").exists() { "../cantina-out-2" } else { ".." };
            assert!(found.ends_with(expected), "{found:?}");
        }
    }

    #[test]
    fn a_file_that_was_named_is_replaced_where_that_was_said() {
        let scratch = scratch("one");
        let path = scratch.0.join("page.html");
        let refused = |path: &Path| OneFile::open(path, "--log", false).unwrap_err().to_string();
        let file = OneFile::open(&path, "--log", false).unwrap();
        assert_eq!(file.write("1").unwrap(), path);
        assert!(refused(&path).contains("allowed: another --log, or --overwrite"));
        // Somebody was faster.
        assert_ne!(file.write("2").unwrap(), path);
        assert_eq!(fs::read_to_string(&path).unwrap(), "1");
        assert_eq!(OneFile::open(&path, "--log", true).unwrap().write("3").unwrap(), path);
        assert_eq!(fs::read_to_string(&path).unwrap(), "3");
        assert!(refused(&scratch.0).contains("it is a directory; allowed: a file"));
        assert!(refused(Path::new("/absent/..")).contains("it names no file; allowed: a file"));
        if cfg!(target_os = "linux") {
            let device = OneFile::open(Path::new("/dev/null"), "--log", true).unwrap_err();
            assert!(device.to_string().contains("it is no plain file"), "{device}");
        }
        let _ = fs::remove_dir_all(
            scratch.0.with_file_name(format!("{}-2", scratch.0.file_name().unwrap().display())),
        );
    }

    #[test]
    fn directories_are_numbered_until_there_is_room() {
        let scratch = scratch("numbered");
        let path = scratch.0.join("out");
        assert_eq!(vacant(&path, &["x"]), path);
        for taken in ["out", "out-2"] {
            fs::create_dir(scratch.0.join(taken)).unwrap();
            fs::write(scratch.0.join(taken).join("x"), "").unwrap();
        }
        assert_eq!(vacant(&path, &["x"]), scratch.0.join("out-3"));
        assert_eq!(vacant(&path, &["y"]), path);
    }

    #[test]
    fn a_failed_write_leaves_what_was_there_and_nothing_else() {
        let scratch = scratch("failed");
        let path = scratch.0.clone();
        fs::write(path.join("x"), "old").unwrap();
        let folder = Folder::open(&path, &["x"], true).unwrap();
        let error = folder.write(&[("x", "new"), ("no such directory/y", "2")]).unwrap_err();
        assert!(matches!(error, Failure::Failed(_)), "{error:?}");
        assert_eq!(fs::read_to_string(path.join("x")).unwrap(), "old");
        assert_eq!(names(&path), ["x"]);
    }

    #[test]
    fn a_directory_in_the_way_is_noticed_early() {
        let scratch = scratch("directory");
        let path = scratch.0.clone();
        fs::create_dir(path.join("x")).unwrap();
        let error = Folder::open(&path, &["x"], true).unwrap_err();
        assert!(matches!(error, Failure::BadInput(_)), "{error:?}");
    }

    #[test]
    fn a_rename_that_fails_leaves_no_temporary_file() {
        let scratch = scratch("late");
        let path = scratch.0.clone();
        let folder = Folder::open(&path, &["x"], true).unwrap();
        fs::create_dir_all(path.join("x/full")).unwrap();
        folder.write(&[("x", "new")]).unwrap_err();
        assert_eq!(names(&path), ["x"]);
    }
}
