//! The account of a topic in YAML: additional keys that readers of version 9 skip.

use super::read::scalar_number;
use crate::yaml::Node;
use crate::{
    Error, LeftOut, LeftOutCause, LossCause, LossTimeline, MissingCause, RecorderLoss, Result,
    TopicStatistics, UnknownMessages,
};

/// The entries of an account; zeros beyond the fields of the specification are omitted, and those of a recorder that did not
/// count.
pub(super) fn statistics_entries(statistics: &TopicStatistics) -> Vec<(String, Node)> {
    let transport = statistics.known(statistics.messages_lost_in_transport);
    let recorder = statistics.known(statistics.messages_lost_in_recorder());
    let counts = [
        ("messages_recorded", Some(statistics.messages_recorded)),
        ("messages_lost_in_transport", transport),
        ("messages_lost_in_recorder", recorder),
        ("bytes_written", Some(statistics.bytes_written)),
    ];
    let counts = counts.into_iter();
    let counts = counts.filter_map(|(key, count)| Some((key.to_owned(), Node::number(count?))));
    let mut entries: Vec<_> = counts.collect();
    entries.push((
        "messages_rate".into(),
        Node::number(statistics.messages_rate()),
    ));
    entries.extend(missing_entries(statistics));
    if let (Some(first), Some(last)) = (statistics.first_time_ns, statistics.last_time_ns) {
        entries.push(("first_message_time".into(), Node::number(first)));
        entries.push(("last_message_time".into(), Node::number(last)));
    }
    entries
}

/// Causes and unknown messages, if there are any.
pub(super) fn missing_entries(statistics: &TopicStatistics) -> Vec<(String, Node)> {
    let (lost, left_out) = (&statistics.lost_in_recorder, &statistics.left_out);
    let mut entries = Vec::new();
    if lost.total() > 0 {
        let causes = LossCause::ALL.map(|cause| (cause.name(), lost.get(cause)));
        entries.push(("lost_in_recorder_by_cause".into(), counts(&causes)));
    }
    if left_out.total() > 0 {
        let causes = LeftOutCause::ALL.map(|cause| (cause.name(), left_out.get(cause)));
        entries.push(("messages_left_out".into(), Node::number(left_out.total())));
        entries.push(("left_out_by_cause".into(), counts(&causes)));
    }
    let unknown = &statistics.unknown;
    if !unknown.is_none() {
        let mut map = vec![
            (
                "before_first".to_owned(),
                Node::number(unknown.before_first),
            ),
            (
                "open_publishers".to_owned(),
                Node::number(unknown.open_publishers),
            ),
        ];
        if unknown.unplaced > 0 {
            map.push(("unplaced".to_owned(), Node::number(unknown.unplaced)));
        }
        if unknown.interrupted {
            map.push(("interrupted".to_owned(), Node::Plain("true".into())));
        }
        if unknown.uncounted {
            map.push(("uncounted".to_owned(), Node::Plain("true".into())));
        }
        entries.push(("unknown".into(), Node::Map(map)));
    }
    entries
}

/// The key of messages in a file that earlier files count as missing, by cause.
pub(super) const FOUND_AGAIN: &str = "found_again";

/// The entry of messages found again; `None` without any.
pub(super) fn found_again_entry(found: &TopicStatistics) -> Option<(String, Node)> {
    let causes: Vec<_> = MissingCause::all()
        .map(|cause| (cause.name(), found.missing(cause)))
        .collect();
    let any = causes.iter().any(|(_, messages)| *messages > 0);
    any.then(|| (FOUND_AGAIN.to_owned(), counts(&causes)))
}

/// Reads messages found again.
pub(super) fn found_again(node: &Node) -> Result<TopicStatistics> {
    let mut found = TopicStatistics::default();
    for cause in MissingCause::all() {
        if let Some(value) = node.get(cause.name()) {
            found.miss(cause, scalar_number(value, FOUND_AGAIN)?);
        }
    }
    Ok(found)
}

fn counts(causes: &[(&str, u64)]) -> Node {
    let entries = causes.iter().filter(|(_, count)| *count > 0);
    let entries = entries.map(|(name, count)| ((*name).to_owned(), Node::number(count)));
    Node::Map(entries.collect())
}

/// Reads an account.
pub(super) fn statistics(node: &Node) -> Result<TopicStatistics> {
    let optional = |key: &str| {
        node.get(key)
            .map(|value| scalar_number(value, key))
            .transpose()
    };
    let time = |key: &str| {
        node.get(key)
            .map(|value| scalar_number(value, key))
            .transpose()
    };
    let left_out = left_out(node)?;
    Ok(TopicStatistics {
        messages_recorded: optional("messages_recorded")?.unwrap_or(0),
        messages_lost_in_transport: optional("messages_lost_in_transport")?.unwrap_or(0),
        lost_in_recorder: recorder_loss(node, optional("messages_lost_in_recorder")?)?,
        left_out,
        unknown: unknown(node)?,
        bytes_written: optional("bytes_written")?.unwrap_or(0),
        first_time_ns: time("first_message_time")?,
        last_time_ns: time("last_message_time")?,
    })
}

fn inner_count(node: &Node, map: &str, key: &str) -> Result<u64> {
    let value = node.get(map).and_then(|map| map.get(key));
    value.map_or(Ok(0), |value| scalar_number(value, key))
}

fn recorder_loss(node: &Node, total: Option<u64>) -> Result<RecorderLoss> {
    let mut loss = RecorderLoss::default();
    for cause in LossCause::ALL {
        let count = inner_count(node, "lost_in_recorder_by_cause", cause.name())?;
        loss.add(cause, count);
    }
    // A writer without causes still has a total: rosbag2 loses messages in its queue.
    let unnamed = total.unwrap_or(0).saturating_sub(loss.total());
    loss.add(LossCause::Queue, unnamed);
    Ok(loss)
}

fn left_out(node: &Node) -> Result<LeftOut> {
    let mut left_out = LeftOut::default();
    for cause in LeftOutCause::ALL {
        left_out.add(cause, inner_count(node, "left_out_by_cause", cause.name())?);
    }
    Ok(left_out)
}

fn unknown(node: &Node) -> Result<UnknownMessages> {
    let count = |key: &str| inner_count(node, "unknown", key);
    let is_set = |key: &str| {
        let value = node.get("unknown").and_then(|map| map.get(key));
        value.and_then(Node::as_str) == Some("true")
    };
    Ok(UnknownMessages {
        before_first: count("before_first")?,
        open_publishers: count("open_publishers")?,
        unplaced: count("unplaced")?,
        interrupted: is_set("interrupted"),
        uncounted: is_set("uncounted"),
    })
}

pub(super) const INTERVAL: &str = "interval_seconds";

/// The key of a timeline.
pub(super) const BY_TIME: &str = "missing_by_time";

/// A timeline: the width of its intervals, and per cause a text of `second x messages`.
pub(super) fn timeline_node(timeline: &LossTimeline) -> Node {
    let mut map = vec![(
        INTERVAL.to_owned(),
        Node::number(timeline.interval_seconds()),
    )];
    for (cause, text) in timeline.to_texts() {
        map.push((cause.name().to_owned(), Node::text(text)));
    }
    Node::Map(map)
}

/// Reads a timeline; causes that this crate does not know are skipped.
pub(super) fn timeline(node: &Node) -> Result<LossTimeline> {
    let mut timeline = LossTimeline::default();
    let width = node.get(INTERVAL);
    let width = width.ok_or_else(|| Error::metadata(BY_TIME, format!("has no {INTERVAL}")))?;
    let width = scalar_number(width, INTERVAL)?;
    for (key, value) in node.as_map().unwrap_or_default() {
        let Some(cause) = MissingCause::from_name(key) else {
            continue;
        };
        let text = value.as_str().unwrap_or_default();
        timeline.add_text(width, cause, text).ok_or_else(|| {
            let reason = format!("\"{key}\" is not a list of <second>x<messages>");
            Error::metadata(BY_TIME, reason)
        })?;
    }
    Ok(timeline)
}
