//! The player's view: timeline, rates, topics.

mod draw;

use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use timeloom_node::player::{Control, Mark, Status};
use timeloom_time::{Duration, Ros, Steady, Time};

use crate::goto::{part, place};
use crate::meter::Meter;
use crate::rate_ladder::{faster, slower};
use crate::screen::{Flow, Screen};
use crate::theme::Theme;

const SMALL: Duration = Duration::from_millis(100);
const LARGE: Duration = Duration::from_secs(1);
const HUGE: Duration = Duration::from_secs(10);
/// Limit of a typed time.
const LONGEST_INPUT: usize = 24;

/// The view of a player, with keys to control it.
pub struct PlayerScreen {
    title: String,
    theme: Theme,
    status: Option<Status>,
    meter: Meter,
    message: String,
    mark_a: Option<Time<Ros>>,
    help: bool,
    goto: Option<String>,
    scroll: usize,
}

impl PlayerScreen {
    /// A view of a player of `title`, the bag's name.
    pub fn new(title: impl Into<String>, theme: Theme) -> Self {
        Self {
            title: title.into(),
            theme,
            status: None,
            meter: Meter::default(),
            message: String::new(),
            mark_a: None,
            help: false,
            goto: None,
            scroll: 0,
        }
    }

    /// Updates the view with the status of the player.
    pub fn update(&mut self, status: Status, now: Time<Steady>) {
        for topic in &status.topics {
            self.meter
                .count(&topic.name, now, topic.played, topic.bytes);
        }
        self.scroll = self.scroll.min(status.topics.len().saturating_sub(1));
        self.status = Some(status);
    }

    fn command(&mut self, key: KeyEvent) -> Flow<Control> {
        let shift = key.modifiers.contains(KeyModifiers::SHIFT);
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c') if ctrl => return Flow::Leave,
            KeyCode::Char('q') | KeyCode::Esc => return Flow::Leave,
            KeyCode::Char('?' | 'h') => self.help = true,
            KeyCode::Char('/' | 'g') => self.goto = Some(String::new()),
            KeyCode::PageDown | KeyCode::Char('j') => self.scroll_by(5),
            KeyCode::PageUp | KeyCode::Char('k') => self.scroll_by(-5),
            _ => {
                let control = self.control(key.code, shift);
                return control.map_or(Flow::Stay, Flow::Ask);
            }
        }
        Flow::Stay
    }

    /// The control of a key.
    fn control(&mut self, code: KeyCode, shift: bool) -> Option<Control> {
        let status = self.status.as_ref()?;
        let rate = status.rate.unwrap_or(1.0);
        Some(match code {
            KeyCode::Char(' ') => Control::TogglePaused,
            KeyCode::Right if shift => Control::SeekBy(LARGE),
            KeyCode::Left if shift => Control::SeekBy(negative(LARGE)),
            KeyCode::Right | KeyCode::Char('n') => Control::PlayNext,
            KeyCode::Left | KeyCode::Char('p') => Control::StepBack,
            KeyCode::Char('.') => Control::SeekBy(SMALL),
            KeyCode::Char(',') => Control::SeekBy(negative(SMALL)),
            KeyCode::Char('>') => Control::SeekBy(HUGE),
            KeyCode::Char('<') => Control::SeekBy(negative(HUGE)),
            KeyCode::Up => Control::SetRate(faster(rate)),
            KeyCode::Down => Control::SetRate(slower(rate)),
            KeyCode::Char('+') => Control::SetRate(rate * 1.1),
            KeyCode::Char('-') => Control::SetRate(rate / 1.1),
            KeyCode::Char('=') => Control::SetRate(1.0),
            KeyCode::Home => Control::Seek(status.range?.0),
            KeyCode::End => Control::Seek(status.range?.1),
            KeyCode::Char('[') => {
                self.mark_a = Some(status.time);
                Control::Mark(Mark::A)
            }
            KeyCode::Char(']') => Control::Mark(Mark::B),
            KeyCode::Backspace | KeyCode::Char('\\') => {
                self.mark_a = None;
                Control::SetLoop(None)
            }
            KeyCode::Char(digit @ '0'..='9') => {
                let tenth = digit.to_digit(10).map_or(0.0, f64::from);
                Control::Seek(part(tenth / 10.0, status.range?))
            }
            _ => return None,
        })
    }

    fn scroll_by(&mut self, rows: isize) {
        let topics = self.status.as_ref().map_or(0, |status| status.topics.len());
        let last = topics.saturating_sub(1);
        self.scroll = self.scroll.saturating_add_signed(rows).min(last);
    }

    /// A key while a time is typed.
    fn typed(&mut self, mut text: String, code: KeyCode) -> Flow<Control> {
        match code {
            KeyCode::Esc => return Flow::Stay,
            KeyCode::Enter => {
                let status = self.status.as_ref();
                let range = status.and_then(|status| Some((status.time, status.range?)));
                let found = range.and_then(|(now, range)| place(&text, now, range));
                if let Some(time) = found {
                    return Flow::Ask(Control::Seek(time));
                }
                self.message = format!("\"{text}\" is not a time; try 90, 1:30, +5, -5 or 50%");
                return Flow::Stay;
            }
            KeyCode::Backspace => {
                text.pop();
            }
            KeyCode::Char(char) if text.len() < LONGEST_INPUT => text.push(char),
            _ => {}
        }
        self.goto = Some(text);
        Flow::Stay
    }
}

impl Screen for PlayerScreen {
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
        if let Some(text) = self.goto.take() {
            return self.typed(text, key.code);
        }
        self.command(key)
    }

    fn show_message(&mut self, message: String) {
        self.message = message;
    }
}

fn negative(duration: Duration) -> Duration {
    Duration::from_nanos(-duration.nanos())
}
