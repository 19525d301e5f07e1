use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::Value;

use crate::Failure;

/// Longer than any reply takes, including the longest wait inside a script.
const PATIENCE: std::time::Duration = std::time::Duration::from_mins(1);

/// A Python program that replies to each line of JSON with one; it is killed on drop.
pub(crate) struct Script {
    child: Child,
    commands: ChildStdin,
    answers: Receiver<String>,
}

/// The directory of the Python programs.
pub(crate) fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("peers")
        .join(name)
}

impl Script {
    /// Starts it and waits until it is ready.
    pub(crate) fn start(command: &mut Command) -> Result<Self, Failure> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let commands = child.stdin.take().ok_or("no pipe")?;
        let lines = BufReader::new(child.stdout.take().ok_or("no pipe")?).lines();
        let (give, answers) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if give.send(line).is_err() {
                    return;
                }
            }
        });
        let mut script = Self {
            child,
            commands,
            answers,
        };
        script.answer()?;
        Ok(script)
    }

    pub(crate) fn ask(&mut self, command: &Value) -> Result<Value, Failure> {
        writeln!(self.commands, "{command}")?;
        let answer = self.answer();
        answer.map_err(|failure| format!("{command}: {failure}").into())
    }

    /// Like [`ask`](Self::ask), for a reply of yes or no.
    pub(crate) fn can(&mut self, command: &Value) -> Result<bool, Failure> {
        Ok(self.ask(command)?.as_bool().unwrap_or(false))
    }

    fn answer(&mut self) -> Result<Value, Failure> {
        let line = self.answers.recv_timeout(PATIENCE);
        let line = line.map_err(|error| format!("a peer says nothing: {error}"))?;
        let mut answer: Value = serde_json::from_str(&line)?;
        match answer.get_mut("ok") {
            Some(answer) => Ok(answer.take()),
            None => Err(answer.to_string().into()),
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// kill -9.
    pub(crate) fn kill(mut self) -> Result<(), Failure> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        // It may have ended already.
        let _killed = self.child.kill();
        let _reaped = self.child.wait();
    }
}
