//! Relative names mean those in the node's namespace, as rosbag2 has it.

use timeloom_node::Names;

use super::arguments::Arguments;

/// Makes every name of a topic, service or action a full one. Remap rules are not applied: they say which topic of the
/// graph a name stands for, not under which name it is recorded.
pub(super) fn expand(arguments: &mut Arguments, names: &Names) {
    let full = |name: &mut String| {
        // Invalid names are refused where they are used.
        if let Ok(expanded) = names.expand(name) {
            *name = expanded;
        }
    };
    let selection = &mut arguments.selection;
    let lists = [
        &mut selection.topics_positional,
        &mut selection.topics,
        &mut selection.services,
        &mut selection.actions,
        &mut selection.exclude_topics,
        &mut selection.exclude_services,
        &mut selection.exclude_actions,
    ];
    lists.into_iter().flatten().for_each(full);
    let behaviour = &mut arguments.behaviour;
    let pairs = [
        &mut arguments.output.repeat_transient_local,
        &mut behaviour.topic_drop_policy,
        &mut behaviour.topic_throttle_frequency,
    ];
    let keys = pairs.into_iter().flatten().map(|pair| &mut pair.key);
    keys.for_each(full);
}
