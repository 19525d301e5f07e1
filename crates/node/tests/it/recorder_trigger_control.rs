//! Triggers that are fired by hand, paused, restarted by the clock, or refused.

use std::sync::Arc;

use timeloom_msg::{Definitions, Distro, QosProfile, Value};
use timeloom_node::recorder::{Control, Options, Recorder, Services, TriggerOptions};
use timeloom_node::{NodeOptions, RosNode, ServiceTypes};
use timeloom_time::Duration;
use timeloom_wire::{Caller, PublishOptions};

use crate::recorder_triggers::{
    check_account, count, messages_of_files, numbers, windows, with_triggers,
};
use crate::recorder_world::{RELIABLE, World, finish, recorded, spec, text};

#[test]
fn a_trigger_is_fired_by_a_control_and_a_snapshot_opens_a_window() {
    let world = World::new();
    let talker = numbers(&world, "/count");
    let recorder = world.record(with_triggers(&world, &["never: /count.data > 1000"]));
    count(&world, &*talker, 0..100);
    let fire = |trigger: &str| {
        recorder.control(&Control::Fire {
            trigger: trigger.to_owned(),
        })
    };
    assert_eq!(
        fire("nevr").unwrap_err().to_string(),
        "trigger: no trigger has the name `nevr`: did you mean `never`?"
    );
    fire("never").unwrap();
    count(&world, &*talker, 100..150);
    recorder.control(&Control::Snapshot).unwrap();
    count(&world, &*talker, 150..200);
    let report = finish(&recorder);
    let files = messages_of_files(&world.bag(), &report);
    assert_eq!(files[0], (95..=103).collect::<Vec<_>>());
    assert_eq!(files[1], (145..=153).collect::<Vec<_>>());
    assert_eq!(windows(&report)[1].firings[0].trigger, "snapshot");
    check_account(&report, "/count", 200);
}

#[test]
fn a_paused_recorder_fires_nothing_and_restarts_its_triggers() {
    let world = World::new();
    let talker = numbers(&world, "/count");
    let recorder = world.record(with_triggers(
        &world,
        &["a: /count.data == 50", "quiet: silent(/count, 200ms)"],
    ));
    count(&world, &*talker, 0..20);
    recorder.control(&Control::Pause).unwrap();
    count(&world, &*talker, 20..100);
    world.pass(1_000);
    recorder.control(&Control::Resume).unwrap();
    count(&world, &*talker, 100..120);
    let report = finish(&recorder);
    assert_eq!(windows(&report), []);
    check_account(&report, "/count", 120);
}

#[test]
fn a_wrong_field_is_reported_and_shown() {
    let world = World::new();
    let talker = numbers(&world, "/count");
    let recorder = world.record(with_triggers(&world, &["a: /count.dta == 100"]));
    count(&world, &*talker, 0..5);
    let status = recorder.status().triggers.unwrap();
    assert!(status.triggers[0].broken.is_some());
    finish(&recorder);
    let notes = world.notes().join("\n");
    assert!(
        notes.contains("trigger a cannot fire: /count: std_msgs/msg/UInt32 has no field `dta` that can be read: did you mean `data`?"),
        "{notes}"
    );
}

#[test]
fn triggers_that_contradict_the_options_are_refused() {
    let world = World::new();
    let refused = |options: Options| options.check().unwrap_err().to_string();
    let mut options = with_triggers(&world, &["a: lost()", "a: lost()"]);
    assert_eq!(refused(options.clone()), "triggers: two have the name a");
    options.triggers = Some(TriggerOptions::default());
    assert_eq!(refused(options), "triggers: there is no trigger");
    let mut options = with_triggers(&world, &["a: lost()"]);
    options.max_cache_bytes = 0;
    assert_eq!(
        refused(options),
        "triggers: they need a cache, and the cache size is 0"
    );
}

/// A bag that plays in a loop: simulated time jumps back.
#[test]
fn a_clock_that_jumps_back_ends_the_window_and_restarts_the_triggers() {
    let world = World::new();
    let talker = numbers(&world, "/count");
    let participant = world.network.participant("recorder").unwrap();
    let mut node = NodeOptions::new("rosbag2_recorder");
    node.use_sim_time = true;
    let node = RosNode::new(participant, node).unwrap();
    let simulator = world.node("simulator");
    let clock = spec("/clock", "rosgraph_msgs/msg/Clock", RELIABLE);
    let clock = simulator.publish(&clock).unwrap();
    let schema = Definitions::builtin()
        .schema("rosgraph_msgs/msg/Clock")
        .unwrap();
    let tick = |millis: i64| {
        let mut value = schema.default_value().unwrap();
        let seconds = i32::try_from(millis / 1_000).unwrap();
        value.set("clock.sec", seconds).unwrap();
        let nanos = u32::try_from(millis % 1_000 * 1_000_000).unwrap();
        value.set("clock.nanosec", nanos).unwrap();
        let payload = schema.encode(&value).unwrap().into();
        clock.publish(payload, PublishOptions::default()).unwrap();
        world.pass(1);
    };
    tick(10_000);
    let mut options = with_triggers(&world, &["a: /count.data == 10"]);
    options.selection.all_topics = false;
    options.selection.topics.insert("/count".into());
    options.log_clock = Some(node.clock());
    let recorder = Recorder::start(
        Arc::clone(node.participant()),
        Arc::clone(node.wire()),
        options,
    )
    .unwrap();
    let _services = Services::start(&node, &recorder, Distro::default()).unwrap();
    world.pass(1);
    for lap in 0..2 {
        for number in 0..12 {
            tick(10_000 + i64::from(number) * 10);
            talker
                .publish(text(lap * 100 + number, 8), PublishOptions::default())
                .unwrap();
            world.pass(1);
        }
        // A pause of simulated time: nothing becomes due.
        world.pass(5_000);
        // The player seeks back, and on to where it was: too quick for anything but the clock to notice.
        tick(5_000);
        tick(6_000);
    }
    let report = finish(&recorder);
    let windows = windows(&report);
    assert_eq!(windows.len(), 1, "{windows:?}");
    assert_eq!(windows[0].end, "clock jumped back");
    assert_eq!(
        recorded(&world.bag())["/count"],
        (5..=11).collect::<Vec<_>>()
    );
    check_account(&report, "/count", 24);
    let notes = world.notes().join("\n");
    assert!(notes.contains("the clock jumped back"), "{notes}");
}

#[test]
fn a_trigger_is_fired_by_its_service() {
    let world = World::new();
    let talker = numbers(&world, "/count");
    let participant = world.network.participant("recorder").unwrap();
    let node = RosNode::new(participant, NodeOptions::new("rosbag2_recorder")).unwrap();
    let mut options = with_triggers(&world, &["stop: received(/stop)"]);
    options.selection.all_topics = false;
    options.selection.all_services = false;
    options.selection.topics.insert("/count".into());
    let participant = Arc::clone(node.participant());
    let recorder = Recorder::start(participant, Arc::clone(node.wire()), options).unwrap();
    let _services = Services::start(&node, &recorder, Distro::default()).unwrap();
    world.pass(1);
    count(&world, &*talker, 0..20);
    let types = ServiceTypes::builtin("std_srvs/srv/Trigger").unwrap();
    let spec = types.spec("/rosbag2_recorder/trigger/stop", QosProfile::SERVICES);
    let other = world.node("other");
    let caller = Caller::new(&*other, &spec, &world.base).unwrap();
    let patience = Duration::from_secs(5);
    assert!(caller.wait_for_server(patience));
    let request = types.request.default_value().unwrap();
    let payload = types.request.encode(&request).unwrap().into();
    let reply = caller.call(payload, patience).unwrap();
    let reply = types.response.decode(&reply).unwrap();
    assert_eq!(reply.get("success"), Some(Value::Bool(true)));
    assert_eq!(reply.get("message").unwrap().as_str(), Some("stop fired"));
    let status = recorder.status().triggers.unwrap();
    assert_eq!((status.windows, status.is_open), (1, true));
    let report = finish(&recorder);
    assert_eq!(windows(&report)[0].firings[0].reason, "requested");
    check_account(&report, "/count", 20);
}
