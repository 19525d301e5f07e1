//! A foreign participant in its own process, controlled by lines of JSON.

use std::fmt::Display;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};
pub(crate) use timeloom_testkit::python;

use crate::local::LOOPBACK;

pub(crate) struct Peer {
    process: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
}

/// Builds the peer once; `None` with a message where skipping is allowed.
fn fast_peer() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let build = || {
        if !Path::new("/usr/include/fastdds").exists() {
            let required = std::env::var_os("TIMELOOM_REQUIRE_FASTDDS").is_some();
            assert!(!required, "libfastrtps-dev must be installed");
            eprintln!("skipped: libfastrtps-dev is not installed");
            return None;
        }
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/peers/fast_peer.cpp");
        // Every test is a process of its own: what one of them has built is used by all, until the source changes.
        let mut hasher = DefaultHasher::new();
        std::fs::read(&source)
            .expect("the source is there")
            .hash(&mut hasher);
        let name = format!("fast_peer_{:016x}", hasher.finish());
        let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        if program.exists() {
            return Some(program);
        }
        let own = program.with_extension(std::process::id().to_string());
        let built = Command::new("c++")
            .args(["-std=c++17", "-O1", "-o"])
            .arg(&own)
            .arg(source)
            .args(["-lfastrtps", "-lfastcdr"])
            .status()
            .expect("there is a C++ compiler");
        assert!(built.success(), "the peer is built");
        std::fs::rename(&own, &program).expect("it can be renamed");
        Some(program)
    };
    BUILT.get_or_init(build).as_deref()
}

impl Peer {
    /// Cyclone DDS from `PyPI`.
    pub(crate) fn cyclone(domain: u32) -> Option<Self> {
        Self::cyclone_with(domain, "")
    }

    /// The same with additional configuration.
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

    /// eProsima Fast DDS, built from source; `None` if its headers are not installed.
    pub(crate) fn fast(domain: u32) -> Option<Self> {
        let mut command = Command::new(fast_peer()?);
        command.arg(domain.to_string());
        Some(Self::start(command))
    }

    /// Executes a command and returns its answer. Commands are JSON or words, depending on the peer.
    pub(crate) fn ask(&mut self, command: &impl Display) -> Value {
        self.tell(command);
        self.answer()
    }

    /// Sends a command without waiting for its answer.
    pub(crate) fn tell(&mut self, command: &impl Display) {
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
