//! The recorder against its parts: what receiving and writing cost alone, and how fast each of them can be.
//!
//! The publisher is a process of its own, so that the CPU time of this one is the receiving side and nothing else. All
//! of it runs over DDS on 127.0.0.1, in turns.

#[path = "support/load.rs"]
mod load;
#[path = "support/publisher.rs"]
mod publisher;
#[path = "support/sides.rs"]
mod sides;

use timeloom_testkit::bench::{Bench, Samples};

use load::Load;
use publisher::Publisher;
use sides::Side;

/// A round that is measured: once for each side.
const ROUNDS: usize = 7;

fn main() {
    if publisher::is_asked_for() {
        return publisher::run();
    }
    let mut bench = Bench::from_env();
    for load in Load::ALL {
        let (cpu, rate) = (
            format!("cli.record.cpu.{}", load.name),
            format!("cli.record.rate.{}", load.name),
        );
        if bench.wants(&cpu) {
            cost(&mut bench, &cpu, &load);
        }
        if bench.wants(&rate) {
            speed(&mut bench, &rate, &load);
        }
    }
    let id = "cli.record.trigger.10khz";
    if bench.wants(id) {
        triggers(&mut bench, id, &Load::ALL[0]);
    }
}

/// CPU time per message with ten triggers that watch it, against snapshot mode, which watches nothing.
fn triggers(bench: &mut Bench, id: &str, load: &Load) {
    let mut publisher = Publisher::start();
    let mut samples: [Vec<f64>; 3] = Default::default();
    for _ in 0..ROUNDS {
        let plain = Side::ring(&mut publisher, load, load.steady, &[]).cpu_ns;
        let watched = Side::ring(&mut publisher, load, load.steady, &TRIGGERS).cpu_ns;
        samples[0].push(plain);
        samples[1].push(watched);
        samples[2].push(watched / plain);
    }
    let [plain, watched, ratio] = samples.map(|values| values.into_iter().collect::<Samples>());
    bench.ratio_at_most(id, ratio.median(), 1.1);
    bench.note(
        id,
        format_args!(
            "{:.2} µs CPU per message with ten triggers, {:.2} in snapshot mode, at {} Hz",
            watched.median() / 1000.0,
            plain.median() / 1000.0,
            load.steady.hertz,
        ),
    );
}

/// None of them fires.
const TRIGGERS: [&str; 10] = [
    "a: /triggered.linear.x > 1",
    "b: /triggered.linear.y > 1 for 2s",
    "c: /triggered.linear.x < -1 and /triggered.linear.y > 5",
    "d: changed(/triggered.linear.z)",
    "e: rate(/triggered.linear.x) > 10",
    "f: rate(/triggered) < 1",
    "g: silent(/triggered, 1min)",
    "h: not /triggered.angular.x < 1 or /triggered.angular.y > 1",
    "i: lost(/triggered) > 1000000",
    "j: deadline_missed(/triggered, 1min) or /triggered.angular.z > 2.5 for 100ms",
];

/// CPU time per message at a steady rate: recording against receiving and writing.
fn cost(bench: &mut Bench, id: &str, load: &Load) {
    let mut publisher = Publisher::start();
    let mut samples: [Vec<f64>; 4] = Default::default();
    for _ in 0..ROUNDS {
        let receive = Side::throw_away(&mut publisher, load, load.steady).cpu_ns;
        let write = sides::write(load, load.steady.count);
        let record = Side::recorder(&mut publisher, load, load.steady).cpu_ns;
        samples[0].push(receive);
        samples[1].push(write);
        samples[2].push(record);
        samples[3].push(record / (receive + write));
    }
    let [receive, write, record, ratio] =
        samples.map(|values| values.into_iter().collect::<Samples>());
    bench.ratio_at_most(id, ratio.median(), 1.3);
    let micros = |samples: &Samples| samples.median() / 1000.0;
    bench.note(
        id,
        format_args!(
            "{:.2} µs CPU per recorded message at {} Hz; receiving alone {:.2}, writing alone {:.2}",
            micros(&record),
            load.steady.hertz,
            micros(&receive),
            micros(&write)
        ),
    );
}

/// Messages a second without a loss: as fast as a reliable publisher can send them, and the recorder makes it wait
/// rather than lose one.
fn speed(bench: &mut Bench, id: &str, load: &Load) {
    let mut publisher = Publisher::start();
    let mut samples: [Vec<f64>; 3] = Default::default();
    let mut lost = 0;
    for _ in 0..ROUNDS {
        let receive = Side::throw_away(&mut publisher, load, load.flood);
        let record = Side::recorder(&mut publisher, load, load.flood);
        lost += receive.lost + record.lost;
        if record.lost > 0 {
            bench.note(id, format_args!("lost: {}", record.causes));
        }
        samples[0].push(receive.hertz);
        samples[1].push(record.hertz);
        samples[2].push(record.hertz / receive.hertz);
    }
    let [receive, record, ratio] = samples.map(|values| values.into_iter().collect::<Samples>());
    bench.exactly_zero(&format!("{id}.lost"), lost);
    bench.ratio_at_least(id, ratio.median(), 0.9);
    bench.note(
        id,
        format_args!(
            "{:.0} recorded against {:.0} received messages a second",
            record.median(),
            receive.median()
        ),
    );
}
