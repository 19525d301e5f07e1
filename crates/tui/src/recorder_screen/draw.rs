//! The layout of the recorder's view.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Paragraph, Row, Table};
use timeloom_node::recorder::{Phase, Status, TopicStatus};
use timeloom_text::{bandwidth, elapsed, grouped, hertz, size};

use super::RecorderScreen;
use crate::help::draw_help;
use crate::theme::Theme;

const KEYS: [(&str, &str); 6] = [
    ("SPACE", "pause, resume"),
    ("s", "a new file; in snapshot mode: write the snapshot"),
    ("d", "look for new topics, or stay with these"),
    ("l", "topics with losses first"),
    ("↑ ↓", "more topics"),
    ("q", "close the bag and leave"),
];

pub(super) fn draw(screen: &RecorderScreen, frame: &mut Frame<'_>) {
    let [title, state, account, table, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(2),
        Constraint::Min(0),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    let theme = screen.theme;
    if let Some(status) = &screen.status {
        let name = status.directory.display();
        let line = vec![
            Span::styled("timeloom record ", theme.strong()),
            Span::raw(format!("{name}")),
        ];
        frame.render_widget(Paragraph::new(Line::from(line)), title);
        frame.render_widget(Paragraph::new(state_line(status, theme)), state);
        frame.render_widget(Paragraph::new(account_lines(screen, status)), account);
        draw_topics(screen, status, frame, table);
    }
    frame.render_widget(Paragraph::new(foot_line(screen)), foot);
    if screen.help {
        draw_help(frame, "keys", &KEYS, theme);
    }
}

fn state_line(status: &Status, theme: Theme) -> Line<'static> {
    let (words, style) = match status.phase {
        Phase::Recording => ("● recording", theme.good()),
        Phase::Paused => ("⏸ paused", theme.waiting()),
        Phase::Stopped => ("■ stopped", theme.quiet()),
    };
    let filled = status.queue_bytes * 100 / status.queue_limit.max(1);
    Line::from(vec![
        Span::styled(words, style),
        Span::raw(format!(
            "   {}   files {}   queue {filled} % of {}   new topics {}",
            elapsed(status.elapsed.nanos()),
            status.files,
            size(status.queue_limit as u64),
            if status.discovery { "yes" } else { "no" }
        )),
    ])
}

/// The law of the product in one line.
fn account_lines(screen: &RecorderScreen, status: &Status) -> Vec<Line<'static>> {
    let total = status.total();
    let theme = screen.theme;
    let lost = |label: &str, number: u64| {
        let style = if number > 0 {
            theme.bad()
        } else {
            Style::new()
        };
        Span::styled(format!("{label} {}", grouped(number)), style)
    };
    let first = Line::from(vec![
        Span::raw(format!(
            "published {} = recorded {} + ",
            grouped(total.messages_published()),
            grouped(total.messages_recorded)
        )),
        lost("lost in transport", total.messages_lost_in_transport),
        Span::raw(" + "),
        lost("lost in the recorder", total.messages_lost_in_recorder()),
        Span::raw(format!(
            " + left out {}",
            grouped(total.messages_left_out())
        )),
    ]);
    let mut second = vec![format!("written {}", size(total.bytes_written))];
    if !total.unknown.is_none() {
        let (most, open) = (total.unknown.at_most(), total.unknown.open_publishers);
        second.push(format!("unknown {}", unknown(most, open)));
    }
    if let Some(triggers) = &status.triggers {
        let fired: u64 = triggers.triggers.iter().map(|trigger| trigger.fired).sum();
        let open = if triggers.is_open { ", one open" } else { "" };
        second.push(format!(
            "triggers {} armed, fired {fired}   windows {}{open}",
            triggers
                .triggers
                .iter()
                .filter(|one| one.broken.is_none())
                .count(),
            triggers.windows
        ));
    }
    vec![first, Line::from(second.join("   "))]
}

/// Unknown messages: an upper bound, and the number of publishers without one.
fn unknown(most: u64, open: u64) -> String {
    match (most, open) {
        (0, 0) => "0".to_owned(),
        (most, 0) => format!("≤{}", grouped(most)),
        (0, open) => format!("{} open", grouped(open)),
        (most, open) => format!("≤{} and {} open", grouped(most), grouped(open)),
    }
}

fn draw_topics(screen: &RecorderScreen, status: &Status, frame: &mut Frame<'_>, area: Rect) {
    let header = [
        "topic",
        "Hz",
        "bandwidth",
        "recorded",
        "transport",
        "recorder",
        "left out",
        "",
    ];
    let header = Row::new(header).style(screen.theme.strong());
    let mut topics: Vec<&TopicStatus> = status.topics.iter().collect();
    if screen.sort_by_loss {
        topics.sort_by_key(|topic| std::cmp::Reverse(topic.statistics.messages_lost()));
    }
    let rows = topics.into_iter().skip(screen.scroll);
    let rows = rows.map(|topic| topic_row(screen, topic));
    let widths = [
        Constraint::Fill(1),
        Constraint::Length(7),
        Constraint::Length(12),
        Constraint::Length(11),
        Constraint::Length(9),
        Constraint::Length(8),
        Constraint::Length(8),
        Constraint::Length(10),
    ];
    frame.render_widget(
        Table::new(rows, widths).header(header).column_spacing(1),
        area,
    );
}

fn topic_row<'a>(screen: &'a RecorderScreen, topic: &'a TopicStatus) -> Row<'a> {
    let reading = screen.meter.reading(&topic.name);
    let statistics = &topic.statistics;
    let lost = |number: u64| {
        let style = if number > 0 {
            screen.theme.bad()
        } else {
            Style::new()
        };
        Cell::from(grouped(number)).style(style)
    };
    Row::new([
        Cell::from(topic.name.as_str()),
        Cell::from(hertz(reading.hertz)),
        Cell::from(bandwidth(reading.bytes)),
        Cell::from(grouped(statistics.messages_recorded)),
        lost(statistics.messages_lost_in_transport),
        lost(statistics.messages_lost_in_recorder()),
        Cell::from(grouped(statistics.messages_left_out())),
        Cell::from(curve(screen, &topic.name)),
    ])
}

/// The rate of the last seconds, marked where messages were lost.
fn curve(screen: &RecorderScreen, topic: &str) -> Line<'static> {
    const WIDTH: usize = 10;
    let losses = screen.losses.history(topic);
    let bars = screen.meter.sparkline(topic, WIDTH);
    let losses = losses.into_iter().rev().take(WIDTH).rev();
    let spans = bars.chars().zip(losses).map(|(bar, lost)| {
        if lost > 0.0 {
            // A gap in the rate is a mark, too.
            let mark = if bar == ' ' { '×' } else { bar };
            Span::styled(mark.to_string(), screen.theme.bad())
        } else {
            Span::raw(bar.to_string())
        }
    });
    spans.collect::<Vec<_>>().into()
}

fn foot_line(screen: &RecorderScreen) -> Line<'_> {
    if !screen.message.is_empty() {
        return Line::styled(screen.message.as_str(), screen.theme.waiting());
    }
    let key = if screen.snapshots {
        "s snapshot"
    } else {
        "s new file"
    };
    let words =
        format!("SPACE pause  {key}  d discovery  l losses first  ? keys  q close and leave");
    Line::styled(words, screen.theme.quiet())
}
