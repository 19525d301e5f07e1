//! A robot whose publishers are not ours, and a recorder beside it.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use timeloom_bag::TopicStatistics;
use timeloom_bag::metadata::read_metadata_file;
use timeloom_testkit::JsonPeer;
pub(crate) use timeloom_testkit::python;

pub(crate) use crate::robot::LOOPBACK;
use crate::robot::new_domain;
use crate::support::{Run, Sandbox, stored};

pub(crate) fn peer_script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/peers")
        .join(name)
}

pub(crate) struct Robot {
    pub(crate) sandbox: Sandbox,
    pub(crate) domain: u32,
    peer: JsonPeer,
}

impl Robot {
    /// In a domain of its own; `None` without Python.
    pub(crate) fn new() -> Option<Self> {
        let domain = new_domain();
        let mut command = Command::new(python()?);
        command
            .arg(peer_script("publisher.py"))
            .arg(domain.to_string())
            .env("CYCLONEDDS_URI", LOOPBACK);
        Some(Self::with(domain, command))
    }

    /// With a publisher that is started in some other way.
    pub(crate) fn with(domain: u32, command: Command) -> Self {
        let mut sandbox = Sandbox::new();
        sandbox.set("ROS_DOMAIN_ID", &domain.to_string());
        Self {
            sandbox,
            domain,
            peer: JsonPeer::start(command),
        }
    }

    /// Sends a command to the publisher and returns its answer.
    pub(crate) fn ask(&mut self, command: &Value) -> Value {
        self.peer.ask(command)
    }

    pub(crate) fn number(&mut self, command: &Value) -> u64 {
        self.ask(command).as_u64().unwrap()
    }

    /// A writer with a recorder.
    pub(crate) fn matched(&mut self, name: &str) {
        self.ask(&json!({"do": "matched", "name": name}));
    }

    /// Closes stdin and waits until the process ends.
    pub(crate) fn finish(self) {
        self.peer.finish();
    }

    /// Starts `timeloom record` with arguments separated by spaces.
    pub(crate) fn record(&self, arguments: &str) -> Recording {
        let mut command = self.sandbox.command(&format!("record {arguments}"));
        Recording::start(command.arg("--localhost"))
    }
}

/// A recorder in a process of its own.
pub(crate) struct Recording(Child);

impl Recording {
    pub(crate) fn start(command: &mut Command) -> Self {
        Self(
            command
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap(),
        )
    }

    pub(crate) fn signal(&self, name: &str) {
        let pid = self.0.id().to_string();
        let sent = Command::new("kill").args([name, &pid]).status().unwrap();
        assert!(sent.success());
    }

    /// To the process and its children, which were started as a group.
    pub(crate) fn signal_group(&self, name: &str) {
        let group = format!("-{}", self.0.id());
        let sent = Command::new("kill").args([name, "--", &group]).status();
        assert!(sent.unwrap().success());
    }

    /// Interrupts it and waits for its end.
    pub(crate) fn interrupt(self) -> Run {
        self.signal("-INT");
        self.end()
    }

    /// Waits until it is gone, however it ends.
    pub(crate) fn gone(mut self) {
        self.0.wait().unwrap();
    }

    pub(crate) fn end(mut self) -> Run {
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let mut out = self.0.stdout.take().unwrap();
        let mut err = self.0.stderr.take().unwrap();
        err.read_to_end(&mut stderr).unwrap();
        out.read_to_end(&mut stdout).unwrap();
        let status = self.0.wait().unwrap();
        Run::new(&std::process::Output {
            status,
            stdout,
            stderr,
        })
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        let _killed = self.0.kill();
        let _ended = self.0.wait();
    }
}

/// Waits for something that another process does.
#[track_caller]
pub(crate) fn until(condition: impl FnMut() -> bool) {
    timeloom_testkit::until("the condition of the test", condition);
}

/// The account of a topic in a bag's metadata.
pub(crate) fn statistics(bag: &Path, topic: &str) -> TopicStatistics {
    let metadata = read_metadata_file(bag).unwrap();
    let mut records = metadata.topics.iter();
    let record = records.find(|record| record.topic.name == topic);
    let record = record.unwrap_or_else(|| panic!("no {topic} in {}", bag.display()));
    let statistics = record.statistics.expect("version 10 has statistics");
    assert_eq!(record.message_count, statistics.messages_recorded);
    let files = metadata
        .files
        .iter()
        .flat_map(|file| &file.topics_statistics);
    let in_files = files.filter(|(name, _)| name == topic);
    let mut sum = TopicStatistics::default();
    in_files.for_each(|(_, of_file)| sum.merge(of_file));
    assert_eq!(sum, statistics, "the files make up the whole");
    statistics
}

/// The numbers that a bag has of each writer on a topic, in the order of the bag; it must be whole.
pub(crate) fn numbers(bag: &Path, topic: &str) -> BTreeMap<String, Vec<u64>> {
    let mut writers: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for message in stored(bag)
        .into_iter()
        .filter(|message| message.topic == topic)
    {
        let text = String::from_utf8_lossy(&message.data[8..]).into_owned();
        let mut parts = text.split(':');
        let writer = parts.next().unwrap().to_owned();
        let number = parts.next().unwrap().parse().unwrap();
        writers.entry(writer).or_default().push(number);
    }
    writers
}
