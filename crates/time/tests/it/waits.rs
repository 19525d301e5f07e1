//! Every way in which a wait ends, in every form, on every kind of clock.

use timeloom_time::{
    CancelToken, Clock, ClockSink, ControlledClock, Duration, Kind, OnJump, PlaybackRate,
    PlayerClock, Ros, RosSteady, SourceId, Steady, System, Time, TimeHub, VirtualTime, WaitOptions,
    Woke,
};

use crate::support::{MS, SEC, at, at_ms, extrapolating, ms, ns, secs};
use crate::waiting::{FORMS, Form, Waiting};

fn plain() -> WaitOptions {
    WaitOptions::new()
}

fn overridden_on(world: &VirtualTime, start: Time<Ros>) -> Clock<Ros> {
    let clock = Clock::on(&world.base());
    clock.set_override(start);
    clock.activate_override();
    clock
}

/// A clock that extrapolates a source of rate 1 and period 100 ms, at its third sample.
fn extrapolated_on(world: &VirtualTime) -> (Clock<Ros>, ClockSink, TimeHub) {
    let hub = extrapolating(&world.base());
    let clock = hub.clock();
    hub.activate();
    let sink = hub.sink(SourceId::named("sim"));
    for sample in [1_000, 1_100, 1_200] {
        sink.tick(at_ms(sample));
        if sample < 1_200 {
            world.advance(ms(100));
        }
    }
    (clock, sink, hub)
}

fn controlled_on(world: &VirtualTime, rate: f64) -> ControlledClock {
    let clock = ControlledClock::new(&world.base(), at_ms(1_000));
    let rate = PlaybackRate::new(rate).expect("a legal rate");
    clock
        .set_rate(rate)
        .expect("a controlled clock takes orders");
    clock.resume().expect("a controlled clock takes orders");
    clock
}

/// Waits for the time that `clock` shows after `steady` of virtual time, to the nanosecond.
fn ends_exactly<K: Kind>(
    form: Form,
    world: &VirtualTime,
    clock: &Clock<K>,
    until: Time<K>,
    steady: Duration,
) {
    let mut waiting = Waiting::begin(form, world, clock, until, &plain());
    world.advance(steady - ns(1));
    waiting.goes_on();
    world.advance(ns(1));
    assert_eq!(waiting.end(), Woke::Reached);
    assert!(clock.now() >= until);
}

#[test]
fn every_wait_ends_at_its_instant_and_not_a_nanosecond_before() {
    for form in FORMS {
        let world = VirtualTime::manual();
        let steady = Clock::<Steady>::on(&world.base());
        ends_exactly(
            form,
            &world,
            &steady,
            steady.now() + secs(3_600),
            secs(3_600),
        );
        let system = Clock::<System>::on(&world.base());
        ends_exactly(
            form,
            &world,
            &system,
            system.now() + secs(3_600),
            secs(3_600),
        );
        let ros = Clock::<Ros>::on(&world.base());
        ends_exactly(form, &world, &ros, ros.now() + ms(7), ms(7));
        let monotonic = Clock::<RosSteady>::on(&world.base());
        ends_exactly(form, &world, &monotonic, monotonic.now() + ms(7), ms(7));
        let doubled = controlled_on(&world, 2.0);
        ends_exactly(form, &world, doubled.clock(), at(1_000 * MS + 21), ns(11));
        let (extrapolated, _sink, _hub) = extrapolated_on(&world);
        ends_exactly(form, &world, &extrapolated, at_ms(1_250), ms(50));
    }
}

#[test]
fn a_wait_on_a_stepped_clock_ends_with_the_tick_that_reaches_it() {
    for form in FORMS {
        let world = VirtualTime::manual();
        let clock = overridden_on(&world, at(10));
        let mut waiting = Waiting::begin(form, &world, &clock, at(100), &plain());
        for now in [11, 50, 99] {
            clock.set_override(at(now));
            waiting.goes_on();
        }
        world.advance(secs(3_600));
        waiting.goes_on();
        clock.set_override(at(100));
        assert_eq!(waiting.end(), Woke::Reached);
    }
}

#[test]
fn a_wait_for_the_past_or_the_present_is_over_at_once() {
    for form in FORMS {
        let world = VirtualTime::manual();
        let clock = overridden_on(&world, at(100));
        for until in [at(100), at(99), at(-1), Time::MIN] {
            let waiting = Waiting::begin(form, &world, &clock, until, &plain());
            assert_eq!(waiting.end(), Woke::Reached);
        }
        assert!(clock.sleep_for(ns(0)).is_reached());
        assert!(clock.sleep_for(Duration::MIN).is_reached());
    }
}

/// Cancel, shutdown and timeout end a wait on any clock, whatever its time does.
fn ends_by_force<K: Kind>(name: &str, make: impl Fn(&VirtualTime) -> Clock<K>) {
    ends_by_force_with(name, |world| (make(world), ()));
}

/// The same, with a value that must live as long as the clock.
fn ends_by_force_with<K: Kind, T>(name: &str, make: impl Fn(&VirtualTime) -> (Clock<K>, T)) {
    for form in FORMS {
        let world = VirtualTime::manual();
        let (clock, _kept) = make(&world);
        let tokens = [CancelToken::new(), CancelToken::new()];
        for token in &tokens {
            let options = plain().cancel(&tokens[0]).cancel(&tokens[1]);
            let mut waiting = Waiting::begin(form, &world, &clock, Time::MAX, &options);
            if !tokens[0].is_cancelled() {
                world.advance(secs(1));
                waiting.goes_on();
            }
            token.cancel();
            assert_eq!(waiting.end(), Woke::Cancelled, "{name}");
        }

        let timed = plain().real_timeout(ms(20));
        let mut waiting = Waiting::begin(form, &world, &clock, Time::MAX, &timed);
        world.advance(ms(20) - ns(1));
        waiting.goes_on();
        world.advance(ns(1));
        assert_eq!(waiting.end(), Woke::TimedOut, "{name}");

        let mut waiting = Waiting::begin(form, &world, &clock, Time::MAX, &plain());
        waiting.goes_on();
        clock.shut_down();
        assert_eq!(waiting.end(), Woke::ShutDown, "{name}");
        let late = Waiting::begin(form, &world, &clock, Time::MAX, &plain());
        assert_eq!(late.end(), Woke::ShutDown, "{name}");
    }
}

#[test]
fn cancel_timeout_and_shutdown_end_a_wait_on_every_clock() {
    ends_by_force("steady", |world| Clock::<Steady>::on(&world.base()));
    ends_by_force("system", |world| Clock::<System>::on(&world.base()));
    ends_by_force("ros", |world| Clock::<Ros>::on(&world.base()));
    ends_by_force("override", |world| overridden_on(world, at(5)));
    ends_by_force("unstarted", |world| overridden_on(world, at(0)));
    ends_by_force("controlled", |world| {
        controlled_on(world, 3.0).clock().clone()
    });
    ends_by_force("paused", |world| {
        let clock = controlled_on(world, 3.0);
        clock.pause().unwrap();
        clock.clock().clone()
    });
    ends_by_force_with("extrapolated", |world| {
        let (clock, sink, hub) = extrapolated_on(world);
        (clock, (sink, hub))
    });
}

/// Sets the next time of a clock.
type SetTime = Box<dyn Fn(Time<Ros>)>;

#[test]
fn a_silent_source_is_noticed_after_one_to_two_times_the_patience() {
    for form in FORMS {
        let world = VirtualTime::manual();
        let plain_clock = overridden_on(&world, at(5));
        let set = plain_clock.clone();
        let by_hand: (_, SetTime) = (plain_clock, Box::new(move |now| set.set_override(now)));
        let (extrapolated, sink, _hub) = extrapolated_on(&world);
        let by_source: (_, SetTime) = (extrapolated, Box::new(move |now| sink.tick(now)));
        for (clock, tell) in [by_hand, by_source] {
            let options = plain().stall_after(ms(100));
            let mut waiting = Waiting::begin(form, &world, &clock, Time::MAX, &options);
            for beat in 0..10 {
                world.advance(ms(90));
                tell(at_ms(2_000 + beat));
                waiting.goes_on();
            }
            world.advance(ms(99));
            waiting.goes_on();
            world.advance(ms(101));
            assert_eq!(waiting.end(), Woke::Stalled);
        }
    }
}

#[test]
fn only_a_clock_with_a_source_can_stall() {
    for form in FORMS {
        let world = VirtualTime::manual();
        let controlled = controlled_on(&world, 1.0);
        controlled.pause().unwrap();
        let options = plain().stall_after(ms(1)).real_timeout(secs(1));
        let ros = Clock::<Ros>::on(&world.base());
        for clock in [controlled.clock(), &ros] {
            let mut waiting = Waiting::begin(form, &world, clock, Time::MAX, &options);
            world.advance(ms(999));
            waiting.goes_on();
            world.advance(ms(1));
            assert_eq!(waiting.end(), Woke::TimedOut);
        }
    }
}

#[test]
fn a_source_has_its_full_patience_from_the_moment_it_takes_over() {
    for form in FORMS {
        let world = VirtualTime::manual();
        let clock = Clock::<Ros>::on(&world.base());
        let options = plain().stall_after(ms(100)).on_jump(OnJump::Ignore);
        let mut waiting = Waiting::begin(form, &world, &clock, Time::MAX, &options);
        world.advance(ms(99));
        clock.activate_override();
        world.advance(ms(99));
        waiting.goes_on();
        world.advance(ms(102));
        assert_eq!(waiting.end(), Woke::Stalled);
    }
}

#[test]
fn a_change_of_rate_moves_the_end_of_a_wait_to_the_nanosecond() {
    for form in FORMS {
        let world = VirtualTime::manual();
        let clock = controlled_on(&world, 1.0);
        let until = clock.now() + secs(10);
        let mut waiting = Waiting::begin(form, &world, clock.clock(), until, &plain());
        let set_rate = |rate| clock.set_rate(PlaybackRate::new(rate).unwrap()).unwrap();
        world.advance(secs(4));
        set_rate(0.25);
        world.advance(secs(8));
        clock.pause().unwrap();
        world.advance(secs(100));
        waiting.goes_on();
        set_rate(8.0);
        world.advance(secs(100));
        waiting.goes_on();
        clock.resume().unwrap();
        // Six of ten seconds have passed; the other four take half a second.
        world.advance(ms(500) - ns(1));
        waiting.goes_on();
        world.advance(ns(1));
        assert_eq!(waiting.end(), Woke::Reached);
        assert_eq!(clock.now(), until);
    }
}

/// However the source behaves, the wait ends exactly when the clock shows its time.
#[test]
fn a_wait_on_an_extrapolated_clock_ends_exactly_at_its_time() {
    let (speeds_up, slows_down) = ([1_300, 1_600, 1_900, 2_200], [1_300, 1_310, 1_320, 1_420]);
    let (pauses, dies) = ([1_300, 1_300, 1_300, 1_380], [1_300, 0, 0, 0]);
    for (form, samples) in FORMS
        .into_iter()
        .flat_map(|form| [speeds_up, slows_down, pauses, dies].map(|samples| (form, samples)))
    {
        for target in [1_250, 1_333, 1_390, 1_399] {
            let world = VirtualTime::manual();
            let hub = extrapolating(&world.base());
            let clock = hub.clock();
            hub.activate();
            let sink = hub.sink(SourceId::named("sim"));
            sink.tick(at_ms(1_100));
            world.advance(ms(100));
            sink.tick(at_ms(1_200));
            let mut waiting = Some(Waiting::begin(
                form,
                &world,
                &clock,
                at_ms(target),
                &plain(),
            ));
            for sample in samples {
                for _ in 0..10 {
                    world.advance(ms(10));
                    let over = waiting.as_mut().is_none_or(|wait| wait.look().is_some());
                    assert_eq!(over, clock.now() >= at_ms(target), "{samples:?} {target}");
                    waiting = waiting.filter(|_| !over);
                }
                if sample > 0 {
                    sink.tick(at_ms(sample));
                    let over = waiting.as_mut().is_none_or(|wait| wait.look().is_some());
                    assert_eq!(over, clock.now() >= at_ms(target), "{samples:?} {target}");
                    waiting = waiting.filter(|_| !over);
                }
            }
        }
    }
}

#[test]
fn shutdown_wakes_every_thread_that_waits() {
    let world = VirtualTime::manual();
    let clock = overridden_on(&world, at(5));
    let threads: Vec<_> = (0..10)
        .map(|index| {
            let clock = clock.clone();
            world.spawn("sleeper", move || clock.sleep_until(at(1_000 + index)))
        })
        .collect();
    world.settle();
    clock.shut_down();
    for thread in threads {
        assert_eq!(thread.join().unwrap(), Woke::ShutDown);
    }
    assert_eq!(clock.now(), at(5), "reading goes on");
}

#[test]
fn a_dropped_wait_leaves_nothing_behind() {
    let world = VirtualTime::manual();
    let clock = Clock::<Steady>::on(&world.base());
    let token = CancelToken::new();
    let options = plain().cancel(&token).real_timeout(secs(2));
    for _ in 0..1_000 {
        drop(clock.sleep_until_async_with(clock.now() + secs(1), &options));
        drop(clock.sleep_until_descriptor(clock.now() + secs(1), &options));
    }
    world.advance(secs(5));
    token.cancel();
    clock.shut_down();
}

#[test]
fn the_limits_of_time_are_ordinary_points_in_time() {
    for form in FORMS {
        let world = VirtualTime::manual();
        let clock = controlled_on(&world, 1e300);
        let waiting = Waiting::begin(form, &world, clock.clock(), Time::MAX, &plain());
        world.advance(ns(1));
        assert_eq!(
            waiting.end(),
            Woke::Reached,
            "one nanosecond at this rate is all there is"
        );

        let clock = overridden_on(&world, Time::MIN);
        let waiting = Waiting::begin(form, &world, &clock, Time::MAX, &plain());
        clock.set_override(Time::MAX);
        assert_eq!(waiting.end(), Woke::Reached);

        let clock = overridden_on(&world, at(-5 * SEC));
        let waiting = Waiting::begin(form, &world, &clock, at(-1), &plain());
        clock.set_override(at(-1));
        assert_eq!(waiting.end(), Woke::Reached);
        assert!(clock.started(), "only zero is no time");
    }
}

/// The wait begins with the call, not with the first poll (ros-z `no_lost_wakeup_when_advance_before_poll`).
#[test]
fn a_future_that_is_polled_late_misses_nothing() {
    let world = VirtualTime::manual();
    let clock = overridden_on(&world, at(100));
    let late = clock.sleep_until_async(at(200));
    clock.set_override(at(200));
    clock.set_override(at(201));
    assert_eq!(world.block_on(late), Woke::Reached);
    let jumped = clock.sleep_until_async(at(300));
    clock.set_override(at(50));
    clock.set_override(at(400));
    assert!(matches!(world.block_on(jumped), Woke::Jumped(jump) if jump.new == at(50)));
}
