//! The display while recording: a table on a terminal, elsewhere a line now and then.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write as _};

use timeloom_node::recorder::{Phase, Status, TopicStatus, TriggerStatus};
use timeloom_text::{grouped, size};
use timeloom_time::{Clock, Duration, Steady, Time};

use super::summary::table;
use crate::context::Context;
use crate::live::{Notices, print_note};
use crate::plain_text::plain_text;

/// Interval of status lines where no table can be drawn.
const LINE: Duration = Duration::from_secs(10);
/// The topics that are shown; more would not fit on a screen.
const ROWS: usize = 20;

pub(super) struct View {
    terminal: bool,
    clock: Clock<Steady>,
    /// Lines that stand on the terminal.
    drawn: usize,
    line: Time<Steady>,
    last: Option<Counts>,
}

/// The counts at one moment, to make rates of.
struct Counts {
    at: Time<Steady>,
    topics: BTreeMap<String, (u64, u64)>,
}

impl View {
    pub(super) fn new(terminal: bool, clock: Clock<Steady>) -> Self {
        Self {
            terminal,
            line: clock.now(),
            clock,
            drawn: 0,
            last: None,
        }
    }

    /// Clears the table, so that other lines can be printed.
    pub(super) fn clear(&mut self) {
        if self.drawn > 0 {
            let text = format!("\x1b[{}A\r\x1b[J", self.drawn);
            // Recording continues without a terminal.
            self.terminal = io::stderr().write_all(text.as_bytes()).is_ok();
            self.drawn = 0;
        }
    }

    /// Prints notices above the table.
    pub(super) fn print(&mut self, notices: &Notices, context: &mut Context) {
        for note in notices.take() {
            self.clear();
            print_note(&note, context);
        }
    }

    pub(super) fn draw(&mut self, status: &Status, context: &mut Context) {
        let now = self.clock.now();
        if !self.terminal {
            if now - self.line >= LINE {
                self.line = now;
                context.printer.note(&line(status));
            }
            return;
        }
        let rates = self.rates(status, now);
        let mut topics: Vec<&TopicStatus> = status.topics.iter().collect();
        // Those with losses first, then the largest.
        topics.sort_by_key(|topic| {
            let lost = topic.statistics.messages_lost();
            std::cmp::Reverse((lost, topic.statistics.bytes_written))
        });
        let hidden = topics.len().saturating_sub(ROWS);
        topics.truncate(ROWS);
        let mut text = line(status);
        text.push('\n');
        text.push_str(&table(&topics, Some(&rates)));
        if hidden > 0 {
            // Writing to a string does not fail.
            writeln!(text, "  … and {hidden} more topics").unwrap_or_default();
        }
        let text = plain_text(&text);
        self.clear();
        self.drawn = text.lines().count();
        self.terminal = io::stderr().write_all(text.as_bytes()).is_ok();
    }

    /// Messages and bytes a second since the last look, by topic.
    fn rates(&mut self, status: &Status, now: Time<Steady>) -> BTreeMap<String, (f64, f64)> {
        let counts = |topic: &TopicStatus| {
            let statistics = &topic.statistics;
            (statistics.messages_recorded, statistics.bytes_written)
        };
        let topics: BTreeMap<_, _> = status
            .topics
            .iter()
            .map(|topic| (topic.name.clone(), counts(topic)))
            .collect();
        let mut rates = BTreeMap::new();
        if let Some(last) = &self.last {
            let seconds = (now - last.at).as_secs_f64().max(1e-3);
            for (name, (messages, size)) in &topics {
                let before = last.topics.get(name).copied().unwrap_or_default();
                let rate = |now: u64, then: u64| now.saturating_sub(then) as f64 / seconds;
                rates.insert(
                    name.clone(),
                    (rate(*messages, before.0), rate(*size, before.1)),
                );
            }
        }
        self.last = Some(Counts { at: now, topics });
        rates
    }
}

/// Everything in one line.
fn line(status: &Status) -> String {
    let total = status.total();
    let seconds = status.elapsed.nanos() / 1_000_000_000;
    let state = match status.phase {
        Phase::Recording => "recording",
        Phase::Paused => "paused",
        Phase::Stopped => "stopped",
    };
    let triggers = status.triggers.as_ref().map(trigger_text);
    let percent = status.queue_bytes * 100 / status.queue_limit.max(1);
    format!(
        "{state} {:02}:{:02}:{:02}  {} topics  {} messages  {}  cache {percent} %  lost: {} in transport, {} in \
         recorder  left out: {}{}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60,
        status.topics.len(),
        grouped(total.messages_recorded),
        size(total.bytes_written),
        grouped(total.messages_lost_in_transport),
        grouped(total.messages_lost_in_recorder()),
        grouped(total.messages_left_out()),
        triggers.unwrap_or_default(),
    )
}

/// The windows, and the triggers that wait, are true, or cannot fire.
fn trigger_text(status: &TriggerStatus) -> String {
    let open = if status.is_open { " (one open)" } else { "" };
    let states = status.triggers.iter().map(|trigger| {
        let state = match (&trigger.broken, trigger.is_true) {
            (Some(_), _) => "broken",
            (None, true) => "true",
            (None, false) => "armed",
        };
        format!("{} {state}", trigger.name)
    });
    let states = states.collect::<Vec<_>>().join(", ");
    format!("  windows: {}{open}  triggers: {states}", status.windows)
}
