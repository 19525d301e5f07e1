//! The programs that run jobs: this one, Python with other libraries, and a program around other Rust libraries.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value as Json;

/// The Python with the libraries; otherwise `.venv` from `make setup`.
const PYTHON: &str = "TIMELOOM_PYTHON";
/// The program around Rust libraries: `cargo build --release -p timeloom-bench --example versus_peer`.
const RUST_PEER: &str = "TIMELOOM_BENCH_PEER";
const SCRIPT: &str = include_str!("peer.py");

/// A program that runs jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Ours,
    /// Plain `write()` of the bytes.
    Raw,
    McapCrate,
    Tokio,
    McapPython,
    Rosbags,
    PythonSleep,
    BareSubscriber,
}

impl Side {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ours => "timeloom",
            Self::Raw => "raw write()",
            Self::McapCrate => "mcap crate (Rust)",
            Self::Tokio => "tokio timer",
            Self::McapPython => "mcap (PyPI)",
            Self::Rosbags => "rosbags (PyPI)",
            Self::PythonSleep => "Python time.sleep",
            Self::BareSubscriber => "bare DDS subscriber",
        }
    }
}

/// The result of a side.
pub(super) enum Measured {
    /// Seconds per item, and the result on which all must agree.
    Done { value: f64, answer: u64 },
    /// The named tool is not installed.
    Missing(String),
}

/// The paths of all programs.
pub(super) struct Peers {
    pub(super) ours: PathBuf,
    python: Option<PathBuf>,
    script: PathBuf,
    rust: Option<PathBuf>,
}

impl Peers {
    pub(super) fn find(work: &Path) -> anyhow::Result<Self> {
        let ours = std::env::current_exe()?;
        let script = work.join("peer.py");
        std::fs::write(&script, SCRIPT)?;
        let beside = ours
            .parent()
            .map(|parent| parent.join("examples/versus_peer"));
        let named = |variable| std::env::var_os(variable).map(PathBuf::from);
        let python = named(PYTHON).or_else(|| existing(Some(".venv/bin/python".into())));
        let rust = named(RUST_PEER).or_else(|| existing(beside));
        Ok(Self {
            ours,
            python,
            script,
            rust,
        })
    }

    /// The `timeloom` beside this binary.
    pub(super) fn timeloom(&self) -> anyhow::Result<PathBuf> {
        let path = self.ours.with_file_name("timeloom");
        anyhow::ensure!(
            path.exists(),
            "{} does not exist: run `cargo build --release -p timeloom-cli`",
            path.display()
        );
        Ok(path)
    }

    /// Hints for the rows without a value.
    pub(super) fn hints(&self) -> Vec<String> {
        let mut hints = Vec::new();
        if self.python.is_none() {
            hints.push(format!(
                "{PYTHON} names a Python with rosbags, mcap and mcap-ros2-support"
            ));
        }
        if self.rust.is_none() {
            hints.push(format!(
                "{RUST_PEER} names the program of `cargo build --release -p timeloom-bench --example versus_peer`"
            ));
        }
        hints
    }

    /// Runs a job in a process of its own, which measures itself without its start.
    pub(super) fn run(
        &self,
        side: Side,
        word: &str,
        input: &Path,
        output: &Path,
        count: u64,
        size: usize,
    ) -> anyhow::Result<Measured> {
        let Some(mut command) = self.command(side) else {
            return Ok(Measured::Missing("not installed".to_owned()));
        };
        command.arg(word).args([input, output]);
        command.args([count.to_string(), size.to_string()]);
        let run = command.stderr(Stdio::piped()).output()?;
        let said = String::from_utf8_lossy(&run.stdout);
        let json: Json = serde_json::from_str(said.trim()).unwrap_or_default();
        if let Some(what) = json.get("missing").and_then(Json::as_str) {
            return Ok(Measured::Missing(format!("not installed: {what}")));
        }
        let value = json.get("value").and_then(Json::as_f64);
        let answer = json.get("answer").and_then(Json::as_u64);
        if let (Some(value), Some(answer), true) = (value, answer, run.status.success()) {
            return Ok(Measured::Done { value, answer });
        }
        let words = String::from_utf8_lossy(&run.stderr);
        let last = words.lines().last().unwrap_or("no reason given");
        anyhow::bail!("{} failed to {word}: {last}", side.name())
    }

    fn command(&self, side: Side) -> Option<Command> {
        let python = |library: &str| {
            let mut command = Command::new(self.python.as_ref()?);
            command.arg(&self.script).arg(library);
            Some(command)
        };
        match side {
            Side::Ours | Side::Raw | Side::BareSubscriber => {
                let mut command = Command::new(&self.ours);
                command.arg("job");
                Some(command)
            }
            Side::McapCrate | Side::Tokio => self.rust.as_ref().map(Command::new),
            Side::McapPython => python("mcap"),
            Side::Rosbags => python("rosbags"),
            Side::PythonSleep => python("python"),
        }
    }
}

fn existing(path: Option<PathBuf>) -> Option<PathBuf> {
    path.filter(|path| path.exists())
}
