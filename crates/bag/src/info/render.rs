//! The text of `ros2 bag info`.

use std::fmt::Write;

use timeloom_text::{calendar_time, seconds, size};

use super::{BagInfo, ServiceEntry, TopicEntry, account_text};
use crate::TopicStatistics;

/// Options of the text, beyond `ros2 bag info` of Jazzy.
#[derive(Debug, Clone, Copy, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent switches of one text"
)]
pub struct InfoLayout {
    /// Offset of the local time zone, for the start and the end.
    pub utc_offset_seconds: i32,
    /// Order of topics and services.
    pub sort: SortTopics,
    /// Only the names of the topics, one per line.
    pub names_only: bool,
    /// Show the size of each topic, once it is known.
    pub size_contribution: bool,
    /// Show lost, left out and unknown messages, for bags with an account.
    pub losses: bool,
    /// Show damage, and data that other readers do not read.
    pub damage: bool,
}

/// Order of topics and services in the text; equal ones keep the order of the bag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SortTopics {
    /// In the order of the bag.
    #[default]
    Recorded,
    /// By name.
    Name,
    /// By type.
    Type,
    /// By number of messages, smallest first.
    Count,
}

const INDENT: &str = "                   ";
const SERVICE_INDENT: &str = "                     ";

/// The text of `ros2 bag info`; with services it ends with an empty line, as there.
pub fn render(info: &BagInfo, layout: &InfoLayout) -> String {
    let mut topics: Vec<&TopicEntry> = info.topics.iter().collect();
    let mut services: Vec<&ServiceEntry> = info.services.iter().collect();
    sort(
        layout.sort,
        &mut topics,
        |t| &t.name,
        |t| &t.type_name,
        |t| t.message_count,
    );
    sort(
        layout.sort,
        &mut services,
        |s| &s.name,
        |s| &s.type_name,
        ServiceEntry::count,
    );
    if layout.names_only {
        return topics
            .iter()
            .fold(String::new(), |text, topic| text + &topic.name + "\n");
    }
    let mut text = String::new();
    head(&mut text, info, layout);
    lines(
        &mut text,
        "Topic information: ",
        INDENT,
        topics.iter().map(|topic| topic_line(topic, layout)),
    );
    row(
        &mut text,
        format_args!("Service:           {}", services.len()),
    );
    lines(
        &mut text,
        "Service information: ",
        SERVICE_INDENT,
        services.iter().map(|service| service_line(service, layout)),
    );
    if layout.losses {
        let worst = account_text::worst_stretches(info, layout.utc_offset_seconds);
        section(
            &mut text,
            "Missing:           ",
            account_text::missing(info),
        );
        section(&mut text, "Worst stretches:   ", worst);
        section(
            &mut text,
            "Unknown:           ",
            account_text::unknown(info),
        );
    }
    if layout.damage {
        section(&mut text, "Damage:            ", info.damage.clone());
    }
    if layout.damage && !info.compatibility.is_empty() {
        lines(
            &mut text,
            "Compatibility:     ",
            INDENT,
            info.compatibility.iter().cloned(),
        );
    }
    if !services.is_empty() {
        text.push('\n');
    }
    text
}

fn row(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    text.write_fmt(line).unwrap_or_default();
    text.push('\n');
}

fn head(text: &mut String, info: &BagInfo, layout: &InfoLayout) {
    text.push('\n');
    lines(
        text,
        "Files:             ",
        INDENT,
        info.files.iter().cloned(),
    );
    row(
        text,
        format_args!("Bag size:          {}", size(info.size_bytes)),
    );
    row(
        text,
        format_args!("Storage id:        {}", info.storage_identifier),
    );
    row(text, format_args!("ROS Distro:        {}", info.ros_distro));
    row(
        text,
        format_args!("Duration:          {}s", seconds(info.duration_ns)),
    );
    let time = |time: Option<i64>| calendar_time(time.unwrap_or(0), layout.utc_offset_seconds);
    row(
        text,
        format_args!("Start:             {}", time(info.start_time_ns)),
    );
    row(
        text,
        format_args!("End:               {}", time(info.end_time_ns)),
    );
    row(
        text,
        format_args!("Messages:          {}", info.message_count),
    );
}

/// Lines behind a label, the following ones indented; a label alone when there are none.
fn lines(text: &mut String, label: &str, indent: &str, lines: impl Iterator<Item = String>) {
    text.push_str(label);
    let mut empty = true;
    for line in lines {
        if !empty {
            text.push_str(indent);
        }
        text.push_str(&line);
        text.push('\n');
        empty = false;
    }
    if empty {
        text.push('\n');
    }
}

fn topic_line(topic: &TopicEntry, layout: &InfoLayout) -> String {
    let mut line = format!(
        "Topic: {} | Type: {} | Count: {}",
        topic.name, topic.type_name, topic.message_count
    );
    line.push_str(&size_and_format(
        topic.size_bytes,
        &topic.serialization_format,
        layout,
    ));
    line.push_str(&lost(topic.statistics.as_ref(), layout));
    line
}

/// The common part of the lines of topics and services.
fn size_and_format(size_bytes: Option<u64>, format: &str, layout: &InfoLayout) -> String {
    let size = size_bytes
        .filter(|_| layout.size_contribution)
        .map(|bytes| format!(" | Size Contribution: {}", size(bytes)));
    size.unwrap_or_default() + " | Serialization Format: " + format
}

/// The losses at the end of a line.
fn lost(statistics: Option<&TopicStatistics>, layout: &InfoLayout) -> String {
    let Some(statistics) = statistics.filter(|_| layout.losses) else {
        return String::new();
    };
    let count = |missing: u64| match statistics.known(missing) {
        Some(missing) if statistics.unknown.uncounted => format!("at least {missing}"),
        Some(missing) => missing.to_string(),
        None => "unknown".to_owned(),
    };
    format!(
        " | Lost in Transport: {} | Lost in Recorder: {}",
        count(statistics.messages_lost_in_transport),
        count(statistics.messages_lost_in_recorder())
    )
}

/// Lines behind a label; nothing when there are none.
fn section(text: &mut String, label: &str, content: Vec<String>) {
    if !content.is_empty() {
        lines(text, label, INDENT, content.into_iter());
    }
}

fn service_line(service: &ServiceEntry, layout: &InfoLayout) -> String {
    let counts = match (service.request_count, service.response_count) {
        (Some(requests), Some(responses)) => {
            format!("Request Count: {requests} | Response Count: {responses}")
        }
        _ => format!("Event Count: {}", service.event_count),
    };
    let mut line = format!(
        "Service: {} | Type: {} | {counts}",
        service.name, service.type_name
    );
    line.push_str(&size_and_format(
        service.size_bytes,
        &service.serialization_format,
        layout,
    ));
    line.push_str(&lost(service.statistics.as_ref(), layout));
    line
}

fn sort<T>(
    order: SortTopics,
    items: &mut [&T],
    name: fn(&T) -> &String,
    kind: fn(&T) -> &String,
    count: fn(&T) -> u64,
) {
    match order {
        SortTopics::Recorded => {}
        SortTopics::Name => items.sort_by(|a, b| name(a).cmp(name(b))),
        SortTopics::Type => items.sort_by(|a, b| kind(a).cmp(kind(b))),
        SortTopics::Count => items.sort_by_key(|item| count(item)),
    }
}
