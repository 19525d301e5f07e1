//! Timers and rates that are always late: shut-down, tokens and timeouts still end them.

use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use timeloom_time::{
    CancelToken, Clock, Duration, JumpThreshold, OnJump, Rate, Ros, Steady, Time, Timer,
    VirtualTime, WaitOptions, Woke,
};

use crate::support::{at, ms, ns};

/// A clock on manual virtual time and a timer of one millisecond that is ten periods late.
fn late_timer() -> (VirtualTime, Clock<Steady>, Timer<Steady>) {
    let world = VirtualTime::manual();
    let clock = Clock::<Steady>::on(&world.base());
    let timer = Timer::builder(&clock, ms(1)).build();
    let timer = timer.expect("a legal period");
    world.advance(ms(10));
    (world, clock, timer)
}

#[test]
fn shut_down_ends_a_timer_that_is_late() {
    let (world, clock, timer) = late_timer();
    clock.shut_down();
    assert_eq!(timer.wait().unwrap_err(), Woke::ShutDown);
    assert_eq!(world.block_on(timer.tick()).unwrap_err(), Woke::ShutDown);
}

#[test]
fn a_token_ends_a_timer_that_is_late() {
    let (world, _clock, timer) = late_timer();
    let token = CancelToken::new();
    let options = WaitOptions::new().cancel(&token);
    assert!(timer.wait_with(&options).is_ok(), "not cancelled yet");
    world.advance(ms(10));
    token.cancel();
    assert_eq!(timer.wait_with(&options).unwrap_err(), Woke::Cancelled);
}

#[test]
fn shut_down_and_a_token_end_a_rate_whose_loop_is_too_slow() {
    let world = VirtualTime::manual();
    let clock = Clock::<Steady>::on(&world.base());
    let mut rate = Rate::new(&clock, ms(1)).unwrap();
    let token = CancelToken::new();
    let options = WaitOptions::new().cancel(&token);
    let mut iterations = 0;
    let woke = loop {
        world.advance(ms(3));
        match rate.sleep_with(&options) {
            Ok(tick) => assert!(tick.missed > 0, "the loop is too slow"),
            Err(woke) => break woke,
        }
        iterations += 1;
        assert!(iterations <= 5, "the token has no effect");
        if iterations == 5 {
            token.cancel();
        }
    };
    assert_eq!(woke, Woke::Cancelled);
    world.advance(ms(3));
    clock.shut_down();
    assert_eq!(rate.sleep().unwrap_err(), Woke::ShutDown);
}

/// A period of zero is always due.
#[test]
fn shut_down_ends_a_run_without_a_pause() {
    let world = VirtualTime::manual();
    let clock = Clock::<Steady>::on(&world.base());
    let timer = Timer::builder(&clock, Duration::ZERO).build().unwrap();
    let mut calls = 0;
    let stopped = clock.clone();
    let woke = timer.run(|_| {
        calls += 1;
        assert!(calls <= 3, "the run goes on after the shut-down");
        if calls == 3 {
            stopped.shut_down();
        }
    });
    assert_eq!((woke, calls), (Woke::ShutDown, 3));
}

/// Every tick of the source is a step forward; time that passes in steps still passes.
#[test]
fn a_sleep_that_counts_every_step_as_a_jump_ends_on_a_ticking_source() {
    let world = VirtualTime::manual();
    let clock = Clock::<Ros>::on(&world.base());
    clock.set_override(at(1_000));
    clock.activate_override();
    clock.set_override(at(1_010));
    let options = WaitOptions::new().jump_threshold(JumpThreshold::ANY);
    let sleeper = clock.clone();
    let sleeping = world.spawn("sleeper", move || sleeper.sleep_for_with(ns(100), &options));
    world.settle();
    for now in (1_020..1_110).step_by(10) {
        clock.set_override(at(now));
        world.settle();
        assert!(!sleeping.is_finished(), "early at {now}");
    }
    clock.set_override(at(1_110));
    world.settle();
    assert!(sleeping.is_finished(), "a hundred nanoseconds have passed");
    assert_eq!(sleeping.join().unwrap(), Woke::Reached);
}

/// A jump is not the passing of time: the remaining time is slept after it.
#[test]
fn a_sleep_keeps_its_remainder_over_a_jump_of_a_ticking_source() {
    let world = VirtualTime::manual();
    let clock = Clock::<Ros>::on(&world.base());
    clock.set_override(at(1_000));
    clock.activate_override();
    clock.set_override(at(1_010));
    let options = WaitOptions::new().jump_threshold(JumpThreshold::ANY);
    let sleeper = clock.clone();
    let sleeping = world.spawn("sleeper", move || sleeper.sleep_for_with(ns(100), &options));
    world.settle();
    clock.set_override(at(1_020));
    clock.set_override(at(9_000));
    clock.set_override(at(9_010));
    world.settle();
    assert!(!sleeping.is_finished(), "90 were left before the leap");
    clock.set_override(at(9_089));
    world.settle();
    assert!(!sleeping.is_finished(), "one is left");
    clock.set_override(at(9_090));
    world.settle();
    assert!(sleeping.is_finished());
    assert_eq!(sleeping.join().unwrap(), Woke::Reached);
}

/// A timer of a second on a clock that a test sets, at ten seconds.
fn set_by_hand() -> (VirtualTime, Clock<Ros>, Timer<Ros>) {
    let world = VirtualTime::manual();
    let clock = Clock::<Ros>::on(&world.base());
    clock.set_override(Time::from_secs(10));
    clock.activate_override();
    let timer = Timer::builder(&clock, Duration::SECOND).build();
    let timer = timer.expect("a legal period");
    (world, clock, timer)
}

#[test]
fn a_timer_ends_at_a_jump_only_when_asked_to() {
    let (world, clock, timer) = set_by_hand();
    let timer = Arc::new(timer);
    let begin = |options: WaitOptions| {
        let timer = Arc::clone(&timer);
        world.spawn("waits", move || timer.wait_with(&options))
    };
    let asked = begin(WaitOptions::new().on_jump(OnJump::Return));
    let silent = begin(WaitOptions::new());
    world.settle();
    clock.set_override(Time::from_secs(3));
    world.settle();
    let woke = asked.join().unwrap().unwrap_err();
    assert!(matches!(woke, Woke::Jumped(jump) if jump.new == Time::from_secs(3)));
    assert!(!silent.is_finished());
    clock.set_override(Time::from_secs(4));
    let tick = silent.join().unwrap().unwrap();
    assert_eq!(tick.expected, Time::from_secs(4), "a new grid started");
}

/// The step makes the tick due, and is a jump: a wait that ends at jumps gets the jump first, then the tick.
#[test]
fn a_jump_comes_before_the_tick_that_it_makes_due() {
    let (world, clock, timer) = set_by_hand();
    let far = JumpThreshold::new().forward(Duration::SECOND).unwrap();
    let options = WaitOptions::new()
        .on_jump(OnJump::Return)
        .jump_threshold(far);
    let waiting = world.spawn("waits", move || {
        let first = timer.wait_with(&options);
        (first, timer.wait_with(&options))
    });
    world.settle();
    clock.set_override(Time::from_secs(100));
    let (first, second) = waiting.join().unwrap();
    assert!(matches!(first, Err(Woke::Jumped(_))), "{first:?}");
    assert_eq!(second.unwrap().missed, 89);
}

#[test]
fn the_future_of_a_tick_takes_the_same_options() {
    let (world, clock, timer) = set_by_hand();
    let options = WaitOptions::new().on_jump(OnJump::Return);
    let mut tick = Box::pin(timer.tick_with(&options));
    let mut context = Context::from_waker(Waker::noop());
    assert!(tick.as_mut().poll(&mut context).is_pending());
    clock.deactivate_override();
    assert!(matches!(
        tick.as_mut().poll(&mut context),
        Poll::Ready(Err(Woke::SourceChanged(_)))
    ));
    let timed = WaitOptions::new().real_timeout(ms(5));
    let mut tick = Box::pin(timer.tick_with(&timed));
    assert!(tick.as_mut().poll(&mut context).is_pending());
    world.advance(ms(5));
    assert_eq!(
        tick.as_mut().poll(&mut context),
        Poll::Ready(Err(Woke::TimedOut))
    );
}
