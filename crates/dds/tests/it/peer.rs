//! A foreign participant in a process of its own, spoken to in lines of JSON.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::local::LOOPBACK;

pub(crate) struct Peer {
    process: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
}

/// The Python with `cyclonedds`; `None` after saying why, where that is allowed.
pub(crate) fn python() -> Option<PathBuf> {
    if let Some(python) = std::env::var_os("TIMELOOM_PYTHON") {
        return Some(python.into());
    }
    let required = std::env::var("CI").is_ok_and(|ci| ci == "true")
        || std::env::var_os("TIMELOOM_REQUIRE_PYTHON").is_some();
    assert!(
        !required,
        "TIMELOOM_PYTHON must name a Python with cyclonedds"
    );
    eprintln!("skipped: TIMELOOM_PYTHON is not set");
    None
}

impl Peer {
    /// Cyclone DDS from `PyPI`.
    pub(crate) fn cyclone(domain: u32) -> Option<Self> {
        Self::cyclone_with(domain, "")
    }

    /// The same with more configuration.
    pub(crate) fn cyclone_with(domain: u32, configuration: &str) -> Option<Self> {
        let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/peers/cyclone_peer.py");
        let mut command = Command::new(python()?);
        let separator = if configuration.is_empty() { "" } else { "," };
        command.arg(script).arg(domain.to_string()).env(
            "CYCLONEDDS_URI",
            format!("{LOOPBACK}{separator}{configuration}"),
        );
        Some(Self::start(command))
    }

    pub(crate) fn start(mut command: Command) -> Self {
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the peer starts");
        Self {
            commands: process.stdin.take().expect("a pipe"),
            answers: BufReader::new(process.stdout.take().expect("a pipe")),
            process,
        }
    }

    /// Has a command done; gives its answer.
    pub(crate) fn ask(&mut self, command: &Value) -> Value {
        self.tell(command);
        self.answer()
    }

    /// Gives a command without waiting for its answer.
    pub(crate) fn tell(&mut self, command: &Value) {
        writeln!(self.commands, "{command}").expect("the peer lives");
    }

    /// Waits for an answer.
    pub(crate) fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("the peer answers");
        let answer: Value = serde_json::from_str(&line).unwrap_or(json!({ "error": line }));
        assert!(answer.get("error").is_none(), "{answer}");
        answer["ok"].clone()
    }

    /// Ends it as a crash does: nobody is told.
    pub(crate) fn kill(&mut self) {
        self.process.kill().expect("it runs");
        self.process.wait().expect("it ends");
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
