//! The schedule under timers and rates.
//!
//! Tests named after an upstream test re-create its assertions on the state machine.

use proptest::prelude::*;
use timeloom_time::{Duration, MissedTick, Ros, Schedule, Tick, Time, TimeError};

type RosSchedule = Schedule<Ros>;

fn at(millis: i64) -> Time<Ros> {
    Time::from_nanos(millis * 1_000_000)
}

fn ms(millis: i64) -> Duration {
    Duration::from_millis(millis)
}

fn ns(nanos: i64) -> Duration {
    Duration::from_nanos(nanos)
}

fn every(period: Duration, policy: MissedTick) -> RosSchedule {
    Schedule::new(at(0), period, policy).expect("a legal period")
}

fn tick(expected: i64, actual: i64, missed: u64) -> Tick<Ros> {
    Tick {
        expected: at(expected),
        actual: at(actual),
        missed,
    }
}

/// rcl `test_timer_overrun`: 500 ms on a 200 ms timer is one call, then it is aligned again.
#[test]
fn overrun() {
    let mut timer = every(ms(200), MissedTick::Skip);
    let taken = timer.call(at(500)).unwrap();
    assert_eq!(taken, tick(200, 500, 1));
    assert_eq!(taken.lateness(), ms(300));
    assert!(!timer.is_ready(at(510)));
    assert_eq!(timer.next(), Some(at(600)));
    assert_eq!(timer.call(at(600)), Some(tick(600, 600, 0)));
}

/// rcl `test_timer_info_detect_overrun`: the next expected call skips one period.
#[test]
fn info_detect_overrun() {
    let mut timer = every(ms(50), MissedTick::Skip);
    let late = timer.call(at(110)).unwrap();
    assert_eq!((late.expected, late.missed), (at(50), 1));
    let next = timer.call(at(150)).unwrap();
    assert_eq!(next.expected - late.expected, ms(100));
}

/// rcl `test_timer_with_zero_period`, and that one simulated stamp never loops forever without
/// time being reported (rcl #1089).
#[test]
fn zero_period() {
    for policy in [MissedTick::Skip, MissedTick::CatchUp, MissedTick::Delay] {
        let mut timer = every(Duration::ZERO, policy);
        assert!(timer.is_ready(at(0)));
        assert!(timer.time_until_next(at(0)).unwrap() <= Duration::ZERO);
        assert_eq!(timer.call(at(5)), Some(tick(0, 5, 0)));
        assert!(timer.is_ready(at(5)), "always ready");
        assert_eq!(timer.next(), Some(at(5)));
    }
}

/// rcl `test_timer_init_state` (autostart off), `test_canceled_timer`, rclcpp
/// `is_canceled_reset`.
#[test]
fn canceled() {
    let mut timer = every(ms(10), MissedTick::Skip);
    timer.cancel();
    assert!(timer.is_cancelled());
    assert!(!timer.is_ready(at(1000)));
    assert_eq!(timer.time_until_next(at(1000)), None);
    assert_eq!(timer.call(at(1000)), None);
    timer.cancel();
    timer.reset(at(1000));
    assert!(!timer.is_cancelled());
    assert_eq!(timer.time_until_next(at(1000)), Some(ms(10)));
    assert_eq!(timer.call(at(1010)), Some(tick(1010, 1010, 0)));
}

/// rcl `test_timer_rostime_time_until_next_call`: one nanosecond before, at and after.
#[test]
fn rostime_time_until_next_call() {
    let timer = every(ms(5000), MissedTick::Skip);
    let due = at(5000);
    assert_eq!(timer.time_until_next(due - ns(1)), Some(ns(1)));
    assert!(!timer.is_ready(due - ns(1)));
    assert_eq!(timer.time_until_next(due), Some(ns(0)));
    assert!(timer.is_ready(due));
    assert_eq!(timer.time_until_next(due + ns(1)), Some(ns(-1)));
    assert_eq!(timer.time_until_next(at(0) + ns(1)), Some(ms(5000) - ns(1)));
}

/// rcl `test_system_time_to_ros_time` and back. Upstream waits the elapsed part instead of the
/// rest (bug 19 of our list); here the rest is exact.
#[test]
fn clock_change_keeps_the_exact_remainder() {
    for elapsed in [0, 10, 90, 99, 130] {
        let mut timer = every(ms(100), MissedTick::Skip);
        let old = at(elapsed);
        let left = timer.time_until_next(old).unwrap();
        let since = timer.time_since_last_call(old);
        let new = at(777_777);
        timer.on_clock_change(old, new);
        assert_eq!(timer.time_until_next(new), Some(left));
        assert_eq!(timer.time_since_last_call(new), since);
        timer.on_clock_change(new, Time::ZERO);
        assert_eq!(timer.time_until_next(Time::ZERO), Some(left));
    }
}

/// rcl `test_ros_time_backwards_jump`.
#[test]
fn ros_time_backwards_jump() {
    let mut timer = Schedule::new(at(2000), ms(5000), MissedTick::Skip).unwrap();
    assert_eq!(timer.time_until_next(at(3000)), Some(ms(5000 - 1000)));
    // Back, but not to before the creation: it fires when the clock reaches 7 s again.
    timer.on_jump(at(2500));
    assert_eq!(timer.next(), Some(at(7000)));
    // Back to before the creation: one whole period, once.
    timer.on_jump(at(1000));
    assert_eq!(timer.time_until_next(at(1000)), Some(ms(5000)));
    timer.on_jump(at(1000));
    assert_eq!(timer.next(), Some(at(6000)));
}

#[test]
fn a_forward_jump_makes_it_due_without_moving_it() {
    let mut timer = every(ms(100), MissedTick::Skip);
    timer.on_jump(at(1050));
    assert_eq!(timer.next(), Some(at(100)));
    assert_eq!(timer.call(at(1050)), Some(tick(100, 1050, 9)));
    assert_eq!(timer.next(), Some(at(1100)));
}

/// rcl `test_timer_call`: the exchanged period counts after the tick that was already planned.
#[test]
fn exchange_period() {
    let mut timer = every(ms(100), MissedTick::Skip);
    assert_eq!(timer.exchange_period(ms(30)), Ok(ms(100)));
    assert_eq!(timer.period(), ms(30));
    assert_eq!(timer.next(), Some(at(100)));
    timer.call(at(100)).unwrap();
    assert_eq!(timer.next(), Some(at(130)));
    assert_eq!(
        timer.exchange_period(ns(-1)),
        Err(TimeError::NegativePeriod { nanoseconds: -1 })
    );
    assert_eq!(timer.period(), ms(30));
}

/// rclcpp timer `bad_arguments` and rate `incorrect_constructor`.
#[test]
fn bad_arguments() {
    let new = |period| Schedule::new(at(0), period, MissedTick::Skip);
    assert!(new(ms(-1)).is_err());
    assert!(new(Duration::MIN).is_err());
    assert!(new(Duration::MAX).is_ok());
    assert!(new(Duration::ZERO).is_ok());
    let rate = |period| Schedule::rate(at(0), period, MissedTick::Skip);
    assert_eq!(
        rate(Duration::ZERO).unwrap_err().to_string(),
        "period must be greater than 0, got 0 ns"
    );
    assert!(rate(ms(-1)).is_err());
    let hertz = |hertz| Schedule::rate_hertz(at(0), hertz, MissedTick::Skip);
    assert_eq!(hertz(2.0).unwrap().period(), ms(500));
    for bad in [0.0, -1.0, f64::NAN] {
        let text = hertz(bad).unwrap_err().to_string();
        assert!(text.starts_with("rate must be greater than 0"), "{text}");
    }
}

#[test]
fn the_first_tick_may_be_set() {
    let mut timer = every(ms(100), MissedTick::Skip).with_first_at(at(30));
    assert_eq!(timer.call(at(30)), Some(tick(30, 30, 0)));
    assert_eq!(timer.next(), Some(at(130)));

    let mut timer = every(ms(100), MissedTick::Skip).with_first_after(ms(-50));
    assert_eq!(timer.call(at(60)), Some(tick(-50, 60, 1)));
    assert_eq!(timer.next(), Some(at(150)));
}

#[test]
fn an_absolute_first_tick_ignores_jumps_and_a_relative_one_follows() {
    let mut absolute = every(ms(100), MissedTick::Skip).with_first_at(at(500));
    absolute.on_jump(at(-1000));
    absolute.on_clock_change(at(-1000), at(300));
    assert_eq!(absolute.next(), Some(at(500)));
    // After it has fired, the schedule is periodic like any other.
    absolute.call(at(500)).unwrap();
    absolute.on_jump(at(0));
    assert_eq!(absolute.next(), Some(at(100)));

    let mut relative = every(ms(100), MissedTick::Skip).with_first_after(ms(500));
    relative.on_jump(at(-1000));
    assert_eq!(relative.next(), Some(at(-500)));
}

#[test]
fn one_shot_fires_once() {
    let mut timer = every(ms(100), MissedTick::CatchUp).once();
    assert_eq!(timer.call(at(99)), None);
    assert_eq!(timer.call(at(450)), Some(tick(100, 450, 0)));
    assert!(timer.is_finished());
    assert_eq!(timer.call(at(10_000)), None);
    assert_eq!(timer.time_until_next(at(10_000)), None);
    timer.cancel();
    assert!(!timer.is_cancelled(), "finished stays finished");
    timer.reset(at(10_000));
    assert_eq!(timer.call(at(10_100)), Some(tick(10_100, 10_100, 0)));
}

#[test]
fn missed_tick_policies() {
    let mut skip = every(ms(100), MissedTick::Skip);
    assert_eq!(skip.call(at(350)), Some(tick(100, 350, 2)));
    assert_eq!(skip.next(), Some(at(400)));

    let mut catch_up = every(ms(100), MissedTick::CatchUp);
    for expected in [100, 200, 300] {
        assert_eq!(catch_up.call(at(350)), Some(tick(expected, 350, 0)));
    }
    assert_eq!(catch_up.call(at(350)), None);
    assert_eq!(catch_up.next(), Some(at(400)));

    let mut delay = every(ms(100), MissedTick::Delay);
    assert_eq!(delay.call(at(350)), Some(tick(100, 350, 2)));
    assert_eq!(delay.next(), Some(at(450)));
}

/// Runs a loop of `work` ms per round and returns the time between its rounds. `step` may stretch
/// the work of a round, or move the clock.
fn rounds(count: usize, mut step: impl FnMut(usize, &mut RosSchedule, i64) -> i64) -> Vec<i64> {
    let mut rate = Schedule::rate(at(0), ms(100), MissedTick::Skip).expect("a legal period");
    let mut now = 0;
    let mut elapsed = 0;
    let mut starts = Vec::new();
    for round in 0..count {
        let after_work = step(round, &mut rate, now + 20);
        // A jump is not elapsed time: only the waiting and working of the loop counts.
        let jumped = after_work < now;
        elapsed += if jumped { 20 } else { after_work - now };
        now = after_work;
        let wait = rate.time_until_next(at(now)).expect("running");
        let wait = (wait.nanos() / 1_000_000).max(0);
        now += wait;
        elapsed += wait;
        rate.call(at(now)).expect("due");
        starts.push(elapsed);
    }
    starts.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// clock.md 1.6: after one overrun of 350 ms, rclcpp runs at 120 ms; the grid runs at 100 ms.
#[test]
fn rate_keeps_its_period_after_an_overrun() {
    let periods = rounds(10, |round, _, now| if round == 3 { now + 330 } else { now });
    assert_eq!(periods[..2], [100, 100]);
    assert_eq!(periods[2], 350, "the overrun itself");
    assert_eq!(periods[3], 50, "back on the grid");
    assert_eq!(periods[4..], [100; 5]);
}

/// clock.md 1.6: after a jump of −700 ms, rclcpp runs at 120 ms for as long as the clock stays
/// behind; the grid runs at 100 ms.
#[test]
fn rate_keeps_its_period_after_a_backward_jump() {
    let periods = rounds(20, |round, rate, now| {
        if round == 9 {
            rate.on_jump(at(now - 700));
            now - 700
        } else {
            now
        }
    });
    assert_eq!(periods[..8], [100; 8]);
    assert_eq!(periods[8], 120, "20 ms of work, then one whole period");
    assert_eq!(periods[9..], [100; 10]);
}

fn policy() -> impl Strategy<Value = MissedTick> {
    prop_oneof![
        Just(MissedTick::Skip),
        Just(MissedTick::CatchUp),
        Just(MissedTick::Delay)
    ]
}

/// Any number, with the ends of the range and small numbers as likely as the rest.
fn nanos() -> impl Strategy<Value = i64> {
    prop_oneof![
        any::<i64>(),
        -1000_i64..1000,
        Just(i64::MIN),
        Just(i64::MAX)
    ]
}

#[derive(Debug, Clone)]
enum Step {
    Call(i64),
    Jump(i64),
    Change(i64, i64),
    Exchange(i64),
    Reset(i64),
    Cancel,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => nanos().prop_map(Step::Call),
        1 => nanos().prop_map(Step::Jump),
        1 => (nanos(), nanos()).prop_map(|(old, new)| Step::Change(old, new)),
        1 => nanos().prop_map(Step::Exchange),
        1 => nanos().prop_map(Step::Reset),
        1 => Just(Step::Cancel),
    ]
}

proptest! {
    #[test]
    fn no_input_panics(
        start in nanos(),
        first in proptest::option::of(nanos()),
        period in nanos(),
        policy in policy(),
        steps in prop::collection::vec(step(), 0..40),
    ) {
        let Ok(mut schedule) = Schedule::<Ros>::new(Time::from_nanos(start), ns(period), policy) else {
            prop_assert!(period < 0);
            return Ok(());
        };
        if let Some(first) = first {
            schedule = schedule.with_first_at(Time::from_nanos(first));
        }
        for step in steps {
            match step {
                Step::Call(now) => {
                    let now = Time::from_nanos(now);
                    let ready = schedule.is_ready(now);
                    let taken = schedule.call(now);
                    prop_assert_eq!(taken.is_some(), ready);
                    if let (Some(taken), Some(next)) = (taken, schedule.next()) {
                        prop_assert!(taken.expected <= now);
                        let once = schedule.period() > Duration::ZERO && policy != MissedTick::CatchUp;
                        prop_assert!(!once || next > now, "next {next:?} at {now:?}");
                    }
                }
                Step::Jump(now) => schedule.on_jump(Time::from_nanos(now)),
                Step::Change(old, new) => {
                    schedule.on_clock_change(Time::from_nanos(old), Time::from_nanos(new));
                }
                Step::Exchange(period) => {
                    prop_assert_eq!(schedule.exchange_period(ns(period)).is_ok(), period >= 0);
                }
                Step::Reset(now) => schedule.reset(Time::from_nanos(now)),
                Step::Cancel => schedule.cancel(),
            }
        }
    }

    #[test]
    fn skip_stays_on_the_grid_and_counts_every_tick(
        start in -1_000_000_i64..1_000_000,
        period in 1_i64..10_000,
        gaps in prop::collection::vec(0_i64..50_000, 1..60),
    ) {
        let anchor = Time::<Ros>::from_nanos(start);
        let mut schedule = Schedule::new(anchor, ns(period), MissedTick::Skip).unwrap();
        let mut now = anchor;
        let mut accounted = 0;
        for gap in gaps {
            now += ns(gap);
            if let Some(taken) = schedule.call(now) {
                accounted += 1 + taken.missed;
                prop_assert_eq!((taken.expected - anchor).nanos() % period, 0);
            }
            let next = schedule.next().unwrap();
            prop_assert!(next > now && next - now <= ns(period));
            prop_assert_eq!((next - anchor).nanos() % period, 0);
        }
        let due = u64::try_from((now - anchor).nanos() / period).unwrap();
        prop_assert_eq!(accounted, due, "delivered + missed = due");
    }

    #[test]
    fn catch_up_delivers_every_tick(
        period in 1_i64..10_000,
        gaps in prop::collection::vec(0_i64..50_000, 1..30),
    ) {
        let mut schedule = every(ns(period), MissedTick::CatchUp);
        let mut now = at(0);
        let mut expected = at(0);
        let mut delivered = 0;
        for gap in gaps {
            now += ns(gap);
            while let Some(taken) = schedule.call(now) {
                delivered += 1;
                expected += ns(period);
                prop_assert_eq!(taken, Tick { expected, actual: now, missed: 0 });
            }
        }
        prop_assert_eq!(delivered, now.nanos() / period);
    }

    #[test]
    fn clock_changes_there_and_back_are_identity(
        start in -1_000_000_000_i64..1_000_000_000,
        period in 0_i64..1_000_000,
        elapsed in 0_i64..2_000_000,
        other in -1_000_000_000_000_i64..1_000_000_000_000,
    ) {
        let old = Time::<Ros>::from_nanos(start + elapsed);
        let new = Time::from_nanos(other);
        let original = Schedule::new(Time::from_nanos(start), ns(period), MissedTick::Skip).unwrap();
        let mut schedule = original.clone();
        schedule.on_clock_change(old, new);
        prop_assert_eq!(schedule.time_until_next(new), original.time_until_next(old));
        schedule.on_clock_change(new, old);
        prop_assert_eq!(schedule, original);
    }
}
