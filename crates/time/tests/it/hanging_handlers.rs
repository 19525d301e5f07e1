//! Handlers that panic, hang or are dropped during a call: other handlers are called, and a warning is reported.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier, Mutex};
use std::thread::{self, JoinHandle};

use timeloom_time::{
    Clock, ClockSink, ClockWarning, Duration, JumpHandle, JumpHandler, JumpThreshold, NoTime, Ros,
    SourceId, Steady, TimeBase, TimeHub, VirtualTime, WaitOptions, Woke,
};

use crate::support::{Log, at, deltas, ms, overridden, secs, warnings_of, watch};

const DISRUPTIVE: JumpThreshold = JumpThreshold::DISRUPTIVE;
/// Longer than any of this takes on a busy machine.
const LONG: std::time::Duration = std::time::Duration::from_secs(40);

/// The callback that blocks.
#[derive(Clone, Copy)]
enum Phase {
    Before,
    After,
}

/// A handler that blocks in every call until it is released.
struct Hanging {
    handle: JumpHandle,
    release: Sender<()>,
    entered: Receiver<()>,
}

impl Hanging {
    fn add(clock: &Clock<Ros>, phase: Phase) -> Self {
        let (enter, entered) = channel();
        let (release, released) = channel::<()>();
        let released = Mutex::new(released);
        let hang = move || {
            enter.send(()).expect("the test listens");
            let _ended = released.lock().expect("no panic").recv();
        };
        let handler = JumpHandler::new("hanging", DISRUPTIVE);
        let handler = match phase {
            Phase::Before => handler.before(move |_| hang()),
            Phase::After => handler.after(move |_| hang()),
        };
        Self {
            handle: clock.add_jump_handler(handler),
            release,
            entered,
        }
    }

    /// Jumps a clock on another thread, up to the handler.
    fn jump(&self, clock: &Clock<Ros>, to: i64) -> JoinHandle<()> {
        let clock = clock.clone();
        let jumping = thread::spawn(move || clock.set_override(at(to)));
        self.entered.recv().expect("the handler is called");
        jumping
    }

    /// Releases the handler, waits for the thread that called it, and removes it.
    fn end(self, caller: JoinHandle<()>) {
        drop(self.release);
        caller.join().expect("no panic");
        drop(self.handle);
    }
}

/// A clock at 100 ns with little patience with handlers, its warnings, and a handler that hangs.
fn impatient(phase: Phase) -> (Clock<Ros>, Log<ClockWarning>, Hanging) {
    // On machine time: some of the tests wait on it.
    let clock = Clock::new();
    clock.set_override(at(100));
    clock.activate_override();
    clock.set_handler_patience(ms(2));
    let warnings = warnings_of(&clock);
    let hanging = Hanging::add(&clock, phase);
    (clock, warnings, hanging)
}

/// Two clocks of a hub at 100 ns, and the sink of their source. The first one has that patience.
fn on_a_hub(patience: Duration) -> ([Clock<Ros>; 2], ClockSink, TimeHub) {
    let hub = TimeHub::new(&TimeBase::machine());
    let clocks = [hub.clock(), hub.clock()];
    clocks[0].set_handler_patience(patience);
    hub.activate();
    let sink = hub.sink(SourceId::named("sim"));
    sink.tick(at(100));
    (clocks, sink, hub)
}

/// Waits for other threads.
#[track_caller]
fn eventually(what: &str, mut happened: impl FnMut() -> bool) {
    let clock = Clock::<Steady>::new();
    let end = clock.now() + secs(40);
    while !happened() {
        assert!(clock.now() < end, "{what}: not within 40 s");
        assert!(clock.sleep_for(ms(1)).is_reached());
    }
}

/// The warnings so far, at least one: a thread that gives up on a handler releases the others before it warns.
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
    let (clock, warnings, hanging) = impatient(Phase::Before);
    let (_watch, log) = watch(&clock, DISRUPTIVE);
    let jumping = hanging.jump(&clock, 40);
    assert_eq!(
        clock.now(),
        at(40),
        "blocks at first, then goes on without the handler"
    );
    assert_eq!(reported(&warnings), [hangs()]);
    clock.set_override(at(45));
    assert_eq!(clock.now(), at(45), "writers go on too");
    hanging.end(jumping);
    assert_eq!(clock.now(), at(45), "the thread that hung changes nothing");
    assert_eq!(deltas(&log), [-60], "the other handlers are called");
}

#[test]
fn a_wait_is_notified_of_the_jump_although_a_handler_hangs_after_it() {
    let (clock, warnings, hanging) = impatient(Phase::After);
    let sleep = clock.sleep_until_async(at(1_000));
    let jumping = hanging.jump(&clock, 40);
    // A wait that begins after the commit is not notified of the jump.
    let fresh = clock.sleep_until_with(at(1_000), &WaitOptions::new().real_timeout(ms(1)));
    assert_eq!(fresh, Woke::TimedOut);
    let woke = VirtualTime::new().block_on(sleep);
    assert!(
        matches!(woke, Woke::Jumped(jump) if jump.new == at(40)),
        "{woke:?}"
    );
    assert_eq!(reported(&warnings), [hangs()]);
    hanging.end(jumping);
}

#[test]
fn an_async_read_gives_up_on_a_handler_that_hangs() {
    let (clock, warnings, hanging) = impatient(Phase::Before);
    let jumping = hanging.jump(&clock, 40);
    assert_eq!(VirtualTime::new().block_on(clock.now_async()), at(40));
    assert_eq!(reported(&warnings), [hangs()]);
    hanging.end(jumping);
}

#[test]
fn a_hub_continues_when_a_handler_of_one_clock_hangs() {
    let ([stuck, free], sink, _hub) = on_a_hub(ms(2));
    free.set_handler_patience(ms(2));
    let warnings = warnings_of(&stuck);
    let hanging = Hanging::add(&stuck, Phase::Before);
    let source = sink.clone();
    let ticking = thread::spawn(move || source.tick(at(40)));
    hanging.entered.recv().unwrap();
    sink.tick(at(50));
    assert_eq!((stuck.now(), free.now()), (at(50), at(50)));
    assert_eq!(reported(&warnings), [hangs()]);
    hanging.end(ticking);
    sink.tick(at(60));
    assert_eq!((stuck.now(), free.now()), (at(60), at(60)));
}

#[test]
fn a_handler_that_hangs_does_not_delay_the_other_clocks_of_its_hub() {
    let ([stuck, free], sink, _hub) = on_a_hub(secs(3_600));
    let hanging = Hanging::add(&stuck, Phase::Before);
    let ticking = thread::spawn(move || sink.tick(at(40)));
    hanging.entered.recv().unwrap();
    eventually("the other clock shows the sample", || free.now() == at(40));
    hanging.end(ticking);
    assert_eq!(stuck.now(), at(40));
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

/// Each of two handlers waits for the other's clock: the one whose patience ends first continues.
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
fn a_source_with_one_thread_is_not_blocked_by_a_hanging_handler() {
    for phase in [Phase::Before, Phase::After] {
        let ([clock, _], sink, _hub) = on_a_hub(ms(2));
        let warnings = warnings_of(&clock);
        let hanging = Hanging::add(&clock, phase);
        let (sent, done) = channel();
        let ticking = thread::spawn(move || {
            for now in [40, 50, 60] {
                sink.tick(at(now));
            }
            sent.send(()).unwrap();
        });
        hanging.entered.recv().unwrap();
        let went_on = done.recv_timeout(LONG);
        let (now, reported) = (clock.now(), warnings.take());
        hanging.end(ticking);
        assert!(went_on.is_ok(), "the thread of the source is stuck");
        assert_eq!(now, at(60));
        assert!(
            reported.iter().all(|warning| *warning == hangs()),
            "{reported:?}"
        );
    }
}

/// A receive thread must not wait for a handler.
#[test]
fn a_posted_sample_waits_for_no_handler_and_keeps_its_order() {
    let ([busy, free], sink, _hub) = on_a_hub(secs(3_600));
    let hanging = Hanging::add(&busy, Phase::Before);
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
    hanging.entered.recv().unwrap();
    drop(hanging.release);
    let mut all = Vec::new();
    eventually("all samples are there", || {
        all.extend(deltas(&log));
        all.len() == 4
    });
    assert_eq!(all, [-60, 10, -20, 30]);
    assert_eq!(busy.now(), at(60));
    drop((hanging.handle, seen));
}

/// There is no wait on the clock, and no later sample.
#[test]
fn samples_posted_behind_a_hanging_handler_are_applied_without_another_sample() {
    for phase in [Phase::Before, Phase::After] {
        let ([clock, _], sink, _hub) = on_a_hub(ms(2));
        let hanging = Hanging::add(&clock, phase);
        sink.post(at(40));
        sink.post(at(50));
        hanging.entered.recv().unwrap();
        eventually("the last sample is shown", || clock.try_now() == Ok(at(50)));
        drop(hanging.release);
        drop(hanging.handle);
    }
}

#[test]
fn a_handler_that_hangs_is_not_called_again_until_it_returns() {
    let (clock, warnings, hanging) = impatient(Phase::Before);
    let jumping = hanging.jump(&clock, 40);
    for now in [30, 20] {
        clock.set_override(at(now));
        assert_eq!(clock.now(), at(now));
    }
    assert_eq!(reported(&warnings), [hangs()], "one call hangs, not three");
    drop(hanging.release);
    jumping.join().unwrap();
    clock.set_override(at(10));
    assert!(hanging.entered.try_recv().is_ok(), "called again");
    drop(hanging.handle);
}

/// A handler may steer the hub that calls it, also from the thread that handlers have.
#[test]
fn a_handler_on_its_own_thread_may_use_the_hub() {
    let ([first, second], sink, hub) = on_a_hub(secs(3_600));
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
