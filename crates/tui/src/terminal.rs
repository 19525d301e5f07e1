use std::io;
use std::time::Duration as Patience;

use ratatui::crossterm::event::{Event, KeyEventKind, poll, read};

use crate::screen::{Flow, Screen};

/// How often a view is drawn anew.
const FRAME: Patience = Patience::from_millis(100);

/// Why a view was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The user left.
    Left,
    /// What it showed is over.
    Over,
}

/// Shows a view in the whole terminal until the user leaves or `update` says that it is over.
///
/// `update` is called before each drawing, ten times a second and after each key; `control` does what a key asks for
/// and says what came of it, in a few words. The terminal is as before when this returns, and when it panics.
///
/// # Errors
/// When there is no terminal, or it is gone.
pub fn show<S: Screen>(
    screen: &mut S,
    mut update: impl FnMut(&mut S) -> bool,
    mut control: impl FnMut(S::Control) -> String,
) -> io::Result<Ended> {
    let mut terminal = ratatui::try_init()?;
    let result = (|| {
        loop {
            let over = !update(screen);
            terminal.draw(|frame| screen.draw(frame))?;
            if over {
                return Ok(Ended::Over);
            }
            if !poll(FRAME)? {
                continue;
            }
            let Event::Key(key) = read()? else {
                continue;
            };
            if key.kind == KeyEventKind::Release {
                continue;
            }
            match screen.key(key) {
                Flow::Stay => {}
                Flow::Ask(asked) => screen.tell(control(asked)),
                Flow::Leave => return Ok(Ended::Left),
            }
        }
    })();
    ratatui::restore();
    result
}
