//! Cost of lineage: on the hot path over the untracked call, and offline per tag.

#[path = "support/robot.rs"]
mod robot;

use std::hint::black_box;
use std::time::Duration as StdDuration;

use allocation_counter::measure;
use robot::{Robot, diamond};
use timeloom_msg::{Definitions, StampProgram};
use timeloom_testkit::bench::{Bench, Measured, Rounds, Stopwatch, Variant};
use timeloom_time::{Clock, Ros, Steady, Time};
use timeloom_trace::{
    Engine, EngineOptions, Moment, Received, TagView, TrackedInput, TrackedOutput, Tracker,
    TrackerOptions,
};

const SLICE: StdDuration = StdDuration::from_micros(400);
const ROUNDS: usize = 61;
const TYPE: &str = "sensor_msgs/msg/Imu";

fn main() {
    let mut bench = Bench::from_env();
    if bench.wants("trace.receive") {
        receive(&mut bench);
    }
    if bench.wants("trace.publish") {
        publish(&mut bench);
    }
    if bench.wants("trace.allocations") {
        allocations(&mut bench);
    }
    if bench.wants("trace.offline") {
        offline(&mut bench);
    }
    if bench.wants("trace.diamond") {
        diamonds(&mut bench);
    }
    if bench.wants("trace.memory") {
        memory(&mut bench);
    }
}

/// A tracked node: two clocks, a program that finds the stamp, a payload.
struct Node {
    ros: Clock<Ros>,
    steady: Clock<Steady>,
    stamp: StampProgram,
    payload: Vec<u8>,
    inputs: Vec<std::sync::Arc<TrackedInput>>,
    outputs: Vec<TrackedOutput>,
    tag: Vec<u8>,
}

impl Node {
    fn new(inputs: usize, outputs: usize) -> Self {
        let schema = Definitions::builtin().schema(TYPE).expect("a type");
        let value = schema.default_value().expect("a message");
        let tracker = Tracker::new("/sensing/lidar/concatenate", TrackerOptions::default());
        let topic =
            |kind: &str, number: usize| format!("/sensing/lidar/{kind}_{number}/pointcloud");
        let node = Self {
            ros: Clock::new(),
            steady: Clock::new(),
            stamp: StampProgram::compile(&schema).expect("a header"),
            payload: schema.encode(&value).expect("a payload"),
            inputs: (0..inputs)
                .map(|number| tracker.input(&topic("in", number)))
                .collect(),
            outputs: (0..outputs)
                .map(|number| tracker.output(&topic("out", number)))
                .collect(),
            tag: Vec::new(),
        };
        for input in &node.inputs {
            node.receive(input);
        }
        node
    }

    fn now(&self) -> Moment {
        Moment {
            ros: self.ros.now(),
            steady: self.steady.now(),
        }
    }

    fn read_stamp(&self) -> Option<Time<Ros>> {
        let stamp = self.stamp.read(black_box(&self.payload)).ok()?;
        Some(Time::from_nanos(stamp.nanos()))
    }

    /// The work of a tracked subscription before the callback.
    fn receive(&self, input: &TrackedInput) {
        let received = Received {
            at: self.now(),
            stamp: self.read_stamp(),
        };
        black_box(input.received(received));
    }

    /// The work of a tracked publisher before the message is sent, without sending the tag.
    fn publish(&mut self) {
        let (now, stamp) = (self.now(), self.read_stamp());
        if let Some(output) = self.outputs.first() {
            output.tag(now, stamp, &mut self.tag);
        }
        black_box(&self.tag);
    }
}

/// The callback or the transport, which both variants call.
#[inline(never)]
fn work(payload: &[u8]) -> u64 {
    payload.iter().map(|byte| u64::from(*byte)).sum()
}

fn added(measured: &[Measured], tracked: usize, plain: usize) -> f64 {
    measured[tracked].median() - measured[plain].median()
}

fn receive(bench: &mut Bench) {
    let (one, eight) = (Node::new(4, 1), Node::new(4, 8));
    let plain = one.payload.clone();
    let measured = Rounds::new(ROUNDS, SLICE).run(&mut [
        Variant::looped("untracked", || work(black_box(&plain))),
        Variant::looped("tracked", || {
            one.receive(&one.inputs[0]);
            work(black_box(&one.payload))
        }),
        Variant::looped("tracked, 8 publishers", || {
            eight.receive(&eight.inputs[0]);
            work(black_box(&eight.payload))
        }),
        Variant::looped("clocks alone", || black_box(one.now())),
    ]);
    bench.ratio_at_most("trace.receive.added_ns", added(&measured, 1, 0), 100.0);
    let ratio = measured[2].ratio_to(&measured[1]);
    bench.ratio_at_most("trace.receive.publishers", ratio, 1.25);
    bench.note(
        "trace.receive.added_ns",
        format_args!(
            "{:.0} ns over an untracked callback, of which {:.0} ns read two clocks",
            added(&measured, 1, 0),
            measured[3].median()
        ),
    );
}

fn publish(bench: &mut Bench) {
    let plain = Node::new(0, 1).payload;
    let mut nodes = [Node::new(1, 1), Node::new(4, 1), Node::new(8, 1)];
    let [one, four, eight] = &mut nodes;
    let measured = Rounds::new(ROUNDS, SLICE).run(&mut [
        Variant::looped("untracked", || work(black_box(&plain))),
        Variant::looped("1 input", || {
            one.publish();
            work(black_box(&plain))
        }),
        Variant::looped("4 inputs", || {
            four.publish();
            work(black_box(&plain))
        }),
        Variant::looped("8 inputs", || {
            eight.publish();
            work(black_box(&plain))
        }),
    ]);
    bench.ratio_at_most("trace.publish.added_ns", added(&measured, 2, 0), 150.0);
    let sizes = nodes.map(|node| node.tag.len());
    bench.note(
        "trace.publish.added_ns",
        format_args!(
            "{:.0} / {:.0} / {:.0} ns over an untracked publish with 1 / 4 / 8 inputs; tags of {} / {} / {} bytes",
            added(&measured, 1, 0),
            added(&measured, 2, 0),
            added(&measured, 3, 0),
            sizes[0],
            sizes[1],
            sizes[2]
        ),
    );
}

fn allocations(bench: &mut Bench) {
    let mut node = Node::new(4, 4);
    node.publish();
    let counted = measure(|| {
        for _ in 0..100_000 {
            for input in &node.inputs {
                node.receive(input);
            }
            node.publish();
        }
    });
    bench.exactly_zero("trace.allocations", counted.count_total);
}

fn feed(engine: &mut Engine, tags: &[(i64, Vec<u8>)], shift: i64) {
    for (now, payload) in tags {
        if let Ok(tag) = TagView::parse(payload) {
            engine.tag(&tag, now + shift);
        }
    }
}

fn offline(bench: &mut Bench) {
    let tags = Robot::default().tags(0..1000);
    let count = tags.len() as f64;
    let mut paths = 0;
    // CPU time: a run is so long that other processes run within it.
    let mut run = |iterations| {
        let stopwatch = Stopwatch::start();
        for _ in 0..iterations {
            let mut engine = Engine::new(EngineOptions::default());
            feed(&mut engine, &tags, 0);
            let report = engine.report();
            paths = report.targets.iter().map(|target| target.paths.len()).sum();
        }
        stopwatch.usage().cpu
    };
    let measured = Rounds::new(9, StdDuration::from_millis(200))
        .run(&mut [Variant::timed("engine", &mut run)]);
    let rate = count / measured[0].median() * 1e9;
    bench.ratio_at_least("trace.offline.ktags_per_s", rate / 1e3, 300.0);
    bench.note(
        "trace.offline.ktags_per_s",
        format_args!("{count} tags of 29 topics, {paths} paths, parsed and analysed on one core"),
    );
}

fn diamonds(bench: &mut Bench) {
    let tags: Vec<_> = (0..400).map(diamond).collect();
    let mut engine = Engine::new(EngineOptions::default());
    let mut number = 0;
    let measured =
        Rounds::new(9, StdDuration::from_millis(20)).run(&mut [Variant::looped("diamond", || {
            let lap = i64::try_from(number / tags.len()).unwrap_or(0);
            if number % tags.len() == 0 {
                engine = Engine::new(EngineOptions::default());
            }
            feed(&mut engine, &tags[number % tags.len()], lap);
            number += 1;
        })]);
    let ms = measured[0].median() / 1e6;
    bench.ratio_at_most("trace.diamond.ms", ms, 10.0);
    bench.note(
        "trace.diamond.ms",
        "49 messages through 16 diamonds, 65,536 ways, 256 of them with statistics",
    );
}

fn memory(bench: &mut Bench) {
    let mut engine = Engine::new(EngineOptions::default());
    let mut robot = Robot::default();
    let mut held = |cycles: std::ops::Range<i64>| {
        let (mut peak, mut sum) = (0_i64, 0_i64);
        for part in cycles.step_by(100) {
            let tags = robot.tags(part..part + 100);
            let counted = measure(|| feed(&mut engine, &tags, 0));
            peak = peak.max(sum + i64::try_from(counted.bytes_max).unwrap_or(i64::MAX));
            sum += counted.bytes_current;
        }
        (peak, sum)
    };
    // 29 topics: a hundred thousand tags, then nine times as many.
    let (first, _) = held(0..2_000);
    let (more, _) = held(2_000..20_000);
    bench.ratio_at_most("trace.memory", more.max(0) as f64 / first as f64, 0.25);
    let report = engine.report();
    bench.note(
        "trace.memory",
        format_args!(
            "{} tags: {:.1} MB at the tenth part of them, {:.1} MB more after all",
            report.tags,
            first as f64 / 1e6,
            more as f64 / 1e6
        ),
    );
}
