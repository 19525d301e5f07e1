//! The effect of a jump on a wait: return, ignore, rebase.

use timeloom_time::{
    Clock, ClockChange, ControlledClock, JumpCause, JumpHandler, JumpThreshold, OnJump,
    PlayerClock, Ros, SourceId, System, Time, TimeJump, VirtualTime, WaitOptions, Woke,
};

use crate::support::{Log, at, at_ms, extrapolating, ms, ns, secs};
use crate::waiting::{FORMS, Form, Waiting};

fn options(on_jump: OnJump) -> WaitOptions {
    WaitOptions::new().on_jump(on_jump)
}

fn overridden_on(world: &VirtualTime, start: Time<Ros>) -> Clock<Ros> {
    let clock = Clock::on(&world.base());
    clock.set_override(start);
    clock.activate_override();
    clock
}

/// A wait from 1000 for 1100.
fn wait_a_hundred(form: Form, on_jump: OnJump) -> (Clock<Ros>, Waiting<Ros>) {
    let world = VirtualTime::manual();
    let clock = overridden_on(&world, at(1_000));
    let waiting = Waiting::begin(form, &world, &clock, at(1_100), &options(on_jump));
    (clock, waiting)
}

#[test]
fn return_has_the_jump_and_a_tick_forward_is_not_a_jump() {
    for form in FORMS {
        let (clock, mut waiting) = wait_a_hundred(form, OnJump::Return);
        clock.set_override(at(1_050));
        waiting.goes_on();
        clock.set_override(at(400));
        clock.set_override(at(2_000));
        let Woke::Jumped(jump) = waiting.end() else {
            panic!("the first jump ends the wait, whatever comes after");
        };
        assert_eq!(
            (jump.old, jump.new, jump.delta),
            (at(1_050), at(400), ns(-650))
        );
    }
}

#[test]
fn ignore_waits_for_the_same_point() {
    for form in FORMS {
        let (clock, mut waiting) = wait_a_hundred(form, OnJump::Ignore);
        for now in [400, 1_099, 2, 1_099] {
            clock.set_override(at(now));
            waiting.goes_on();
        }
        clock.set_override(at(1_100));
        assert_eq!(waiting.end(), Woke::Reached);
    }
}

#[test]
fn rebase_waits_for_the_remaining_time_across_any_number_of_jumps() {
    for form in FORMS {
        let (clock, mut waiting) = wait_a_hundred(form, OnJump::Rebase);
        clock.set_override(at(1_030));
        for back in [700, 500, -2_000, -9_000] {
            clock.set_override(at(back));
            waiting.goes_on();
        }
        clock.set_override(at(-9_000 + 69));
        waiting.goes_on();
        clock.set_override(at(-9_000 + 20));
        clock.set_override(at(-9_000 + 20));
        waiting.goes_on();
        // 49 of the 70 were restored by the last jump.
        clock.set_override(at(-9_000 + 20));
        waiting.goes_on();
        clock.set_override(at(-9_000 + 21));
        assert_eq!(waiting.end(), Woke::Reached);
    }
}

#[test]
fn a_threshold_decides_which_jumps_of_a_source_count() {
    let far = JumpThreshold::new()
        .forward(ns(500))
        .and_then(|threshold| threshold.backward(ns(-500)))
        .unwrap();
    for form in FORMS {
        let world = VirtualTime::manual();
        let clock = overridden_on(&world, at(1_000));
        let begin = |on_jump| {
            let options = options(on_jump).jump_threshold(far);
            Waiting::begin(form, &world, &clock, at(1_100), &options)
        };
        let (mut returns, mut rebases) = (begin(OnJump::Return), begin(OnJump::Rebase));
        clock.set_override(at(501));
        returns.goes_on();
        rebases.goes_on();
        clock.set_override(at(1_001));
        let woke = returns.end();
        assert!(
            matches!(woke, Woke::Jumped(jump) if jump.delta == ns(500)),
            "{woke:?}"
        );
        clock.set_override(at(1_100));
        rebases.goes_on();
        clock.set_override(at(1_599));
        rebases.goes_on();
        clock.set_override(at(1_600));
        assert_eq!(rebases.end(), Woke::Reached);
    }
}

#[test]
fn a_seek_counts_in_both_directions() {
    for (form, to) in FORMS
        .into_iter()
        .flat_map(|form| [(form, 5_000), (form, 100)])
    {
        let world = VirtualTime::manual();
        let clock = ControlledClock::new(&world.base(), at_ms(1_000));
        clock.resume().unwrap();
        let begin =
            |on_jump| Waiting::begin(form, &world, clock.clock(), at_ms(1_100), &options(on_jump));
        let [returns, mut ignores, mut rebases] =
            [OnJump::Return, OnJump::Ignore, OnJump::Rebase].map(begin);
        world.advance(ms(40));
        clock.jump(at_ms(to)).unwrap();
        let woke = returns.end();
        assert!(
            matches!(woke, Woke::Jumped(jump) if jump.cause == JumpCause::Control && jump.new == at_ms(to)),
            "{woke:?}"
        );
        if to > 1_100 {
            assert_eq!(ignores.end(), Woke::Reached);
        } else {
            ignores.goes_on();
        }
        world.advance(ms(60) - ns(1));
        rebases.goes_on();
        world.advance(ns(1));
        assert_eq!(rebases.end(), Woke::Reached);
    }
}

#[test]
fn a_step_of_the_system_clock_counts_in_both_directions() {
    for (form, step) in FORMS
        .into_iter()
        .flat_map(|form| [(form, secs(3_600)), (form, secs(-3_600))])
    {
        let world = VirtualTime::manual();
        let clock = Clock::<System>::on(&world.base());
        let begin = |on_jump| {
            let until = clock.now() + ms(100);
            Waiting::begin(form, &world, &clock, until, &options(on_jump))
        };
        let [returns, mut rebases] = [OnJump::Return, OnJump::Rebase].map(begin);
        world.advance(ms(40));
        let old = clock.now();
        world.step_system_clock(step);
        let expected = TimeJump {
            change: ClockChange::NoChange,
            cause: JumpCause::SystemStep,
            old,
            new: old + step,
            delta: step,
            epoch: 1,
        };
        assert_eq!(returns.end(), Woke::Jumped(expected));
        world.advance(ms(60) - ns(1));
        rebases.goes_on();
        world.advance(ns(1));
        assert_eq!(rebases.end(), Woke::Reached);
    }
}

#[test]
fn a_sleep_for_a_duration_ignores_steps_of_the_system_clock() {
    for step in [secs(86_400), secs(-86_400)] {
        let world = VirtualTime::new();
        let _taking_part = world.enter();
        let clock = Clock::<System>::on(&world.base());
        let steady = Clock::<timeloom_time::Steady>::on(&world.base());
        let (sleeper, admin) = (clock.clone(), world.clone());
        let begin = steady.now();
        let sleeping = world.spawn("sleeper", move || sleeper.sleep_for(secs(10)));
        let waiter = steady.clone();
        let setting = world.spawn("administrator", move || {
            assert!(waiter.sleep_for(secs(3)).is_reached());
            admin.step_system_clock(step);
        });
        assert_eq!(sleeping.join().unwrap(), Woke::Reached);
        assert_eq!(steady.now() - begin, secs(10));
        setting.join().unwrap();
    }
}

/// Two clocks are notified of a step one after the other; a wait begun in between has seen the new time already.
#[test]
fn a_wait_that_begins_after_a_system_step_is_not_moved_by_it() {
    for step in [secs(3_600), secs(-3_600)] {
        let world = VirtualTime::manual();
        let [first, second] = [(); 2].map(|()| Clock::<System>::on(&world.base()));
        let (log, begun, clock) = (Log::new(), Log::new(), second.clone());
        let waits = begun.clone();
        let handler = JumpHandler::new("first", JumpThreshold::ANY).after(move |_| {
            waits.push(clock.sleep_for_async(secs(10)));
            waits.push(clock.sleep_until_async(clock.now() + secs(10)));
        });
        let _first = first.add_jump_handler(handler);
        let _second = second.add_jump_handler(JumpHandler::new("second", JumpThreshold::ANY));
        world.step_system_clock(step);
        let begin = second.now();
        for wait in begun.take() {
            let (clock, log, inside) = (second.clone(), log.clone(), world.clone());
            let wait = move || log.push((inside.block_on(wait), clock.now()));
            drop(world.spawn("waits", wait));
        }
        world.advance(secs(10) - ns(1));
        assert_eq!(log.take(), []);
        world.advance(ns(1));
        world.settle();
        assert_eq!(log.take(), [(Woke::Reached, begin + secs(10)); 2]);
    }
}

#[test]
fn a_change_of_source_ends_a_wait_with_the_change() {
    for form in FORMS {
        let world = VirtualTime::manual();
        let clock = Clock::<Ros>::on(&world.base());
        let begin = |clock: &Clock<Ros>| {
            let until = clock.now() + secs(100);
            Waiting::begin(form, &world, clock, until, &WaitOptions::new())
        };
        let ends = |waiting: Waiting<Ros>, expected| {
            let woke = waiting.end();
            assert!(
                matches!(woke, Woke::SourceChanged(jump) if jump.change == expected),
                "{woke:?}"
            );
        };
        let waiting = begin(&clock);
        clock.activate_override();
        ends(waiting, ClockChange::RosTimeActivated);
        let asked = options(OnJump::Return);
        let waiting = Waiting::begin(form, &world, &clock, at(secs(100).nanos()), &asked);
        clock.set_override(at_ms(5));
        ends(waiting, ClockChange::RosTimeStarted);
        let waiting = begin(&clock);
        clock.deactivate_override();
        ends(waiting, ClockChange::RosTimeDeactivated);
    }
}

#[test]
fn a_duration_survives_every_change_of_source() {
    let world = VirtualTime::manual();
    let clock = Clock::<Ros>::on(&world.base());
    let sleeper = clock.clone();
    let sleeping = world.spawn("sleeper", move || sleeper.sleep_for(secs(10)));
    world.settle();
    world.advance(secs(2));
    clock.activate_override();
    clock.set_override(at_ms(50_000));
    clock.set_override(at_ms(55_000));
    clock.deactivate_override();
    world.advance(secs(3) - ns(1));
    world.settle();
    assert!(
        !sleeping.is_finished(),
        "two, five and not quite three of ten seconds"
    );
    world.advance(ns(1));
    assert_eq!(sleeping.join().unwrap(), Woke::Reached);
}

#[test]
fn waiting_for_the_start_of_time_ends_with_the_first_sample() {
    let world = VirtualTime::new();
    let clock = Clock::<Ros>::on(&world.base());
    assert!(clock.started());
    assert!(clock.wait_until_started(&WaitOptions::new()).is_reached());
    clock.activate_override();
    assert!(!clock.started());
    let limited = WaitOptions::new().real_timeout(ms(30));
    let waiter = clock.clone();
    let limited = world.spawn("limited", move || waiter.wait_until_started(&limited));
    assert_eq!(limited.join().unwrap(), Woke::TimedOut);
    let waiter = clock.clone();
    let starting = world.spawn("starting", move || {
        waiter.wait_until_started(&WaitOptions::new())
    });
    world.settle();
    clock.set_override(at(1));
    assert_eq!(starting.join().unwrap(), Woke::Reached);
    assert!(clock.started());
}

#[test]
fn a_wait_on_an_extrapolated_clock_is_notified_of_a_jump_of_its_source() {
    for form in FORMS {
        let world = VirtualTime::manual();
        let hub = extrapolating(&world.base());
        let clock = hub.clock();
        hub.activate();
        let sink = hub.sink(SourceId::named("sim"));
        for sample in [1_000, 1_100, 1_200] {
            sink.tick(at_ms(sample));
            world.advance(ms(if sample < 1_200 { 100 } else { 50 }));
        }
        let begin = |on_jump| Waiting::begin(form, &world, &clock, at_ms(1_450), &options(on_jump));
        let [returns, mut ignores, mut rebases] =
            [OnJump::Return, OnJump::Ignore, OnJump::Rebase].map(begin);
        sink.tick(at_ms(500));
        let woke = returns.end();
        assert!(
            matches!(woke, Woke::Jumped(jump) if (jump.old, jump.new) == (at_ms(1_250), at_ms(500))),
            "{woke:?}"
        );
        world.advance(ms(100));
        sink.tick(at_ms(600));
        world.advance(ms(100) - ns(1));
        rebases.goes_on();
        world.advance(ns(1));
        assert_eq!(rebases.end(), Woke::Reached, "two hundred were left");
        ignores.goes_on();
    }
}

/// As in rclcpp: such a sleep waits for the first sample.
#[test]
fn a_sleep_that_began_before_time_did_continues() {
    for form in FORMS {
        let world = VirtualTime::manual();
        let clock = Clock::<Ros>::on(&world.base());
        clock.activate_override();
        let begin = |until| Waiting::begin(form, &world, &clock, until, &WaitOptions::new());
        let (early, mut late) = (begin(at(400)), begin(at(600)));
        clock.set_override(at(500));
        assert_eq!(early.end(), Woke::Reached);
        late.goes_on();
        clock.set_override(at(600));
        assert_eq!(late.end(), Woke::Reached);
    }
}

#[test]
fn a_simulator_that_is_reset_to_zero_has_not_stopped() {
    for form in FORMS {
        let world = VirtualTime::manual();
        let clock = overridden_on(&world, at(1_000));
        clock.set_override(at(0));
        assert!(clock.started());
        assert_eq!(clock.try_now(), Ok(at(0)));
        let asked = options(OnJump::Return);
        let mut waiting = Waiting::begin(form, &world, &clock, at(20), &asked);
        clock.set_override(at(10));
        waiting.goes_on();
        clock.set_override(at(20));
        assert_eq!(waiting.end(), Woke::Reached);
    }
}

#[test]
fn negative_time_is_valid() {
    let clock = overridden_on(&VirtualTime::manual(), at(-5));
    assert!(clock.started());
    assert_eq!(clock.try_now(), Ok(at(-5)));
    let limited = WaitOptions::new().real_timeout(ns(0));
    assert!(clock.wait_until_started(&limited).is_reached());
    clock.deactivate_override();
    clock.activate_override();
    assert!(!clock.started());
    assert_eq!(clock.wait_until_started(&limited), Woke::TimedOut);
}
