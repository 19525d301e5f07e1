//! Processes that tests control with lines of JSON.

use std::fmt::Display;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

/// A process that answers each line of stdin with a line of JSON: `{"ok": …}` or `{"error": …}`.
///
/// It is killed on drop. `crates/testkit/peers/json_peer.py` is the other side in Python.
pub struct JsonPeer {
    process: Child,
    /// `None` once [`finish`](Self::finish) has closed it.
    commands: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl JsonPeer {
    /// Starts the process.
    ///
    /// # Panics
    /// If it cannot be started.
    pub fn start(mut command: Command) -> Self {
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the peer starts");
        Self {
            commands: process.stdin.take(),
            answers: BufReader::new(process.stdout.take().expect("a pipe")),
            process,
        }
    }

    /// Sends a command and returns its answer.
    ///
    /// # Panics
    /// If the process has ended or answers with an error.
    pub fn ask(&mut self, command: &impl Display) -> Value {
        self.send(command);
        self.answer_to(command)
    }

    /// Sends a command without waiting for its answer.
    ///
    /// # Panics
    /// If the process has ended.
    pub fn send(&mut self, command: &impl Display) {
        let commands = self.commands.as_mut().expect("a pipe");
        writeln!(commands, "{command}").expect("the peer runs");
    }

    /// Waits for an answer.
    ///
    /// # Panics
    /// If the process has ended or answers with an error.
    pub fn answer(&mut self) -> Value {
        self.answer_to(&"the last command")
    }

    fn answer_to(&mut self, command: &impl Display) -> Value {
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("an answer");
        let mut answer: Value = serde_json::from_str(&line).unwrap_or(json!({ "error": line }));
        assert!(answer.get("error").is_none(), "{command}: {answer}");
        answer["ok"].take()
    }

    /// Kills the process, as a crash would.
    ///
    /// # Panics
    /// If it has ended.
    pub fn kill(&mut self) {
        self.process.kill().expect("it runs");
        self.process.wait().expect("it ends");
    }

    /// Closes stdin and waits for the end.
    ///
    /// # Panics
    /// If it fails.
    pub fn finish(mut self) {
        drop(self.commands.take());
        assert!(self.process.wait().expect("it ends").success());
    }
}

impl Drop for JsonPeer {
    fn drop(&mut self) {
        // It may have ended.
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
