//! Tests that are made while the program runs.

use libtest_mimic::{Failed, Trial};
use std::env::{current_exe, var_os};
use std::fs::OpenOptions;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::process::exit;
use std::time::{Duration, Instant};

/// A test called `name`. How long it takes is noted for `ci/test.sh`, which asks by `CANTINA_TIMES`. The first that fails ends the program
/// where `CANTINA_FIRST_FAILURE` is set: a mutant is caught once.
pub fn trial(name: String, test: impl FnOnce() -> Result<(), Failed> + Send + 'static) -> Trial {
    let noted = name.clone();
    Trial::test(name, move || {
        let begin = Instant::now();
        let result = catch_unwind(AssertUnwindSafe(test));
        note(&noted, begin.elapsed());
        if var_os("CANTINA_FIRST_FAILURE").is_some() && !matches!(result, Ok(Ok(()))) {
            println!("{noted}: FAILED");
            // A panic has said what it is.
            if let Ok(Err(failed)) = &result {
                println!("{}", failed.message().unwrap_or_default());
            }
            exit(101);
        }
        result.unwrap_or_else(|panic| resume_unwind(panic))
    })
}

fn note(test: &str, took: Duration) {
    let Some(folder) = var_os("CANTINA_TIMES") else { return };
    let program = current_exe().expect("it runs");
    let program = program.file_stem().expect("it has a name").to_string_lossy();
    let file = Path::new(&folder).join(format!("{program}.tests"));
    let (stem, _) = program.rsplit_once('-').unwrap_or((&program, ""));
    let line = format!("{:.3} {stem}::{test}\n", took.as_secs_f64());
    let notes = OpenOptions::new().create(true).append(true).open(file);
    // Who only looks at times must not make a test fail.
    let _ = notes.and_then(|mut notes| notes.write_all(line.as_bytes()));
}
