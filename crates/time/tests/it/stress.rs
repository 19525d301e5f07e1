//! Real threads on the machine's clock, for about a second: no lost wake-ups, no steps back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::thread;

use timeloom_time::{
    CancelToken, Clock, ControlledClock, Duration, JumpHandler, JumpThreshold, OnJump,
    PlaybackRate, PlayerClock, Ros, SourceId, Steady, Time, TimeBase, TimeHub, Timer, VirtualTime,
    WaitOptions, Woke,
};

use crate::support::{at, ms, ns, secs};
use crate::waiting::is_readable;

fn machine() -> TimeBase {
    TimeBase::machine()
}

/// Ends a test early on a busy machine; fewer rounds prove the same.
struct Budget(Clock<Steady>, Time<Steady>);

impl Budget {
    fn new() -> Self {
        let clock = Clock::new();
        let end = clock.now() + ms(300);
        Self(clock, end)
    }

    fn is_left(&self) -> bool {
        self.0.now() < self.1
    }
}

#[test]
fn time_never_steps_back_in_a_storm_of_pauses_and_rates() {
    let clock = ControlledClock::new(&machine(), at(1_000));
    clock.resume().unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = (0..2)
        .map(|_| {
            let (clock, over) = (clock.clone(), Arc::clone(&over));
            thread::spawn(move || {
                let (mut last, mut steps_back, mut reads) = (clock.now(), 0, 0_u64);
                while !over.load(Ordering::Relaxed) {
                    let now = clock.now();
                    steps_back += u64::from(now < last);
                    reads += 1;
                    last = now;
                }
                (steps_back, reads)
            })
        })
        .collect();
    let budget = Budget::new();
    for round in (0..20_000_u32).take_while(|_| budget.is_left()) {
        clock.pause().unwrap();
        clock
            .set_rate(PlaybackRate::new(f64::from(round % 7 + 1) / 3.0).unwrap())
            .unwrap();
        clock.resume().unwrap();
    }
    over.store(true, Ordering::Relaxed);
    for reader in readers {
        let (steps_back, reads) = reader.join().unwrap();
        assert_eq!(steps_back, 0, "in {reads} reads");
    }
}

/// Every single step is awaited by two sleepers, blocking and async, and the next comes when both woke.
#[test]
fn no_single_step_of_a_clock_leaves_a_sleeper_asleep() {
    let clock = Clock::<Ros>::new();
    clock.set_override(at(1));
    clock.activate_override();
    let reached: Arc<[AtomicI64; 2]> = Arc::new([AtomicI64::new(1), AtomicI64::new(1)]);
    let sleepers = [0, 1].map(|which| {
        let (clock, reached) = (clock.clone(), Arc::clone(&reached));
        thread::spawn(move || {
            let world = VirtualTime::new();
            for step in 2.. {
                let woke = if which == 0 {
                    clock.sleep_until(at(step))
                } else {
                    world.block_on(clock.sleep_until_async(at(step)))
                };
                if woke == Woke::ShutDown {
                    return;
                }
                assert!(woke.is_reached() && clock.now() >= at(step), "{woke:?}");
                reached[which].store(step, Ordering::SeqCst);
            }
        })
    });
    let budget = Budget::new();
    for step in (2..20_000).take_while(|_| budget.is_left()) {
        clock.set_override(at(step));
        while reached.iter().any(|at| at.load(Ordering::SeqCst) < step) {
            thread::yield_now();
        }
    }
    clock.shut_down();
    for sleeper in sleepers {
        sleeper.join().unwrap();
    }
}

#[test]
fn a_descriptor_is_readable_only_when_there_is_a_result() {
    let clock = ControlledClock::new(&machine(), at(1_000));
    clock.resume().unwrap();
    let mut wait = clock
        .clock()
        .sleep_until_descriptor(Time::MAX, &WaitOptions::new())
        .unwrap();
    let (begun, ended) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let control = clock.clone();
    let (go, done) = (Arc::clone(&begun), Arc::clone(&ended));
    let toggling = thread::spawn(move || {
        let mut round = 0;
        while round < u64::MAX {
            control.set_rate(PlaybackRate::new(2.0).unwrap()).unwrap();
            done.store(round, Ordering::Release);
            while go.load(Ordering::Acquire) <= round {
                thread::yield_now();
            }
            round = go.load(Ordering::Acquire);
        }
    });
    let budget = Budget::new();
    for round in (1..20_000).take_while(|_| budget.is_left()) {
        begun.store(round, Ordering::Release);
        while ended.load(Ordering::Acquire) < round {
            assert_eq!(wait.check(), None);
            thread::yield_now();
        }
        // One check may find what arrived since the last, the next what was still being written; then there is nothing.
        assert_eq!((wait.check(), wait.check()), (None, None));
        assert!(!is_readable(&wait), "readable for ever in round {round}");
    }
    begun.store(u64::MAX, Ordering::Release);
    toggling.join().unwrap();
    clock.clock().shut_down();
    assert!(is_readable(&wait));
    assert_eq!(wait.check(), Some(Woke::ShutDown));
}

#[test]
fn jumps_reach_every_wait_while_handlers_are_added_and_removed() {
    let clock = Clock::<Ros>::new();
    clock.set_override(at(1_000));
    clock.activate_override();
    let over = Arc::new(AtomicBool::new(false));
    let calls = Arc::new(AtomicU64::new(0));
    let churn = {
        let (clock, over, calls) = (clock.clone(), Arc::clone(&over), Arc::clone(&calls));
        thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                let (gone, calls) = (Arc::new(AtomicBool::new(false)), Arc::clone(&calls));
                let (is_gone, reader) = (Arc::clone(&gone), clock.clone());
                let handle = clock.add_jump_handler(
                    JumpHandler::new("churn", JumpThreshold::DISRUPTIVE).before(move |jump| {
                        assert!(!is_gone.load(Ordering::SeqCst), "called after its end");
                        assert!(reader.now() >= jump.new);
                        calls.fetch_add(1, Ordering::Relaxed);
                    }),
                );
                thread::yield_now();
                drop(handle);
                gone.store(true, Ordering::SeqCst);
            }
        })
    };
    let sleeper = {
        let (clock, over) = (clock.clone(), Arc::clone(&over));
        thread::spawn(move || {
            let mut jumps = 0_u64;
            while !over.load(Ordering::Relaxed) {
                let options = WaitOptions::new().real_timeout(ms(5));
                match clock.sleep_until_with(Time::MAX, &options) {
                    Woke::Jumped(jump) => jumps += u64::from(jump.delta < ns(0)),
                    woke => assert_eq!(woke, Woke::TimedOut),
                }
            }
            jumps
        })
    };
    let budget = Budget::new();
    for round in (0..4_000).take_while(|_| budget.is_left()) {
        clock.set_override(at(1_000 - round % 100));
    }
    over.store(true, Ordering::Relaxed);
    churn.join().unwrap();
    assert!(sleeper.join().unwrap() <= 4_000);
}

#[test]
fn clocks_join_and_leave_a_hub_that_ticks() {
    let hub = TimeHub::new(&machine());
    hub.activate();
    let sink = hub.sink(SourceId::named("sim"));
    sink.tick(at(1));
    let over = Arc::new(AtomicBool::new(false));
    let ticking = {
        let (over, hub) = (Arc::clone(&over), hub.clone());
        thread::spawn(move || {
            let mut now = 1;
            while !over.load(Ordering::Relaxed) {
                now += 1;
                sink.tick(at(now));
                if now % 64 == 0 {
                    hub.deactivate();
                    hub.activate();
                }
            }
            now
        })
    };
    let stays = hub.clock();
    let budget = Budget::new();
    for _ in (0..1_000).take_while(|_| budget.is_left()) {
        let guest = hub.clock();
        let other = TimeHub::new(&machine());
        other.attach(&guest);
        hub.attach(&guest);
        hub.detach(&guest);
        assert!(guest.started(), "back on the machine's time");
        assert!(guest.now() > at(1_000_000_000));
    }
    over.store(true, Ordering::Relaxed);
    let last = ticking.join().unwrap();
    assert_eq!(stays.now(), at(last));
}

#[test]
fn a_machine_sleep_is_never_early_in_any_form() {
    let clock = Clock::<Steady>::new();
    let world = VirtualTime::new();
    for micros in [0, 1, 50, 300, 700] {
        let until = clock.now() + Duration::from_micros(micros);
        assert!(clock.sleep_until(until).is_reached());
        assert!(clock.now() >= until);
        let until = clock.now() + Duration::from_micros(micros);
        let precise = WaitOptions::new().precision(timeloom_time::Precision::Precise);
        assert!(clock.sleep_until_with(until, &precise).is_reached());
        assert!(clock.now() >= until);
        let until = clock.now() + Duration::from_micros(micros);
        let woke = world.block_on(clock.sleep_until_async(until));
        assert!(woke.is_reached() && clock.now() >= until);
    }
}

#[test]
fn cancel_never_misses_a_wait_that_is_just_beginning() {
    let clock = Clock::<Steady>::new();
    let budget = Budget::new();
    for round in (0..2_000).take_while(|_| budget.is_left()) {
        let token = CancelToken::new();
        let options = WaitOptions::new().cancel(&token).on_jump(OnJump::Ignore);
        let sleeper = {
            let clock = clock.clone();
            thread::spawn(move || clock.sleep_for_with(secs(3_600), &options))
        };
        if round % 2 == 0 {
            thread::yield_now();
        }
        token.cancel();
        assert_eq!(sleeper.join().unwrap(), Woke::Cancelled);
    }
}

#[test]
fn a_timer_survives_a_source_that_jumps_back_and_forth() {
    let clock = Clock::<Ros>::new();
    clock.set_override(at(1_000_000));
    clock.activate_override();
    let timer = Arc::new(Timer::builder(&clock, ns(10)).build().unwrap());
    let waiting = {
        let timer = Arc::clone(&timer);
        thread::spawn(move || {
            let mut ticks = 0_u64;
            while timer.wait().is_ok() {
                ticks += 1;
            }
            ticks
        })
    };
    let budget = Budget::new();
    for round in (0..5_000).take_while(|_| budget.is_left()) {
        clock.set_override(at(if round % 2 == 0 { 500 } else { 1_000_000 }));
    }
    clock.set_override(at(700));
    let now = timer.time_until_next();
    assert!(now.is_some_and(|left| left <= ns(10)), "{now:?}");
    timer.cancel();
    waiting.join().unwrap();
}

/// A late wake-up, when its thread already waits again, must not count it twice.
#[test]
fn participants_that_hand_over_constantly_stay_counted() {
    let world = VirtualTime::new();
    let clock = Clock::<Steady>::on(&world.base());
    let inside = world.enter();
    let threads: Vec<_> = (0..4)
        .map(|who| {
            let (clock, budget) = (clock.clone(), Budget::new());
            world.spawn("runner", move || {
                let mut rounds = 0_i64;
                while budget.is_left() && rounds < 20_000 {
                    assert!(clock.sleep_for(ns(who % 2 + 1)).is_reached());
                    rounds += 1;
                }
                rounds
            })
        })
        .collect();
    drop(inside);
    let begin = clock.now();
    for thread in threads {
        assert!(thread.join().unwrap() > 0);
    }
    assert!(clock.now() >= begin);
}
