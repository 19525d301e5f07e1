//! Reports as text.

use std::fmt::Write as _;

use timeloom_text::{Table, counted, grouped};
use timeloom_trace::{
    DeadlineReport, HopReport, PathReport, Report, Summary, TargetReport, span_text,
};

/// Limit for paths between a source and a target that are listed one by one.
const LISTED_PATHS: usize = 8;

/// Which paths are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Paths {
    /// The slowest of each source, and how many more there are.
    Summary,
    /// All.
    All,
}

/// The whole report.
pub(super) fn report_text(report: &Report, bag: &str, paths: Paths) -> String {
    let mut text = format!(
        "Lineage of {bag}: {} and {} in {}\n",
        counted(report.tags, "tag"),
        counted(report.messages, "message"),
        span_text(report.span_ns)
    );
    for target in &report.targets {
        text.push_str(&target_text(target, paths));
    }
    if report.targets.is_empty() && report.hops.is_empty() {
        text.push_str(
            "\nNo links: there are no tags, and neither graph nor stamps link any topics\n",
        );
    } else if report.targets.is_empty() {
        text.push_str("\nNo path ends at the topics of --to; without --to, all ends are used\n");
    }
    text.push_str(&hops_text(&report.hops));
    text.push_str(&deadlines_text(&report.deadlines));
    text.push_str(&tail_text(report));
    text
}

fn target_text(target: &TargetReport, paths: Paths) -> String {
    let late = if target.completed_late > 0 {
        format!(", {} of them by a late tag", target.completed_late)
    } else {
        String::new()
    };
    let mut text = format!(
        "\nTarget {}: {}, {} complete{late}\n\n",
        target.topic,
        counted(target.messages, "message"),
        grouped(target.complete)
    );
    text.push_str(&sources_text(target));
    text.push('\n');
    text.push_str(&match paths {
        Paths::All => paths_text(&target.paths),
        Paths::Summary => summary_text(target),
    });
    if target.more_paths {
        text.push_str("  there are more paths: the search was limited\n");
    }
    text
}

/// The slowest paths of each source, and the others in one line.
fn summary_text(target: &TargetReport) -> String {
    let (mut listed, mut rest) = (Vec::new(), String::new());
    for source in &target.sources {
        let of_source = |path: &&PathReport| path.topics.first() == Some(&source.topic);
        let paths: Vec<&PathReport> = target.paths.iter().filter(of_source).collect();
        let shown = if paths.len() > LISTED_PATHS + 1 {
            LISTED_PATHS
        } else {
            paths.len()
        };
        listed.extend(paths.iter().take(shown).copied());
        rest.push_str(&rest_text(
            &source.topic,
            paths.get(shown..).unwrap_or_default(),
        ));
    }
    listed.sort_by(|a, b| {
        let slow = b.best.p50_ns.cmp(&a.best.p50_ns);
        slow.then_with(|| a.topics.cmp(&b.topics))
    });
    paths_text(listed) + &rest
}

fn rest_text(source: &str, rest: &[&PathReport]) -> String {
    let with_flows = rest.iter().filter(|path| path.best.count > 0);
    let medians: Vec<u64> = with_flows.clone().map(|path| path.best.p50_ns).collect();
    let (Some(least), Some(most)) = (medians.iter().min(), medians.iter().max()) else {
        return match rest.len() {
            0 => String::new(),
            count => format!("  and {count} more paths from {source} without a flow\n"),
        };
    };
    let slowest = with_flows.map(|path| path.best.max_ns).max();
    format!(
        "  and {} more paths from {source}: p50 {} to {}, max {}; --all-paths lists them\n",
        rest.len(),
        span_text(*least),
        span_text(*most),
        span_text(slowest.unwrap_or(0))
    )
}

fn sources_text(target: &TargetReport) -> String {
    let head = [
        "source",
        "published",
        "completed",
        "superseded",
        "partial",
        "lost transport",
        "lost recorder",
        "no tag",
        "expired",
        "in flight",
    ];
    let mut table = Table::new("  ", &head);
    let mut missing = String::new();
    for source in &target.sources {
        let found = &source.outcomes;
        let counts = [
            source.published,
            found.completed,
            found.superseded,
            found.partial,
            found.lost_in_transport,
            found.lost_in_recorder,
            found.no_tag,
            found.expired,
            found.in_flight,
        ];
        let mut row = vec![source.topic.clone()];
        row.extend(counts.into_iter().map(grouped));
        table.row(row);
        let mut line = |count: u64, words: &str, hop: &str| {
            let messages = counted(count, "message");
            // Writing to a string cannot fail.
            let _ok = writeln!(missing, "  {messages} of {} {words} {hop}", source.topic);
        };
        for (hop, count) in &found.missing_hops {
            line(*count, "ended before", hop);
        }
        for (hop, count) in &found.superseded_at {
            line(*count, "superseded at", hop);
        }
    }
    table.text() + &missing
}

fn paths_text<'a>(paths: impl IntoIterator<Item = &'a PathReport>) -> String {
    let head = [
        "path", "flows", "p50", "p90", "p99", "p99.9", "max", "worst", "reaction", "age",
    ];
    let mut table = Table::new("  ", &head);
    let mut doubts = String::new();
    for path in paths {
        let name = path.topics.join(" → ");
        let mut row = vec![name.clone(), grouped(path.best.count)];
        row.extend(percentiles(&path.best));
        row.extend([&path.worst, &path.reaction, &path.data_age].map(max));
        table.row(row);
        doubts.push_str(&doubt_text(path, &name));
    }
    table.text() + &doubts
}

pub(super) fn percentiles(summary: &Summary) -> [String; 5] {
    if summary.count == 0 {
        return std::array::from_fn(|_| "-".to_owned());
    }
    [
        summary.p50_ns,
        summary.p90_ns,
        summary.p99_ns,
        summary.p999_ns,
        summary.max_ns,
    ]
    .map(span_text)
}

fn max(summary: &Summary) -> String {
    if summary.count == 0 {
        "-".to_owned()
    } else {
        span_text(summary.max_ns)
    }
}

fn doubt_text(path: &PathReport, name: &str) -> String {
    let mut text = String::new();
    let mut line = |words: String| text = format!("{text}  {name}: {words}\n");
    if path.suspicious > 0 {
        let count = counted(path.suspicious, "latency");
        line(format!(
            "{count} not counted: negative, or across a clock jump"
        ));
    }
    if path.unbounded > 0 {
        line(
            "crosses hosts whose clocks were not compared: declare `hosts:` in a plan for a bound"
                .into(),
        );
    }
    if path.bound_ns > 0 {
        line(format!("± {}", span_text(path.bound_ns)));
    }
    text
}

/// The hops of one path, on average.
pub(super) fn steps_text(path: &PathReport) -> String {
    let head = ["hop, on average", "in all", "transport", "queue", "node"];
    let mut table = Table::new("    ", &head);
    let optional = |nanos: Option<u64>| nanos.map_or_else(|| "-".to_owned(), span_text);
    for step in &path.steps {
        table.row(vec![
            format!("{} → {}", step.from, step.to),
            span_text(step.total_ns),
            optional(step.transport_ns),
            optional(step.queue_ns),
            optional(step.node_ns),
        ]);
    }
    table.text()
}

fn hops_text(hops: &[HopReport]) -> String {
    if hops.is_empty() {
        return String::new();
    }
    let head = [
        "hop",
        "node",
        "links",
        "known by",
        "sure",
        "in all p50",
        "transport p50",
        "p99",
        "node p50",
        "p99",
        "not found",
    ];
    let mut table = Table::new("  ", &head);
    for hop in hops {
        let known: Vec<_> = hop
            .known_by
            .keys()
            .map(|evidence| evidence.name())
            .collect();
        let some = |summary: &Summary, nanos: u64| {
            if summary.count == 0 {
                "-".to_owned()
            } else {
                span_text(nanos)
            }
        };
        table.row(vec![
            format!("{} → {}", hop.from, hop.to),
            hop.nodes.join(", "),
            grouped(hop.known_by.values().sum()),
            known.join(", "),
            hop.confidence.name().to_owned(),
            some(&hop.total, hop.total.p50_ns),
            some(&hop.transport, hop.transport.p50_ns),
            some(&hop.transport, hop.transport.p99_ns),
            some(&hop.node, hop.node.p50_ns),
            some(&hop.node, hop.node.p99_ns),
            grouped(hop.unresolved),
        ]);
    }
    format!("\nHops\n\n{}", table.text())
}

fn deadlines_text(deadlines: &[DeadlineReport]) -> String {
    if deadlines.is_empty() {
        return String::new();
    }
    let head = [
        "deadline",
        "limit",
        "checked",
        "missed",
        "by a late tag",
        "never arrived",
        "longest streak",
    ];
    let mut table = Table::new("  ", &head);
    for deadline in deadlines {
        let mut row = vec![deadline.name.clone(), span_text(deadline.limit_ns)];
        let counts = [
            deadline.checked,
            deadline.missed,
            deadline.missed_by_late_link,
            deadline.missed_by_timer,
            deadline.longest_streak,
        ];
        row.extend(counts.into_iter().map(grouped));
        table.row(row);
    }
    format!("\nDeadlines\n\n{}", table.text())
}

/// Loops, clocks, notes.
fn tail_text(report: &Report) -> String {
    let mut lines = Vec::new();
    for circle in &report.loops {
        let first = circle.first().map_or("", String::as_str);
        lines.push(format!("loop, cut: {} → {first}", circle.join(" → ")));
    }
    if report.clocks.hosts.len() > 1 {
        lines.push(format!(
            "hosts, by clock: {}",
            report.clocks.hosts.join(", ")
        ));
    }
    for difference in &report.clocks.compared {
        let (ahead, way) = match difference.ahead_ns {
            ahead @ 0.. => (ahead.unsigned_abs(), "ahead of"),
            ahead => (ahead.unsigned_abs(), "behind"),
        };
        lines.push(format!(
            "the clock of {} is {} {way} that of {}, ± {}, estimated from messages in both directions",
            difference.other,
            span_text(ahead),
            difference.host,
            span_text(difference.bound_ns)
        ));
    }
    if report.clocks.jumps > 0 {
        lines.push(format!(
            "ROS time went back {}",
            counted(report.clocks.jumps, "time")
        ));
    }
    for step in &report.clocks.steps {
        let way = if step.by_ns < 0 { "back" } else { "forward" };
        lines.push(format!(
            "the clock of {} was set {way} by {}: its latencies to other hosts before and after differ by that",
            step.host,
            span_text(step.by_ns.unsigned_abs())
        ));
    }
    for (from, to, count) in &report.clocks.negative {
        lines.push(if from == to {
            format!("{count} negative latencies on {to}: its stamps are not in order")
        } else {
            format!("{count} negative latencies from {from} to {to}: their clocks differ")
        });
    }
    lines.extend(report.notes.iter().cloned());
    if lines.is_empty() {
        return String::new();
    }
    format!("\n{}\n", lines.join("\n"))
}
