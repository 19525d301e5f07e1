//! Handlers that panic, hang or are dropped in the middle: others go on, and the owner is told.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use timeloom_time::{
    Clock, ClockWarning, JumpHandle, JumpHandler, JumpThreshold, NoTime, Ros, SourceId, Steady,
    TimeBase, TimeHub, VirtualTime, WaitOptions, Woke,
};

use crate::support::{Log, at, deltas, ms, overridden, secs, warnings_of, watch};

const DISRUPTIVE: JumpThreshold = JumpThreshold::DISRUPTIVE;
/// Longer than any of this takes on a busy machine.
const LONG: std::time::Duration = std::time::Duration::from_secs(40);

/// When the callback blocks.
#[derive(Clone, Copy)]
enum Phase {
    Before,
    After,
}

/// Adds a handler that blocks in every call until the sender is dropped, and says when it has begun to.
fn add_hanging(
    clock: &Clock<Ros>,
    phase: Phase,
) -> (JumpHandle, Sender<()>, std::sync::mpsc::Receiver<()>) {
    let (entered, inside) = channel();
    let (release, released) = channel::<()>();
    let released = Mutex::new(released);
    let hang = move || {
        entered.send(()).expect("the test listens");
        let _ended = released.lock().expect("no panic").recv();
    };
    let handler = JumpHandler::new("hanging", DISRUPTIVE);
    let handler = match phase {
        Phase::Before => handler.before(move |_| hang()),
        Phase::After => handler.after(move |_| hang()),
    };
    (clock.add_jump_handler(handler), release, inside)
}

/// Waits for what other threads do.
#[track_caller]
fn eventually(what: &str, mut happened: impl FnMut() -> bool) {
    let clock = Clock::<Steady>::new();
    let end = clock.now() + secs(40);
    while !happened() {
        assert!(clock.now() < end, "{what}: not within 40 s");
        assert!(clock.sleep_for(ms(1)).is_reached());
    }
}

/// The warnings so far, at least one: a thread that gives up on a handler lets the others go on before it warns.
#[track_caller]
fn reported(warnings: &Log<ClockWarning>) -> Vec<ClockWarning> {
    let mut all = Vec::new();
    eventually("a warning", || {
        all.extend(warnings.take());
        !all.is_empty()
    });
    all
}

fn hangs() -> ClockWarning {
    ClockWarning::HandlerHangs {
        handler: "hanging".into(),
    }
}

#[test]
fn a_panic_is_reported_and_the_other_handlers_are_called() {
    let clock = overridden(at(100));
    let warnings = warnings_of(&clock);
    let _panics = clock.add_jump_handler(
        JumpHandler::new("broken", DISRUPTIVE).before(|jump| panic!("no way to {}", jump.new)),
    );
    let (_watch, log) = watch(&clock, DISRUPTIVE);
    clock.set_override(at(40));
    assert_eq!(deltas(&log), [-60]);
    assert_eq!(clock.now(), at(40));
    let broken = ClockWarning::HandlerPanicked {
        handler: "broken".into(),
        message: "no way to 0.000000040".into(),
    };
    assert_eq!(warnings.take(), [broken]);
}

#[test]
fn readers_give_up_on_a_handler_that_hangs_and_see_the_new_time() {
    let clock = overridden(at(100));
    clock.set_handler_patience(ms(2));
    let warnings = warnings_of(&clock);
    let (handle, release, inside) = add_hanging(&clock, Phase::Before);
    let (_watch, log) = watch(&clock, DISRUPTIVE);
    let jumper = clock.clone();
    let jumping = thread::spawn(move || jumper.set_override(at(40)));
    inside.recv().unwrap();
    assert_eq!(
        clock.now(),
        at(40),
        "blocks at first, then goes on without the handler"
    );
    assert_eq!(reported(&warnings), [hangs()]);
    clock.set_override(at(45));
    assert_eq!(clock.now(), at(45), "writers go on too");
    drop(release);
    jumping.join().unwrap();
    assert_eq!(
        clock.now(),
        at(45),
        "the thread that hung changes nothing any more"
    );
    assert_eq!(
        deltas(&log),
        [-60],
        "its other handlers are called all the same"
    );
    drop(handle);
}

#[test]
fn a_wait_hears_of_the_jump_though_a_handler_hangs_after_it() {
    let clock = Clock::<Ros>::new();
    clock.set_override(at(100));
    clock.activate_override();
    clock.set_handler_patience(ms(2));
    let warnings = warnings_of(&clock);
    let (handle, release, inside) = add_hanging(&clock, Phase::After);
    let sleep = clock.sleep_until_async(at(1_000));
    let jumper = clock.clone();
    let jumping = thread::spawn(move || jumper.set_override(at(40)));
    inside.recv().unwrap();
    // A wait that begins after the new time is out has no jump to be told of.
    let fresh = clock.sleep_until_with(at(1_000), &WaitOptions::new().real_timeout(ms(1)));
    assert_eq!(fresh, Woke::TimedOut);
    let woke = VirtualTime::new().block_on(sleep);
    assert!(
        matches!(woke, Woke::Jumped(jump) if jump.new == at(40)),
        "{woke:?}"
    );
    assert_eq!(reported(&warnings), [hangs()]);
    drop(release);
    jumping.join().unwrap();
    drop(handle);
}

#[test]
fn an_async_read_gives_up_on_a_handler_that_hangs() {
    let clock = overridden(at(100));
    clock.set_handler_patience(ms(2));
    let warnings = warnings_of(&clock);
    let (handle, release, inside) = add_hanging(&clock, Phase::Before);
    let jumper = clock.clone();
    let jumping = thread::spawn(move || jumper.set_override(at(40)));
    inside.recv().unwrap();
    assert_eq!(VirtualTime::new().block_on(clock.now_async()), at(40));
    assert_eq!(reported(&warnings), [hangs()]);
    drop(release);
    jumping.join().unwrap();
    drop(handle);
}

#[test]
fn a_hub_goes_on_when_a_handler_of_one_clock_hangs() {
    let hub = TimeHub::new(&TimeBase::machine());
    let (stuck, free) = (hub.clock(), hub.clock());
    stuck.set_handler_patience(ms(2));
    free.set_handler_patience(ms(2));
    hub.activate();
    let sink = hub.sink(SourceId::named("sim"));
    sink.tick(at(100));
    let warnings = warnings_of(&stuck);
    let (handle, release, inside) = add_hanging(&stuck, Phase::Before);
    let source = sink.clone();
    let ticking = thread::spawn(move || source.tick(at(40)));
    inside.recv().unwrap();
    sink.tick(at(50));
    assert_eq!((stuck.now(), free.now()), (at(50), at(50)));
    assert_eq!(reported(&warnings), [hangs()]);
    drop(release);
    ticking.join().unwrap();
    sink.tick(at(60));
    assert_eq!((stuck.now(), free.now()), (at(60), at(60)));
    drop(handle);
}

#[test]
fn a_handler_that_hangs_does_not_delay_the_other_clocks_of_its_hub() {
    let hub = TimeHub::new(&TimeBase::machine());
    let (stuck, free) = (hub.clock(), hub.clock());
    stuck.set_handler_patience(secs(3_600));
    hub.activate();
    let sink = hub.sink(SourceId::named("sim"));
    sink.tick(at(100));
    let (handle, release, inside) = add_hanging(&stuck, Phase::Before);
    let ticking = thread::spawn(move || sink.tick(at(40)));
    inside.recv().unwrap();
    eventually("the other clock shows the sample", || free.now() == at(40));
    drop(release);
    ticking.join().unwrap();
    assert_eq!(stuck.now(), at(40));
    drop(handle);
}

#[test]
fn the_drop_of_a_handle_waits_for_a_call_in_progress() {
    let clock = overridden(at(100));
    clock.set_handler_patience(secs(3_600));
    let (entered, inside) = channel();
    let (release, released) = channel::<()>();
    let released = Mutex::new(released);
    let finished = Arc::new(AtomicBool::new(false));
    let done = Arc::clone(&finished);
    let handle = clock.add_jump_handler(JumpHandler::new("busy", DISRUPTIVE).before(move |_| {
        entered.send(()).unwrap();
        let _ended = released.lock().unwrap().recv();
        done.store(true, Ordering::SeqCst);
    }));
    let jumper = clock.clone();
    let jumping = thread::spawn(move || jumper.set_override(at(40)));
    inside.recv().unwrap();
    let dropping = thread::spawn(move || {
        drop(handle);
        finished.load(Ordering::SeqCst)
    });
    drop(release);
    assert!(dropping.join().unwrap(), "the callback had ended");
    jumping.join().unwrap();
}

/// Each of two handlers waits for the other's clock: whoever loses patience first goes on.
#[test]
fn handlers_that_jump_each_others_clocks_do_not_deadlock() {
    let clocks = [(); 2].map(|()| overridden(at(100)));
    let both_inside = Arc::new(Barrier::new(2));
    let handles = [0, 1].map(|mine| {
        clocks[mine].set_handler_patience(ms(2));
        let (other, barrier) = (clocks[1 - mine].clone(), Arc::clone(&both_inside));
        let first = AtomicBool::new(true);
        let handler = JumpHandler::new("crossed", DISRUPTIVE).before(move |_| {
            if first.swap(false, Ordering::SeqCst) {
                barrier.wait();
                other.set_override(at(10));
            }
        });
        clocks[mine].add_jump_handler(handler)
    });
    let threads = clocks
        .clone()
        .map(|clock| thread::spawn(move || clock.set_override(at(50))));
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(clocks.each_ref().map(Clock::now), [at(10); 2]);
    drop(handles);
}

/// The source has one thread, as a subscription has.
#[test]
fn a_source_with_one_thread_brings_time_on_though_a_handler_hangs() {
    for phase in [Phase::Before, Phase::After] {
        let hub = TimeHub::new(&TimeBase::machine());
        let clock = hub.clock();
        clock.set_handler_patience(ms(2));
        hub.activate();
        let sink = hub.sink(SourceId::named("sim"));
        sink.tick(at(100));
        let warnings = warnings_of(&clock);
        let (handle, release, inside) = add_hanging(&clock, phase);
        let (sent, done) = channel();
        let ticking = thread::spawn(move || {
            for now in [40, 50, 60] {
                sink.tick(at(now));
            }
            sent.send(()).unwrap();
        });
        inside.recv().unwrap();
        let went_on = done.recv_timeout(LONG);
        let (now, told) = (clock.now(), warnings.take());
        drop(release);
        ticking.join().unwrap();
        assert!(went_on.is_ok(), "the thread of the source is stuck");
        assert_eq!(now, at(60));
        assert!(told.iter().all(|warning| *warning == hangs()), "{told:?}");
        drop(handle);
    }
}

/// What a receive thread does: it must not wait for anybody's handler.
#[test]
fn a_posted_sample_waits_for_no_handler_and_keeps_its_order() {
    let hub = TimeHub::new(&TimeBase::machine());
    let (busy, free) = (hub.clock(), hub.clock());
    busy.set_handler_patience(secs(3_600));
    hub.activate();
    let sink = hub.sink(SourceId::named("sim"));
    sink.post(at(100));
    let (handle, release, inside) = add_hanging(&busy, Phase::Before);
    let (seen, log) = watch(&busy, JumpThreshold::ANY);
    for now in [40, 50, 30, 60] {
        sink.post(at(now));
    }
    assert_eq!(
        free.now(),
        at(60),
        "clocks without handlers are not held up"
    );
    assert_eq!(busy.try_now(), Err(NoTime::JumpInProgress));
    inside.recv().unwrap();
    drop(release);
    let mut all = Vec::new();
    eventually("all samples are there", || {
        all.extend(deltas(&log));
        all.len() == 4
    });
    assert_eq!(all, [-60, 10, -20, 30]);
    assert_eq!(busy.now(), at(60));
    drop((handle, seen));
}

/// Nobody waits on the clock, and no sample comes after those that were posted.
#[test]
fn what_was_posted_behind_a_handler_that_hangs_comes_without_another_sample() {
    for phase in [Phase::Before, Phase::After] {
        let hub = TimeHub::new(&TimeBase::machine());
        let clock = hub.clock();
        clock.set_handler_patience(ms(2));
        hub.activate();
        let sink = hub.sink(SourceId::named("sim"));
        sink.post(at(100));
        let (handle, release, inside) = add_hanging(&clock, phase);
        sink.post(at(40));
        sink.post(at(50));
        inside.recv().unwrap();
        eventually("the last sample is shown", || clock.try_now() == Ok(at(50)));
        drop(release);
        drop(handle);
    }
}

#[test]
fn a_handler_that_hangs_is_not_called_again_until_it_returns() {
    let clock = overridden(at(100));
    clock.set_handler_patience(ms(2));
    let warnings = warnings_of(&clock);
    let (handle, release, inside) = add_hanging(&clock, Phase::Before);
    let jumper = clock.clone();
    let jumping = thread::spawn(move || jumper.set_override(at(40)));
    inside.recv().unwrap();
    for now in [30, 20] {
        clock.set_override(at(now));
        assert_eq!(clock.now(), at(now));
    }
    assert_eq!(reported(&warnings), [hangs()], "one call hangs, not three");
    drop(release);
    jumping.join().unwrap();
    clock.set_override(at(10));
    assert!(inside.try_recv().is_ok(), "called again");
    drop(handle);
}

/// A handler may steer the hub that calls it, also from the thread that handlers have.
#[test]
fn a_handler_on_its_own_thread_may_use_the_hub() {
    let hub = TimeHub::new(&TimeBase::machine());
    let (first, second) = (hub.clock(), hub.clock());
    hub.activate();
    let sink = hub.sink(SourceId::named("sim"));
    sink.tick(at(100));
    let (tick, inner) = (sink.clone(), hub.clone());
    let handle =
        first.add_jump_handler(JumpHandler::new("steers", DISRUPTIVE).after(move |jump| {
            if jump.new == at(50) {
                tick.tick(at(60));
                inner.deactivate();
                inner.activate();
                tick.tick(at(70));
            }
        }));
    sink.tick(at(50));
    assert_eq!((first.now(), second.now()), (at(70), at(70)));
    drop(handle);
}
