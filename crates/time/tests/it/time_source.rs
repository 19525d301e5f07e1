//! Hubs, sources and `use_sim_time`: the cases of rclcpp's and rclpy's time source tests.
//!
//! Not re-created: `check_use_clock_thread_*` (there is no thread per node to switch on), invalid clock types
//! (attaching a steady clock does not compile), parameters and the quality of service of `/clock` (the node's and the wire's).

use std::io;
use std::sync::{Arc, Barrier};

use timeloom_time::{
    Clock, ClockChange, ClockSink, ClockWarning, JumpHandler, JumpThreshold, Ros, RosSteady,
    SourceId, SourceState, TimeBase, TimeHub, TimeHubOptions, TimeSource, TwoSources, VirtualTime,
};

use crate::support::{Log, at, beyond, deltas, ms, overridden, secs, warnings_of, watch};

fn hub() -> (VirtualTime, TimeHub, ClockSink) {
    let world = VirtualTime::manual();
    let hub = TimeHub::new(&world.base());
    let sink = hub.sink(SourceId::named("sim"));
    (world, hub, sink)
}

fn reports(hub: &TimeHub) -> Log<ClockWarning> {
    let log = Log::new();
    let sink = log.clone();
    hub.set_reporter(move |warning| sink.push(warning.clone()));
    log
}

/// `detachUnattached`, `reattach`, `ROS_time_valid_attach_detach`.
#[test]
fn attaching_and_detaching_work_in_any_order() {
    let (world, hub, sink) = hub();
    let clock = Clock::<Ros>::on(&world.base());
    hub.detach(&clock);
    hub.attach(&clock);
    hub.attach(&clock);
    hub.activate();
    sink.tick(at(5));
    assert_eq!(clock.now(), at(5));
    hub.detach(&clock);
    hub.detach(&clock);
    assert_eq!(clock.source_state(), SourceState::Inactive);
    hub.attach(&clock);
    assert_eq!(clock.now(), at(5));
}

/// `ROS_time_valid_wall_time`, `TimeSource not using sim time`.
#[test]
fn without_an_active_source_ros_time_is_system_time() {
    let (world, hub, sink) = hub();
    let clock = hub.clock();
    let system = Clock::<timeloom_time::System>::on(&world.base());
    sink.tick(at(5));
    assert_eq!(clock.now().nanos(), system.now().nanos());
    assert_eq!(hub.source_state(), SourceState::Inactive);
}

/// `clock` (messages are kept until the parameter is set), `parameter_activation`, `using sim time`.
#[test]
fn the_switch_to_a_source_is_complete_when_the_call_returns() {
    let (_world, hub, sink) = hub();
    let clock = hub.clock();
    hub.activate();
    assert_eq!((clock.now(), clock.started()), (at(0), false));
    sink.tick(at(7));
    assert_eq!((clock.now(), clock.started()), (at(7), true));
    hub.deactivate();
    sink.tick(at(9));
    assert!(clock.now() > at(1_000_000_000));
    hub.activate();
    assert_eq!(clock.now(), at(9), "what came meanwhile counts");
    hub.activate();
    assert_eq!(clock.now(), at(9));
}

/// `attachClock` after the first message: the cached message counts.
#[test]
fn a_clock_attached_late_shows_the_last_sample() {
    let (world, hub, sink) = hub();
    hub.activate();
    sink.tick(at(42));
    let late = Clock::<RosSteady>::on(&world.base());
    let (_handle, log) = watch(&late, JumpThreshold::ANY);
    hub.attach(&late);
    assert_eq!(late.now().nanos(), 42);
    let changes: Vec<_> = log
        .take()
        .into_iter()
        .map(|(_, jump)| jump.change)
        .collect();
    assert_eq!(
        changes,
        [ClockChange::RosTimeActivated; 2],
        "one event, not two"
    );
}

/// `callbacks`, `forwards_jump`, `backwards_jump`, `clock_change`.
#[test]
fn handlers_are_called_for_the_jumps_of_their_threshold() {
    let (_world, hub, sink) = hub();
    let clock = hub.clock();
    hub.activate();
    sink.tick(at(1_000));
    let (_all, all) = watch(&clock, JumpThreshold::ANY);
    let (_far, far) = watch(&clock, beyond(500, -500));
    for now in [1_100, 1_100, 1_700, 1_600, 1_000, 1_001] {
        sink.tick(at(now));
    }
    assert_eq!(deltas(&all), [100, 600, -100, -600, 1]);
    assert_eq!(deltas(&far), [600, -600]);
    hub.deactivate();
    assert_eq!(deltas(&all), [0]);
    assert!(deltas(&far).is_empty());
}

/// `no_pre_jump_callback`, `no_post_jump_callback`, `callback_handler_erasure`.
#[test]
fn a_handler_may_have_only_one_side_or_none_and_be_replaced() {
    let (_world, hub, sink) = hub();
    let clock = hub.clock();
    hub.activate();
    let log = Log::new();
    let handler = || JumpHandler::new("handler", JumpThreshold::ANY);
    let push = |name: &'static str| {
        let log = log.clone();
        move |_: &_| log.push(name)
    };
    let pre = clock.add_jump_handler(handler().before(push("pre")));
    let post = clock.add_jump_handler(handler().after(push("post")));
    let _none = clock.add_jump_handler(handler());
    sink.tick(at(1));
    assert_eq!(log.take(), ["pre", "post"]);
    drop(pre);
    let _again = clock.add_jump_handler(handler().before(push("again")));
    sink.tick(at(2));
    assert_eq!(log.take(), ["again", "post"]);
    drop(post);
    sink.tick(at(1));
    assert_eq!(log.take(), ["again"]);
}

/// `clock_sleep_until_with_ros_time_basic`, and the test that rclcpp disabled as flaky:
/// `check_sim_time_updated_in_callback_if_use_clock_thread`.
#[test]
fn a_callback_that_blocks_on_the_clock_is_woken_by_the_source() {
    let world = VirtualTime::new();
    let hub = TimeHub::new(&world.base());
    let sink = hub.sink(SourceId::named("sim"));
    let clock = hub.clock();
    hub.activate();
    sink.tick(at(1_000));
    let sleeper = clock.clone();
    let callback = world.spawn("callback", move || sleeper.sleep_until(at(2_000)));
    world.settle();
    sink.tick(at(1_999));
    world.settle();
    assert!(!callback.is_finished());
    sink.tick(at(2_000));
    assert!(callback.join().unwrap().is_reached());
}

#[test]
fn one_source_steers_many_clocks_of_both_kinds() {
    let (world, hub, sink) = hub();
    let ros: Vec<_> = (0..50).map(|_| hub.clock()).collect();
    let steady = Clock::<RosSteady>::on(&world.base());
    hub.attach(&steady);
    hub.activate();
    sink.tick(at(77));
    assert!(ros.iter().all(|clock| clock.now() == at(77)));
    assert_eq!(steady.now().nanos(), 77);
    drop(ros);
    sink.tick(at(78));
    assert_eq!(steady.now().nanos(), 78);
}

/// Logs when it is started and stopped, and keeps its sink as a source with a thread would.
struct Probe {
    log: Log<&'static str>,
    fails: bool,
    sink: Option<ClockSink>,
}

impl TimeSource for Probe {
    fn id(&self) -> SourceId {
        SourceId::named("probe")
    }

    fn start(&mut self, sink: ClockSink) -> io::Result<()> {
        self.log.push("start");
        sink.tick(at(11));
        self.sink = Some(sink);
        if self.fails {
            Err(io::Error::other("no such topic"))
        } else {
            Ok(())
        }
    }

    fn stop(&mut self) {
        self.log.push("stop");
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        self.log.push("drop");
    }
}

fn probe(log: &Log<&'static str>, fails: bool) -> Box<dyn TimeSource> {
    let log = log.clone();
    Box::new(Probe {
        log,
        fails,
        sink: None,
    })
}

#[test]
fn a_custom_source_runs_until_it_is_replaced_removed_or_its_hub_is_gone() {
    let (_world, hub, sink) = hub();
    let clock = hub.clock();
    hub.activate();
    let log = Log::new();
    hub.set_source(probe(&log, false)).unwrap();
    assert_eq!(clock.now(), at(11));
    hub.set_source(probe(&log, false)).unwrap();
    assert_eq!(log.take(), ["start", "stop", "drop", "start"]);
    hub.remove_source();
    hub.remove_source();
    assert_eq!(log.take(), ["stop", "drop"]);
    let error = hub.set_source(probe(&log, true)).unwrap_err();
    assert_eq!(error.to_string(), "no such topic");
    hub.set_source(probe(&log, false)).unwrap();
    log.take();
    drop(hub);
    assert_eq!(
        log.take(),
        ["stop", "drop"],
        "a source that keeps its sink does not keep its hub"
    );
    sink.tick(at(99));
    assert_eq!(clock.source_state(), SourceState::Inactive);
    assert!(
        clock.now() > at(1_000_000_000),
        "the machine's time, as after `TimeSource::detachClock`"
    );
}

/// Each of two threads is inside `start` when the other one is.
#[test]
fn sources_that_are_set_at_the_same_time_are_all_stopped_but_one() {
    struct Slow(Arc<Barrier>, Log<&'static str>);
    impl TimeSource for Slow {
        fn id(&self) -> SourceId {
            SourceId::named("slow")
        }
        fn start(&mut self, _sink: ClockSink) -> io::Result<()> {
            self.0.wait();
            self.1.push("start");
            Ok(())
        }
        fn stop(&mut self) {
            self.1.push("stop");
        }
    }
    let (_world, hub, _sink) = hub();
    let (both, log) = (Arc::new(Barrier::new(2)), Log::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            let source = Slow(Arc::clone(&both), log.clone());
            let hub = &hub;
            scope.spawn(move || hub.set_source(Box::new(source)).unwrap());
        }
    });
    let count = |entries: &[&str], what| entries.iter().filter(|entry| **entry == what).count();
    let begun = log.take();
    assert_eq!((count(&begun, "start"), count(&begun, "stop")), (2, 1));
    drop(hub);
    assert_eq!(log.take(), ["stop"]);
}

#[test]
fn a_clock_whose_hub_is_gone_shows_the_machines_time() {
    let (world, hub, sink) = hub();
    let clock = hub.clock();
    hub.activate();
    sink.tick(at(5));
    let other = hub.clone();
    drop(hub);
    assert_eq!(clock.now(), at(5), "one handle is left");
    drop(other);
    let before = clock.now();
    assert!(before > at(1_000_000_000));
    world.advance(ms(3));
    assert_eq!(clock.now() - before, ms(3));
}

#[test]
fn the_process_has_a_source_and_a_clock_may_have_its_own() {
    let process = TimeHub::process();
    let (follower, own) = (process.clock(), Clock::<Ros>::new());
    process.attach(&own);
    process.sink(SourceId::named("process")).tick(at(100));
    process.activate();
    assert_eq!((follower.now(), own.now()), (at(100), at(100)));
    let hub = TimeHub::new(&TimeBase::machine());
    hub.activate();
    hub.sink(SourceId::named("own")).tick(at(7));
    hub.attach(&own);
    assert_eq!((follower.now(), own.now()), (at(100), at(7)));
    process.deactivate();
    assert_eq!(own.now(), at(7));
    assert!(follower.now() > at(1_000_000_000));
}

#[test]
fn two_sources_at_a_time_are_reported_and_followed_by_policy() {
    for (two_sources, follows) in [(TwoSources::FollowBoth, 20), (TwoSources::FollowFirst, 10)] {
        let world = VirtualTime::manual();
        let options = TimeHubOptions {
            two_sources,
            ..TimeHubOptions::default()
        };
        let hub = TimeHub::with_options(&world.base(), options);
        let warnings = reports(&hub);
        let clock = hub.clock();
        hub.activate();
        let [gazebo, player] = ["gazebo", "player"].map(|name| hub.sink(SourceId::named(name)));
        gazebo.tick(at(10));
        world.advance(ms(10));
        player.tick(at(20));
        assert_eq!(clock.now(), at(follows));
        let both = ClockWarning::TwoSources {
            first: "gazebo".into(),
            second: "player".into(),
        };
        assert_eq!(warnings.take(), [both]);
        gazebo.tick(at(30));
        player.tick(at(31));
        assert_eq!(warnings.take(), [], "reported once");
        world.advance(secs(3));
        player.tick(at(40));
        assert_eq!(clock.now(), at(40), "the other has gone");
    }
}

/// The name of a node may be known only after its first sample.
#[test]
fn a_guid_is_one_source_under_any_name() {
    let (_world, hub, _sink) = hub();
    let warnings = reports(&hub);
    for name in ["0102", "/player"] {
        hub.sink(SourceId::new(name, [1; 16])).tick(at(5));
    }
    assert_eq!(warnings.take(), []);
    assert_eq!(SourceId::new("a", [1; 16]), SourceId::new("b", [1; 16]));
    assert_ne!(SourceId::named("a"), SourceId::named("b"));
}

/// Two writers with one name (two players) are still two sources.
#[test]
fn sources_are_distinguished_by_their_guid() {
    let (_world, hub, _sink) = hub();
    let warnings = reports(&hub);
    for gid in [1, 2] {
        hub.sink(SourceId::new("/player", [gid; 16])).tick(at(5));
    }
    assert!(matches!(
        &warnings.take()[..],
        [ClockWarning::TwoSources { .. }]
    ));
}

#[test]
fn a_sample_that_the_transport_delivers_late_is_dropped_and_reported() {
    let (_world, hub, sink) = hub();
    let warnings = reports(&hub);
    let clock = hub.clock();
    hub.activate();
    let (_handle, log) = watch(&clock, JumpThreshold::DISRUPTIVE);
    for (time, sequence) in [(100, 1), (300, 3), (200, 2), (400, 4)] {
        sink.tick_numbered(at(time), sequence);
    }
    let late = ClockWarning::OutOfOrder {
        source: "sim".into(),
        sequence: 2,
        newest: 3,
    };
    assert_eq!(warnings.take(), [late]);
    assert_eq!(clock.now(), at(400));
    assert_eq!(
        deltas(&log),
        [0],
        "only the start: a late sample is no jump back"
    );
}

/// A simulator that is restarted counts from one again.
#[test]
fn a_source_that_restarts_its_sequence_is_followed_again() {
    let (world, hub, sink) = hub();
    let warnings = reports(&hub);
    let clock = hub.clock();
    hub.activate();
    sink.tick_numbered(at(5_000), 1_000);
    for sequence in 1..40 {
        world.advance(ms(100));
        sink.tick_numbered(at(sequence.try_into().unwrap()), sequence);
    }
    assert_eq!(clock.now(), at(39));
    assert_eq!(
        warnings.take().len(),
        19,
        "two seconds of doubt, each sample reported"
    );
}

/// A clock set by hand and the source of a hub do not interfere.
#[test]
fn a_clock_without_a_hub_is_steered_by_hand() {
    let clock = overridden(at(3));
    assert_eq!(clock.source_state(), SourceState::Active);
    clock.deactivate_override();
    clock.activate_override();
    assert_eq!(clock.now(), at(0), "the value set before is forgotten");
}

#[test]
fn a_clock_on_a_hub_is_not_set_by_hand() {
    let (_world, hub, sink) = hub();
    let clock = hub.clock();
    let warnings = warnings_of(&clock);
    hub.activate();
    sink.tick(at(5));
    clock.set_override(at(9));
    clock.deactivate_override();
    assert_eq!(clock.now(), at(5));
    assert_eq!(
        warnings.take(),
        [ClockWarning::OverrideRefused, ClockWarning::OverrideRefused]
    );
    hub.detach(&clock);
    clock.activate_override();
    clock.set_override(at(9));
    assert_eq!(clock.now(), at(9));
}

#[test]
fn a_clock_belongs_to_the_last_hub_it_was_attached_to_with_any_threads() {
    let hubs = [(); 2].map(|()| TimeHub::new(&TimeBase::machine()));
    for (hub, value) in hubs.iter().zip([1, 2]) {
        hub.activate();
        hub.sink(SourceId::named("sim")).tick(at(value));
    }
    for _ in 0..200 {
        let clock = Clock::<Ros>::new();
        std::thread::scope(|scope| {
            for hub in &hubs {
                scope.spawn(|| hub.attach(&clock));
            }
        });
        let before = clock.now();
        for (hub, value) in hubs.iter().zip([1, 2]) {
            if before != at(value) {
                hub.sink(SourceId::named("sim")).tick(at(value));
            }
        }
        assert_eq!(clock.now(), before, "one hub has a say, not both");
    }
}
