//! The recorder's view: rates, account and losses.

mod draw;

use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use timeloom_node::recorder::{Control, Status};
use timeloom_time::{Steady, Time};

use crate::meter::Meter;
use crate::screen::{Flow, Screen};
use crate::theme::Theme;

/// The view of a recorder, with keys to control it.
pub struct RecorderScreen {
    theme: Theme,
    snapshots: bool,
    status: Option<Status>,
    meter: Meter,
    /// Rates of losses, in step with `meter`.
    losses: Meter,
    message: String,
    help: bool,
    sort_by_loss: bool,
    scroll: usize,
}

impl RecorderScreen {
    /// A view of a recorder; with `snapshots` the key `s` writes one, else it starts a new file.
    pub fn new(snapshots: bool, theme: Theme) -> Self {
        Self {
            theme,
            snapshots,
            status: None,
            meter: Meter::default(),
            losses: Meter::default(),
            message: String::new(),
            help: false,
            sort_by_loss: false,
            scroll: 0,
        }
    }

    /// Updates the view with the status of the recorder.
    pub fn update(&mut self, status: Status, now: Time<Steady>) {
        for topic in &status.topics {
            let written = &topic.statistics;
            let (messages, bytes) = (written.messages_recorded, written.bytes_written);
            self.meter.count(&topic.name, now, messages, bytes);
            self.losses
                .count(&topic.name, now, written.messages_lost(), 0);
        }
        self.scroll = self.scroll.min(status.topics.len().saturating_sub(1));
        self.status = Some(status);
    }

    fn scroll_by(&mut self, rows: isize) {
        let topics = self.status.as_ref().map_or(0, |status| status.topics.len());
        let last = topics.saturating_sub(1);
        self.scroll = self.scroll.saturating_add_signed(rows).min(last);
    }
}

impl Screen for RecorderScreen {
    type Control = Control;

    fn draw(&self, frame: &mut Frame<'_>) {
        draw::draw(self, frame);
    }

    fn key(&mut self, key: KeyEvent) -> Flow<Control> {
        self.message.clear();
        if self.help {
            self.help = false;
            return Flow::Stay;
        }
        match key.code {
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => {
                return Flow::Leave;
            }
            KeyCode::Char('q') | KeyCode::Esc => return Flow::Leave,
            KeyCode::Char(' ') => return Flow::Ask(Control::TogglePaused),
            KeyCode::Char('s') if self.snapshots => return Flow::Ask(Control::Snapshot),
            KeyCode::Char('s') => return Flow::Ask(Control::Split),
            KeyCode::Char('d') => {
                let looks = self.status.as_ref().is_some_and(|status| status.discovery);
                return Flow::Ask(if looks {
                    Control::StopDiscovery
                } else {
                    Control::StartDiscovery
                });
            }
            KeyCode::Char('l') => self.sort_by_loss = !self.sort_by_loss,
            KeyCode::Char('?' | 'h') => self.help = true,
            KeyCode::PageDown | KeyCode::Down | KeyCode::Char('j') => self.scroll_by(1),
            KeyCode::PageUp | KeyCode::Up | KeyCode::Char('k') => self.scroll_by(-1),
            _ => {}
        }
        Flow::Stay
    }

    fn show_message(&mut self, message: String) {
        self.message = message;
    }
}
