//! Jump handlers: their view of the clock, and what they may do.

use std::future::Future;
use std::pin::pin;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;

use timeloom_time::{
    Clock, ClockChange, ControlledClock, JumpCause, JumpHandle, JumpHandler, JumpThreshold, NoTime,
    PlaybackRate, PlayerClock, Ros, TimeHub, TimeJump, VirtualTime, Woke,
};

use crate::support::{Log, at, beyond, deltas, ms, ns, overridden, secs, watch};

const ANY: JumpThreshold = JumpThreshold::ANY;
const DISRUPTIVE: JumpThreshold = JumpThreshold::DISRUPTIVE;

/// Storage for the handle of another handler, or the own one.
type Slot = Arc<Mutex<Option<JumpHandle>>>;

fn named(log: &Log<String>, name: &'static str) -> JumpHandler<Ros> {
    let (before, after) = (log.clone(), log.clone());
    JumpHandler::new(name, DISRUPTIVE)
        .before(move |_| before.push(format!("{name} before")))
        .after(move |_| after.push(format!("{name} after")))
}

#[test]
fn all_callbacks_for_before_come_before_all_for_after_in_order_of_registration() {
    let clock = overridden(at(100));
    let log = Log::new();
    let _handles = ["a", "b", "c"].map(|name| clock.add_jump_handler(named(&log, name)));
    clock.set_override(at(50));
    assert_eq!(
        log.take(),
        [
            "a before", "b before", "c before", "a after", "b after", "c after"
        ]
    );
}

#[test]
fn the_event_has_old_new_delta_cause_and_epoch() {
    let clock = overridden(at(100));
    let epoch = clock.epoch();
    let (_handle, log) = watch(&clock, DISRUPTIVE);
    clock.set_override(at(40));
    let expected = TimeJump {
        change: ClockChange::NoChange,
        cause: JumpCause::Source,
        old: at(100),
        new: at(40),
        delta: ns(-60),
        epoch: epoch + 1,
    };
    assert_eq!(log.take(), [("before", expected), ("after", expected)]);
    assert_eq!(clock.epoch(), epoch + 1);
}

#[test]
fn the_rule_of_rcl_holds_to_the_nanosecond() {
    for (threshold, step, fires) in [
        (beyond(10, -5), 10, true),
        (beyond(10, -5), 9, false),
        (beyond(10, -5), 0, false),
        (beyond(10, -5), -4, false),
        (beyond(10, -5), -5, true),
        (JumpThreshold::new().forward(ns(1)).unwrap(), -50, false),
        (JumpThreshold::new().backward(ns(-1)).unwrap(), 50, false),
        (JumpThreshold::new().clock_change(), -50, false),
        (ANY, 1, true),
    ] {
        let clock = overridden(at(1_000));
        let (_handle, log) = watch(&clock, threshold);
        clock.set_override(at(1_000 + step));
        let expected: Vec<_> = fires.then_some(step).into_iter().collect();
        assert_eq!(deltas(&log), expected, "{threshold:?} at {step}");
    }
}

#[test]
fn a_change_of_source_has_no_length_and_matches_only_its_flag() {
    let clock = Clock::<Ros>::on(&VirtualTime::manual().base());
    let (_flag, changes) = watch(&clock, JumpThreshold::new().clock_change());
    let (_length, lengths) = watch(&clock, beyond(1, -1));
    let system = clock.now();
    clock.activate_override();
    clock.set_override(at(7));
    clock.deactivate_override();
    let changes: Vec<_> = changes.take().into_iter().map(|(_, jump)| jump).collect();
    let seen = |jump: &TimeJump<Ros>| (jump.change, jump.old, jump.new, jump.delta);
    assert_eq!(
        changes.iter().step_by(2).map(seen).collect::<Vec<_>>(),
        [
            (ClockChange::RosTimeActivated, system, at(0), ns(0)),
            (ClockChange::RosTimeStarted, at(0), at(7), ns(0)),
            (ClockChange::RosTimeDeactivated, at(7), system, ns(0)),
        ]
    );
    assert!(lengths.take().is_empty());
}

/// A clock at 50 whose jump back to 10 another thread has begun; its handler waits to be released.
fn jump_in_progress() -> (Clock<Ros>, impl FnOnce() + Send) {
    let clock = overridden(at(50));
    clock.set_handler_patience(secs(3_600));
    let (entered, inside) = channel();
    let (release, released) = channel::<()>();
    let released = Mutex::new(released);
    let handler = JumpHandler::new("slow", DISRUPTIVE).before(move |_| {
        entered.send(()).expect("no panic");
        let _ended = released.lock().expect("no panic").recv();
    });
    let handle = clock.add_jump_handler(handler);
    let jumper = clock.clone();
    let jumping = thread::spawn(move || {
        jumper.set_override(at(10));
        drop(handle);
    });
    inside.recv().expect("no panic");
    (clock, move || {
        drop(release);
        jumping.join().expect("no panic");
    })
}

#[test]
fn readers_block_until_the_callbacks_before_a_jump_back_are_done() {
    let (clock, release) = jump_in_progress();
    assert_eq!(clock.try_now(), Err(NoTime::JumpInProgress));
    let readers: Vec<_> = (0..4)
        .map(|_| {
            let clock = clock.clone();
            thread::spawn(move || clock.now())
        })
        .collect();
    assert_eq!(clock.try_now(), Err(NoTime::JumpInProgress));
    release();
    for reader in readers {
        assert_eq!(
            reader.join().unwrap(),
            at(10),
            "never the old time, never early"
        );
    }
    assert_eq!(clock.try_now(), Ok(at(10)));
}

#[test]
fn an_async_read_waits_for_the_jump_without_a_thread() {
    let (clock, release) = jump_in_progress();
    let mut read = pin!(clock.now_async());
    let mut context = Context::from_waker(Waker::noop());
    assert_eq!(read.as_mut().poll(&mut context), Poll::Pending);
    let world = VirtualTime::new();
    let releaser = thread::spawn(release);
    assert_eq!(world.block_on(read), at(10));
    releaser.join().unwrap();
}

#[test]
fn readers_get_the_old_time_before_a_jump_forward() {
    let clock = overridden(at(50));
    let (reader, seen) = (clock.clone(), Log::new());
    let log = seen.clone();
    let _handle = clock.add_jump_handler(JumpHandler::new("reader", ANY).before(move |_| {
        let other = reader.clone();
        log.push(thread::spawn(move || other.now()).join().unwrap());
    }));
    clock.set_override(at(60));
    assert_eq!(seen.take(), [at(50)]);
}

#[test]
fn a_handler_reads_the_old_time_before_and_the_new_time_after() {
    let clock = overridden(at(100));
    let seen = Log::new();
    let (before, after) = ((clock.clone(), seen.clone()), (clock.clone(), seen.clone()));
    let _handle = clock.add_jump_handler(
        JumpHandler::new("reader", DISRUPTIVE)
            .before(move |_| before.1.push(before.0.now()))
            .after(move |_| after.1.push(after.0.now())),
    );
    clock.set_override(at(30));
    assert_eq!(seen.take(), [at(100), at(30)]);
}

#[test]
fn a_wait_inside_a_handler_returns_at_once() {
    let clock = overridden(at(100));
    let woke = Log::new();
    let (before, after) = ((clock.clone(), woke.clone()), (clock.clone(), woke.clone()));
    let _handle = clock.add_jump_handler(
        JumpHandler::new("sleeper", DISRUPTIVE)
            .before(move |_| before.1.push(before.0.sleep_for(secs(60))))
            .after(move |_| after.1.push(after.0.sleep_until(at(1_000)))),
    );
    clock.set_override(at(30));
    for woke in woke.take() {
        assert!(
            matches!(woke, Woke::Jumped(jump) if jump.new == at(30)),
            "{woke:?}"
        );
    }
}

#[test]
fn a_handler_that_a_handler_adds_is_first_called_at_the_next_jump() {
    let clock = overridden(at(100));
    let (log, added) = (Log::new(), Slot::default());
    let (adder, inner, slot) = (clock.clone(), log.clone(), Arc::clone(&added));
    let _handle = clock.add_jump_handler(JumpHandler::new("adder", DISRUPTIVE).before(move |_| {
        let mut slot = slot.lock().unwrap();
        if slot.is_none() {
            *slot = Some(adder.add_jump_handler(named(&inner, "added")));
        }
    }));
    clock.set_override(at(50));
    assert!(log.take().is_empty());
    clock.set_override(at(40));
    assert_eq!(log.take(), ["added before", "added after"]);
    let added = added.lock().unwrap().take();
    drop(added);
}

/// rclpy skips the handler after one that removes itself; here removal does not affect other handlers.
#[test]
fn a_handler_that_drops_its_own_handle_is_not_called_again_and_the_next_one_is() {
    let clock = overridden(at(100));
    let (log, own) = (Log::new(), Slot::default());
    let (slot, inner, after) = (Arc::clone(&own), log.clone(), log.clone());
    let handle = clock.add_jump_handler(
        JumpHandler::new("once", DISRUPTIVE)
            .before(move |_| {
                inner.push("once before".to_owned());
                let mine = slot.lock().unwrap().take();
                drop(mine);
            })
            .after(move |_| after.push("called after its end".to_owned())),
    );
    *own.lock().unwrap() = Some(handle);
    let _next = clock.add_jump_handler(named(&log, "next"));
    clock.set_override(at(50));
    assert_eq!(log.take(), ["once before", "next before", "next after"]);
    clock.set_override(at(40));
    assert_eq!(log.take(), ["next before", "next after"]);
}

/// Once the drop of a handle has returned, its callbacks are over, also for a jump in progress.
#[test]
fn a_handler_that_another_handler_removes_is_not_called_any_more() {
    let clock = overridden(at(100));
    let (log, victim) = (Log::new(), Slot::default());
    let slot = Arc::clone(&victim);
    let _remover =
        clock.add_jump_handler(JumpHandler::new("remover", DISRUPTIVE).before(move |_| {
            let victim = slot.lock().unwrap().take();
            drop(victim);
        }));
    *victim.lock().unwrap() = Some(clock.add_jump_handler(named(&log, "victim")));
    let _last = clock.add_jump_handler(named(&log, "last"));
    clock.set_override(at(50));
    assert_eq!(log.take(), ["last before", "last after"]);
}

#[test]
fn operations_of_a_handler_on_its_clock_are_applied_in_order_after_the_jump() {
    let world = VirtualTime::manual();
    let clock = ControlledClock::new(&world.base(), at(1_000));
    clock.resume().unwrap();
    let (control, log) = (clock.clone(), Log::new());
    let seen = log.clone();
    let handler = JumpHandler::new("control", DISRUPTIVE).before(move |jump| {
        if jump.new == at(500) {
            control.set_rate(PlaybackRate::new(4.0).unwrap()).unwrap();
            control.jump(at(200)).unwrap();
            control.pause().unwrap();
            control.resume().unwrap();
            control.set_rate(PlaybackRate::new(2.0).unwrap()).unwrap();
        }
        seen.push((jump.old, jump.new, control.rate()));
    });
    let _handle = clock.add_jump_handler(handler);
    clock.jump(at(500)).unwrap();
    assert_eq!(
        log.take(),
        [
            (at(1_000), at(500), Some(1.0)),
            (at(500), at(200), Some(4.0))
        ]
    );
    assert_eq!((clock.rate(), clock.is_paused()), (Some(2.0), false));
    world.advance(ns(10));
    assert_eq!(clock.now(), at(220));
}

#[test]
fn a_tick_from_a_handler_comes_after_its_jump() {
    let clock = overridden(at(100));
    let (ticker, log) = (clock.clone(), Log::new());
    let seen = log.clone();
    let _handle =
        clock.add_jump_handler(JumpHandler::new("ticker", DISRUPTIVE).after(move |jump| {
            if jump.new == at(50) {
                ticker.set_override(at(20));
                ticker.set_override(at(21));
                ticker.set_override(at(22));
            }
            seen.push((jump.new, ticker.now()));
        }));
    clock.set_override(at(50));
    assert_eq!(log.take(), [(at(50), at(50)), (at(20), at(20))]);
    assert_eq!(clock.now(), at(22));
}

#[test]
fn a_handler_may_switch_and_feed_the_hub_that_made_its_clock_jump() {
    let world = VirtualTime::manual();
    let hub = TimeHub::new(&world.base());
    let (first, second) = (hub.clock(), hub.clock());
    hub.activate();
    let sink = hub.sink(timeloom_time::SourceId::named("sim"));
    sink.tick(at(100));
    let (inner, tick) = (hub.clone(), sink.clone());
    let _handle = first.add_jump_handler(JumpHandler::new("switch", beyond(1, -1)).after(
        move |jump| {
            if jump.new == at(50) {
                tick.tick(at(60));
                inner.deactivate();
                inner.activate();
                tick.tick(at(70));
            }
        },
    ));
    sink.tick(at(50));
    assert_eq!((first.now(), second.now()), (at(70), at(70)));
}

#[test]
fn a_handle_outlives_its_clock_in_any_order_of_destruction() {
    let clock = overridden(at(100));
    let (handle, log) = watch(&clock, DISRUPTIVE);
    let twin = clock.clone();
    drop(clock);
    twin.set_override(at(1));
    assert_eq!(deltas(&log), [-99]);
    drop(twin);
    drop(handle);

    let clock = overridden(at(100));
    let (handle, log) = watch(&clock, DISRUPTIVE);
    drop(handle);
    clock.set_override(at(1));
    assert!(log.take().is_empty());
}

#[test]
fn a_seek_calls_handlers_that_ask_for_its_direction() {
    let clock = ControlledClock::new(&VirtualTime::manual().base(), at(1_000));
    let (_back, back) = watch(clock.clock(), beyond(i64::MAX, -1));
    let (_far, far) = watch(clock.clock(), beyond(ms(1).nanos(), -ms(1).nanos()));
    clock.jump(at(2_000)).unwrap();
    clock.jump(at(500)).unwrap();
    clock.jump(at(2_000_000)).unwrap();
    assert_eq!(deltas(&back), [-1_500]);
    assert_eq!(deltas(&far), [1_999_500]);
}

/// A change of source that takes time back is a backward jump for all readers of the clock.
#[test]
fn readers_block_while_a_switch_to_simulated_time_is_prepared() {
    let clock = Clock::<Ros>::on(&VirtualTime::manual().base());
    clock.set_handler_patience(secs(40));
    clock.set_override(at(5));
    let (entered, inside) = channel();
    let (release, released) = channel::<()>();
    let released = Mutex::new(released);
    let _handle =
        clock.add_jump_handler(JumpHandler::new("clears", DISRUPTIVE).before(move |_| {
            entered.send(()).unwrap();
            let _ended = released.lock().unwrap().recv();
        }));
    let switching = clock.clone();
    let switching = thread::spawn(move || switching.activate_override());
    inside.recv().unwrap();
    assert_eq!(clock.try_now(), Err(NoTime::JumpInProgress));
    let reader = clock.clone();
    let reading = thread::spawn(move || reader.now());
    drop(release);
    assert_eq!(reading.join().unwrap(), at(5), "not the system time");
    switching.join().unwrap();
    assert_eq!(clock.try_now(), Ok(at(5)));
}

#[test]
fn ticks_do_not_change_the_epoch_with_a_handler_for_any_jump() {
    let clock = overridden(at(100));
    let epoch = clock.epoch();
    let (_handle, log) = watch(&clock, ANY);
    for now in [110, 120, 130] {
        clock.set_override(at(now));
    }
    assert_eq!(deltas(&log), [10; 3]);
    assert_eq!(
        clock.epoch(),
        epoch,
        "times before and after are comparable"
    );
    clock.set_override(at(40));
    assert_eq!(clock.epoch(), epoch + 1);
}
