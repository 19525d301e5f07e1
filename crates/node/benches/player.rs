//! The player against the parts that it is made of: reading, publishing, sleeping.
//!
//! It plays over the in-process loopback, so that the player is measured and not a network. Bags are written to the
//! directory for temporary files; one of them has 2 GB.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use rustix::time::ClockId;
use tempfile::TempDir;
use timeloom_bag::{
    BagOptions, BagReader, BagWriter, Message, Query, StorageId, StorageOptions,
    StorageReader as _, TopicInfo,
};
use timeloom_msg::qos::History;
use timeloom_msg::{QosProfile, TypeName};
use timeloom_node::player::{Answer, Control, Options, PlayRange, Player, Reporter};
use timeloom_node::{NodeOptions, RosNode};
use timeloom_testkit::bench::Bench;
use timeloom_time::{Clock, Duration, Precision, Steady, Time, TimeBase, WaitOptions};
use timeloom_wire::loopback::LoopbackNetwork;
use timeloom_wire::{
    Node, NodeName, PublishOptions, Publisher, Receiver, Sample, Subscription, TopicSpec,
};

const TYPE: &str = "std_msgs/msg/ByteMultiArray";
const MS: i64 = 1_000_000;

fn main() {
    let mut bench = Bench::from_env();
    let directory = TempDir::new().expect("a directory");
    let world = World::new();
    if bench.wants("node.play.lateness") {
        lateness(&mut bench, &world, directory.path());
    }
    for (name, size, count) in [("100b", 100, 200_000), ("1mb", 1_000_000, 300)] {
        if bench.wants(&format!("node.burst.{name}")) {
            burst(&mut bench, &world, directory.path(), (name, size, count));
        }
    }
    if bench.wants("node.play.seek") || bench.wants("node.play.start") {
        large(&mut bench, &world, directory.path());
    }
    if bench.wants("node.play.cpu") {
        cpu(&mut bench, &world, directory.path());
    }
}

/// A network, and a subscription to every topic.
struct World {
    network: LoopbackNetwork,
    listener: Arc<dyn Node>,
    clock: Clock<Steady>,
}

#[derive(Default)]
struct Ear {
    heard: AtomicU64,
    /// The times of sending, in nanoseconds of the machine's clock.
    sent: Mutex<Vec<i64>>,
}

impl Receiver for Ear {
    fn sample(&self, sample: Sample) {
        self.heard.fetch_add(1, Ordering::SeqCst);
        let sent = sample.source_time.map_or(0, Time::nanos);
        self.sent.lock().expect("no panic").push(sent);
    }
}

impl Ear {
    fn heard(&self) -> u64 {
        self.heard.load(Ordering::SeqCst)
    }
}

fn spec(topic: &str) -> TopicSpec {
    TopicSpec {
        name: topic.into(),
        type_name: TypeName::parse(TYPE).expect("a type"),
        type_hash: None,
        qos: QosProfile {
            history: History::KeepAll,
            ..QosProfile::DEFAULT
        },
    }
}

impl World {
    fn new() -> Self {
        let network = LoopbackNetwork::new(&TimeBase::machine());
        let listener = network.participant("listener").expect("a participant");
        let name = NodeName::new("/", "listener").expect("a name");
        Self {
            listener: listener.node(name).expect("a node"),
            network,
            clock: Clock::new(),
        }
    }

    fn ear(&self, topics: &[&str]) -> (Arc<Ear>, Vec<Box<dyn Subscription>>) {
        let ear = Arc::new(Ear::default());
        let subscribe = |topic: &&str| {
            let subscription = self.listener.subscribe(&spec(topic), Arc::clone(&ear) as _);
            subscription.expect("a subscription")
        };
        let subscriptions = topics.iter().map(subscribe).collect();
        (ear, subscriptions)
    }

    fn publisher(&self, topic: &str) -> Box<dyn Publisher> {
        let participant = self.network.participant("talker").expect("a participant");
        let node = participant.node(NodeName::new("/", "talker").expect("a name"));
        let publisher = node.expect("a node").publish(&spec(topic));
        publisher.expect("a publisher")
    }

    fn player(&self, bag: &Path, options: Options) -> Player {
        let participant = self.network.participant("player").expect("a participant");
        let node = RosNode::new(participant, NodeOptions::new("player")).expect("a node");
        let reader = BagReader::open_all(&[bag]).expect("a bag");
        Player::open(&node, reader, options, Reporter::default()).expect("a player")
    }

    /// Waits until `count` messages were received.
    fn wait(&self, ear: &Ear, count: u64) {
        while ear.heard() < count {
            let _woke = self.clock.sleep_for(Duration::from_micros(50));
        }
    }

    /// The duration of `body`, in nanoseconds.
    fn time(&self, body: impl FnOnce()) -> f64 {
        let before = self.clock.now();
        body();
        (self.clock.now() - before).nanos() as f64
    }
}

/// CPU time of this process, in nanoseconds.
fn process_cpu() -> f64 {
    let time = rustix::time::clock_gettime(ClockId::ProcessCPUTime); // tidy: allow clock
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// Writes a bag: topics with the size and period (in nanoseconds) of their messages, for a length of time.
fn bag(path: &Path, topics: &[(String, usize, i64)], length: i64) -> PathBuf {
    let options = BagOptions {
        storage: StorageOptions::preset(StorageId::Mcap, "none").expect("a preset"),
        ..BagOptions::default()
    };
    let mut writer = BagWriter::create(path, options).expect("a bag");
    let mut lines = Vec::new();
    for (name, size, period) in topics {
        let topic = writer.add_topic(&TopicInfo::new(name, TYPE));
        let topic = topic.expect("a topic");
        let mut time = 0;
        while time < length {
            lines.push((time, topic, *size));
            time += period;
        }
    }
    lines.sort_by_key(|(time, ..)| *time);
    let largest = topics.iter().map(|(_, size, _)| *size).max().unwrap_or(8);
    let mut data = vec![0x5a; largest];
    data[..4].copy_from_slice(&[0, 1, 0, 0]);
    for (time, topic, size) in lines {
        let message = Message {
            topic,
            log_time_ns: 1_000_000_000 + time,
            publish_time_ns: 1_000_000_000 + time,
            sequence: 0,
            data: &data[..size],
        };
        assert!(writer.write(&[message], 0).is_ok());
    }
    assert!(writer.finish().expect("an end").1.is_ok());
    path.to_owned()
}

fn play(player: &Player) {
    let answer = player.control(Control::Play(PlayRange::default()));
    assert_eq!(answer, Ok(Answer::Done));
}

fn paused() -> Options {
    Options {
        start_paused: true,
        ..Options::default()
    }
}

/// The lateness of each message of a grid, against the earliest; in nanoseconds, sorted.
fn late(ear: &Ear, period: i64) -> Vec<i64> {
    let sent = ear.sent.lock().expect("no panic");
    let offsets = sent
        .iter()
        .enumerate()
        .map(|(n, at)| at - i64::try_from(n).expect("few") * period);
    let mut offsets: Vec<i64> = offsets.collect();
    offsets.sort_unstable();
    let least = offsets.first().copied().unwrap_or(0);
    offsets.iter().map(|offset| offset - least).collect()
}

fn percentile(sorted: &[i64], percent: usize) -> f64 {
    let index = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
    sorted.get(index).map_or(0.0, |nanos| *nanos as f64)
}

/// At 1 kHz, against a loop that sleeps precisely and publishes; in turns.
fn lateness(bench: &mut Bench, world: &World, directory: &Path) {
    const COUNT: u64 = 1500;
    let topic = "/lateness";
    let bag = bag(
        &directory.join("lateness"),
        &[(topic.to_owned(), 100, MS)],
        COUNT.cast_signed() * MS,
    );
    let precise = WaitOptions::new().precision(Precision::Precise);
    let (mut ratios50, mut ratios99, mut ours, mut ideals) = (vec![], vec![], vec![], vec![]);
    for _ in 0..5 {
        let (ear, subscriptions) = world.ear(&[topic]);
        let player = world.player(&bag, Options::default());
        play(&player);
        player.wait();
        world.wait(&ear, COUNT);
        drop((player, subscriptions));
        let player_late = late(&ear, MS);
        let (ear, _subscriptions) = world.ear(&[topic]);
        let publisher = world.publisher(topic);
        let payload = Bytes::from(vec![0; 100]);
        let start = world.clock.now();
        for n in 0..COUNT {
            let due = start.saturating_add(Duration::from_millis(n.cast_signed()));
            let _woke = world.clock.sleep_until_with(due, &precise);
            let sent = publisher.publish(payload.clone(), PublishOptions::default());
            sent.expect("published");
        }
        world.wait(&ear, COUNT);
        let ideal_late = late(&ear, MS);
        ratios50.push(percentile(&player_late, 50) / percentile(&ideal_late, 50));
        ratios99.push(percentile(&player_late, 99) / percentile(&ideal_late, 99));
        ours.push(player_late);
        ideals.push(ideal_late);
    }
    bench.ratio_at_most("node.play.lateness.p50", median(&mut ratios50), 1.2);
    bench.ratio_at_most("node.play.lateness.p99", median(&mut ratios99), 1.2);
    let last = |all: &[Vec<i64>], percent| {
        let mut each: Vec<f64> = all
            .iter()
            .map(|late| percentile(late, percent) / 1e3)
            .collect();
        median(&mut each)
    };
    bench.note(
        "node.play.lateness",
        format_args!(
            "player p50 {:.1} µs p99 {:.1} µs, ideal loop p50 {:.1} µs p99 {:.1} µs",
            last(&ours, 50),
            last(&ours, 99),
            last(&ideals, 50),
            last(&ideals, 99)
        ),
    );
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Reads all of a bag; returns the number of messages.
fn read(bag: &Path) -> u64 {
    let mut reader = BagReader::open_all(&[bag]).expect("a bag");
    reader.start(&Query::default()).expect("a start");
    let mut count = 0;
    while reader.advance().expect("no damage") {
        count += 1;
    }
    count
}

fn burst(bench: &mut Bench, world: &World, directory: &Path, what: (&str, usize, u64)) {
    let (name, size, count) = what;
    let topic = "/burst";
    let bag = bag(
        &directory.join(name),
        &[(topic.to_owned(), size, MS)],
        count.cast_signed() * MS,
    );
    let (mut ratios, mut rates) = (vec![], vec![]);
    for _ in 0..5 {
        let reading = world.time(|| assert_eq!(read(&bag), count));
        let (ear, subscriptions) = world.ear(&[topic]);
        let publisher = world.publisher(topic);
        let payload = Bytes::from(vec![0; size]);
        let publishing = world.time(|| {
            for _ in 0..count {
                let sent = publisher.publish(payload.clone(), PublishOptions::default());
                sent.expect("published");
            }
        });
        world.wait(&ear, count);
        drop((publisher, subscriptions));
        let (ear, subscriptions) = world.ear(&[topic]);
        let player = world.player(&bag, paused());
        play(&player);
        let bursting = world.time(|| {
            assert_eq!(player.control(Control::Burst(0)), Ok(Answer::Played(count)));
        });
        world.wait(&ear, count);
        drop((player, subscriptions));
        ratios.push(reading.max(publishing) / bursting);
        rates.push(count as f64 / bursting * 1e9);
    }
    bench.ratio_at_least(&format!("node.burst.{name}"), median(&mut ratios), 0.8);
    bench.note(
        &format!("node.burst.{name}"),
        format_args!("{:.0} messages/s", median(&mut rates)),
    );
    std::fs::remove_dir_all(bag).expect("it was there");
}

/// Seeks and starts in a bag of 2 GB.
fn large(bench: &mut Bench, world: &World, directory: &Path) {
    let (topic, count) = ("/large", 2000_i64);
    let bag = bag(
        &directory.join("large"),
        &[(topic.to_owned(), 1_000_000, 10 * MS)],
        count * 10 * MS,
    );
    let (ear, _subscriptions) = world.ear(&[topic]);
    let mut starts = Vec::new();
    for _ in 0..11 {
        let before = ear.heard();
        let mut player = None;
        starts.push(
            world.time(|| {
                let started = world.player(&bag, Options::default());
                play(&started);
                world.wait(&ear, before + 1);
                player = Some(started);
            }) / 1e6,
        );
        drop(player);
    }
    bench.ratio_at_most("node.play.start.ms", median(&mut starts), 50.0);
    let player = world.player(&bag, paused());
    play(&player);
    let mut seeks = Vec::new();
    for n in 0..101_i64 {
        // Back and forth, between messages and on them.
        let to = (n * 617 % count) * 10 * MS + n % 2;
        let before = ear.heard();
        seeks.push(
            world.time(|| {
                let to = Time::from_nanos(1_000_000_000 + to);
                player.control(Control::Seek(to)).expect("a seek");
                player.control(Control::PlayNext).expect("a message");
                world.wait(&ear, before + 1);
            }) / 1e6,
        );
    }
    bench.ratio_at_most("node.play.seek.ms", median(&mut seeks), 5.0);
    let worst = seeks.last().copied().unwrap_or(f64::NAN);
    bench.note(
        "node.play.seek.ms",
        format_args!("at most {worst:.2} ms of 101"),
    );
    drop(player);
    std::fs::remove_dir_all(bag).expect("it was there");
}

/// CPU at 1× for 110 MB/s, against the minimum that can do it: one thread that reads, sleeps and publishes. Sleeping is
/// part of it: the receiver is woken as often.
fn cpu(bench: &mut Bench, world: &World, directory: &Path) {
    let mut topics: Vec<_> = (0..100)
        .map(|n| (format!("/small_{n}"), 500, 5 * MS))
        .collect();
    topics.push(("/image".to_owned(), 10_000_000, 100 * MS));
    let length = 2000 * MS;
    let bag = bag(&directory.join("mixed"), &topics, length);
    let names: Vec<&str> = topics.iter().map(|(name, ..)| name.as_str()).collect();
    let total: i64 = topics.iter().map(|(_, _, period)| length / period).sum();
    let total = u64::try_from(total).expect("some");
    let (mut ratios, mut shares) = (vec![], vec![]);
    for _ in 0..5 {
        let (ear, subscriptions) = world.ear(&names);
        let publishers: Vec<_> = names.iter().map(|name| world.publisher(name)).collect();
        let before = process_cpu();
        plain_player(world, &bag, &publishers);
        world.wait(&ear, total);
        let least = process_cpu() - before;
        drop((publishers, subscriptions));
        let (ear, _subscriptions) = world.ear(&names);
        let player = world.player(&bag, Options::default());
        let before = process_cpu();
        play(&player);
        player.wait();
        world.wait(&ear, total);
        let playing = process_cpu() - before;
        ratios.push(playing / least);
        shares.push(playing / length as f64);
    }
    bench.ratio_at_most("node.play.cpu.110mb", median(&mut ratios), 1.3);
    bench.note(
        "node.play.cpu.110mb",
        format_args!("{:.1} % of a core", median(&mut shares) * 100.0),
    );
}

/// Reads a bag and publishes each message at its time, without anything else.
fn plain_player(world: &World, bag: &Path, publishers: &[Box<dyn Publisher>]) {
    let mut reader = BagReader::open_all(&[bag]).expect("a bag");
    reader.start(&Query::default()).expect("a start");
    let (begin, mut first) = (world.clock.now(), None);
    while let Some(message) = reader.next_message().expect("no damage") {
        let time = message.log_time_ns;
        let passed = time - *first.get_or_insert(time);
        let due = begin.saturating_add(Duration::from_nanos(passed));
        if world.clock.now() < due {
            let _woke = world.clock.sleep_until(due);
        }
        let payload = Bytes::copy_from_slice(message.data);
        let publisher = publishers.get(message.topic.index());
        let sent = publisher.map(|publisher| publisher.publish(payload, PublishOptions::default()));
        assert!(sent.is_some_and(|sent| sent.is_ok()));
    }
}
