//! The helpers for Python and C++ nodes: their tags have the same bytes as our own.
//!
//! Each runs on a stub of its client library, in memory, through one script of steps.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use timeloom_time::{Ros, Time};
use timeloom_trace::{Moment, Received, TrackedOutput, Tracker, TrackerOptions};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Our own tracker, controlled by the same script as the peers.
struct Script {
    steps: String,
    expected: String,
    tracker: std::sync::Arc<Tracker>,
    out: TrackedOutput,
    plain: TrackedOutput,
    now: Moment,
    broken: bool,
    refused: u64,
}

impl Script {
    fn new() -> Self {
        let tracker = Tracker::new("/robot/fusion", TrackerOptions::default());
        Self {
            steps: String::new(),
            expected: String::new(),
            out: tracker.output("/robot/out"),
            plain: tracker.output("/plain"),
            tracker,
            now: Moment::from_nanos(0, 0),
            broken: false,
            refused: 0,
        }
    }

    fn step(&mut self, words: std::fmt::Arguments<'_>) {
        self.steps.write_fmt(words).unwrap();
        self.steps.push('\n');
    }

    fn clock(&mut self, ros: i64, steady: i64) {
        self.now = Moment::from_nanos(ros, steady);
        self.step(format_args!("clock {ros} {steady}"));
    }

    fn input(&mut self, topic: &str) {
        self.tracker.input(&full(topic));
        self.step(format_args!("input {topic}"));
    }

    fn receive(&mut self, topic: &str, message: &str) {
        let received = Received {
            at: self.now,
            stamp: stamp(message),
        };
        self.tracker.input(&full(topic)).received(received);
        self.step(format_args!("receive {topic} {message}"));
    }

    fn publish(&mut self, message: &str) {
        self.step(format_args!("publish {message}"));
        let mut payload = Vec::new();
        if self.out.tag(self.now, stamp(message), &mut payload) {
            if self.broken {
                self.refused += 1;
                if self.refused.is_power_of_two() {
                    let text = "tags of /robot/out were not sent, its messages were";
                    let why = "the middleware is full";
                    writeln!(self.expected, "warning {} {text}: {why}", self.refused).unwrap();
                }
            } else {
                self.expect_tag(&payload);
            }
        }
        self.expected.push_str("message /robot/out\n");
    }

    fn publish_plain(&mut self, message: &str) {
        self.step(format_args!("publish_plain {message}"));
        let mut payload = Vec::new();
        if self.plain.tag(self.now, stamp(message), &mut payload) {
            self.expect_tag(&payload);
        }
        self.expected.push_str("message /plain\n");
    }

    fn expect_tag(&mut self, payload: &[u8]) {
        self.expected.push_str("tag ");
        for byte in payload {
            write!(self.expected, "{byte:02x}").unwrap();
        }
        self.expected.push('\n');
    }

    fn explicit(&mut self, topic: &str, nanos: i64) {
        self.step(format_args!("explicit {topic} {nanos}"));
        let named = self
            .out
            .add_explicit_input(&full(topic), Time::from_nanos(nanos), self.now);
        writeln!(self.expected, "explicit {named}").unwrap();
    }

    fn enable(&mut self, enabled: bool) {
        self.tracker.set_enabled(enabled);
        self.step(format_args!("enable {enabled}"));
    }

    fn break_tags(&mut self, broken: bool) {
        self.broken = broken;
        self.step(format_args!("break {broken}"));
    }
}

fn full(topic: &str) -> String {
    if topic.starts_with('/') {
        topic.to_owned()
    } else {
        format!("/robot/{topic}")
    }
}

/// `stamped:7`, `top:7` and `plain` are messages with a header, with a stamp of their own, and without one.
fn stamp(message: &str) -> Option<Time<Ros>> {
    let (_, nanos) = message.split_once(':')?;
    Some(Time::from_nanos(nanos.parse().unwrap()))
}

/// All steps once, and then many in a random order.
fn script() -> Script {
    let mut script = Script::new();
    script.clock(1_794_729_600_123_456_789, 77_000_000_001);
    script.publish("stamped:1794729600000000001");
    script.input("right");
    script.input("/left");
    script.input("with_info");
    script.publish("stamped:5");
    script.receive("right", "stamped:1794729600000000007");
    script.clock(1_794_729_600_123_556_789, 77_000_100_001);
    script.publish("stamped:1794729600000000008");
    script.receive("/left", "plain");
    script.receive("with_info", "top:12");
    script.publish_plain("plain");
    script.enable(false);
    script.receive("/left", "stamped:30");
    script.publish("stamped:31");
    script.enable(true);
    script.publish("stamped:32");
    script.break_tags(true);
    for number in 0..5 {
        script.publish(&format!("stamped:{}", 40 + number));
    }
    script.break_tags(false);
    let topics = ["right", "/left", "with_info"];
    let mut random = 12_345_u64;
    let mut next = |below: u64| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (random >> 33) % below
    };
    for round in 0..600_i64 {
        let at = 1_794_729_700_000_000_000 + round * 3_000_001;
        script.clock(at, 80_000_000_000 + round * 3_000_000);
        let topic = topics[usize::try_from(next(3)).unwrap()];
        // From the middle on inputs are explicit: from then on, only those count.
        match next(if round < 300 { 3 } else { 5 }) {
            0 => script.publish(&format!("stamped:{at}")),
            1 => script.publish_plain("plain"),
            2 => script.receive(topic, &format!("stamped:{}", 500 + next(400))),
            _ => script.explicit(topic, i64::try_from(500 + next(400)).unwrap()),
        }
    }
    script.explicit("/nobody", 5);
    script.publish("stamped:99");
    let refused = script.refused;
    writeln!(script.expected, "refused {refused}").unwrap();
    script
}

fn run(command: &mut Command, script: &Script) {
    let mut peer = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = peer.stdin.take().unwrap();
    let steps = script.steps.clone();
    let writer = std::thread::spawn(move || input.write_all(steps.as_bytes()));
    let output = peer.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let printed = String::from_utf8(output.stdout).unwrap();
    for (number, (ours, theirs)) in script.expected.lines().zip(printed.lines()).enumerate() {
        assert_eq!(ours, theirs, "line {number}");
    }
    assert_eq!(script.expected.lines().count(), printed.lines().count());
}

#[test]
fn python_nodes_publish_the_same_bytes() {
    let python = std::env::var_os("TIMELOOM_PYTHON").unwrap_or_else(|| "python3".into());
    let found = Command::new(&python).arg("--version").output();
    if found.is_err() {
        eprintln!("skipped: there is no Python");
        return;
    }
    let peer = repository().join("crates/trace/tests/it/peers/tilde_peer.py");
    let helper = repository().join("python/timeloom/tilde.py");
    run(Command::new(python).arg(peer).arg(helper), &script());
}

#[test]
fn cpp_nodes_publish_the_same_bytes() {
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
    let found = Command::new(&compiler).arg("--version").output();
    if found.is_err() {
        eprintln!("skipped: there is no C++ compiler");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("tilde_peer");
    let peers = repository().join("crates/trace/tests/it/peers");
    let compiled = Command::new(compiler)
        .args(["-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(repository().join("ros/timeloom_tilde/include"))
        .arg("-I")
        .arg(peers.join("standin"))
        .arg(peers.join("tilde_peer.cpp"))
        .arg("-o")
        .arg(&program)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{errors}");
    run(&mut Command::new(program), &script());
}
