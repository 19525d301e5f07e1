//! The result of a recording, as a table.

use std::collections::BTreeMap;

use serde_json::json;
use timeloom_bag::{LossCause, MissingCause, TopicStatistics, TriggerWindow};
use timeloom_node::recorder::{EndReason, Report, TopicStatus};
use timeloom_text::{Table, counted, grouped, percent, size};

use crate::context::Context;
use crate::verbs::info::trigger_windows;

/// Prints the account of the recording; true when messages were lost.
pub(crate) fn print(report: &Report, context: &mut Context) -> bool {
    let total = report.total();
    if report.reason != EndReason::Asked {
        context.printer.note(&format!("ended: {}", report.reason));
    }
    let topics: Vec<&TopicStatus> = report.topics.iter().collect();
    context.printer.note(table(&topics, None).trim_end());
    let files = report.metadata.files.len() as u64;
    let text = format!(
        "recorded {} ({}) of {} in {}: {}",
        counted(total.messages_recorded, "message"),
        size(total.bytes_written),
        counted(report.topics.len() as u64, "topic"),
        counted(files, "file"),
        report.directory.display()
    );
    context.printer.note(&text);
    let windows = trigger_windows::lines(&report.metadata.custom_data);
    if !windows.is_empty() {
        context.printer.note(windows.trim_end());
    }
    for topic in &report.topics {
        if let Some(text) = causes(&topic.statistics) {
            context.printer.aside(&format!("{}: {text}", topic.name));
        }
    }
    for sentence in total.unknown.sentences() {
        context.printer.aside(&format!("unknown: {sentence}"));
    }
    for name in &report.absent {
        let text = format!("{name} was requested and never appeared");
        context.printer.warning(&text);
    }
    if let Some(error) = &report.error {
        context.printer.loss(&error.to_string());
    }
    if let Some(text) = losses(&total) {
        context.printer.loss(&text);
    }
    is_lossy(report)
}

/// Whether messages were lost: exit code 3. Unknown and left-out messages are not losses.
pub(crate) fn is_lossy(report: &Report) -> bool {
    report.total().messages_lost() > 0 || report.error.is_some()
}

/// The account of a recording as JSON, on one line.
pub(crate) fn json(report: &Report) -> serde_json::Value {
    let topics = report.topics.iter().map(|topic| {
        json!({
            "name": topic.name,
            "type": topic.type_name,
            "statistics": topic.statistics,
            "messages_published": topic.statistics.messages_published(),
            "repeated": topic.repeated,
        })
    });
    let windows = TriggerWindow::all(&report.metadata.custom_data);
    let windows = windows.iter().map(|window| {
        let firings = window.firings.iter().map(|firing| {
            json!({
                "trigger": firing.trigger,
                "time_ns": firing.time_ns,
                "condition": firing.condition,
                "reason": firing.reason,
            })
        });
        json!({
            "window": window.number,
            "file": window.file,
            "begin_ns": window.begin_ns,
            "end_ns": window.end_ns,
            "end": window.end,
            "lost": window.lost,
            "firings": firings.collect::<Vec<_>>(),
            "more_firings": window.more_firings,
        })
    });
    json!({
        "directory": report.directory.display().to_string(),
        "reason": report.reason.to_string(),
        "elapsed_ns": report.elapsed.nanos(),
        "files": report.metadata.files.len(),
        "deleted_files": report.deleted_files,
        "lossy": is_lossy(report),
        "topics": topics.collect::<Vec<_>>(),
        "trigger_windows": windows.collect::<Vec<_>>(),
        "absent": report.absent,
        "error": report.error.as_ref().map(ToString::to_string),
    })
}

/// The losses with all causes.
fn losses(total: &TopicStatistics) -> Option<String> {
    let lost = total.messages_lost();
    let causes = LossCause::ALL.map(|cause| {
        let count = total.lost_in_recorder.get(cause);
        format!("{} {}", cause.name(), grouped(count))
    });
    (lost > 0).then(|| {
        format!(
            "{} lost: {} in transport, {} in the recorder ({}); {} of all messages",
            counted(lost, "message"),
            grouped(total.messages_lost_in_transport),
            grouped(total.messages_lost_in_recorder()),
            causes.join(", "),
            percent(total.percent_lost()),
        )
    })
}

/// Why messages of a topic are not in the bag; nothing when none is missing.
fn causes(statistics: &TopicStatistics) -> Option<String> {
    let of_kind = |is_loss: bool| {
        let causes = MissingCause::all().filter(|cause| cause.is_loss() == is_loss);
        let causes = causes.map(|cause| (cause, statistics.missing(cause)));
        let causes = causes.filter(|(_, count)| *count > 0);
        let causes = causes.map(|(cause, count)| format!("{} {}", label(cause), grouped(count)));
        causes.collect::<Vec<_>>().join(", ")
    };
    let mut parts = Vec::new();
    if statistics.messages_lost() > 0 {
        let share = percent(statistics.percent_lost());
        parts.push(format!("lost {share} ({})", of_kind(true)));
    }
    if statistics.messages_left_out() > 0 {
        parts.push(format!("left out ({})", of_kind(false)));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The name of a cause for people.
fn label(cause: MissingCause) -> String {
    cause.name().replace('_', " ")
}

/// The unknown messages of a topic: `≤12` for at most 12, `open` without a bound.
fn unknown(statistics: &TopicStatistics) -> String {
    let unknown = &statistics.unknown;
    match (unknown.at_most(), unknown.is_open()) {
        (0, false) => "0".to_owned(),
        (0, true) => "open".to_owned(),
        (most, false) => format!("≤{}", grouped(most)),
        (most, true) => format!("≤{}, open", grouped(most)),
    }
}

/// A table of the topics; with current rates while it runs.
pub(super) fn table(
    topics: &[&TopicStatus],
    rates: Option<&BTreeMap<String, (f64, f64)>>,
) -> String {
    let heads = [
        "topic",
        "Hz",
        "bandwidth",
        "recorded",
        "lost in transport",
        "lost in recorder",
        "left out",
        "unknown",
    ];
    let mut table = Table::new("  ", &heads);
    for topic in topics {
        let statistics = &topic.statistics;
        let (hertz, bandwidth) = match rates {
            Some(rates) => rates.get(&topic.name).copied().unwrap_or_default(),
            None => (statistics.messages_rate(), mean_bandwidth(topic)),
        };
        table.row([
            topic.name.clone(),
            format!("{hertz:.1}"),
            timeloom_text::bandwidth(bandwidth),
            grouped(statistics.messages_recorded),
            grouped(statistics.messages_lost_in_transport),
            grouped(statistics.messages_lost_in_recorder()),
            grouped(statistics.messages_left_out()),
            unknown(statistics),
        ]);
    }
    table.text()
}

fn mean_bandwidth(topic: &TopicStatus) -> f64 {
    let statistics = &topic.statistics;
    match statistics.messages_recorded {
        0 => 0.0,
        messages => statistics.messages_rate() * statistics.bytes_written as f64 / messages as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_percentages_and_unknowns_are_named() {
        let mut statistics = TopicStatistics {
            messages_recorded: 97,
            messages_lost_in_transport: 1,
            ..TopicStatistics::default()
        };
        assert_eq!(unknown(&statistics), "0");
        statistics.lost_in_recorder.queue = 2;
        assert_eq!(
            causes(&statistics).unwrap(),
            "lost 3.00 % (transport 1, queue 2)"
        );
        statistics.left_out.type_conflict = 1_000;
        statistics.unknown.before_first = 12;
        assert_eq!(
            causes(&statistics).unwrap(),
            "lost 0.27 % (transport 1, queue 2); left out (type conflict 1,000)"
        );
        assert_eq!(unknown(&statistics), "≤12");
        statistics.unknown.open_publishers = 1;
        assert_eq!(unknown(&statistics), "≤12, open");
        assert_eq!(causes(&TopicStatistics::default()), None);
        assert!(losses(&TopicStatistics::default()).is_none());
        assert!(losses(&statistics).unwrap().contains("backpressure 0"));
    }
}
