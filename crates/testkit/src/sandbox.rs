//! Runs of a binary in a directory of its own.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::mcap::BagScratch;

/// The golden bags, recorded by the real rosbag2.
pub fn golden_bags() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/bags")
}

/// A temporary directory in which a binary runs; the bags in it are checked at the end.
pub struct Sandbox {
    binary: &'static str,
    directory: BagScratch,
    environment: Vec<(&'static str, String)>,
}

impl Sandbox {
    /// An empty directory for runs of `binary`, which is usually `env!("CARGO_BIN_EXE_…")`.
    pub fn new(binary: &'static str) -> Self {
        Self {
            binary,
            directory: BagScratch::new(),
            environment: Vec::new(),
        }
    }

    /// Skips the check of the bags: the test leaves damaged or unfinished files.
    pub fn unchecked(&self) {
        self.directory.unchecked();
    }

    /// Sets an environment variable for the following runs.
    pub fn set(&mut self, name: &'static str, value: &str) {
        self.environment.push((name, value.to_owned()));
    }

    /// The path of a file in the directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes a file.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).expect("a directory is created");
        }
        fs::write(path, content).expect("a file is written");
    }

    /// Runs the binary and checks that it fails: with this exit code, nothing on stdout and `message` on stderr.
    ///
    /// # Panics
    /// If it does not.
    pub fn refuses(&self, arguments: &str, code: i32, message: &str) {
        let run = self.run(arguments);
        let found = (run.code, run.stdout.as_str());
        assert_eq!(found, (code, ""), "{arguments}\n{run}");
        assert!(run.stderr.contains(message), "{arguments}\n{run}");
    }

    /// Copies a golden bag, so that a test can change it.
    ///
    /// # Panics
    /// If it cannot be copied.
    pub fn copy(&self, bag: &str, name: &str) -> PathBuf {
        let to = self.path(name);
        fs::create_dir(&to).expect("a directory is created");
        for entry in fs::read_dir(golden_bags().join(bag)).expect("a golden bag") {
            let entry = entry.expect("a file of the bag");
            fs::copy(entry.path(), to.join(entry.file_name())).expect("a file is copied");
        }
        to
    }

    /// The binary with arguments separated by spaces; `BAGS` is the directory of the golden bags.
    ///
    /// It has no environment variables except `TZ` and those of [`set`](Self::set).
    pub fn command(&self, arguments: &str) -> Command {
        let bags = golden_bags().display().to_string();
        let arguments = arguments.split_whitespace();
        let mut command = Command::new(self.binary);
        command
            .args(arguments.map(|argument| argument.replace("BAGS", &bags)))
            .current_dir(self.directory.path())
            .env_clear()
            .env("TZ", "UTC")
            .envs(self.environment.iter().cloned())
            .stdin(Stdio::null());
        command
    }

    /// Runs the binary to its end.
    ///
    /// # Panics
    /// If it cannot be started or is killed by a signal.
    pub fn run(&self, arguments: &str) -> Run {
        Run::new(&self.command(arguments).output().expect("the binary starts"))
    }

    /// Runs the binary, requires exit code 0 and returns stdout.
    ///
    /// # Panics
    /// On any other exit code.
    pub fn ok(&self, arguments: &str) -> String {
        let run = self.run(arguments);
        assert_eq!(run.code, 0, "{arguments}\n{run}");
        run.stdout
    }
}

/// The result of a run; `Display` is for snapshots.
pub struct Run {
    /// The exit code.
    pub code: i32,
    /// Stdout, with `BAGS` for the directory of the golden bags.
    pub stdout: String,
    /// Stderr, with `BAGS` for the directory of the golden bags.
    pub stderr: String,
}

impl Run {
    /// The result of a process that has ended.
    ///
    /// # Panics
    /// If it was killed by a signal, or its output is not UTF-8.
    pub fn new(output: &Output) -> Self {
        let bags = golden_bags().display().to_string();
        let text = |bytes: &[u8]| {
            String::from_utf8(bytes.to_vec())
                .expect("output in UTF-8")
                .replace(&bags, "BAGS")
        };
        Self {
            code: output.status.code().expect("an exit code"),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "exit code: {}", self.code)?;
        if !self.stdout.is_empty() {
            write!(f, "----- stdout\n{}", self.stdout)?;
        }
        if !self.stderr.is_empty() {
            write!(f, "----- stderr\n{}", self.stderr)?;
        }
        Ok(())
    }
}
