//! The bugs in `mutants/` can be planted: each still fits the source. That they are found is for `ci/deep.sh mutants`.

use std::fs;
use std::path::{Path, PathBuf};

/// Lines at either end of a hunk that may have changed, as for `patch --fuzz=1`.
const FUZZ: usize = 1;

/// A part of a file before and after, with lines around it.
struct Hunk {
    file: String,
    lines: Vec<String>,
}

impl Hunk {
    /// The lines that there have to be, without so many at the beginning and at the end.
    fn before(&self, fuzz: usize) -> Option<String> {
        let is_context = |line: &&String| line.starts_with(' ');
        let lead = self.lines.iter().take_while(is_context).count().min(fuzz);
        let tail = self.lines.iter().rev().take_while(is_context).count().min(fuzz);
        let lines = self.lines.get(lead..self.lines.len() - tail)?;
        let old = lines.iter().filter(|line| !line.starts_with('+'));
        let text: String = old.map(|line| format!("{}\n", &line[1..])).collect();
        (!text.is_empty()).then_some(text)
    }

    fn fits(&self, workspace: &Path) -> bool {
        let Ok(source) = fs::read_to_string(workspace.join(&self.file)) else { return false };
        (0..=FUZZ).any(|fuzz| self.before(fuzz).is_some_and(|text| source.contains(&text)))
    }
}

fn hunks(patch: &str) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    let mut file = None;
    for line in patch.lines() {
        if let Some(path) = line.strip_prefix("+++ b/") {
            file = Some(path.to_owned());
        } else if line.starts_with("@@ ") {
            let file = file.clone().expect("a hunk comes behind the name of its file");
            hunks.push(Hunk { file, lines: Vec::new() });
        } else if let (Some(hunk), Some(' ' | '+' | '-')) = (hunks.last_mut(), line.chars().next())
            && !line.starts_with("--- a/")
        {
            hunk.lines.push(line.to_owned());
        } else if let (Some(hunk), "") = (hunks.last_mut(), line) {
            // An empty line of context, whose space an editor has taken away.
            hunk.lines.push(" ".to_owned());
        }
    }
    hunks
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn every_mutant_fits_the_source() {
    let mut count = 0;
    for entry in fs::read_dir(workspace().join("mutants")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "patch") {
            let hunks = hunks(&fs::read_to_string(&path).unwrap());
            let name = path.file_name().unwrap().display();
            assert!(!hunks.is_empty(), "{name} changes nothing");
            for hunk in hunks {
                let file = &hunk.file;
                assert!(hunk.fits(&workspace()), "{name}: {file} has changed: make it anew");
            }
            count += 1;
        }
    }
    assert!(count > 200, "{count}");
}

#[test]
fn one_that_does_not_fit_is_found() {
    let hunk = |old: &str| {
        let patch = format!("+++ b/crates/cantina/Cargo.toml\n@@ -1 +1 @@\n-{old}\n+planted\n");
        hunks(&patch).remove(0)
    };
    assert!(hunk("[package]").fits(&workspace()));
    assert!(!hunk("[bundle]").fits(&workspace()));
}
