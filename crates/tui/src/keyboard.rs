use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::thread::JoinHandle;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::process::getpgrp;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, isatty, tcgetattr, tcgetpgrp, tcsetattr,
};

use ratatui::crossterm::event::KeyCode;

use crate::key::KeyParser;

/// An Escape without a following byte for this long is the key itself.
const ESCAPE_IS_ALONE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};

/// Reads keys without Enter, beside ordinary output, until it is dropped; then the terminal is as before.
///
/// Ctrl-C and Ctrl-Z remain signals, and newlines remain newlines, which crossterm's raw mode changes. Its event reader
/// is not used either: it loops forever on a terminal that was closed (crossterm 0.29, `event/source/unix/mio.rs`
/// ignores `EIO`), and a recording goes on without its terminal.
pub struct Keyboard {
    terminal: Arc<OwnedFd>,
    before: Termios,
    stop: Arc<OwnedFd>,
    reader: Option<JoinHandle<()>>,
}

impl Keyboard {
    /// Calls `on_key` for each key, on its own thread; none if there is no terminal to read from
    /// ([`has_keyboard`]).
    ///
    /// # Errors
    /// When the terminal cannot be changed, or no thread can be started.
    pub fn open(on_key: impl FnMut(KeyCode) + Send + 'static) -> io::Result<Option<Self>> {
        if !has_keyboard() {
            return Ok(None);
        }
        Self::on(io::stdin().as_fd().try_clone_to_owned()?, on_key).map(Some)
    }

    fn on(terminal: OwnedFd, on_key: impl FnMut(KeyCode) + Send + 'static) -> io::Result<Self> {
        let before = tcgetattr(&terminal)?;
        let mut keys = before.clone();
        keys.local_modes
            .remove(LocalModes::ICANON | LocalModes::ECHO);
        keys.special_codes[SpecialCodeIndex::VMIN] = 1;
        keys.special_codes[SpecialCodeIndex::VTIME] = 0;
        let terminal = Arc::new(terminal);
        let stop = Arc::new(eventfd(0, EventfdFlags::CLOEXEC)?);
        tcsetattr(&*terminal, OptionalActions::Now, &keys)?;
        let mut keyboard = Self {
            terminal: Arc::clone(&terminal),
            before,
            stop: Arc::clone(&stop),
            reader: None,
        };
        let reader = std::thread::Builder::new().name("keyboard".into());
        keyboard.reader = Some(reader.spawn(move || read(&terminal, &stop, on_key))?);
        Ok(keyboard)
    }
}

/// Whether standard input is a terminal, and this process is in its foreground: changing a terminal from the background
/// stops the process.
pub fn has_keyboard() -> bool {
    let input = io::stdin();
    isatty(&input) && tcgetpgrp(&input).is_ok_and(|group| group == getpgrp())
}

impl std::fmt::Debug for Keyboard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keyboard").finish_non_exhaustive()
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        // A terminal that is gone needs no restoring.
        tcsetattr(&*self.terminal, OptionalActions::Now, &self.before).ok();
        let woken = rustix::io::write(&*self.stop, &1_u64.to_ne_bytes()).is_ok();
        if let Some(reader) = self.reader.take().filter(|_| woken) {
            drop(reader.join());
        }
    }
}

/// Reads until `stop` is set or the terminal is closed.
fn read(terminal: &OwnedFd, stop: &OwnedFd, mut on_key: impl FnMut(KeyCode)) {
    let mut parser = KeyParser::default();
    let mut bytes = [0_u8; 256];
    loop {
        let mut wanted = [
            PollFd::new(terminal, PollFlags::IN),
            PollFd::new(stop, PollFlags::IN),
        ];
        let patience = parser.has_part().then_some(&ESCAPE_IS_ALONE);
        let ready = match poll(&mut wanted, patience) {
            Ok(ready) => ready,
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return,
        };
        if !wanted[1].revents().is_empty() {
            return;
        }
        if ready == 0 {
            parser.end().into_iter().for_each(&mut on_key);
            continue;
        }
        match rustix::io::read(terminal, &mut bytes) {
            Ok(0) => return,
            Ok(length) => {
                let read = bytes.get(..length).unwrap_or_default();
                parser.feed(read).into_iter().for_each(&mut on_key);
            }
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, channel};

    use rustix::fs::{Mode, OFlags, open};
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

    use super::*;

    /// Both ends of a terminal: where a person types, and where the program reads.
    fn terminal() -> (OwnedFd, OwnedFd) {
        let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&person).unwrap();
        unlockpt(&person).unwrap();
        let name = ptsname(&person, Vec::new()).unwrap();
        let program = open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        (person, program)
    }

    fn keyboard(program: &OwnedFd) -> (Keyboard, Receiver<KeyCode>) {
        let (sender, keys) = channel();
        let program = program.try_clone().unwrap();
        let keyboard = Keyboard::on(program, move |key| sender.send(key).unwrap()).unwrap();
        (keyboard, keys)
    }

    #[test]
    fn keys_come_at_once_and_the_terminal_is_restored() {
        let (person, program) = terminal();
        let before = tcgetattr(&program).unwrap();
        assert!(before.local_modes.contains(LocalModes::ICANON));
        let (keyboard, keys) = keyboard(&program);
        let during = tcgetattr(&program).unwrap();
        assert!(during.local_modes.contains(LocalModes::ISIG), "Ctrl-C");
        assert!(!during.local_modes.contains(LocalModes::ICANON));
        rustix::io::write(&person, b" \x1b[A").unwrap();
        assert_eq!(keys.recv(), Ok(KeyCode::Char(' ')));
        assert_eq!(keys.recv(), Ok(KeyCode::Up));
        rustix::io::write(&person, b"\x1b").unwrap();
        assert_eq!(keys.recv(), Ok(KeyCode::Esc));
        drop(keyboard);
        let after = tcgetattr(&program).unwrap();
        assert_eq!(after.local_modes, before.local_modes);
    }

    #[test]
    fn a_terminal_that_closes_ends_the_reader() {
        let (person, program) = terminal();
        let (keyboard, keys) = keyboard(&program);
        drop(program);
        drop(person);
        assert!(keys.recv().is_err(), "the reader is gone");
        drop(keyboard);
    }
}
