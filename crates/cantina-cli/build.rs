//! Tells the program which code it is: records name the commit and the compiler.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    // Whatever may change the answer: the sources, and where HEAD points.
    for path in ["../../crates", "../../Cargo.toml", "../../Cargo.lock"] {
        println!("cargo::rerun-if-changed={path}");
    }
    for name in ["HEAD", "logs/HEAD"] {
        if let Some(path) = output("git", &["rev-parse", "--git-path", name])
            && Path::new(&path).exists()
        {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    println!("cargo::rustc-env=CANTINA_COMMIT={}", commit().unwrap_or("unknown".into()));
    let rustc = env::var("RUSTC").ok().and_then(|rustc| output(&rustc, &["--version"]));
    println!("cargo::rustc-env=CANTINA_RUSTC={}", rustc.unwrap_or("unknown".into()));
}

/// The commit this is built from; `-dirty` behind it where the sources differ from it.
fn commit() -> Option<String> {
    let commit = output("git", &["rev-parse", "--short=12", "HEAD"])?;
    let sources = ["../../crates", "../../Cargo.toml", "../../Cargo.lock"];
    let mut status = vec!["--no-optional-locks", "status", "--porcelain", "--"];
    status.extend(sources);
    let clean = output("git", &status)?.is_empty();
    Some(if clean { commit } else { format!("{commit}-dirty") })
}

/// What a program prints, without the white space around it, if it succeeds.
fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
