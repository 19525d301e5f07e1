//! A foreign participant in a process of its own: Cyclone DDS from `PyPI`, spoken to in lines of JSON.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;
pub(crate) use timeloom_testkit::python;

use crate::robot::LOOPBACK;

pub(crate) struct Peer {
    process: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Peer {
    /// A ROS node on Cyclone DDS; `None` where there is no Python for it.
    pub(crate) fn new(domain: u32) -> Option<Self> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers/ros_peer.py");
        let mut process = Command::new(python()?)
            .arg(script)
            .arg(domain.to_string())
            .env("CYCLONEDDS_URI", LOOPBACK)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Some(Self {
            commands: process.stdin.take().unwrap(),
            answers: BufReader::new(process.stdout.take().unwrap()),
            process,
        })
    }

    /// Has a command done; gives its answer.
    pub(crate) fn ask(&mut self, command: &Value) -> Value {
        self.tell(command);
        self.answer()
    }

    /// Gives a command without waiting for its answer.
    pub(crate) fn tell(&mut self, command: &Value) {
        writeln!(self.commands, "{command}").unwrap();
    }

    /// Waits for an answer.
    pub(crate) fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert!(answer.get("error").is_none(), "{answer}");
        answer["ok"].clone()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
