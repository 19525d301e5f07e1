//! A foreign participant in its own process, controlled by lines of JSON.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use timeloom_testkit::python;

/// eclipse-zenoh from `PyPI`, with the layer of `rmw_zenoh` by hand.
pub(crate) struct Peer {
    process: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Peer {
    /// A peer that looks for others at the router; `None` without Python.
    pub(crate) fn start(router: &str) -> Option<Self> {
        let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/peers/zenoh_peer.py");
        let mut process = Command::new(python()?)
            .arg(script)
            .arg(router)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the peer starts");
        Some(Self {
            commands: process.stdin.take().expect("a pipe"),
            answers: BufReader::new(process.stdout.take().expect("a pipe")),
            process,
        })
    }

    /// Executes a command and returns its answer.
    pub(crate) fn ask(&mut self, command: &Value) -> Value {
        writeln!(self.commands, "{command}").expect("the peer lives");
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("the peer answers");
        let answer: Value = serde_json::from_str(&line).unwrap_or(json!({ "error": line }));
        assert!(answer.get("error").is_none(), "{answer}");
        answer["ok"].clone()
    }

    /// Kills it without a farewell, as a crash does.
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
