use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use ratatui::crossterm::event::{Event, KeyEventKind, poll, read};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use crate::screen::{Flow, Screen};

/// The longest time between two drawings.
const FRAME: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};

/// Why a view ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The user left.
    Left,
    /// `update` ended it.
    Over,
}

/// Shows a view in the whole terminal until the user leaves or `update` returns false.
///
/// `update` is called before each drawing, ten times a second and after each key; `control` carries out the control of a
/// key and returns a short text about the result. The terminal is restored when this returns, and when it panics.
///
/// # Errors
/// When there is no terminal, or it was closed.
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
            if !has_input(&io::stdin())? {
                continue;
            }
            // Several keys may have come at once, and crossterm has read all of them.
            while poll(Duration::ZERO)? {
                let Event::Key(key) = read()? else {
                    continue;
                };
                if key.kind == KeyEventKind::Release {
                    continue;
                }
                match screen.key(key) {
                    Flow::Stay => {}
                    Flow::Ask(asked) => screen.show_message(control(asked)),
                    Flow::Leave => return Ok(Ended::Left),
                }
            }
        }
    })();
    ratatui::restore();
    result
}

/// Waits for keys, up to one frame.
///
/// Crossterm would wait itself, but loops forever when the terminal is closed meanwhile.
fn has_input(terminal: &impl AsFd) -> io::Result<bool> {
    let mut wanted = [PollFd::new(terminal, PollFlags::IN)];
    match rustix::event::poll(&mut wanted, Some(&FRAME)) {
        Ok(0) | Err(Errno::INTR) => return Ok(false),
        Ok(_) => {}
        Err(error) => return Err(error.into()),
    }
    let found = wanted[0].revents();
    if found.intersects(PollFlags::HUP | PollFlags::ERR) {
        return Err(io::Error::new(
            io::ErrorKind::NotConnected,
            "the terminal was closed",
        ));
    }
    Ok(found.contains(PollFlags::IN))
}

#[cfg(test)]
mod tests {
    use rustix::fs::{Mode, OFlags, open};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    use super::*;

    #[test]
    fn a_closed_terminal_is_an_error() {
        let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&person).unwrap();
        unlockpt(&person).unwrap();
        let name = ptsname(&person, Vec::new()).unwrap();
        let program = open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        assert!(!has_input(&program).unwrap());
        rustix::io::write(&person, b"q\n").unwrap();
        assert!(has_input(&program).unwrap());
        drop(person);
        assert!(has_input(&program).is_err());
    }
}
