//! The layout of the player's view.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Paragraph, Row, Table};
use timeloom_node::player::{State, Status, TopicStatus};
use timeloom_text::{bandwidth, elapsed, grouped, hertz, size};

use super::PlayerScreen;
use crate::help::draw_help;
use crate::theme::Theme;
use crate::timeline::Timeline;

const KEYS: [(&str, &str); 14] = [
    ("SPACE", "pause, resume"),
    ("→ ←", "next message, message before (paused)"),
    ("Shift-→ ←", "1 s forward, back"),
    (". ,", "0.1 s forward, back"),
    ("> <", "10 s forward, back"),
    ("↑ ↓", "faster, slower; = for 1×"),
    ("+ -", "10 % faster, slower"),
    ("0 … 9", "to 0 %, 10 % … 90 %"),
    ("Home End", "to the beginning, the end"),
    ("/", "to a place: 90, 1:30, +5, -5, 50%"),
    ("[ ]", "mark A, mark B: repeat between them"),
    ("Backspace", "no marks"),
    ("PgUp PgDn", "more topics"),
    ("q", "leave"),
];

pub(super) fn draw(screen: &PlayerScreen, frame: &mut Frame<'_>) {
    let [title, state, timeline, numbers, table, foot] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Length(2),
        Constraint::Min(0),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    let theme = screen.theme;
    frame.render_widget(Paragraph::new(title_line(screen)), title);
    if let Some(status) = &screen.status {
        frame.render_widget(Paragraph::new(state_line(status, theme)), state);
        draw_timeline(screen, status, frame, timeline);
        frame.render_widget(Paragraph::new(number_lines(screen, status)), numbers);
        draw_topics(screen, status, frame, table);
    }
    frame.render_widget(Paragraph::new(foot_line(screen)), foot);
    if screen.help {
        draw_help(frame, "keys", &KEYS, theme);
    }
}

fn title_line(screen: &PlayerScreen) -> Line<'_> {
    Line::from(vec![
        Span::styled("timeloom play ", screen.theme.strong()),
        Span::raw(screen.title.as_str()),
    ])
}

fn state_line(status: &Status, theme: Theme) -> Line<'static> {
    let (sign, words, style) = match status.state {
        State::Playing => ("▶", "playing", theme.good()),
        State::Paused => ("⏸", "paused", theme.waiting()),
        State::Idle => ("■", "idle", theme.quiet()),
        State::WaitingForSubscribers => ("…", "waiting for subscribers", theme.waiting()),
        State::WaitingForStart => ("…", "waiting for the start", theme.waiting()),
        State::WaitingForClock => ("…", "waiting for /clock", theme.waiting()),
        State::Finishing => ("…", "waiting for acknowledgements", theme.waiting()),
        State::Ended => ("■", "ended", theme.quiet()),
        _ => ("■", "stopped", theme.quiet()),
    };
    let mut spans = vec![
        Span::styled(format!("{sign} {words}"), style),
        Span::raw("   "),
    ];
    if let Some((start, end)) = status.range {
        let passed = status.time.checked_since(start).unwrap_or_default();
        let whole = end.checked_since(start).unwrap_or_default();
        spans.push(Span::raw(format!(
            "{} / {}   ",
            elapsed(passed.nanos()),
            elapsed(whole.nanos())
        )));
    }
    spans.push(Span::raw(match (status.rate, status.achieved_rate) {
        (Some(set), Some(real)) => format!("×{set:.2} (real ×{real:.2})"),
        (Some(set), None) => format!("×{set:.2}"),
        (None, Some(real)) => format!("external clock (×{real:.2})"),
        (None, None) => "external clock".to_owned(),
    }));
    if status.laps > 0 {
        spans.push(Span::raw(format!("   lap {}", status.laps + 1)));
    }
    Line::from(spans)
}

fn draw_timeline(screen: &PlayerScreen, status: &Status, frame: &mut Frame<'_>, area: Rect) {
    if let Some(range) = status.range {
        let timeline = Timeline {
            range,
            now: status.time,
            repeated: status.loop_range,
            mark_a: screen.mark_a,
        };
        let line = timeline.line(usize::from(area.width), screen.theme);
        frame.render_widget(Paragraph::new(line), area);
    }
}

fn number_lines(screen: &PlayerScreen, status: &Status) -> Vec<Line<'static>> {
    let lost = status.lost();
    let played = format!("played {}   ", grouped(status.played()));
    let mut first = vec![Span::raw(played)];
    let style = if lost > 0 {
        screen.theme.bad()
    } else {
        Style::new()
    };
    first.push(Span::styled(format!("not played {}", grouped(lost)), style));
    first.push(Span::raw(format!(
        "   cache {} messages, {}   starved {}",
        grouped(status.read_ahead_messages as u64),
        size(status.read_ahead_bytes),
        grouped(status.starved)
    )));
    let mut second = Vec::new();
    if let Some(last) = status.damage.last() {
        second.push(Span::styled(format!("damaged: {last}"), screen.theme.bad()));
    }
    vec![Line::from(first), Line::from(second)]
}

fn draw_topics(screen: &PlayerScreen, status: &Status, frame: &mut Frame<'_>, area: Rect) {
    let header =
        Row::new(["topic", "Hz", "bandwidth", "played", "lost", ""]).style(screen.theme.strong());
    let rows = status.topics.iter().skip(screen.scroll);
    let rows = rows.map(|topic| topic_row(screen, topic));
    let widths = [
        Constraint::Fill(1),
        Constraint::Length(7),
        Constraint::Length(12),
        Constraint::Length(12),
        Constraint::Length(8),
        Constraint::Length(12),
    ];
    frame.render_widget(
        Table::new(rows, widths).header(header).column_spacing(1),
        area,
    );
}

fn topic_row<'a>(screen: &'a PlayerScreen, topic: &'a TopicStatus) -> Row<'a> {
    let reading = screen.meter.reading(&topic.name);
    let lost = topic.failed + topic.dropped + topic.stepped_over;
    let style = if lost > 0 {
        screen.theme.bad()
    } else {
        Style::new()
    };
    Row::new([
        Cell::from(topic.name.as_str()),
        Cell::from(hertz(reading.hertz)),
        Cell::from(bandwidth(reading.bytes)),
        Cell::from(grouped(topic.played)),
        Cell::from(grouped(lost)).style(style),
        Cell::from(screen.meter.sparkline(&topic.name, 12)),
    ])
}

fn foot_line(screen: &PlayerScreen) -> Line<'_> {
    if let Some(text) = &screen.goto {
        return Line::from(format!("go to: {text}▏"));
    }
    if !screen.message.is_empty() {
        return Line::styled(screen.message.as_str(), screen.theme.waiting());
    }
    Line::styled(
        "SPACE pause  ←→ step  Shift-←→ 1 s  ↑↓ rate  [ ] A–B  / go to  ? keys  q leave",
        screen.theme.quiet(),
    )
}
