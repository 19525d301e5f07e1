//! Conditions of `record --trigger` and files of `--triggers`.

use timeloom_msg::Definitions;
use timeloom_node::trigger::{Trigger, TriggerDefaults, Triggers};

/// Reads a trigger, writes it, reads it again, and lets it see the input as messages; reads a file of triggers.
///
/// # Panics
/// When a condition does not read as it was written.
pub fn fuzz_trigger(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let defaults = TriggerDefaults::default();
    let _file = Trigger::parse_file(&text, &defaults);
    let Ok(trigger) = Trigger::parse(&text, &defaults) else {
        return;
    };
    let written = format!("{}: {}", trigger.name, trigger.condition);
    let again = Trigger::parse(&written, &defaults);
    assert_eq!(again.as_ref(), Ok(&trigger), "{written}");
    let topics = trigger.condition.inputs();
    let mut triggers = Triggers::new(vec![trigger]);
    let Ok(schema) = Definitions::builtin().schema("sensor_msgs/msg/BatteryState") else {
        return;
    };
    for (number, topic) in (0..).zip(topics) {
        let (timeloom_node::trigger::TopicOrService::Topic(name)
        | timeloom_node::trigger::TopicOrService::Service(name)) = topic;
        let _problems = triggers.bind(number, &name, Some(&schema));
    }
    for (time, payload) in (0..).zip(data.chunks(32)) {
        let fired = triggers.message(0, time * 100_000_000, payload);
        assert!(fired.len() < 1_000, "{} firings", fired.len());
    }
    let _fired = triggers.losses("", 3, 5_000_000_000);
    let _fired = triggers.advance(i64::MAX);
}
