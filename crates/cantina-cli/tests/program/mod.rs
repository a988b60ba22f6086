//! The program under test, and directories to run it in.

#![allow(dead_code, reason = "each test file uses its part of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Child, Command, Output};
use std::thread::sleep;
use std::time::Duration;

/// The program, without arguments.
pub(crate) fn cantina() -> Command {
    Command::new(env!("CARGO_BIN_EXE_cantina"))
}

/// A bench that is over soon. It still needs to be told where its files go.
pub(crate) fn short_bench() -> Command {
    let mut bench = cantina();
    bench.args(["bench", "--pools", "locked", "--shape", "1P/1C", "--repetitions", "1"]);
    bench.args(["--tasks", "1000", "--allocator", "system"]);
    bench
}

/// The error that the program ended with: one line on stderr, and this exit code.
pub(crate) fn one_line_error(output: &Output, code: i32) -> String {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(code), "{text}");
    let told = ["warning: ", "running: ", "note: "];
    let is_told = |line: &&str| told.iter().any(|beginning| line.starts_with(beginning));
    let errors: Vec<&str> = text.lines().filter(|line| !is_told(line)).collect();
    let [line] = errors[..] else { panic!("not one line: {text:?}") };
    assert!(line.starts_with("error: "), "{line:?}");
    line.to_owned()
}

/// Interrupts a program that has been at work for a while, as who is at its terminal does.
#[cfg(unix)]
pub(crate) fn interrupt(child: &Child) {
    send_interrupt(child, &child.id().to_string());
}

/// The same with all that it has started, as a terminal does it: the program leads a group of its own.
#[cfg(unix)]
pub(crate) fn interrupt_group(child: &Child) {
    send_interrupt(child, &format!("-{}", child.id()));
}

#[cfg(unix)]
fn send_interrupt(child: &Child, whom: &str) {
    // On a busy machine it may take long until it listens.
    let listens = || {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"))?;
        Some(u64::from_str_radix(caught.trim(), 16).ok()? & 1 << 1 != 0)
    };
    for _ in 0..200 {
        if listens().unwrap_or(true) {
            break;
        }
        sleep(Duration::from_millis(50));
    }
    sleep(Duration::from_millis(500));
    let sent = Command::new("kill").args(["-INT", "--", whom]).status().unwrap();
    assert!(sent.success());
}

/// A directory of its own for a test. It goes away with the value.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("cantina-cli-{name}-{}", process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// What is in it, hidden files too.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Puts a file into a directory and gives its path.
pub(crate) fn file(scratch: &Scratch, name: &str, contents: &str) -> PathBuf {
    let path = scratch.path().join(name);
    fs::write(&path, contents).unwrap();
    path
}
