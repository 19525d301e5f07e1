//! Virtual time: no real waiting, fully deterministic.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use timeloom_time::{Clock, Duration, Event, Steady, System, VirtualTime, WaitOptions, Woke};

use crate::support::{Log, ms, ns, secs};

fn steady(world: &VirtualTime) -> Clock<Steady> {
    Clock::on(&world.base())
}

#[test]
fn sleeping_for_a_day_takes_no_real_time() {
    let world = VirtualTime::new();
    let clock = steady(&world);
    let begin = clock.now();
    let sleeper = clock.clone();
    let day = world.spawn("day", move || sleeper.sleep_for(secs(86_400)));
    assert!(day.join().unwrap().is_reached());
    assert_eq!(clock.now() - begin, secs(86_400));
}

/// The steps of many threads with many equal deadlines.
fn crowd() -> Vec<(i64, usize)> {
    let world = VirtualTime::new();
    let clock = steady(&world);
    let (begin, log) = (clock.now(), Log::new());
    let inside = world.enter();
    let threads: Vec<_> = (0..6)
        .map(|who| {
            let (clock, log) = (clock.clone(), log.clone());
            // They start one after the other, so that the order of arrival is fixed.
            let start = begin + ms(1) + ns(i64::try_from(who).expect("a few"));
            world.spawn("runner", move || {
                assert!(clock.sleep_until(start).is_reached());
                for round in 1..=20 {
                    let period = ms(if who % 2 == 0 { 10 } else { 5 });
                    let woke = clock.sleep_until(begin + ms(10) + period * round);
                    assert!(woke.is_reached());
                    log.push(((clock.now() - begin).nanos(), who));
                }
            })
        })
        .collect();
    drop(inside);
    for thread in threads {
        thread.join().expect("no panic");
    }
    log.take()
}

#[test]
fn threads_with_equal_deadlines_run_in_the_same_order_every_time() {
    let first = crowd();
    assert_eq!(first.len(), 120);
    assert!(first.is_sorted_by_key(|(at, _)| *at));
    for _ in 0..100 {
        assert_eq!(crowd(), first);
    }
}

#[test]
fn equal_deadlines_are_served_in_the_order_in_which_the_waits_began() {
    let world = VirtualTime::manual();
    let (clock, log) = (steady(&world), Log::new());
    let until = clock.now() + secs(1);
    for who in 0..8 {
        let (clock, log) = (clock.clone(), log.clone());
        drop(world.spawn("sleeper", move || {
            assert!(clock.sleep_until(until).is_reached());
            log.push(who);
        }));
        world.settle();
    }
    world.advance(secs(1));
    world.settle();
    assert_eq!(log.take(), [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn manual_time_serves_every_deadline_on_the_way_and_stops_exactly() {
    let world = VirtualTime::manual();
    let (clock, log) = (steady(&world), Log::new());
    let (begin, inner, seen) = (clock.now(), clock.clone(), log.clone());
    let ticking = world.spawn("ticks", move || {
        for _ in 0..5 {
            assert!(inner.sleep_for(ms(10)).is_reached());
            seen.push((inner.now() - begin).nanos() / 1_000_000);
        }
    });
    world.settle();
    world.advance(ms(35));
    assert_eq!(log.take(), [10, 20, 30]);
    assert_eq!(clock.now() - begin, ms(35));
    world.advance(Duration::ZERO);
    world.advance(ms(-5));
    assert_eq!(clock.now() - begin, ms(35), "time never goes back");
    world.advance(secs(1));
    assert_eq!(log.take(), [40, 50]);
    ticking.join().unwrap();
}

#[test]
fn a_future_runs_on_virtual_time_and_advances_it() {
    let world = VirtualTime::new();
    let clock = steady(&world);
    let begin = clock.now();
    let waited = world.block_on(async {
        let mut waits = 0;
        for _ in 0..100 {
            let woke = clock.sleep_for_async(secs(60)).await;
            waits += i64::from(woke.is_reached());
        }
        waits
    });
    assert_eq!(waited, 100);
    assert_eq!(clock.now() - begin, secs(6_000));
}

#[test]
fn setting_the_system_clock_leaves_steady_time_alone() {
    let world = VirtualTime::manual();
    let (system, steady) = (Clock::<System>::on(&world.base()), steady(&world));
    let before = (system.now(), steady.now());
    world.step_system_clock(secs(-10));
    assert_eq!(
        (system.now(), steady.now()),
        (before.0 - secs(10), before.1)
    );
    world.advance(secs(1));
    assert_eq!(system.now(), before.0 - secs(9));
}

#[test]
fn time_stands_still_while_a_participant_is_busy() {
    let world = VirtualTime::new();
    let clock = steady(&world);
    let begin = clock.now();
    let busy = world.enter();
    let sleeper = clock.clone();
    let sleeping = world.spawn("sleeper", move || sleeper.sleep_for(secs(1)));
    world.settle();
    assert_eq!(clock.now(), begin);
    assert!(!sleeping.is_finished());
    drop(busy);
    assert!(sleeping.join().unwrap().is_reached());
}

#[test]
fn a_bystander_may_sleep_and_does_not_block_time() {
    let world = VirtualTime::manual();
    let clock = steady(&world);
    let woken = Arc::new(AtomicBool::new(false));
    let (flag, sleeper) = (Arc::clone(&woken), clock.clone());
    let until = clock.now() + secs(1);
    let bystander = thread::spawn(move || {
        assert!(sleeper.sleep_until(until).is_reached());
        flag.store(true, Ordering::SeqCst);
    });
    while !woken.load(Ordering::SeqCst) {
        world.advance(ms(100));
        thread::yield_now();
    }
    bystander.join().unwrap();
    assert!(clock.now() >= until);
}

/// A bystander that begins to wait while time advances must not be skipped.
#[test]
fn advancing_time_finds_a_bystander_that_begins_to_wait() {
    for _ in 0..300 {
        let world = VirtualTime::manual();
        let clock = steady(&world);
        let begun = Arc::new(AtomicU64::new(0));
        let (sleeper, count) = (clock.clone(), Arc::clone(&begun));
        let until = clock.now() + ns(50);
        let bystander = thread::spawn(move || {
            count.store(1, Ordering::SeqCst);
            assert!(sleeper.sleep_until(until).is_reached());
        });
        while begun.load(Ordering::SeqCst) == 0 {
            thread::yield_now();
        }
        // One advance only: in any interleaving, the deadline is before its end.
        world.advance(ns(50));
        bystander.join().unwrap();
    }
}

#[test]
fn nested_and_crossed_guards_count_one_thread_once() {
    let world = VirtualTime::new();
    let clock = steady(&world);
    let outer = world.enter();
    let inner = world.enter();
    assert!(clock.sleep_for(secs(1)).is_reached());
    drop(outer);
    assert!(
        clock.sleep_for(secs(1)).is_reached(),
        "the inner guard still counts"
    );
    let again = world.enter();
    drop(inner);
    assert!(clock.sleep_for(secs(1)).is_reached());
    drop(again);
    let sleeper = clock.clone();
    let other = world.spawn("other", move || sleeper.sleep_for(secs(1)));
    assert!(
        other.join().unwrap().is_reached(),
        "no thread stays counted as busy"
    );
}

#[test]
fn a_thread_may_take_part_in_two_worlds() {
    let worlds = [VirtualTime::new(), VirtualTime::new()];
    let clocks = worlds.each_ref().map(steady);
    let _guards = worlds.each_ref().map(VirtualTime::enter);
    let begins = clocks.each_ref().map(Clock::now);
    assert!(clocks[0].sleep_for(secs(5)).is_reached());
    assert_eq!(clocks[0].now() - begins[0], secs(5));
    assert_eq!(clocks[1].now(), begins[1]);
}

#[test]
fn a_participant_that_panics_does_not_stop_the_world() {
    let world = VirtualTime::new();
    let clock = steady(&world);
    let (first, second) = (clock.clone(), clock.clone());
    let inside = world.enter();
    let broken = world.spawn("broken", move || {
        assert!(first.sleep_for(secs(1)).is_reached());
        panic!("on purpose");
    });
    let sound = world.spawn("sound", move || second.sleep_for(secs(10)));
    drop(inside);
    assert!(broken.join().is_err());
    assert!(sound.join().unwrap().is_reached());
    let inside = catch_unwind(AssertUnwindSafe(|| {
        let _taking_part = world.enter();
        panic!("on purpose");
    }));
    assert!(inside.is_err());
    let sleeper = clock.clone();
    let after = world.spawn("after", move || sleeper.sleep_for(secs(1)));
    assert!(after.join().unwrap().is_reached());
}

#[test]
fn time_continues_while_a_participant_joins_another() {
    let world = VirtualTime::new();
    let clock = steady(&world);
    let begin = clock.now();
    let _inside = world.enter();
    let sleeper = clock.clone();
    let nap = world.spawn("nap", move || sleeper.sleep_for(secs(30)));
    assert!(!nap.is_finished());
    assert!(nap.join().unwrap().is_reached());
    assert_eq!(clock.now() - begin, secs(30));
}

#[test]
fn work_is_handed_from_thread_to_thread_at_the_right_instant() {
    let world = VirtualTime::new();
    let clock = steady(&world);
    let (ready, back, log) = (
        Event::new(&world.base()),
        Event::new(&world.base()),
        Log::new(),
    );
    let begin = clock.now();
    let inside = world.enter();
    let consumer = {
        let (clock, ready, back, log) = (clock.clone(), ready.clone(), back.clone(), log.clone());
        world.spawn("consumer", move || {
            for _ in 0..3 {
                ready.wait();
                assert!(ready.take());
                log.push((clock.now() - begin).nanos() / 1_000_000);
                back.set();
            }
        })
    };
    let producer = {
        let clock = clock.clone();
        world.spawn("producer", move || {
            for _ in 0..3 {
                assert!(clock.sleep_for(ms(100)).is_reached());
                ready.set();
                back.wait();
                back.clear();
            }
        })
    };
    drop(inside);
    consumer.join().unwrap();
    producer.join().unwrap();
    assert_eq!(log.take(), [100, 200, 300]);
}

#[test]
fn a_wait_for_an_event_times_out_in_virtual_time() {
    let world = VirtualTime::new();
    let clock = steady(&world);
    let event = Event::new(&world.base());
    let _inside = world.enter();
    let begin = clock.now();
    assert!(!event.wait_for(secs(3_600)));
    assert_eq!(clock.now() - begin, secs(3_600));
    let (setter, sleeper) = (event.clone(), clock.clone());
    drop(world.spawn("setter", move || {
        assert!(sleeper.sleep_for(ms(5)).is_reached());
        setter.set();
    }));
    assert!(event.wait_for(Duration::MAX));
    assert_eq!(clock.now() - begin, secs(3_600) + ms(5));
    assert!(
        event.wait_for(Duration::MIN),
        "set is set, however little patience"
    );
    assert!(event.take() && !event.take() && !event.is_set());
    assert!(!event.wait_for(Duration::MIN));
}

#[test]
fn a_cancelled_sleep_does_not_advance_time() {
    let world = VirtualTime::new();
    let clock = steady(&world);
    let token = timeloom_time::CancelToken::new();
    let _inside = world.enter();
    let begin = clock.now();
    let (sleeper, options) = (clock.clone(), WaitOptions::new().cancel(&token));
    let sleeping = world.spawn("sleeper", move || sleeper.sleep_for_with(secs(9), &options));
    world.settle();
    token.cancel();
    assert_eq!(sleeping.join().unwrap(), Woke::Cancelled);
    assert_eq!(clock.now(), begin);
}

/// Tasks that sleep beside threads: time must not advance between a task's signal and its wake-up.
#[test]
fn tasks_and_threads_wake_in_the_order_of_their_deadlines() {
    for _ in 0..50 {
        let world = VirtualTime::new();
        let clock = Clock::<Steady>::on(&world.base());
        let begin = clock.now();
        let gate = world.enter();
        let late: Vec<_> = (0..3i64)
            .map(|n| {
                let (inner, clock) = (world.clone(), clock.clone());
                world.spawn("task", move || {
                    inner.block_on(async {
                        let mut late = Duration::ZERO;
                        for step in 1..=20i64 {
                            let due = begin + Duration::from_micros(step * 10 + n);
                            let woke = clock.sleep_until_async(due).await;
                            assert!(woke.is_reached());
                            late = late.max(clock.now() - due);
                        }
                        late
                    })
                })
            })
            .collect();
        drop(gate);
        for task in late {
            assert_eq!(task.join().expect("no panic"), Duration::ZERO);
        }
    }
}
