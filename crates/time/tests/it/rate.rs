//! Rates: the cases of rclcpp's `test_rate` and rclpy's `test_rate`, and a grid that overruns do not shift.

use timeloom_time::{
    CancelToken, Clock, Duration, MissedTick, Rate, Ros, Steady, System, TimeError, VirtualTime,
    WaitOptions, Woke,
};

use crate::support::{Log, at_ms, ms, overridden, secs};

/// `rate_basics`, `wall_rate_basics`: a loop of 100 ms with work of varying length.
#[test]
fn a_loop_keeps_its_grid_and_counts_missed_points() {
    let world = VirtualTime::new();
    let clock = Clock::<Steady>::on(&world.base());
    let _inside = world.enter();
    let begin = clock.now();
    let mut rate = Rate::new(&clock, ms(100)).unwrap();
    let mut seen = Vec::new();
    for work in [20, 20, 350, 20, 0, 100, 20] {
        assert!(clock.sleep_for(ms(work)).is_reached());
        let tick = rate.sleep().unwrap();
        seen.push(((clock.now() - begin).nanos() / 1_000_000, tick.missed));
    }
    let expected = [
        (100, 0),
        (200, 0),
        (550, 2),
        (600, 0),
        (700, 0),
        (800, 0),
        (900, 0),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn a_reset_begins_a_new_grid() {
    let world = VirtualTime::new();
    let clock = Clock::<System>::on(&world.base());
    let _inside = world.enter();
    let begin = clock.now();
    let mut rate = Rate::new(&clock, ms(100)).unwrap();
    assert!(clock.sleep_for(ms(130)).is_reached());
    rate.reset();
    rate.sleep().unwrap();
    assert_eq!(clock.now() - begin, ms(230));
    assert_eq!(rate.period(), ms(100));
}

/// `from_double`, `incorrect_constructor`, rclpy `test_rate_invalid_period`.
#[test]
fn a_rate_needs_a_frequency_above_zero() {
    let clock = Clock::<Steady>::new();
    for (hertz, period) in [
        (1.0, secs(1)),
        (2.0, ms(500)),
        (0.5, secs(2)),
        (4.0, ms(250)),
    ] {
        assert_eq!(Rate::from_hertz(&clock, hertz).unwrap().period(), period);
    }
    for hertz in [0.0, -1.0] {
        let error = Rate::from_hertz(&clock, hertz).unwrap_err();
        assert_eq!(error, TimeError::RateNotPositive { hertz });
    }
    assert!(Rate::from_hertz(&clock, f64::NAN).is_err());
    assert!(Rate::from_hertz(&clock, f64::INFINITY).is_err());
    for period in [Duration::ZERO, ms(-1)] {
        let nanoseconds = period.nanos();
        let error = Rate::new(&clock, period).unwrap_err();
        assert_eq!(error, TimeError::PeriodNotPositive { nanoseconds });
    }
}

/// `clock_types`: any clock paces a loop, a paused simulation too.
#[test]
fn a_rate_on_sim_time_sleeps_until_the_source_gets_there() {
    let world = VirtualTime::manual();
    let clock = Clock::<Ros>::on(&world.base());
    clock.set_override(at_ms(1_000));
    clock.activate_override();
    let (log, inner) = (Log::new(), clock.clone());
    let seen = log.clone();
    let looping = world.spawn("loop", move || {
        let mut rate = Rate::new(&inner, ms(100)).unwrap();
        loop {
            match rate.sleep() {
                Ok(tick) => seen.push((tick.expected, tick.missed)),
                Err(woke) => return woke,
            }
        }
    });
    world.settle();
    for now in [1_050, 1_100, 1_101, 1_450] {
        clock.set_override(at_ms(now));
        world.settle();
    }
    world.advance(secs(100));
    assert_eq!(log.take(), [(at_ms(1_100), 0), (at_ms(1_200), 2)]);
    // A jump back starts a new grid, once.
    for now in [200, 299, 300, 350, 400] {
        clock.set_override(at_ms(now));
        world.settle();
    }
    assert_eq!(log.take(), [(at_ms(300), 0), (at_ms(400), 0)]);
    clock.shut_down();
    assert_eq!(
        looping.join().unwrap(),
        Woke::ShutDown,
        "rclpy `test_shutdown_wakes_rate`"
    );
}

/// rclpy `test_destroy_wakes_rate`: a loop is stopped by its token.
#[test]
fn a_sleeping_loop_is_stopped_by_its_token_or_gives_up() {
    let world = VirtualTime::manual();
    let token = CancelToken::new();
    let clock = overridden(at_ms(1_000));
    let options = WaitOptions::new().cancel(&token);
    let inner = clock.clone();
    let looping = world.spawn("loop", move || {
        let mut rate = Rate::new(&inner, ms(100)).unwrap();
        rate.sleep_with(&options)
    });
    token.cancel();
    assert_eq!(looping.join().unwrap(), Err(Woke::Cancelled));
    let mut rate = Rate::new(&clock, ms(100)).unwrap();
    let limited = WaitOptions::new().real_timeout(Duration::ZERO);
    assert_eq!(rate.sleep_with(&limited), Err(Woke::TimedOut));
}

#[test]
fn a_loop_may_catch_up_or_delay_instead() {
    for (policy, expected) in [
        (
            MissedTick::CatchUp,
            vec![(350, 0), (350, 0), (350, 0), (400, 0)],
        ),
        (
            MissedTick::Delay,
            vec![(350, 2), (450, 0), (550, 0), (650, 0)],
        ),
    ] {
        let world = VirtualTime::new();
        let clock = Clock::<Steady>::on(&world.base());
        let _inside = world.enter();
        let begin = clock.now();
        let mut rate = Rate::with_policy(&clock, ms(100), policy).unwrap();
        assert!(clock.sleep_for(ms(350)).is_reached());
        let seen: Vec<_> = (0..4)
            .map(|_| {
                let missed = rate.sleep().unwrap().missed;
                ((clock.now() - begin).nanos() / 1_000_000, missed)
            })
            .collect();
        assert_eq!(seen, expected, "{policy:?}");
    }
}

/// A loop has no drift over an hour, whatever its work takes.
#[test]
fn a_loop_of_thirty_hertz_keeps_its_grid_for_an_hour() {
    let world = VirtualTime::new();
    let clock = Clock::<Steady>::on(&world.base());
    let _inside = world.enter();
    let mut rate = Rate::from_hertz(&clock, 30.0).unwrap();
    let (begin, period) = (clock.now(), rate.period());
    for round in 1..=108_000 {
        let tick = rate.sleep().unwrap();
        assert_eq!(tick.expected, begin + period * round);
        assert_eq!((tick.actual, tick.missed), (tick.expected, 0));
    }
}
