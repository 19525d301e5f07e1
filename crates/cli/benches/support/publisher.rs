//! The publisher: this program again, as a process of its own that does what it reads from its standard input.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;

use bytes::Bytes;
use timeloom_dds::{DdsParticipant, Options};
use timeloom_msg::qos::History;
use timeloom_msg::{QosProfile, TypeName};
use timeloom_time::{Clock, Duration, Steady};
use timeloom_wire::{Node, NodeName, Participant as _, PublishOptions, TopicSpec};

const LOOPBACK: &str = "<CycloneDDS><Domain Id=\"any\"><General><Interfaces>\
    <NetworkInterface name=\"lo\" multicast=\"false\"/></Interfaces><AllowMulticast>false</AllowMulticast></General>\
    <Discovery><ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>40</MaxAutoParticipantIndex>\
    <Peers><Peer Address=\"127.0.0.1\"/></Peers></Discovery>\
    <Internal><SocketReceiveBufferSize max=\"8MB\"/></Internal></Domain></CycloneDDS>";
/// Not used by tests and other benchmarks, which may run at the same time.
const DOMAIN: u32 = 131;
const ROLE: &str = "TIMELOOM_BENCH_PUBLISHER";

/// Whether this process is to be the publisher.
pub(crate) fn is_asked_for() -> bool {
    std::env::var_os(ROLE).is_some()
}

pub(crate) fn participant() -> DdsParticipant {
    let options = Options {
        domain: DOMAIN,
        configuration: LOOPBACK.into(),
        ..Options::default()
    };
    DdsParticipant::new(&options).expect("a participant")
}

pub(crate) fn node(participant: &DdsParticipant, name: &str) -> Arc<dyn Node> {
    let name = NodeName::new("/", name).expect("a name");
    participant.node(name).expect("a node")
}

pub(crate) fn topic(name: &str) -> TopicSpec {
    // A type with fields for the conditions of triggers.
    let type_name = match name {
        "/triggered" => "geometry_msgs/msg/Twist",
        _ => "std_msgs/msg/String",
    };
    TopicSpec {
        name: name.into(),
        type_name: TypeName::parse(type_name).expect("a type"),
        type_hash: None,
        qos: QosProfile {
            history: History::KeepAll,
            depth: 0,
            ..QosProfile::DEFAULT
        },
    }
}

/// Publishes what each line asks for (`topic count size hertz`), and answers when all of it is acknowledged.
pub(crate) fn run() {
    let participant = participant();
    let node = node(&participant, "publisher");
    let clock = Clock::<Steady>::new();
    let mut lines = std::io::stdin().lines();
    while let Some(line) = lines.next() {
        let line = line.expect("a line");
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| words[at].parse::<u64>().expect("a number");
        let publisher = node.publish(&topic(words[0])).expect("a publisher");
        let payload = [
            &[0, 1, 0, 0][..],
            &vec![7; usize::try_from(number(2)).expect("a size")],
        ]
        .concat();
        let payload = Bytes::from(payload);
        while publisher.matched() == 0 {
            let _woke = clock.sleep_for(Duration::from_millis(1));
        }
        // The other side has it too, and takes its time from here.
        answer("matched");
        let go = lines.next().expect("a word");
        assert_eq!(go.expect("a line"), "go");
        let begin = clock.now();
        for message in 0..number(1) {
            let sent = publisher.publish(payload.clone(), PublishOptions::default());
            sent.expect("a sample is sent");
            if let Some(nanos) = (message * 1_000_000_000).checked_div(number(3)) {
                let due = Duration::from_nanos(i64::try_from(nanos).expect("a time"));
                let _woke = clock.sleep_until(begin.saturating_add(due));
            }
        }
        let acknowledged = publisher.wait_for_acknowledgements(Duration::from_secs(60));
        assert!(acknowledged.expect("reliable"), "in time");
        answer("done");
    }
}

fn answer(word: &str) {
    let mut out = std::io::stdout();
    writeln!(out, "{word}").expect("an open pipe");
    out.flush().expect("an open pipe");
}

/// The publisher as the other process sees it.
pub(crate) struct Publisher {
    process: Child,
    commands: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Publisher {
    pub(crate) fn start() -> Self {
        let mut process = Command::new(std::env::current_exe().expect("a program"))
            .env(ROLE, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a process");
        Self {
            commands: process.stdin.take(),
            answers: BufReader::new(process.stdout.take().expect("a pipe")),
            process,
        }
    }

    pub(crate) fn say(&mut self, words: &str) {
        let commands = self.commands.as_mut().expect("a pipe");
        writeln!(commands, "{words}").expect("it listens");
    }

    pub(crate) fn hear(&mut self, word: &str) {
        let mut line = String::new();
        self.answers.read_line(&mut line).expect("an answer");
        assert_eq!(line.trim(), word);
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        drop(self.commands.take());
        drop(self.process.wait());
    }
}
