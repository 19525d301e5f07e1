//! The cases of rosbag2's `test_time_controller_clock`, and some that it leaves out.
//!
//! Not re-created: `must_provide_now_fn` (the time base is an argument that cannot be missing).

use timeloom_time::{
    Clock, ClockWarning, ControlledClock, Duration, InvalidRate, JumpThreshold, PlaybackRate,
    PlayerClock, ReferencePair, Steady, Time, TimeHub, VirtualTime, WaitOptions, Woke,
};

use crate::support::{SEC, at, at_ms, deltas, ms, ns, secs, watch};

fn running(start: i64, rate: f64) -> (VirtualTime, ControlledClock) {
    let world = VirtualTime::manual();
    let clock = ControlledClock::new(&world.base(), at(start));
    set_rate(&clock, rate);
    clock.resume().expect("a controlled clock takes orders");
    (world, clock)
}

fn set_rate(clock: &ControlledClock, rate: f64) {
    let rate = PlaybackRate::new(rate).expect("a legal rate");
    clock
        .set_rate(rate)
        .expect("a controlled clock takes orders");
}

/// `steadytime_precision`.
#[test]
fn time_is_exact_to_the_nanosecond_after_seventy_years() {
    let (world, clock) = running(0, 1.0);
    let far = 1 << 61;
    world.advance(ns(far));
    assert_eq!(clock.now(), at(far));
    world.advance(ns(1));
    assert_eq!(clock.now(), at(far + 1));
}

/// `nonzero_start_time`, `fast_rate`, `slow_rate`.
#[test]
fn time_runs_from_its_start_at_its_rate() {
    for (rate, passed) in [
        (1.0, 10 * SEC),
        (2.5, 25 * SEC),
        (0.4, 4 * SEC),
        (1e-3, SEC / 100),
    ] {
        let (world, clock) = running(1_234, rate);
        world.advance(secs(10));
        let error = clock.now().nanos() - 1_234 - passed;
        assert!((-1..=0).contains(&error), "{rate}: {error}");
        assert_eq!(clock.rate(), Some(rate));
    }
}

/// `invalid_rate`.
#[test]
fn an_invalid_rate_is_refused() {
    for bad in [0.0, -1.0, f64::INFINITY] {
        assert_eq!(PlaybackRate::new(bad), Err(InvalidRate(bad)));
    }
    assert!(PlaybackRate::new(f64::NAN).is_err());
}

/// `is_paused`, `paused_now_always_same`, `resumes_at_correct_ros_time`.
#[test]
fn a_pause_neither_loses_nor_adds_time() {
    let (world, clock) = running(1_000, 1.0);
    for round in 1..=50 {
        clock.pause().unwrap();
        clock.pause().unwrap();
        assert!(clock.is_paused());
        let stopped = clock.now();
        world.advance(secs(7));
        assert_eq!(clock.now(), stopped);
        clock.resume().unwrap();
        clock.resume().unwrap();
        assert!(!clock.is_paused());
        assert_eq!(clock.now(), stopped);
        world.advance(ms(3));
        assert_eq!(clock.now(), at(1_000) + ms(3) * round);
    }
}

#[test]
fn a_new_clock_stands_at_its_start() {
    let world = VirtualTime::manual();
    let clock = ControlledClock::new(&world.base(), at_ms(5));
    world.advance(secs(5));
    assert!(clock.is_paused());
    assert_eq!((clock.now(), clock.rate()), (at_ms(5), Some(1.0)));
}

/// `unpaused_sleep_returns_true`, `paused_sleep_returns_false_quickly`.
#[test]
fn a_sleep_is_reached_while_time_runs_and_times_out_while_it_stands() {
    let world = VirtualTime::new();
    let steady = Clock::<Steady>::on(&world.base());
    let clock = ControlledClock::new(&world.base(), at_ms(0));
    let _inside = world.enter();
    let begin = steady.now();
    assert_eq!(clock.sleep_until(at_ms(100), ms(20)), Woke::TimedOut);
    assert_eq!(
        steady.now() - begin,
        ms(20),
        "waits for its timeout in real time, and no poll longer"
    );
    clock.resume().unwrap();
    assert_eq!(clock.sleep_until(at_ms(100), secs(100)), Woke::Reached);
    assert_eq!(clock.now(), at_ms(100));
}

/// `interrupted_sleep_returns_false_immediately`: upstream ends the sleep at every control and leaves the rest to the
/// caller. Here the sleep follows pause, resume and rate by itself and ends only at a jump.
#[test]
fn a_sleep_follows_every_control_but_a_jump() {
    let world = VirtualTime::manual();
    let clock = ControlledClock::new(&world.base(), at_ms(0));
    let sleeper = clock.clone();
    let sleeping = world.spawn("sleeper", move || {
        sleeper.sleep_until(at_ms(100), Duration::MAX)
    });
    world.settle();
    clock.resume().unwrap();
    world.advance(ms(50));
    clock.pause().unwrap();
    set_rate(&clock, 0.5);
    world.advance(secs(10));
    clock.resume().unwrap();
    world.advance(ms(100) - ns(1));
    world.settle();
    assert!(!sleeping.is_finished());
    world.advance(ns(1));
    assert_eq!(sleeping.join().unwrap(), Woke::Reached);

    let sleeper = clock.clone();
    let sleeping = world.spawn("sleeper", move || {
        sleeper.sleep_until(at_ms(900), Duration::MAX)
    });
    world.settle();
    clock.jump(at_ms(5)).unwrap();
    let woke = sleeping.join().unwrap();
    assert!(
        matches!(woke, Woke::Jumped(jump) if jump.new == at_ms(5)),
        "{woke:?}"
    );
}

/// `change_rate`, also while paused.
#[test]
fn a_new_rate_counts_from_now_on() {
    let (world, clock) = running(0, 1.0);
    world.advance(secs(4));
    set_rate(&clock, 2.0);
    assert_eq!(clock.now(), at(4 * SEC));
    world.advance(secs(4));
    set_rate(&clock, 0.25);
    world.advance(secs(4));
    assert_eq!(clock.now(), at(13 * SEC));
    clock.pause().unwrap();
    set_rate(&clock, 10.0);
    world.advance(secs(4));
    assert_eq!((clock.now(), clock.rate()), (at(13 * SEC), Some(10.0)));
    clock.resume().unwrap();
    world.advance(secs(4));
    assert_eq!(clock.now(), at(53 * SEC));
}

/// `jump`, `jump_forward_with_playback_rate`, `jump_backward_with_playback_rate`.
#[test]
fn a_jump_is_exact_and_time_continues_as_before() {
    for to in [500, 5_000, 0, -77] {
        let (world, clock) = running(1_000, 2.0);
        world.advance(ns(100));
        clock.jump(at(to)).unwrap();
        assert_eq!(
            clock.now(),
            at(to),
            "the rate has no say in where a jump lands"
        );
        world.advance(ns(100));
        assert_eq!(clock.now(), at(to + 200));
        clock.pause().unwrap();
        clock.jump(at(to)).unwrap();
        world.advance(ns(100));
        assert_eq!((clock.now(), clock.is_paused()), (at(to), true));
    }
}

/// rosbag2's clock has no jump handlers at all: `create_jump_callback` gives a null pointer.
#[test]
fn jump_handlers_are_called_with_the_length_of_the_jump() {
    let (world, clock) = running(1_000, 2.0);
    let (_handle, log) = watch(clock.clock(), JumpThreshold::ANY);
    world.advance(ns(100));
    clock.jump(at(200)).unwrap();
    clock.jump(at(900)).unwrap();
    clock.jump(at(900)).unwrap();
    clock.pause().unwrap();
    set_rate(&clock, 9.0);
    clock.resume().unwrap();
    assert_eq!(
        deltas(&log),
        [-1_000, 700],
        "a jump of no length and a control are no jumps"
    );
}

/// However long the handlers take, the time jumped to is the time shown first.
#[test]
fn time_stands_while_the_handlers_of_a_seek_run() {
    let (world, clock) = running(1_000, 2.0);
    let inside = world.clone();
    let handler = timeloom_time::JumpHandler::new("slow", JumpThreshold::ANY)
        .before(move |_| inside.advance(secs(5)));
    let _handle = clock.add_jump_handler(handler);
    clock.jump(at(2_000)).unwrap();
    assert_eq!(clock.now(), at(2_000));
    world.advance(ns(1));
    assert_eq!(clock.now(), at(2_002));
}

/// The equations of `playback_time.md`: time is a line from the last reference pair.
#[test]
fn the_reference_pair_predicts_every_reading() {
    let (world, clock) = running(1_000, 1.5);
    world.advance(ns(1_000));
    set_rate(&clock, 0.5);
    let steady = Clock::<Steady>::on(&world.base()).now();
    let pair = clock.reference();
    let expected = ReferencePair {
        ros: at(2_500),
        steady,
        rate: PlaybackRate::new(0.5).unwrap(),
        paused: false,
    };
    assert_eq!(pair, expected);
    world.advance(ns(300));
    assert_eq!(clock.now(), pair.ros + ns(150));
    assert_eq!(clock.reference(), pair, "reading changes nothing");
}

/// gz-sim `Time`: 100 steps are 100 ms, the step may change, a pause adds nothing.
#[test]
fn a_stepped_clock_adds_up() {
    let clock = ControlledClock::new(&VirtualTime::manual().base(), at_ms(0));
    for _ in 0..100 {
        clock.jump(clock.now() + ms(1)).unwrap();
    }
    assert_eq!(clock.now(), at_ms(100));
    for _ in 0..100 {
        clock.jump(clock.now() + ms(2)).unwrap();
    }
    assert_eq!(clock.now(), at_ms(300));
}

#[test]
fn the_limits_of_time_hold() {
    let (world, clock) = running(i64::MAX - 10, 1.0);
    world.advance(secs(1));
    assert_eq!(clock.now(), Time::MAX, "saturates, never wraps");
    let options = WaitOptions::new();
    assert!(
        clock
            .clock()
            .sleep_until_with(Time::MAX, &options)
            .is_reached()
    );
    clock.jump(Time::MIN).unwrap();
    assert_eq!(clock.now(), Time::MIN);
    world.advance(ns(5));
    assert_eq!(clock.now(), at(i64::MIN + 5));
    set_rate(&clock, f64::MAX);
    world.advance(ns(3));
    assert_eq!(clock.now(), Time::MAX);
    set_rate(&clock, f64::MIN_POSITIVE);
    clock.jump(at(7)).unwrap();
    world.advance(secs(1_000_000));
    assert_eq!(clock.now(), at(7));
}

#[test]
fn a_time_source_cannot_take_over_a_controlled_clock() {
    let (world, clock) = running(0, 1.0);
    let refused = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = std::sync::Arc::clone(&refused);
    clock.clock().set_reporter(move |warning| {
        assert_eq!(*warning, ClockWarning::SourceRefused);
        count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        panic!("a reporter that panics stops nothing");
    });
    let hub = TimeHub::new(&world.base());
    hub.activate();
    hub.attach(clock.clock());
    clock.clock().set_override(at(77));
    clock.clock().deactivate_override();
    world.advance(ns(5));
    assert_eq!(clock.now(), at(5));
    assert_eq!(refused.load(std::sync::atomic::Ordering::Relaxed), 3);
}

#[test]
fn a_ceiling_stops_time_without_catching_up() {
    let world = VirtualTime::manual();
    let clock = ControlledClock::new(&world.base(), at(0));
    clock.set_rate(PlaybackRate::new(2.0).unwrap()).unwrap();
    clock.resume().unwrap();
    clock.set_ceiling(Some(at_ms(10))).unwrap();
    world.advance(ms(4));
    assert_eq!(clock.now(), at_ms(8), "below it nothing is felt");
    world.advance(ms(4));
    assert_eq!(clock.now(), at_ms(10));
    clock.set_ceiling(Some(at_ms(20))).unwrap();
    assert_eq!(clock.now(), at_ms(10), "it runs on from where it stood");
    world.advance(ms(2));
    assert_eq!(clock.now(), at_ms(14));
    clock.pause().unwrap();
    clock.resume().unwrap();
    world.advance(ms(50));
    assert_eq!(clock.now(), at_ms(20), "also after a pause");
    clock.jump(at_ms(30)).unwrap();
    world.advance(ms(50));
    assert_eq!(clock.now(), at_ms(30), "a jump beyond it stands there");
    clock.set_ceiling(None).unwrap();
    world.advance(ms(1));
    assert_eq!(clock.now(), at_ms(32));
    clock.set_ceiling(Some(at_ms(5))).unwrap();
    world.advance(ms(1));
    assert_eq!(clock.now(), at_ms(32), "time never goes back for it");
}

#[test]
fn a_wait_beyond_the_ceiling_ends_when_it_is_raised() {
    let world = VirtualTime::new();
    let _here = world.enter();
    let clock = ControlledClock::new(&world.base(), at(0));
    clock.set_ceiling(Some(at_ms(10))).unwrap();
    clock.resume().unwrap();
    let waiter = {
        let clock = clock.clone();
        world.spawn("waiter", move || clock.clock().sleep_until(at_ms(15)))
    };
    let steady = Clock::<Steady>::on(&world.base());
    let _woke = steady.sleep_for(ms(100));
    assert!(!waiter.is_finished());
    clock.set_ceiling(Some(at_ms(20))).unwrap();
    assert!(waiter.join().unwrap().is_reached());
    assert_eq!(clock.now(), at_ms(15));
}

#[test]
fn the_reference_pair_is_consistent_also_while_paused() {
    let world = VirtualTime::manual();
    let clock = ControlledClock::new(&world.base(), at(1_000));
    let steady = Clock::<Steady>::on(&world.base());
    clock.resume().unwrap();
    world.advance(ns(500));
    clock.pause().unwrap();
    let reference = clock.reference();
    assert_eq!((reference.ros, reference.steady), (at(1_500), steady.now()));
    world.advance(ns(70));
    clock.jump(at(9_000)).unwrap();
    let reference = clock.reference();
    assert_eq!((reference.ros, reference.steady), (at(9_000), steady.now()));
}

#[test]
fn a_controlled_clock_at_zero_has_a_time() {
    let clock = ControlledClock::new(&VirtualTime::manual().base(), at(0));
    assert!(clock.clock().started());
    assert_eq!(clock.clock().try_now(), Ok(at(0)));
    assert!(
        clock
            .clock()
            .wait_until_started(&WaitOptions::new().real_timeout(ns(0)))
            .is_reached()
    );
}
