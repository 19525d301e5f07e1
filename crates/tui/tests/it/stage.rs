//! A terminal that is a text.

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::Color;
use timeloom_tui::Screen;

/// The view as lines without blanks at their ends.
pub(crate) fn text(screen: &impl Screen, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a buffer");
    terminal.draw(|frame| screen.draw(frame)).expect("a buffer");
    let buffer = terminal.backend().buffer().clone();
    let line = |row: u16| {
        let cells = (0..width).map(|column| buffer[(column, row)].symbol());
        cells.collect::<String>().trim_end().to_owned()
    };
    (0..height).map(line).collect::<Vec<_>>().join("\n")
}

/// Whether any cell of the view has a colour.
pub(crate) fn has_color(screen: &impl Screen) -> bool {
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).expect("a buffer");
    terminal.draw(|frame| screen.draw(frame)).expect("a buffer");
    let cells = &terminal.backend().buffer().content;
    cells.iter().any(|cell| cell.fg != Color::Reset)
}

pub(crate) fn key(code: KeyCode) -> KeyEvent {
    KeyEvent::new(code, KeyModifiers::NONE)
}

pub(crate) fn shift(code: KeyCode) -> KeyEvent {
    KeyEvent::new(code, KeyModifiers::SHIFT)
}
