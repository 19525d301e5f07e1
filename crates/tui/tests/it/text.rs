//! Text that is scrolled and filtered.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use timeloom_tui::{Flow, Screen as _, TextScreen};

use crate::stage::{key, text};

fn screen() -> TextScreen {
    let mut screen = TextScreen::default();
    let text: Vec<String> = (0..30).map(|number| format!("line {number}")).collect();
    screen.update(&text.join("\n"));
    screen
}

fn lines(screen: &TextScreen) -> Vec<String> {
    text(screen, 80, 5).lines().map(str::to_owned).collect()
}

fn first(screen: &TextScreen) -> String {
    lines(screen)[0].clone()
}

#[test]
fn the_keys_of_tilde_move_the_view() {
    let mut screen = self::screen();
    let mut press = |code, line: &str| {
        assert_eq!(screen.key(key(code)), Flow::Stay);
        assert_eq!(first(&screen), line, "{code:?}");
    };
    press(KeyCode::Down, "line 1");
    press(KeyCode::Char('j'), "line 2");
    press(KeyCode::Up, "line 1");
    press(KeyCode::Char('k'), "line 0");
    press(KeyCode::Char('k'), "line 0");
    press(KeyCode::PageDown, "line 10");
    press(KeyCode::Char('d'), "line 20");
    press(KeyCode::Char('u'), "line 10");
    press(KeyCode::PageUp, "line 0");
    press(KeyCode::Char('G'), "line 29");
    press(KeyCode::Down, "line 29");
    press(KeyCode::Char('g'), "line 0");
}

#[test]
fn scrolled_text_is_frozen_until_q() {
    let mut screen = self::screen();
    screen.key(key(KeyCode::Down));
    screen.update("new");
    assert_eq!(first(&screen), "line 1");
    screen.key(key(KeyCode::Char('q')));
    screen.update("new");
    assert_eq!(first(&screen), "new");
    screen.update("newer");
    assert_eq!(first(&screen), "newer");
}

#[test]
fn a_filter_is_typed_and_applied() {
    let mut screen = self::screen();
    for letter in ['/', '2', '5', 'x'] {
        screen.key(key(KeyCode::Char(letter)));
    }
    screen.key(key(KeyCode::Backspace));
    assert_eq!(first(&screen), "line 0");
    assert!(lines(&screen)[4].starts_with("filter: 25_"));
    screen.key(key(KeyCode::Enter));
    assert_eq!(lines(&screen)[..2], ["line 25", ""]);
    // New lines are filtered too.
    screen.update("a\nb 25\nc");
    assert_eq!(first(&screen), "b 25");
    screen.key(key(KeyCode::Char('F')));
    assert_eq!(first(&screen), "a");
    for letter in ['r', '('] {
        screen.key(key(KeyCode::Char(letter)));
    }
    screen.key(key(KeyCode::Enter));
    assert!(lines(&screen)[4].starts_with("invalid filter: ("));
}

#[test]
fn lines_are_cut_to_the_screen_and_ctrl_c_leaves() {
    let mut screen = self::screen();
    assert!(text(&screen, 4, 3).starts_with("line\nline\n"));
    let control = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert_eq!(screen.key(control), Flow::Leave);
}
