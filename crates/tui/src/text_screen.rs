//! The state of the terminal view: which lines are seen, with the keys of TILDE's viewer.

use fancy_regex::Regex;

use crate::live::Key;

/// How far `PageUp`, `PageDown`, `u` and `d` go.
const PAGE: usize = 10;

/// What people do with the lines.
#[derive(Debug, Default)]
pub(super) struct Viewer {
    lines: Vec<String>,
    top: usize,
    filter: Option<Regex>,
    /// The filter while it is typed.
    typing: Option<String>,
    /// What is seen stays as it is until the user goes on.
    frozen: bool,
    wrong: Option<String>,
}

impl Viewer {
    /// Takes new lines, unless the user looks at the old ones.
    pub(super) fn update(&mut self, text: &str) {
        if !self.frozen || self.lines.is_empty() {
            self.lines = text.lines().map(str::to_owned).collect();
        }
    }

    /// Takes a key.
    pub(super) fn key(&mut self, key: Key) {
        if self.typing.is_some() {
            return self.type_key(key);
        }
        let last = self.matching().count().saturating_sub(1);
        let top = match key {
            Key::Up | Key::Char('k') => self.top.saturating_sub(1),
            Key::Down | Key::Char('j') => (self.top + 1).min(last),
            Key::PageUp | Key::Char('u') => self.top.saturating_sub(PAGE),
            Key::PageDown | Key::Char('d') => (self.top + PAGE).min(last),
            Key::Home | Key::Char('g') => 0,
            Key::End | Key::Char('G') => last,
            Key::Char('r' | '/') => {
                self.typing = Some(String::new());
                self.wrong = None;
                return;
            }
            Key::Char('q' | 'F') | Key::Escape => {
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

    fn type_key(&mut self, key: Key) {
        let Some(text) = &mut self.typing else {
            return;
        };
        match key {
            Key::Char(letter) => text.push(letter),
            Key::Backspace => {
                text.pop();
            }
            Key::Escape => self.typing = None,
            Key::Enter => {
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

    /// What a screen of that size shows: lines, and one below them that says what keys do.
    pub(super) fn screen(&self, columns: usize, rows: usize) -> Vec<String> {
        let cut = |line: &String| line.chars().take(columns).collect::<String>();
        let body = rows.saturating_sub(1);
        let mut screen: Vec<_> = self.matching().skip(self.top).take(body).map(cut).collect();
        screen.resize(body, String::new());
        screen.push(cut(&self.footer()));
        screen
    }

    fn footer(&self) -> String {
        if let Some(text) = &self.typing {
            return format!("filter: {text}_   Enter applies, Escape leaves");
        }
        if let Some(wrong) = &self.wrong {
            return format!("no such filter: {wrong}");
        }
        let state = match (&self.filter, self.frozen) {
            (Some(filter), _) => format!("filter {filter} · q goes on · "),
            (None, true) => "standing still · q goes on · ".to_owned(),
            (None, false) => String::new(),
        };
        format!("{state}↑↓ jk line · PgUp PgDn ud page · g G ends · / filter · Ctrl-C ends")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn viewer() -> Viewer {
        let mut viewer = Viewer::default();
        let text: Vec<String> = (0..30).map(|number| format!("line {number}")).collect();
        viewer.update(&text.join("\n"));
        viewer
    }

    fn first(viewer: &Viewer) -> String {
        viewer.screen(80, 5)[0].clone()
    }

    #[test]
    fn the_keys_of_tilde_move_the_view() {
        let mut viewer = viewer();
        let mut press = |key, line: &str| {
            viewer.key(key);
            assert_eq!(first(&viewer), line, "{key:?}");
        };
        press(Key::Down, "line 1");
        press(Key::Char('j'), "line 2");
        press(Key::Up, "line 1");
        press(Key::Char('k'), "line 0");
        press(Key::Char('k'), "line 0");
        press(Key::PageDown, "line 10");
        press(Key::Char('d'), "line 20");
        press(Key::Char('u'), "line 10");
        press(Key::PageUp, "line 0");
        press(Key::Char('G'), "line 29");
        press(Key::Down, "line 29");
        press(Key::Char('g'), "line 0");
    }

    #[test]
    fn a_view_that_was_moved_stands_still_until_q() {
        let mut viewer = viewer();
        viewer.key(Key::Down);
        viewer.update("new");
        assert_eq!(first(&viewer), "line 1");
        viewer.key(Key::Char('q'));
        viewer.update("new");
        assert_eq!(first(&viewer), "new");
        viewer.update("newer");
        assert_eq!(first(&viewer), "newer");
    }

    #[test]
    fn a_filter_is_typed_and_applied() {
        let mut viewer = viewer();
        for key in ['/', '2', '5', 'x'] {
            viewer.key(Key::Char(key));
        }
        viewer.key(Key::Backspace);
        assert_eq!(first(&viewer), "line 0");
        assert!(viewer.screen(80, 5)[4].starts_with("filter: 25_"));
        viewer.key(Key::Enter);
        assert_eq!(
            viewer.screen(80, 5)[..2],
            ["line 25".to_owned(), String::new()]
        );
        // New lines are filtered too.
        viewer.update("a\nb 25\nc");
        assert_eq!(first(&viewer), "b 25");
        viewer.key(Key::Char('F'));
        assert_eq!(first(&viewer), "a");
        for key in ['r', '('] {
            viewer.key(Key::Char(key));
        }
        viewer.key(Key::Enter);
        assert!(viewer.screen(80, 5)[4].starts_with("no such filter: ("));
    }

    #[test]
    fn lines_are_cut_to_the_screen() {
        let screen = viewer().screen(4, 3);
        assert_eq!(screen[..2], ["line", "line"]);
        assert_eq!(screen.len(), 3);
    }
}
