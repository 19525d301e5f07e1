//! A directory to work in, and the result of a run of the binary.

use std::fmt;
use std::fs;
use std::net::UdpSocket;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;

use timeloom_testkit::mcap::BagScratch;

/// A directory of its own, in which the binary runs.
pub(crate) struct Sandbox {
    directory: BagScratch,
    environment: Vec<(&'static str, String)>,
}

impl Sandbox {
    pub(crate) fn new() -> Self {
        Self {
            directory: BagScratch::new(),
            environment: Vec::new(),
        }
    }

    /// A variable for all runs that follow.
    pub(crate) fn set(&mut self, name: &'static str, value: &str) {
        self.environment.push((name, value.to_owned()));
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    /// Runs the binary with arguments that are separated by spaces.
    pub(crate) fn run(&self, arguments: &str) -> Run {
        let output = Command::new(env!("CARGO_BIN_EXE_timeloom-bench"))
            .args(arguments.split_whitespace())
            .current_dir(self.directory.path())
            .env_clear()
            .envs(self.environment.iter().cloned())
            .output()
            .unwrap();
        Run {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs and expects exit code 0; stdout.
    pub(crate) fn ok(&self, arguments: &str) -> String {
        let run = self.run(arguments);
        assert_eq!(run.code, 0, "{arguments}\n{run}");
        run.stdout
    }
}

/// The result of a run.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "exit code: {}\n{}{}",
            self.code, self.stdout, self.stderr
        )
    }
}

/// A domain that no other test uses: the last port of each domain, which DDS does not use, is bound until the process
/// ends.
pub(crate) fn new_domain() -> u32 {
    static HELD: Mutex<Vec<UdpSocket>> = Mutex::new(Vec::new());
    for number in 0..200 {
        let domain = (std::process::id() * 11 + number) % 200 + 1;
        let port = u16::try_from(7400 + 250 * domain + 249).unwrap();
        if let Ok(socket) = UdpSocket::bind(("127.0.0.1", port)) {
            HELD.lock().unwrap().push(socket);
            return domain;
        }
    }
    panic!("all domains are in use");
}
