//! What a recording came to, in a table.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use timeloom_node::recorder::{EndReason, Report, TopicStatus};

use crate::context::Context;
use crate::json_text::{counted, grouped};

/// Says what the bag holds and what it does not; true when something was lost.
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
        bytes(total.bytes_written),
        counted(report.topics.len() as u64, "topic"),
        counted(files, "file"),
        report.directory.display()
    );
    context.printer.note(&text);
    skipped(report, context);
    unknown(report, context);
    if let Some(error) = &report.error {
        context.printer.loss(&error.to_string());
    }
    let lost = total.messages_lost();
    if lost > 0 {
        let causes = total.lost_in_recorder;
        let text = format!(
            "{} lost: {} in transport, {} in the recorder (queue {}, compression {}, storage {})",
            counted(lost, "message"),
            grouped(total.messages_lost_in_transport),
            grouped(total.messages_lost_in_recorder()),
            grouped(causes.queue),
            grouped(causes.compression),
            grouped(causes.storage),
        );
        context.printer.loss(&text);
    }
    lost > 0 || report.error.is_some()
}

fn skipped(report: &Report, context: &mut Context) {
    let sum = |count: fn(&TopicStatus) -> u64| report.topics.iter().map(count).sum::<u64>();
    let paused = match report.reason {
        EndReason::Asked => "while paused",
        _ => "while paused or after the end",
    };
    let parts = [
        (paused, sum(|topic| topic.skipped.paused)),
        ("by the throttle", sum(|topic| topic.skipped.throttled)),
        (
            "that no snapshot asked for",
            sum(|topic| topic.skipped.overwritten),
        ),
        ("in files that were deleted", report.deleted_messages),
    ];
    for (how, count) in parts.into_iter().filter(|(_, count)| *count > 0) {
        let text = format!("left out {}: {}", how, counted(count, "message"));
        context.printer.aside(&text);
    }
}

/// What nobody can know is said, and not called zero.
fn unknown(report: &Report, context: &mut Context) {
    for sentence in report.total().unknown.sentences() {
        context.printer.aside(&format!("unknown: {sentence}"));
    }
}

/// The topics with their numbers; with rates while it runs.
pub(super) fn table(
    topics: &[&TopicStatus],
    rates: Option<&BTreeMap<String, (f64, f64)>>,
) -> String {
    let width = topics.iter().map(|topic| topic.name.len()).max();
    let width = width.unwrap_or(0).clamp(5, 48);
    let mut text = format!(
        "  {:<width$} {:>9} {:>12} {:>12} {:>13} {:>13}\n",
        "topic", "Hz", "bandwidth", "recorded", "lost on wire", "lost here",
    );
    for topic in topics {
        let statistics = &topic.statistics;
        let (hertz, bandwidth) = match rates {
            Some(rates) => rates.get(&topic.name).copied().unwrap_or_default(),
            None => (statistics.messages_rate(), mean_bandwidth(topic)),
        };
        let line = writeln!(
            text,
            "  {:<width$} {hertz:>9.1} {:>12} {:>12} {:>13} {:>13}",
            topic.name,
            format!("{}/s", bytes_of(bandwidth)),
            grouped(statistics.messages_recorded),
            grouped(statistics.messages_lost_in_transport),
            grouped(statistics.messages_lost_in_recorder()),
        );
        // Writing to a string does not fail.
        line.unwrap_or_default();
    }
    text
}

fn mean_bandwidth(topic: &TopicStatus) -> f64 {
    let statistics = &topic.statistics;
    match statistics.messages_recorded {
        0 => 0.0,
        messages => statistics.messages_rate() * statistics.bytes_written as f64 / messages as f64,
    }
}

/// A size like `1.2 MiB`.
pub(crate) fn bytes(count: u64) -> String {
    bytes_of(count as f64)
}

fn bytes_of(count: f64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut value, mut unit) = (count, 0);
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = usize::from(unit > 0);
    format!("{value:.digits$} {}", UNITS.get(unit).unwrap_or(&"B"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(bytes(u64::MAX), "16777216.0 TiB");
    }
}
