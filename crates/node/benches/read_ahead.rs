//! The read-ahead of the player: its memory, and whether it suffices for a disk that stalls.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tempfile::TempDir;
use timeloom_bag::{
    BagOptions, BagReader, BagWriter, LocalPlace, Message, Place, Source, TopicInfo,
};
use timeloom_msg::qos::History;
use timeloom_msg::{QosProfile, TypeName};
use timeloom_node::player::{Control, Options, PlayRange, Player, ReadAheadLimits, Reporter};
use timeloom_node::{NodeOptions, RosNode};
use timeloom_testkit::bench::Bench;
use timeloom_testkit::place::{HookedPlace, OnOpen};
use timeloom_time::{Clock, Duration, Steady, Time, TimeBase};
use timeloom_wire::loopback::LoopbackNetwork;
use timeloom_wire::{NodeName, Receiver, Sample, TopicSpec};

const TYPE: &str = "std_msgs/msg/ByteMultiArray";
const TOPIC: &str = "/image";
const MS: i64 = 1_000_000;
/// 80 MB/s.
const SIZE: usize = 1_000_000;
const PERIOD: i64 = 12_500_000;
const COUNT: i64 = 400;
const MIB: f64 = (1 << 20) as f64;

fn main() {
    // `cargo test` also starts benchmarks; without this it would run for a minute.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let mut bench = Bench::from_env();
    if !bench.wants("node.play.memory") && !bench.wants("node.play.stall") {
        return;
    }
    let directory = TempDir::new().expect("a directory");
    let bag = bag(&directory.path().join("bag"));
    memory(&mut bench, &bag);
    stalls(&mut bench, &bag);
}

fn bag(path: &Path) -> PathBuf {
    let mut writer = BagWriter::create(path, BagOptions::default()).expect("a bag");
    let topic = writer.add_topic(&TopicInfo::new(TOPIC, TYPE));
    let topic = topic.expect("a topic");
    let mut data = vec![0x5a; SIZE];
    data[..4].copy_from_slice(&[0, 1, 0, 0]);
    for number in 0..COUNT {
        let message = Message {
            topic,
            log_time_ns: 1_000_000_000 + number * PERIOD,
            publish_time_ns: 1_000_000_000 + number * PERIOD,
            sequence: 0,
            data: &data,
        };
        assert!(writer.write(&[message], 0).is_ok());
    }
    assert!(writer.finish().expect("an end").1.is_ok());
    path.to_owned()
}

/// Files that can be read at once, except for a stall once in so many reads.
struct StallingDisk {
    /// Number of large reads from one stall to the next, and its length.
    stalls: (u64, Duration),
}

struct StallingSource {
    file: Box<dyn Source>,
    stalls: (u64, Duration),
    reads: u64,
    clock: Clock<Steady>,
}

impl Source for StallingSource {
    fn path(&self) -> &Path {
        self.file.path()
    }

    fn size(&self) -> u64 {
        self.file.size()
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> timeloom_bag::Result<()> {
        if buffer.len() > SIZE / 2 {
            self.reads += 1;
            if self.reads.is_multiple_of(self.stalls.0) {
                let _woke = self.clock.sleep_for(self.stalls.1);
            }
        }
        self.file.read_at(offset, buffer)
    }
}

impl OnOpen for StallingDisk {
    fn opened(&self, file: Box<dyn Source>) -> Box<dyn Source> {
        Box::new(StallingSource {
            file,
            stalls: self.stalls,
            reads: 0,
            clock: Clock::new(),
        })
    }
}

/// The times at which messages were sent.
#[derive(Default)]
struct Ear(Mutex<Vec<i64>>);

impl Receiver for Ear {
    fn sample(&self, sample: Sample) {
        let sent = sample.source_time.map_or(0, Time::nanos);
        self.0.lock().expect("no panic").push(sent);
    }
}

/// What playing a bag took.
struct Played {
    /// The largest growth of the resident memory, in MiB.
    memory: f64,
    /// How late messages were against the earliest, in milliseconds, sorted.
    late: Vec<f64>,
}

fn play(place: Arc<dyn Place>, bag: &Path, read_ahead: ReadAheadLimits) -> Played {
    let network = LoopbackNetwork::new(&TimeBase::machine());
    let participant = network.participant("listener").expect("a participant");
    let name = NodeName::new("/", "listener").expect("a name");
    let ear = Arc::new(Ear::default());
    let spec = TopicSpec {
        name: TOPIC.into(),
        type_name: TypeName::parse(TYPE).expect("a type"),
        type_hash: None,
        qos: QosProfile {
            history: History::KeepAll,
            ..QosProfile::DEFAULT
        },
    };
    let node = participant.node(name).expect("a node");
    let _subscription = node.subscribe(&spec, Arc::clone(&ear) as _);
    let clock = Clock::<Steady>::new();
    let before = resident();
    let participant = network.participant("player").expect("a participant");
    let node = RosNode::new(participant, NodeOptions::new("player")).expect("a node");
    let reader = BagReader::open_in(place, &[bag]).expect("a bag");
    let options = Options {
        read_ahead,
        ..Options::default()
    };
    let player = Player::open(&node, reader, options, Reporter::default()).expect("a player");
    let started = player.control(Control::Play(PlayRange::default()));
    started.expect("it plays");
    let mut most = before;
    while i64::try_from(ear.0.lock().expect("no panic").len()).unwrap_or(0) < COUNT {
        most = most.max(resident());
        let _woke = clock.sleep_for(Duration::from_millis(5));
    }
    let sent = ear.0.lock().expect("no panic");
    let offsets = (0..COUNT).zip(sent.iter()).map(|(n, at)| at - n * PERIOD);
    let mut late: Vec<i64> = offsets.collect();
    late.sort_unstable();
    let least = late.first().copied().unwrap_or(0);
    Played {
        memory: (most - before) / MIB,
        late: late
            .iter()
            .map(|at| (at - least) as f64 / MS as f64)
            .collect(),
    }
}

/// Resident memory of this process in bytes.
fn resident() -> f64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split_ascii_whitespace().nth(1);
    let pages: f64 = pages.and_then(|text| text.parse().ok()).unwrap_or(f64::NAN);
    pages * 4096.0
}

/// The bounds of earlier versions.
fn without_time() -> ReadAheadLimits {
    ReadAheadLimits {
        time: None,
        ..ReadAheadLimits::default()
    }
}

fn memory(bench: &mut Bench, bag: &Path) {
    let local = || -> Arc<dyn Place> { Arc::new(LocalPlace) };
    // The smaller one first: memory that was freed stays with the process.
    let ours = play(local(), bag, ReadAheadLimits::default());
    let all = play(local(), bag, without_time());
    bench.note(
        "node.play.memory_mib",
        format_args!(
            "at 80 MB/s; without the bound of time {:.0} MiB",
            all.memory
        ),
    );
    bench.ratio_at_most("node.play.memory_mib", ours.memory, 64.0);
}

/// A disk that stalls for 300 ms once a second, and 100 ms five times a second.
fn stalls(bench: &mut Bench, bag: &Path) {
    for (name, every, length) in [("300", 80, 300), ("100", 16, 100)] {
        let disk = || -> Arc<dyn Place> {
            Arc::new(HookedPlace(StallingDisk {
                stalls: (every, Duration::from_millis(length)),
            }))
        };
        let last = |played: &Played| played.late.last().copied().unwrap_or(f64::NAN);
        let id = format!("node.play.stall.{name}.late_ms");
        let ours = play(disk(), bag, ReadAheadLimits::default());
        let all = play(disk(), bag, without_time());
        bench.note(
            &id,
            format_args!(
                "the latest message at 80 MB/s; without the bound of time {:.2} ms",
                last(&all)
            ),
        );
        bench.ratio_at_most(&id, last(&ours), 10.0);
    }
}
