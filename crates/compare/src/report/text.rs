use std::fmt::Write as _;

use timeloom_text::counted;

use super::{BagSide, Comparison, Difference, FieldReport, Kind, TopicReport, TopicSide};

/// The comparison as text for people. `all` also lists the topics without a difference, and every field.
pub fn text(comparison: &Comparison, all: bool) -> String {
    let mut out = String::new();
    bag(&mut out, "left", &comparison.left);
    bag(&mut out, "right", &comparison.right);
    for topic in &comparison.topics {
        if all || !topic.is_same() {
            out.push('\n');
            topic_text(&mut out, topic, all);
        }
    }
    let different = comparison
        .topics
        .iter()
        .filter(|topic| !topic.is_same())
        .count();
    out.push('\n');
    if comparison.given_up > 0 {
        line(
            &mut out,
            format_args!(
                "counted as without a partner because the memory was full: {}; see --memory",
                counted(comparison.given_up, "message")
            ),
        );
    }
    let topics = comparison.topics.len();
    if different == 0 {
        let pairs: u64 = comparison.topics.iter().map(|topic| topic.same).sum();
        line(
            &mut out,
            format_args!(
                "same: {}, {}",
                counted(topics as u64, "topic"),
                counted(pairs, "message pair")
            ),
        );
    } else {
        line(
            &mut out,
            format_args!(
                "different: {different} of {}",
                counted(topics as u64, "topic")
            ),
        );
    }
    out
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ok = writeln!(out, "{text}");
}

fn bag(out: &mut String, side: &str, bag: &BagSide) {
    line(
        out,
        format_args!(
            "{side:<6}{}: {}, {}, {}",
            bag.name,
            counted(bag.topics as u64, "topic"),
            counted(bag.messages, "message"),
            seconds(bag.duration_ns)
        ),
    );
    for damage in &bag.damage {
        line(out, format_args!("      damaged: {damage}"));
    }
}

fn topic_text(out: &mut String, topic: &TopicReport, all: bool) {
    let (left, right) = match (&topic.left, &topic.right) {
        (Some(left), Some(right)) => (left, right),
        (Some(left), None) => return alone(out, topic, left, "left"),
        (None, Some(right)) => return alone(out, topic, right, "right"),
        (None, None) => return,
    };
    let pairs = topic.same + topic.different;
    line(out, format_args!("{}  {}", topic.name, left.type_name));
    let differ = if topic.different == 0 {
        "all the same".to_owned()
    } else {
        format!("{} differ", topic.different)
    };
    let by = topic.aligned_by.unwrap_or_default();
    line(
        out,
        format_args!("  {} by {by}, {differ}", counted(pairs, "pair")),
    );
    for kind in &topic.kinds {
        match kind {
            Kind::Type => line(
                out,
                format_args!("  type: {} | {}", type_text(left), type_text(right)),
            ),
            Kind::Qos => line(out, format_args!("  QoS: {} | {}", left.qos, right.qos)),
            Kind::Messages => line(
                out,
                format_args!(
                    "  without partner: {} left, {} right (of {} | {} messages)",
                    topic.only_left, topic.only_right, left.messages, right.messages
                ),
            ),
            Kind::Order => line(
                out,
                format_args!("  in another order: {}", counted(topic.reordered, "pair")),
            ),
            Kind::Rate => line(
                out,
                format_args!("  rate: {} | {}", rate(left), rate(right)),
            ),
            Kind::Losses => line(
                out,
                format_args!("  lost: {} | {}", lost(left), lost(right)),
            ),
            Kind::Values => values(out, topic, all),
            Kind::OnlyLeft | Kind::OnlyRight => {}
        }
    }
    if topic.undecoded > 0 {
        let reason = topic.undecoded_reason.as_deref().unwrap_or("no stamp");
        line(
            out,
            format_args!(
                "  not decoded: {}: {reason}",
                counted(topic.undecoded, "message")
            ),
        );
    }
}

fn alone(out: &mut String, topic: &TopicReport, side: &TopicSide, name: &str) {
    line(
        out,
        format_args!(
            "{}  {}\n  only in {name}: {}",
            topic.name,
            side.type_name,
            counted(side.messages, "message")
        ),
    );
}

/// Fields that are listed without `all`.
const FEW: usize = 10;

fn values(out: &mut String, topic: &TopicReport, all: bool) {
    let shown = if all { topic.fields.len() } else { FEW };
    for field in topic.fields.iter().take(shown) {
        field_text(out, field);
    }
    let hidden = topic.fields.len().saturating_sub(shown) as u64 + topic.fields_left_out;
    if hidden > 0 {
        line(
            out,
            format_args!(
                "  and {} more; --verbose lists them",
                counted(hidden, "field")
            ),
        );
    }
}

fn field_text(out: &mut String, field: &FieldReport) {
    let elements = if field.elements > field.messages {
        format!(", {}", counted(field.elements, "element"))
    } else {
        String::new()
    };
    line(
        out,
        format_args!(
            "  {}: {}{elements}",
            field.field,
            counted(field.messages, "message")
        ),
    );
    line(out, format_args!("    first  {}", difference(&field.first)));
    if field.worst != field.first {
        line(out, format_args!("    worst  {}", difference(&field.worst)));
    }
}

fn difference(difference: &Difference) -> String {
    let mut text = format!(
        "at {} (message {}) {}: {} | {}",
        seconds(difference.time_ns),
        difference.message,
        difference.place,
        difference.left,
        difference.right
    );
    if let Some(delta) = difference.delta {
        let unit = match difference.unit {
            "" => String::new(),
            unit => format!(" {unit}"),
        };
        let _ok = write!(text, ", difference {}{unit}", number(delta));
        if let Some(allowed) = difference.allowed.filter(|allowed| *allowed > 0.0) {
            let _ok = write!(text, ", allowed {}{unit}", number(allowed));
        }
    }
    text
}

/// Four significant digits.
fn number(value: f64) -> String {
    let size = value.abs();
    if size > 0.0 && !(1e-4..1e6).contains(&size) {
        return format!("{value:.3e}");
    }
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.to_owned()
}

fn seconds(nanos: i64) -> String {
    format!("{:.3} s", nanos as f64 / 1e9)
}

fn type_text(side: &TopicSide) -> String {
    match side.type_hash.get(..15) {
        Some(hash) => format!("{} ({hash}…)", side.type_name),
        None => side.type_name.clone(),
    }
}

fn rate(side: &TopicSide) -> String {
    match side.rate_hz {
        Some(rate) => format!("{rate:.2} Hz"),
        None => "no rate".into(),
    }
}

fn lost(side: &TopicSide) -> String {
    let (Some(lost), Some(unknown)) = (side.lost, side.unknown) else {
        return "no account".into();
    };
    match (unknown, side.unknown_is_open) {
        (0, false) => lost.to_string(),
        (_, true) => format!("{lost}, unknown open"),
        (unknown, false) => format!("{lost}, unknown up to {unknown}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(number(0.1 + 0.2), "0.3");
        assert_eq!(number(1e-9), "1.000e-9");
        assert_eq!(number(12.0), "12");
        assert_eq!(number(f64::INFINITY), "inf");
    }
}
