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
#[derive(Debug)]
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

/// Whether one of these files is in the directory.
fn is_taken(path: &Path, names: &[&str]) -> bool {
    names.iter().any(|name| path.join(name).exists())
}

/// `path`, or the first of `path-2`, `path-3` and so on that has none of these files.
fn vacant(path: &Path, names: &[&str]) -> PathBuf {
    let numbered = |number: u32| match number {
        1 => path.to_owned(),
        _ => {
            let mut name = path.as_os_str().to_owned();
            name.push(format!("-{number}"));
            PathBuf::from(name)
        }
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
