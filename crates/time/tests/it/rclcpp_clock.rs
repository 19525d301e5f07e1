//! The cases of rclcpp's `test_time` and `test_clock` for sleeping, with our own assertions.
//!
//! Not re-created: `bad_clock_type` (another kind's time does not compile) and the tests of contexts (a wait
//! ends with its clock's shutdown or with a token).

use timeloom_time::{
    CancelToken, Clock, Duration, Kind, KindId, Ros, RosSteady, Steady, System, Time, VirtualTime,
    WaitOptions, Woke,
};

use crate::support::{at, ms, overridden, secs};

/// `clock_type_access`.
#[test]
fn a_clock_knows_its_kind() {
    assert_eq!(
        [Ros::ID, System::ID, Steady::ID, RosSteady::ID],
        [
            KindId::Ros,
            KindId::System,
            KindId::Steady,
            KindId::RosSteady
        ]
    );
    assert!(format!("{:?}", Clock::<Steady>::new()).contains("steady"));
}

/// `time_sources`.
#[test]
fn the_machines_clocks_show_a_time() {
    assert!(Clock::<Ros>::new().started());
    assert!(Clock::<System>::new().now() > Time::from_nanos(0));
    assert!(Clock::<Steady>::new().now() > Time::from_nanos(0));
    let (ros, system) = (Clock::<Ros>::new(), Clock::<System>::new());
    assert!(
        ros.now().nanos() <= system.now().nanos(),
        "one clock, read one after the other"
    );
}

fn sleeps_long_enough<K: Kind>(clock: &Clock<K>) {
    let begin = clock.now();
    assert!(clock.sleep_until(begin + ms(2)).is_reached());
    assert!(clock.now() >= begin + ms(2));
    let begin = clock.now();
    assert!(clock.sleep_for(ms(2)).is_reached());
    assert!(clock.now() >= begin + ms(2));
}

/// `sleep_until_basic_system`, `sleep_until_basic_steady`, `sleep_for_basic_*`.
#[test]
fn a_sleep_on_the_machine_takes_at_least_its_time() {
    sleeps_long_enough(&Clock::<System>::new());
    sleeps_long_enough(&Clock::<Steady>::new());
    sleeps_long_enough(&Clock::<Ros>::new());
    sleeps_long_enough(&Clock::<RosSteady>::new());
}

fn returns_at_once<K: Kind>(clock: &Clock<K>) {
    let now = clock.now();
    assert!(clock.sleep_until(now).is_reached());
    assert!(clock.sleep_until(now - secs(1_000)).is_reached());
    assert!(clock.sleep_for(Duration::ZERO).is_reached());
    assert!(clock.sleep_for(secs(-1_000)).is_reached());
}

/// `sleep_until_*_past_returns_immediately`, rclpy `test_sleep_until_in_the_past`, `test_sleep_for_negative`: on
/// virtual time that does not advance, a wait of any length would hang.
#[test]
fn a_sleep_until_the_past_returns_at_once() {
    let base = VirtualTime::manual().base();
    returns_at_once(&Clock::<System>::on(&base));
    returns_at_once(&Clock::<Steady>::on(&base));
    returns_at_once(&Clock::<Ros>::on(&base));
    returns_at_once(&overridden(at(5_000_000_000_000)));
}

/// `sleep_until_ros_time_enable_interrupt`, `sleep_until_ros_time_disable_interrupt`, rclpy `toggled`.
#[test]
fn a_sleep_until_a_point_ends_when_the_source_changes() {
    let world = VirtualTime::manual();
    let clock = Clock::<Ros>::on(&world.base());
    let sleep = |clock: &Clock<Ros>| {
        let (clock, until) = (clock.clone(), clock.now() + secs(600));
        let thread = world.spawn("sleeper", move || clock.sleep_until(until));
        world.settle();
        thread
    };
    let sleeping = sleep(&clock);
    clock.activate_override();
    assert!(matches!(sleeping.join().unwrap(), Woke::SourceChanged(_)));
    let sleeping = sleep(&clock);
    clock.deactivate_override();
    assert!(matches!(sleeping.join().unwrap(), Woke::SourceChanged(_)));
}

/// `sleep_until_shutdown_interrupt`, `sleep_for_shutdown_interrupt`.
#[test]
fn a_sleep_of_either_sort_ends_with_the_clock() {
    let world = VirtualTime::manual();
    let clock = Clock::<Ros>::on(&world.base());
    let (until, lasting) = (clock.clone(), clock.clone());
    let threads = [
        world.spawn("until", move || until.sleep_until(Time::MAX)),
        world.spawn("for", move || lasting.sleep_for(secs(600))),
    ];
    world.settle();
    clock.shut_down();
    for thread in threads {
        assert_eq!(thread.join().unwrap(), Woke::ShutDown);
    }
    assert_eq!(clock.sleep_for(secs(1)), Woke::ShutDown);
}

/// `sleep_until_basic_ros`, `sleep_for_basic_ros`.
#[test]
fn a_sleep_on_sim_time_follows_the_source() {
    let world = VirtualTime::manual();
    let clock = Clock::<Ros>::on(&world.base());
    clock.set_override(at(1_337));
    clock.activate_override();
    let (until, lasting) = (clock.clone(), clock.clone());
    let threads = [
        world.spawn("until", move || until.sleep_until(at(1_338))),
        world.spawn("for", move || lasting.sleep_for(Duration::from_nanos(1))),
    ];
    world.settle();
    assert!(threads.iter().all(|thread| !thread.is_finished()));
    clock.set_override(at(1_338));
    for thread in threads {
        assert!(thread.join().unwrap().is_reached());
    }
}

fn is_cancelled_before_and_after<K: Kind>(world: &VirtualTime, clock: &Clock<K>) {
    let token = CancelToken::new();
    let options = WaitOptions::new().cancel(&token);
    let (sleeper, inside) = (clock.clone(), options.clone());
    let sleeping = world.spawn("sleeper", move || {
        sleeper.sleep_until_with(Time::MAX, &inside)
    });
    world.settle();
    token.cancel();
    assert_eq!(sleeping.join().expect("no panic"), Woke::Cancelled);
    assert_eq!(clock.sleep_for_with(secs(9), &options), Woke::Cancelled);
    let other = WaitOptions::new()
        .cancel(&CancelToken::new())
        .real_timeout(ms(1));
    let sleeper = clock.clone();
    let untouched = world.spawn("other", move || sleeper.sleep_until_with(Time::MAX, &other));
    world.settle();
    world.advance(ms(1));
    assert_eq!(
        untouched.join().expect("no panic"),
        Woke::TimedOut,
        "a token ends its own waits only"
    );
}

/// `test_clock` `wakeup_sleep_steady_time`, `_system_time`, `_ros_time_not_active`, `_ros_time_active`: upstream's
/// cancel ends one current or future sleep of the clock, whichever is first.
#[test]
fn a_token_cancels_the_sleeps_that_carry_it_before_and_after() {
    let world = VirtualTime::manual();
    is_cancelled_before_and_after(&world, &Clock::<Steady>::on(&world.base()));
    is_cancelled_before_and_after(&world, &Clock::<System>::on(&world.base()));
    let ros = Clock::<Ros>::on(&world.base());
    is_cancelled_before_and_after(&world, &ros);
    ros.activate_override();
    is_cancelled_before_and_after(&world, &ros);
}

/// `no_wakeup_on_sim_time`.
#[test]
fn a_sleep_on_sim_time_does_not_end_by_the_machines_time() {
    let world = VirtualTime::manual();
    let clock = Clock::<Ros>::on(&world.base());
    clock.set_override(at(1));
    clock.activate_override();
    let (sleeper, token) = (clock.clone(), CancelToken::new());
    let options = WaitOptions::new().cancel(&token);
    let sleeping = world.spawn("sleeper", move || sleeper.sleep_for_with(ms(500), &options));
    world.settle();
    world.advance(secs(3_600));
    world.settle();
    assert!(!sleeping.is_finished());
    token.cancel();
    assert_eq!(sleeping.join().unwrap(), Woke::Cancelled);
}

/// `multiple_threads_wait_on_one_clock`: upstream wakes one of them per cancel, all at shutdown.
#[test]
fn many_threads_on_one_clock_end_each_for_its_own_reason() {
    let world = VirtualTime::manual();
    let clock = Clock::<Ros>::on(&world.base());
    clock.set_override(at(1));
    clock.activate_override();
    let token = CancelToken::new();
    let threads: Vec<_> = (0..12)
        .map(|who| {
            let (clock, token) = (clock.clone(), token.clone());
            world.spawn("sleeper", move || match who % 3 {
                0 => clock.sleep_until(at(100)),
                1 => clock.sleep_until_with(at(1_000), &WaitOptions::new().cancel(&token)),
                _ => clock.sleep_until(at(1_000)),
            })
        })
        .collect();
    world.settle();
    clock.set_override(at(100));
    token.cancel();
    world.settle();
    assert_eq!(
        threads.iter().filter(|thread| thread.is_finished()).count(),
        8
    );
    clock.shut_down();
    for (who, thread) in threads.into_iter().enumerate() {
        let expected = [Woke::Reached, Woke::Cancelled, Woke::ShutDown][who % 3];
        assert_eq!(thread.join().unwrap(), expected);
    }
}

/// `TestClockStarted`.
#[test]
fn waiting_for_time_to_start_gives_up_or_ends_with_the_clock() {
    let world = VirtualTime::manual();
    let clock = Clock::<Ros>::on(&world.base());
    clock.activate_override();
    let (limited, lasting) = (clock.clone(), clock.clone());
    let limited = world.spawn("limited", move || {
        limited.wait_until_started(&WaitOptions::new().real_timeout(ms(100)))
    });
    let lasting = world.spawn("lasting", move || {
        lasting.wait_until_started(&WaitOptions::new())
    });
    world.settle();
    world.advance(ms(100));
    assert_eq!(limited.join().unwrap(), Woke::TimedOut);
    world.advance(secs(100));
    world.settle();
    assert!(!lasting.is_finished());
    clock.shut_down();
    assert_eq!(lasting.join().unwrap(), Woke::ShutDown);
}
