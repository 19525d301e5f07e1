//! Timers: the cases of `rcl` and `rclcpp`, with exact assertions, and their bugs.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;

use timeloom_time::{
    CancelToken, Clock, ControlledClock, Duration, JumpHandler, JumpThreshold, MissedTick,
    PlayerClock, Ros, Steady, Tick, TimeError, Timer, VirtualTime, WaitOptions, Woke,
};

use crate::support::{Log, MS, at, at_ms, ms, ns, overridden, secs};

fn every(clock: &Clock<Ros>, period: Duration) -> Timer<Ros> {
    Timer::builder(clock, period)
        .build()
        .expect("a legal period")
}

fn tick(expected: i64, actual: i64, missed: u64) -> Tick<Ros> {
    Tick {
        expected: at_ms(expected),
        actual: at_ms(actual),
        missed,
    }
}

/// rcl `test_timer_init_with_invalid_arguments`, rclcpp `test_bad_arguments`.
#[test]
fn a_negative_period_is_refused_and_the_extremes_are_not() {
    let clock = overridden(at_ms(1));
    for bad in [ms(-1), Duration::MIN] {
        let error = Timer::builder(&clock, bad).build().unwrap_err();
        let nanoseconds = bad.nanos();
        assert_eq!(error, TimeError::NegativePeriod { nanoseconds });
        assert!(every(&clock, ms(1)).exchange_period(bad).is_err());
    }
    for fine in [Duration::ZERO, Duration::MAX] {
        assert_eq!(every(&clock, fine).period(), fine);
    }
}

/// rcl `test_two_timers`, `test_two_timers_ready_before_timeout`, `test_timer_not_ready`.
#[test]
fn of_two_timers_only_the_due_one_is_ready() {
    let clock = overridden(at_ms(1_000));
    let (short, long) = (every(&clock, ms(50)), every(&clock, ms(1_000)));
    assert!(!short.is_ready() && !long.is_ready());
    clock.set_override(at_ms(1_060));
    assert!(short.is_ready() && !long.is_ready());
    assert_eq!(long.try_tick(), None);
    assert_eq!(short.try_tick(), Some(tick(1_050, 1_060, 0)));
    assert!(!short.is_ready());
}

/// rcl `test_timer_overrun`, `test_timer_info_detect_overrun`.
#[test]
fn an_overrun_is_one_tick_with_a_count_and_the_grid_stays() {
    let clock = overridden(at_ms(1_000));
    let timer = every(&clock, ms(200));
    clock.set_override(at_ms(1_500));
    assert_eq!(timer.try_tick(), Some(tick(1_200, 1_500, 1)));
    assert_eq!(timer.time_until_next(), Some(ms(100)));
    clock.set_override(at_ms(1_600));
    assert_eq!(timer.try_tick(), Some(tick(1_600, 1_600, 0)));
}

/// rcl `test_timer_with_zero_period`, rclcpp `test_period_zero`.
#[test]
fn a_timer_with_period_zero_is_always_ready() {
    let clock = overridden(at_ms(1_000));
    let timer = every(&clock, Duration::ZERO);
    for now in [1_000, 1_000, 1_005] {
        clock.set_override(at_ms(now));
        assert!(timer.is_ready());
        assert!(timer.time_until_next().unwrap() <= Duration::ZERO);
        assert_eq!(timer.wait().unwrap().actual, at_ms(now));
    }
}

/// rcl `test_timer_init_state`, `test_canceled_timer`; rclcpp `test_simple_cancel`,
/// `test_is_canceled_reset`, `TestTimerWithoutAutostart`.
#[test]
fn a_cancelled_timer_ticks_again_only_after_a_reset() {
    let clock = overridden(at_ms(1_000));
    let stopped = Timer::builder(&clock, ms(10)).stopped().build().unwrap();
    let cancelled = every(&clock, ms(10));
    cancelled.cancel();
    clock.set_override(at_ms(1_100));
    for timer in [stopped, cancelled] {
        assert!(timer.is_cancelled() && !timer.is_ready());
        assert_eq!(timer.time_until_next(), None);
        assert_eq!(timer.try_tick(), None);
        assert_eq!(timer.wait(), Err(Woke::Cancelled));
        timer.reset();
        assert!(!timer.is_cancelled());
        assert_eq!(timer.time_until_next(), Some(ms(10)));
    }
}

/// rcl `test_rostime_time_until_next_call`.
#[test]
fn the_time_until_the_next_tick_is_exact_and_goes_negative() {
    let clock = overridden(at(1));
    let timer = every(&clock, secs(5));
    for (now, until) in [
        (2, secs(5) - ns(1)),
        (5_000_000_001, ns(0)),
        (5_000_000_002, ns(-1)),
    ] {
        clock.set_override(at(now));
        assert_eq!(timer.time_until_next(), Some(until));
    }
    assert_eq!(timer.time_since_last(), secs(5) + ns(1));
}

/// rcl `test_system_time_to_ros_time` and `test_ros_time_to_system_time`: upstream waits for the part that
/// has passed instead of the part that is left.
#[test]
fn a_change_of_source_keeps_the_exact_remainder_both_ways() {
    let world = VirtualTime::manual();
    let clock = Clock::<Ros>::on(&world.base());
    let timer = every(&clock, ms(100));
    world.advance(ms(10));
    clock.set_override(at_ms(5_000));
    clock.activate_override();
    assert_eq!(timer.time_until_next(), Some(ms(90)));
    clock.set_override(at_ms(5_080));
    assert_eq!(timer.time_until_next(), Some(ms(10)));
    clock.deactivate_override();
    assert_eq!(timer.time_until_next(), Some(ms(10)));
    world.advance(ms(9));
    assert!(!timer.is_ready());
    world.advance(ms(1));
    assert!(timer.is_ready());
}

/// rcl `test_ros_time_backwards_jump`.
#[test]
fn a_short_jump_back_keeps_the_next_tick_and_a_longer_one_restarts_the_grid() {
    let clock = overridden(at_ms(2_000));
    let timer = every(&clock, ms(5_000));
    clock.set_override(at_ms(3_000));
    clock.set_override(at_ms(2_500));
    assert_eq!(timer.time_until_next(), Some(ms(4_500)));
    clock.set_override(at_ms(1_000));
    assert_eq!(timer.time_until_next(), Some(ms(5_000)));
}

/// rcl `test_ros_time_wakes_wait`.
#[test]
fn a_waiting_timer_sleeps_through_early_ticks_of_the_clock_and_wakes_at_its_own() {
    let world = VirtualTime::new();
    let clock = Clock::<Ros>::on(&world.base());
    clock.set_override(at_ms(1_000));
    clock.activate_override();
    let timer = Arc::new(every(&clock, ms(5_000)));
    let waiting = {
        let timer = Arc::clone(&timer);
        world.spawn("timer", move || timer.wait())
    };
    world.settle();
    clock.set_override(at_ms(2_500));
    world.settle();
    assert!(!waiting.is_finished());
    clock.set_override(at_ms(6_000));
    assert_eq!(waiting.join().unwrap(), Ok(tick(6_000, 6_000, 0)));
}

/// rcl `test_timer_call`, `test_timer_reset`, `test_timer_exchange_period`.
#[test]
fn a_new_period_counts_from_the_next_tick_and_a_reset_from_now() {
    let clock = overridden(at_ms(1_000));
    let timer = every(&clock, ms(100));
    assert_eq!(timer.exchange_period(ms(30)), Ok(ms(100)));
    assert_eq!(timer.time_until_next(), Some(ms(100)));
    clock.set_override(at_ms(1_100));
    assert_eq!(timer.try_tick(), Some(tick(1_100, 1_100, 0)));
    assert_eq!(timer.time_until_next(), Some(ms(30)));
    clock.set_override(at_ms(1_110));
    timer.reset();
    assert_eq!(timer.time_until_next(), Some(ms(30)));
}

/// rcl `test_timer_set_on_reset_callback`: resets before the registration are delivered.
#[test]
fn resets_are_counted_until_a_callback_is_set() {
    let clock = overridden(at_ms(1_000));
    let timer = every(&clock, ms(100));
    let (log, count) = (Log::new(), |log: &Log<u64>| {
        let log = log.clone();
        move |resets| log.push(resets)
    });
    timer.reset();
    timer.reset();
    timer.on_reset(count(&log));
    assert_eq!(log.take(), [2]);
    timer.reset();
    assert_eq!(log.take(), [1]);
    let other = Log::new();
    timer.on_reset(count(&other));
    timer.reset();
    assert_eq!((log.take(), other.take()), (Vec::<u64>::new(), vec![1]));
}

/// rcl `test_time_since_last_call`.
#[test]
fn the_time_since_the_last_tick_grows_and_starts_again() {
    let clock = overridden(at_ms(1_000));
    let timer = every(&clock, ms(10));
    for now in 1_000..1_020 {
        clock.set_override(at_ms(now));
        assert_eq!(timer.time_since_last(), ms(now - 1_000));
    }
    assert!(timer.try_tick().is_some());
    assert_eq!(timer.time_since_last(), Duration::ZERO);
}

/// rclcpp `test_run_cancel_executor`, `test_run_cancel_timer`, `callback_with_timer_info`.
#[test]
fn a_timer_runs_its_callback_on_the_grid_until_it_is_cancelled_from_inside() {
    let world = VirtualTime::new();
    let clock = Clock::<Steady>::on(&world.base());
    let timer = Timer::builder(&clock, ms(10)).build().unwrap();
    let begin = clock.now();
    let run = world.spawn("timer", move || {
        let mut seen = Vec::new();
        let woke = timer.run(|tick| {
            seen.push((tick.expected - begin).nanos() / MS);
            assert_eq!(tick.actual, tick.expected);
            if seen.len() == 3 {
                timer.cancel();
            }
        });
        (seen, woke)
    });
    assert_eq!(run.join().unwrap(), (vec![10, 20, 30], Woke::Cancelled));
}

#[test]
fn a_wait_for_a_tick_ends_by_cancel_token_timeout_and_shutdown() {
    let world = VirtualTime::new();
    let clock = ControlledClock::new(&world.base(), at_ms(1_000));
    let timer = Arc::new(every(clock.clock(), ms(10)));
    let token = CancelToken::new();
    let wait = |options: WaitOptions| {
        let timer = Arc::clone(&timer);
        world.spawn("timer", move || timer.wait_with(&options))
    };
    let timed = wait(WaitOptions::new().real_timeout(ms(50)));
    assert_eq!(timed.join().unwrap(), Err(Woke::TimedOut));
    for ends in [
        WaitOptions::new().real_timeout(Duration::MIN),
        WaitOptions::new().real_timeout(Duration::ZERO),
    ] {
        assert_eq!(timer.wait_with(&ends), Err(Woke::TimedOut));
    }
    let waiting = wait(WaitOptions::new().cancel(&token));
    world.settle();
    timer.exchange_period(ms(20)).unwrap();
    token.cancel();
    assert_eq!(waiting.join().unwrap(), Err(Woke::Cancelled));
    let waiting = wait(WaitOptions::new());
    world.settle();
    clock.clock().shut_down();
    assert_eq!(waiting.join().unwrap(), Err(Woke::ShutDown));
}

#[test]
fn a_reset_or_a_cancel_reaches_a_wait_in_progress() {
    let world = VirtualTime::new();
    let clock = Clock::<Ros>::on(&world.base());
    let timer = Arc::new(Timer::builder(&clock, secs(1)).oneshot().build().unwrap());
    let waiting = {
        let timer = Arc::clone(&timer);
        world.spawn("timer", move || (timer.wait(), timer.wait()))
    };
    let (first, second) = waiting.join().unwrap();
    assert!(first.is_ok());
    assert_eq!(second, Err(Woke::Cancelled), "it has had its one tick");
    timer.reset();
    assert_eq!(world.block_on(timer.tick()).unwrap().missed, 0);
}

/// A handler of another party runs between the new time and the notification of the timer.
#[test]
fn a_tick_taken_while_the_handlers_of_a_jump_run_is_one_of_the_new_time() {
    let world = VirtualTime::manual();
    let clock = Clock::<Ros>::on(&world.base());
    clock.set_override(at_ms(1_000));
    clock.activate_override();
    let slot: Arc<Mutex<Option<Timer<Ros>>>> = Arc::default();
    let (seen, log) = (Arc::clone(&slot), Log::new());
    let ticks = log.clone();
    let _first = clock.add_jump_handler(
        JumpHandler::new("first", JumpThreshold::DISRUPTIVE).after(move |_| {
            let timer = seen.lock().unwrap_or_else(PoisonError::into_inner);
            ticks.push(timer.as_ref().and_then(Timer::try_tick));
        }),
    );
    *slot.lock().unwrap() = Some(every(&clock, ms(100)));
    clock.set_override(at_ms(1_040));
    clock.deactivate_override();
    assert_eq!(log.take(), [None]);
    let timer = slot.lock().unwrap().take().unwrap();
    assert_eq!(timer.time_until_next(), Some(ms(60)));
}

/// A wait that begins after the new time is published waits for a tick of the new time.
#[test]
fn a_wait_begun_while_the_handlers_of_a_jump_run_ends_on_the_new_grid() {
    let clock = overridden(at_ms(1_000_000));
    let (go, gone) = channel::<()>();
    let (polled, seen) = channel::<bool>();
    let seen = Mutex::new(seen);
    let _first = clock.add_jump_handler(
        JumpHandler::new("first", JumpThreshold::DISRUPTIVE).after(move |_| {
            go.send(()).unwrap();
            assert!(seen.lock().unwrap().recv().unwrap(), "pending");
        }),
    );
    let timer = every(&clock, ms(1_000));
    let (check, checked) = channel::<()>();
    let waiting = thread::spawn(move || {
        let mut tick = pin!(timer.tick());
        let mut context = Context::from_waker(Waker::noop());
        gone.recv().unwrap();
        polled
            .send(tick.as_mut().poll(&mut context).is_pending())
            .unwrap();
        checked.recv().unwrap();
        match tick.as_mut().poll(&mut context) {
            Poll::Ready(tick) => tick.map(|tick| tick.expected),
            Poll::Pending => panic!("sleeps on for a time that is gone"),
        }
    });
    clock.set_override(at_ms(10_000));
    clock.set_override(at_ms(11_000));
    check.send(()).unwrap();
    assert_eq!(waiting.join().unwrap(), Ok(at_ms(11_000)));
}

#[test]
fn a_wait_for_a_tick_inside_a_jump_handler_does_not_hang() {
    let clock = overridden(at_ms(1_000));
    let (timer, log) = (every(&clock, ms(100)), Log::new());
    let woke = log.clone();
    let _handle = clock.add_jump_handler(
        JumpHandler::new("waits", JumpThreshold::DISRUPTIVE)
            .before(move |_| woke.push(timer.wait().map_err(|woke| woke.to_string()))),
    );
    clock.set_override(at_ms(500));
    let expected = "time jumped by -500ms to 0.500000000".to_owned();
    assert_eq!(log.take(), [Err(expected)]);
}

#[test]
fn policies_for_missed_ticks_differ_as_documented() {
    for (policy, expected) in [
        (
            MissedTick::Skip,
            [tick(1_100, 1_350, 2), tick(1_400, 1_400, 0)],
        ),
        (
            MissedTick::CatchUp,
            [tick(1_100, 1_350, 0), tick(1_200, 1_350, 0)],
        ),
        (
            MissedTick::Delay,
            [tick(1_100, 1_350, 2), tick(1_450, 1_450, 0)],
        ),
    ] {
        let clock = overridden(at_ms(1_000));
        let timer = Timer::builder(&clock, ms(100)).missed_tick(policy).build();
        let timer = timer.unwrap();
        clock.set_override(at_ms(1_350));
        assert_eq!(timer.try_tick(), Some(expected[0]));
        clock.set_override(expected[1].actual);
        assert_eq!(timer.try_tick(), Some(expected[1]), "{policy:?}");
    }
}
