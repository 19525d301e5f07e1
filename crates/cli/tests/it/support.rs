//! A directory to work in, the golden bags, and what a run of the binary left behind.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use timeloom_bag::storage::StorageReader as _;
use timeloom_bag::{BagReader, Message, TopicInfo};
use timeloom_testkit::mcap::BagScratch;

/// The golden bags, recorded by the real rosbag2.
pub(crate) fn bags() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/bags")
}

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

    /// The test leaves damaged or unfinished files behind.
    pub(crate) fn unchecked(&self) {
        self.directory.unchecked();
    }

    /// A variable for all runs that follow.
    pub(crate) fn set(&mut self, name: &'static str, value: &str) {
        self.environment.push((name, value.to_owned()));
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// A copy of a golden bag that may be damaged.
    pub(crate) fn copy(&self, bag: &str, name: &str) -> PathBuf {
        let to = self.path(name);
        fs::create_dir(&to).unwrap();
        for entry in fs::read_dir(bags().join(bag)).unwrap() {
            let from = entry.unwrap().path();
            fs::copy(&from, to.join(from.file_name().unwrap())).unwrap();
        }
        to
    }

    /// The binary with arguments that are separated by spaces; `BAGS` is the directory of the golden bags.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_timeloom"));
        let bags = bags().display().to_string();
        command
            .args(
                arguments
                    .split_whitespace()
                    .map(|argument| argument.replace("BAGS", &bags)),
            )
            .current_dir(self.directory.path())
            .env_clear()
            .env("TZ", "UTC")
            .envs(
                self.environment
                    .iter()
                    .map(|(name, value)| (*name, value.clone())),
            )
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &str) -> Run {
        Run::new(&self.command(arguments).output().unwrap())
    }

    /// Runs and expects exit code 0; stdout.
    pub(crate) fn ok(&self, arguments: &str) -> String {
        let run = self.run(arguments);
        assert_eq!(run.code, 0, "{arguments}\n{run}");
        run.stdout
    }
}

/// What a run left: for snapshots by `Display`.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    pub(crate) fn new(output: &Output) -> Self {
        let bags = bags().display().to_string();
        let text = |bytes: &[u8]| {
            String::from_utf8(bytes.to_vec())
                .unwrap()
                .replace(&bags, "BAGS")
        };
        Self {
            code: output
                .status
                .code()
                .expect("invariant: the binary is not killed by a signal"),
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

/// A message as it is in a bag.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stored {
    pub(crate) log_time_ns: i64,
    pub(crate) topic: String,
    pub(crate) publish_time_ns: i64,
    pub(crate) data: Vec<u8>,
}

/// All messages of a bag in log-time order; it must be whole.
pub(crate) fn stored(bag: &Path) -> Vec<Stored> {
    let mut reader = BagReader::open(bag).unwrap();
    assert_eq!(
        reader.info().damage,
        Vec::<String>::new(),
        "{}",
        bag.display()
    );
    let topics: Vec<TopicInfo> = reader.info().topics.clone();
    let own = |message: Message<'_>| Stored {
        log_time_ns: message.log_time_ns,
        topic: topics[message.topic.index()].name.clone(),
        publish_time_ns: message.publish_time_ns,
        data: message.data.to_vec(),
    };
    let mut all = Vec::new();
    while let Some(message) = reader.next_message().unwrap() {
        all.push(own(message));
    }
    all
}

/// The same messages as from a storage that keeps no publish time.
pub(crate) fn without_publish_time(mut messages: Vec<Stored>) -> Vec<Stored> {
    for message in &mut messages {
        message.publish_time_ns = message.log_time_ns;
    }
    messages
}
