//! A helper in Python beside a test of `trace`, spoken to in lines of JSON.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::robot::LOOPBACK;

pub(crate) struct Helper {
    process: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Helper {
    pub(crate) fn start(python: &Path, script: &str, arguments: &[String]) -> Self {
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers");
        let mut process = Command::new(python)
            .arg(scripts.join(script))
            .args(arguments)
            .env("CYCLONEDDS_URI", LOOPBACK)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            commands: process.stdin.take().unwrap(),
            answers: BufReader::new(process.stdout.take().unwrap()),
            process,
        }
    }

    /// Has a command done; gives its answer.
    pub(crate) fn ask(&mut self, command: &Value) -> Value {
        writeln!(self.commands, "{command}").unwrap();
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap_or(Value::Null);
        let error = answer["error"].as_str().unwrap_or_default();
        assert!(
            answer.get("ok").is_some(),
            "{command}: {}",
            error.replace("\\n", "\n")
        );
        answer["ok"].clone()
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        // A process that has already ended is not an error.
        let _killed = self.process.kill();
        let _ended = self.process.wait();
    }
}
