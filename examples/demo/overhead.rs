//! Cost of tracking: the robot of the demo with and without tags, in turns, received by another process.
//!
//! The time of the CPU is that of the two processes, whatever else the machine does. The bytes are those that went over
//! `lo`; in a network of its own (`unshare -rn`) they are those of the robot and its listener alone.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use timeloom_lidar::LidarNode;
use timeloom_msg::{QosProfile, TypeName};
use timeloom_node::{NodeOptions, RosNode};
use timeloom_pf::simulator::SimulatedLidar;
use timeloom_time::{Clock, Duration, Steady, TimeBase};
use timeloom_trace::{TAG_TYPE, tag_topic};
use timeloom_wire::{EndpointKind, Receiver, Sample, TopicSpec, WatchedGraph};

use crate::Failure;
use crate::claim::{Table, quantile, span};
use crate::domain::Domain;
use crate::robot::{Pipeline, free_port, lidar_options, say, simulator};
use crate::truth::TOPICS;

/// Time of measurement in each turn.
const RUN: Duration = Duration::from_secs(10);
/// Time before the measurement.
const WARM_UP: Duration = Duration::from_secs(2);
const PATIENCE: Duration = Duration::from_secs(60);
/// The name of the listener's node.
const LISTENER: &str = "overhead_listener";

/// Result of one turn.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    robot_cpu_ns: i64,
    listener_cpu_ns: i64,
    wire_bytes: i64,
    messages: i64,
    tags: i64,
    latency_p50_ns: i64,
    latency_p99_ns: i64,
}

/// Runs both in turns and prints what tracking adds.
pub(crate) fn measure(rounds: u32) -> Result<(), Failure> {
    let mut turns = [Vec::new(), Vec::new()];
    for round in 0..rounds {
        // Each goes first as often as the other.
        for step in 0..2 {
            let tracked = (round + step) % 2 == 1;
            let turn = turn(tracked)?;
            println!("{} {turn:?}", if tracked { "with" } else { "without" });
            turns[usize::from(tracked)].push(turn);
        }
    }
    let [without, with] = turns;
    println!("\n{}", table(&without, &with));
    Ok(())
}

/// Its name, its value, how it is shown, and whether it is a sum over all messages.
type Row = (&'static str, fn(&Turn) -> i64, fn(i64) -> String, bool);

fn table(without: &[Turn], with: &[Turn]) -> Table {
    let middle = |turns: &[Turn], of: fn(&Turn) -> i64| {
        let mut values: Vec<_> = turns.iter().map(of).collect();
        quantile(&mut values, 0.5)
    };
    let rows: [Row; 7] = [
        ("messages", |it| it.messages, |it| it.to_string(), false),
        ("tags", |it| it.tags, |it| it.to_string(), false),
        ("CPU of the robot", |it| it.robot_cpu_ns, span, true),
        ("CPU of the listener", |it| it.listener_cpu_ns, span, true),
        ("bytes on the wire", |it| it.wire_bytes, bytes, true),
        ("scan to odometry, p50", |it| it.latency_p50_ns, span, false),
        ("scan to odometry, p99", |it| it.latency_p99_ns, span, false),
    ];
    let rows = rows.map(|(name, of, show, is_sum)| {
        let each = |turns: &[Turn]| {
            let shares = turns.iter().map(|turn| of(turn) / turn.messages.max(1));
            let mut shares: Vec<_> = shares.collect();
            quantile(&mut shares, 0.5)
        };
        let share = if is_sum {
            show(each(with) - each(without))
        } else {
            String::new()
        };
        vec![
            name.to_owned(),
            show(middle(without, of)),
            show(middle(with, of)),
            share,
        ]
    });
    Table {
        head: vec!["in 10 s", "without", "with", "more per message"],
        rows: rows.to_vec(),
    }
}

fn bytes(count: i64) -> String {
    format!("{count} B")
}

/// A process that does not outlive this one.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _reaped = self.0.wait();
    }
}

impl Process {
    fn start(role: &[&str]) -> Result<(Self, std::io::Lines<BufReader<ChildStdout>>), Failure> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(role)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let out = child.stdout.take().ok_or("no pipe")?;
        Ok((Self(child), BufReader::new(out).lines()))
    }
}

fn numbers<const N: usize>(line: Option<std::io::Result<String>>) -> Result<[i64; N], Failure> {
    let line = line.ok_or("a process went away")??;
    let words: Result<Vec<i64>, _> = line.split_whitespace().map(str::parse).collect();
    let found = words.map_err(|error| format!("{line}: {error}"))?;
    let numbers = found.try_into();
    numbers.map_err(|found: Vec<i64>| format!("{N} numbers expected, {} found", found.len()).into())
}

fn turn(tracked: bool) -> Result<Turn, Failure> {
    let domain = Domain::own().number.to_string();
    let (mut listener, mut heard) = Process::start(&["--overhead-listener", &domain])?;
    let word = if tracked { "with" } else { "without" };
    let (_robot, mut done) = Process::start(&["--overhead-robot", &domain, word])?;
    let mut ask = || -> Result<[i64; 3], Failure> {
        let asked = listener.0.stdin.as_mut().ok_or("no pipe")?;
        writeln!(asked)?;
        numbers(heard.next())
    };
    let [] = numbers(done.next())?;
    let before = ask()?;
    let [robot_cpu_ns, wire_bytes, latency_p50_ns, latency_p99_ns] = numbers(done.next())?;
    let after = ask()?;
    let [listener_cpu_ns, messages, tags] = [0, 1, 2].map(|at| after[at] - before[at]);
    Ok(Turn {
        robot_cpu_ns,
        listener_cpu_ns,
        wire_bytes,
        messages,
        tags,
        latency_p50_ns,
        latency_p99_ns,
    })
}

/// The robot; prints an empty line when it is warm, and then its CPU, the bytes on the wire and two latencies.
pub(crate) fn robot(domain: Domain, tracked: bool) -> Result<(), Failure> {
    let clock = Clock::<Steady>::new();
    let participant = domain.join(0)?;
    let graph = WatchedGraph::new(&*participant);
    let pipeline = Pipeline::new(&participant, tracked)?;
    let port = free_port()?;
    let driver = RosNode::new(Arc::clone(&participant), NodeOptions::new("lidar_driver"))?;
    let _lidar = LidarNode::new(&driver, lidar_options(port))?;
    let listens = |topic: &str| {
        let graph = graph.lock();
        let listener = |info: &timeloom_wire::EndpointInfo| {
            let node = info.node.as_ref();
            node.is_some_and(|node| node.name() == LISTENER)
        };
        graph.on(topic, EndpointKind::Subscription).any(listener)
    };
    let end = clock.now() + PATIENCE;
    while !TOPICS.iter().all(|(topic, _)| listens(topic)) {
        if clock.now() > end {
            return Err("no subscription to the robot".into());
        }
        let _woke = clock.sleep_for(Duration::from_millis(20));
    }
    let _device = SimulatedLidar::start(simulator(port), &TimeBase::machine())?;
    let _running = pipeline.start();
    let _woke = clock.sleep_for(WARM_UP);
    pipeline.forget_latencies();
    say("")?;
    let before = (cpu_ns()?, lo_bytes()?);
    let _woke = clock.sleep_for(RUN);
    let after = (cpu_ns()?, lo_bytes()?);
    let mut latencies = pipeline.odometry_latencies();
    say(&format!(
        "{} {} {} {}",
        after.0 - before.0,
        after.1 - before.1,
        quantile(&mut latencies, 0.5),
        quantile(&mut latencies, 0.99),
    ))
}

/// Listens to all topics and their tags; for each line of its input it prints its CPU and how much came.
pub(crate) fn listener(domain: Domain) -> Result<(), Failure> {
    let participant = domain.join(0)?;
    let node = RosNode::new(participant, NodeOptions::new(LISTENER))?;
    let (messages, tags) = (Arc::new(Counter::default()), Arc::new(Counter::default()));
    let mut subscriptions = Vec::new();
    for (topic, type_name) in TOPICS {
        let main = (topic.to_owned(), type_name, &messages);
        for (name, type_name, counter) in [main, (tag_topic(topic), TAG_TYPE, &tags)] {
            let spec = TopicSpec {
                name,
                type_name: TypeName::parse(type_name)?,
                type_hash: None,
                qos: QosProfile::SENSOR_DATA,
            };
            let receiver = Arc::clone(counter) as Arc<dyn Receiver>;
            subscriptions.push(node.wire().subscribe(&spec, receiver)?);
        }
    }
    let count = |counter: &Counter| counter.0.load(Ordering::Relaxed);
    for line in std::io::stdin().lines() {
        line?;
        let (messages, tags) = (count(&messages), count(&tags));
        say(&format!("{} {messages} {tags}", cpu_ns()?))?;
    }
    Ok(())
}

#[derive(Default)]
struct Counter(AtomicU64);

impl Receiver for Counter {
    fn sample(&self, _sample: Sample) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// CPU time of this process in nanoseconds, with the resolution of Linux: a hundredth of a second.
fn cpu_ns() -> Result<i64, Failure> {
    const TICK_NS: i64 = 10_000_000;
    let text = std::fs::read_to_string("/proc/self/stat")?;
    // The name of the program may hold blanks; it ends with the last parenthesis.
    let (_, fields) = text.rsplit_once(')').ok_or("a strange /proc/self/stat")?;
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks: Result<Vec<i64>, _> = ticks.map(str::parse).collect();
    Ok(ticks?.iter().sum::<i64>() * TICK_NS)
}

/// Bytes sent over the loopback interface.
fn lo_bytes() -> Result<i64, Failure> {
    let text = std::fs::read_to_string("/proc/net/dev")?;
    let mut lines = text.lines().map(str::trim);
    let line = lines.find_map(|line| line.strip_prefix("lo:"));
    let sent = line.and_then(|line| line.split_whitespace().nth(8));
    Ok(sent.ok_or("there is no lo")?.parse()?)
}
