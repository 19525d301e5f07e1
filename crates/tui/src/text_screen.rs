use std::convert::Infallible;

use fancy_regex::Regex;
use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::text::Line;
use ratatui::widgets::Paragraph;

use crate::screen::{Flow, Screen};

/// Lines that `PageUp`, `PageDown`, `u` and `d` move by.
const PAGE: usize = 10;

/// Text that is updated, scrolled and filtered, with the keys of TILDE's viewer; Ctrl-C leaves.
///
/// Scrolling freezes the text until `q`.
#[derive(Debug, Default)]
pub struct TextScreen {
    lines: Vec<String>,
    top: usize,
    filter: Option<Regex>,
    /// The filter while it is typed.
    typing: Option<String>,
    frozen: bool,
    wrong: Option<String>,
}

impl TextScreen {
    /// Replaces the text, unless it is frozen.
    pub fn update(&mut self, text: &str) {
        if !self.frozen || self.lines.is_empty() {
            self.lines = text.lines().map(str::to_owned).collect();
        }
    }

    fn press(&mut self, key: KeyCode) {
        if self.typing.is_some() {
            return self.type_key(key);
        }
        let last = self.matching().count().saturating_sub(1);
        let top = match key {
            KeyCode::Up | KeyCode::Char('k') => self.top.saturating_sub(1),
            KeyCode::Down | KeyCode::Char('j') => (self.top + 1).min(last),
            KeyCode::PageUp | KeyCode::Char('u') => self.top.saturating_sub(PAGE),
            KeyCode::PageDown | KeyCode::Char('d') => (self.top + PAGE).min(last),
            KeyCode::Home | KeyCode::Char('g') => 0,
            KeyCode::End | KeyCode::Char('G') => last,
            KeyCode::Char('r' | '/') => {
                self.typing = Some(String::new());
                self.wrong = None;
                return;
            }
            KeyCode::Char('q' | 'F') | KeyCode::Esc => {
                *self = Self {
                    lines: std::mem::take(&mut self.lines),
                    ..Self::default()
                };
                return;
            }
            _ => return,
        };
        self.top = top;
        self.frozen = true;
    }

    fn type_key(&mut self, key: KeyCode) {
        let Some(text) = &mut self.typing else {
            return;
        };
        match key {
            KeyCode::Char(letter) => text.push(letter),
            KeyCode::Backspace => {
                text.pop();
            }
            KeyCode::Esc => self.typing = None,
            KeyCode::Enter => {
                let text = std::mem::take(text);
                self.typing = None;
                self.top = 0;
                match Regex::new(&text) {
                    Ok(_) if text.is_empty() => self.filter = None,
                    Ok(filter) => self.filter = Some(filter),
                    Err(error) => self.wrong = Some(format!("{text}: {error}")),
                }
            }
            _ => {}
        }
    }

    fn matching(&self) -> impl Iterator<Item = &String> {
        self.lines.iter().filter(|line| {
            let matches = |filter: &Regex| filter.is_match(line).unwrap_or(false);
            self.filter.as_ref().is_none_or(matches)
        })
    }

    fn footer(&self) -> String {
        if let Some(text) = &self.typing {
            return format!("filter: {text}_   Enter applies, Escape cancels");
        }
        if let Some(wrong) = &self.wrong {
            return format!("invalid filter: {wrong}");
        }
        let state = match (&self.filter, self.frozen) {
            (Some(filter), _) => format!("filter {filter} · q continues · "),
            (None, true) => "frozen · q continues · ".to_owned(),
            (None, false) => String::new(),
        };
        format!("{state}↑↓ jk line · PgUp PgDn ud page · g G ends · / filter · Ctrl-C ends")
    }
}

impl Screen for TextScreen {
    type Control = Infallible;

    fn draw(&self, frame: &mut Frame<'_>) {
        let rows = usize::from(frame.area().height).saturating_sub(1);
        let shown = self.matching().skip(self.top).take(rows);
        let mut lines: Vec<Line<'_>> = shown.map(|line| Line::raw(line.as_str())).collect();
        lines.resize(rows, Line::default());
        lines.push(Line::raw(self.footer()));
        frame.render_widget(Paragraph::new(lines), frame.area());
    }

    fn key(&mut self, key: KeyEvent) -> Flow<Infallible> {
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            return match key.code {
                KeyCode::Char('c') => Flow::Leave,
                _ => Flow::Stay,
            };
        }
        self.press(key.code);
        Flow::Stay
    }

    fn show_message(&mut self, _message: String) {}
}
