use timeloom_trace::Verdict;

use super::{Comparison, Kind, TopicReport};

/// The comparison as verdicts, one for each topic and each kind of difference, for a `JUnit` file.
pub fn verdicts(comparison: &Comparison) -> Vec<Verdict> {
    comparison.topics.iter().flat_map(of_topic).collect()
}

fn of_topic(topic: &TopicReport) -> Vec<Verdict> {
    let verdict = |what: &str, allowed: &str, actual: String, kept: bool, reason: String| Verdict {
        budget: topic.name.clone(),
        path: String::new(),
        what: what.to_owned(),
        allowed: allowed.to_owned(),
        actual,
        kept,
        reason,
    };
    if topic.is_same() {
        let actual = format!("{} pairs", topic.same);
        return vec![verdict(
            "same",
            "no difference",
            actual,
            true,
            String::new(),
        )];
    }
    let kinds = topic.kinds.iter();
    kinds
        .map(|kind| {
            let (what, actual) = words(topic, *kind);
            let reason = format!("{what}: {actual}");
            verdict(what, "no difference", actual, false, reason)
        })
        .collect()
}

fn words(topic: &TopicReport, kind: Kind) -> (&'static str, String) {
    let side = |show: fn(&super::TopicSide) -> String| {
        let text = |side: &Option<super::TopicSide>| side.as_ref().map(show).unwrap_or_default();
        format!("{} | {}", text(&topic.left), text(&topic.right))
    };
    match kind {
        Kind::OnlyLeft => (
            "topic",
            format!("only in left, {} messages", topic.only_left),
        ),
        Kind::OnlyRight => (
            "topic",
            format!("only in right, {} messages", topic.only_right),
        ),
        Kind::Type => ("type", side(|side| side.type_name.clone())),
        Kind::Qos => ("QoS", side(|side| side.qos.clone())),
        Kind::Messages => (
            "messages",
            format!(
                "{} only in left, {} only in right",
                topic.only_left, topic.only_right
            ),
        ),
        Kind::Order => ("order", format!("{} pairs reordered", topic.reordered)),
        Kind::Rate => (
            "rate",
            side(|side| {
                side.rate_hz
                    .map_or_else(String::new, |rate| format!("{rate:.2} Hz"))
            }),
        ),
        Kind::Losses => (
            "losses",
            side(|side| side.lost.map_or_else(String::new, |lost| lost.to_string())),
        ),
        Kind::Values => ("values", values(topic)),
    }
}

fn values(topic: &TopicReport) -> String {
    let first = topic.fields.first().map(|field| {
        let first = &field.first;
        format!(
            "; first: message {} {}: {} | {}",
            first.message, first.place, first.left, first.right
        )
    });
    format!(
        "{} of {} pairs differ{}",
        topic.different,
        topic.same + topic.different,
        first.unwrap_or_default()
    )
}
