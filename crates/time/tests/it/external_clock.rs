//! A player's clock that is driven externally, with extrapolation, end to end through a hub.

use timeloom_time::{
    Clock, ClockSink, ClockWarning, ControlRefused, Duration, ExternalClock, JumpHandle,
    JumpThreshold, PlaybackRate, PlayerClock, Ros, SourceId, Steady, TimeBase, TimeHub,
    VirtualTime,
};

use crate::support::{
    Log, MS, SEC, Seen, at, beyond, deltas, extrapolating, ms, ns, secs, warnings_of, watch,
};

/// A simulator with a `/clock` of 100 ms, and a clock that follows it.
struct Sim {
    world: VirtualTime,
    hub: TimeHub,
    clock: ExternalClock,
    sink: ClockSink,
    /// The time of the simulator's own clock.
    truth: i64,
    /// The time of the last sample.
    sampled: i64,
    /// The most source time between two samples.
    largest: i64,
    shown: i64,
    _watching: JumpHandle,
    jumps: Log<Seen<Ros>>,
}

const PERIOD: i64 = 100 * MS;

impl Sim {
    fn new() -> Self {
        let world = VirtualTime::manual();
        let hub = extrapolating(&world.base());
        let clock = ExternalClock::new(&hub);
        let sink = hub.sink(SourceId::named("gazebo"));
        let start = 5_000 * SEC;
        sink.tick(at(start));
        let (watching, jumps) = watch(clock.clock(), JumpThreshold::DISRUPTIVE);
        Self {
            world,
            hub,
            clock,
            sink,
            truth: start,
            sampled: start,
            largest: 0,
            shown: start,
            _watching: watching,
            jumps,
        }
    }

    /// Runs at `percent` of real time for one period, checking often, then sends a sample.
    fn period(&mut self, percent: i64) {
        let begin = self.truth;
        for part in 1..=20 {
            self.world.advance(ns(PERIOD / 20));
            self.truth = begin + PERIOD * percent / 100 * part / 20;
            self.check();
        }
        self.sink.tick(at(self.truth));
        self.sampled = self.truth;
        self.largest = self.largest.max(self.truth - begin);
        self.check();
    }

    /// The guarantee of `playback_time.md`: at most one sample off, and never back.
    fn check(&mut self) {
        let now = self.clock.now().nanos();
        let bound = self.largest.max(self.truth - self.sampled);
        let error = (now - self.truth).abs();
        assert!(error <= bound, "{now} is {error} off {}", self.truth);
        assert!(now >= self.shown, "{now} after {}", self.shown);
        self.shown = now;
    }
}

#[test]
fn the_error_is_at_most_one_sample_at_any_rate_and_any_change_of_it() {
    let mut sim = Sim::new();
    for percent in [100, 200, 50, 0, 100, 10, 180, 0, 0, 200, 100] {
        for _ in 0..6 {
            sim.period(percent);
        }
    }
    assert!(sim.jumps.take().is_empty(), "no change of rate is a jump");
}

#[test]
fn extrapolation_of_a_steady_source_is_exact() {
    let mut sim = Sim::new();
    for _ in 0..5 {
        sim.period(150);
    }
    for part in 0..100 {
        let expected = sim.truth + part * 3 * MS / 2;
        assert_eq!(sim.clock.now(), at(expected));
        sim.world.advance(ms(1));
    }
    assert_eq!(sim.clock.rate(), Some(1.5));
    assert!(!sim.clock.is_paused());
}

#[test]
fn time_stops_within_one_period_when_the_source_dies() {
    let mut sim = Sim::new();
    for _ in 0..4 {
        sim.period(100);
    }
    sim.world.advance(ms(500));
    let stopped = sim.clock.now();
    assert_eq!(stopped, at(sim.truth + PERIOD));
    assert!(sim.clock.is_paused());
    assert_eq!(sim.hub.is_overdue(), Some(true));
    sim.world.advance(secs(3_600));
    assert_eq!(sim.clock.now(), stopped);
    sim.sink.tick(at(sim.truth + PERIOD + MS));
    assert_eq!(sim.clock.now(), at(sim.truth + PERIOD + MS));
    assert!(sim.jumps.take().is_empty());
}

#[test]
fn a_source_that_jumps_back_is_followed_at_once_and_handlers_are_called_once() {
    let mut sim = Sim::new();
    for _ in 0..4 {
        sim.period(100);
    }
    sim.world.advance(ms(30));
    sim.sink.tick(at(1_000 * SEC));
    assert_eq!(sim.clock.now(), at(1_000 * SEC));
    let expected = 1_000 * SEC - sim.truth - 30 * MS;
    assert_eq!(deltas(&sim.jumps), [expected]);
    (sim.truth, sim.shown, sim.sampled) = (1_000 * SEC, 1_000 * SEC, 1_000 * SEC);
    for _ in 0..3 {
        sim.period(100);
    }
}

#[test]
fn a_step_forward_is_a_jump_for_handlers_with_a_forward_threshold() {
    let mut sim = Sim::new();
    let (_handle, jumps) = watch(sim.clock.clock(), beyond(SEC, -1));
    for _ in 0..3 {
        sim.period(100);
    }
    sim.world.advance(ns(PERIOD));
    let leap = sim.truth + 60 * SEC;
    sim.sink.tick(at(leap));
    assert_eq!(sim.clock.now(), at(leap));
    assert_eq!(deltas(&jumps), [60 * SEC - PERIOD]);
}

#[test]
fn control_is_refused_and_reported() {
    let sim = Sim::new();
    let warnings = warnings_of(sim.clock.clock());
    let refused = [
        sim.clock.pause(),
        sim.clock.resume(),
        sim.clock.set_rate(PlaybackRate::REAL_TIME),
        sim.clock.jump(at(1)),
    ];
    let actions = ["pause", "resume", "set the rate", "jump"];
    assert_eq!(
        refused,
        actions.map(|action| Err(ControlRefused { action }))
    );
    assert_eq!(
        warnings.take(),
        actions.map(|action| ClockWarning::ControlRefused { action })
    );
    assert_eq!(sim.clock.now(), at(5_000 * SEC));
}

#[test]
fn all_clocks_of_a_hub_agree_including_those_attached_late() {
    let mut sim = Sim::new();
    let early = sim.hub.clock();
    for _ in 0..3 {
        sim.period(130);
    }
    sim.world.advance(ms(17));
    let late = sim.hub.clock();
    assert_eq!(late.now(), at(sim.truth + 17 * 13 * MS / 10));
    for percent in [130, 40, 40, 200] {
        sim.period(percent);
        sim.world.advance(ms(3));
        assert_eq!([early.now(), late.now()], [sim.clock.now(); 2]);
    }
}

#[test]
fn a_clock_that_moves_to_another_hub_shows_the_other_source() {
    let world = VirtualTime::manual();
    let [slow, fast] = [1, 2].map(|factor| {
        let hub = extrapolating(&world.base());
        hub.activate();
        let sink = hub.sink(SourceId::named("sim"));
        (hub, sink, factor)
    });
    let clock = slow.0.clock();
    for round in 1..5 {
        for (_, sink, factor) in [&slow, &fast] {
            sink.tick(at((1_000 * factor + round * factor) * SEC));
        }
        world.advance(secs(1));
    }
    assert_eq!(clock.now(), at(1_005 * SEC));
    fast.0.attach(&clock);
    assert_eq!(clock.now(), at(2_010 * SEC));
    slow.1.tick(at(7 * SEC));
    assert_eq!(clock.now(), at(2_010 * SEC), "its old hub has no say");
    fast.1.tick(at(2_011 * SEC));
    assert_eq!(clock.now(), at(2_011 * SEC));
}

/// A sample is stamped when it arrives and used a moment later; that moment is not a jump back.
#[test]
fn a_source_that_pauses_does_not_make_the_machines_clock_jump() {
    let machine = Clock::<Steady>::new();
    for round in 0..40 {
        let hub = extrapolating(&TimeBase::machine());
        let clock = hub.clock();
        hub.activate();
        let sink = hub.sink(SourceId::named("fast"));
        sink.tick(at(1_000 * SEC));
        let (_handle, jumps) = watch(&clock, JumpThreshold::DISRUPTIVE);
        assert!(machine.sleep_for(Duration::from_micros(200)).is_reached());
        sink.tick(at(1_009 * SEC));
        let shown = clock.now();
        sink.tick(at(1_009 * SEC));
        assert!(clock.now() >= shown, "round {round}");
        sink.tick(at(1_009 * SEC + 1));
        assert!(clock.now() >= shown, "round {round}");
        assert_eq!(deltas(&jumps), [], "round {round}");
    }
}
