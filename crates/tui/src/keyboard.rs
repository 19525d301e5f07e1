//! The keyboard of the terminal we run in: each key at once, without Enter.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::thread::JoinHandle;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::process::getpgrp;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, isatty, tcgetattr, tcgetpgrp, tcsetattr,
};

use crate::live::key::{Key, KeyParser};

/// So long after an Escape, nothing follows that belongs to it.
const ESCAPE_IS_ALONE: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 50_000_000,
};

/// Reads keys until dropped; then the terminal is as it was before.
///
/// Ctrl-C and Ctrl-Z stay signals.
pub(crate) struct Keyboard {
    terminal: Arc<OwnedFd>,
    before: Termios,
    stop: Arc<OwnedFd>,
    reader: Option<JoinHandle<()>>,
}

impl Keyboard {
    /// Calls `on_key` for each key, on a thread of its own.
    ///
    /// None when standard input is no terminal, or when we run in its background: there, to change a terminal
    /// stops the process.
    pub(crate) fn open(on_key: impl FnMut(Key) + Send + 'static) -> io::Result<Option<Self>> {
        let input = io::stdin();
        if !isatty(&input) || !tcgetpgrp(&input).is_ok_and(|group| group == getpgrp()) {
            return Ok(None);
        }
        Self::on(input.as_fd().try_clone_to_owned()?, on_key).map(Some)
    }

    fn on(terminal: OwnedFd, on_key: impl FnMut(Key) + Send + 'static) -> io::Result<Self> {
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

/// Until it is told to stop, or the terminal is gone.
fn read(terminal: &OwnedFd, stop: &OwnedFd, mut on_key: impl FnMut(Key)) {
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

    fn keyboard(program: &OwnedFd) -> (Keyboard, Receiver<Key>) {
        let (tell, hear) = channel();
        let program = program.try_clone().unwrap();
        let keyboard = Keyboard::on(program, move |key| tell.send(key).unwrap()).unwrap();
        (keyboard, hear)
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
        assert_eq!(keys.recv(), Ok(Key::Char(' ')));
        assert_eq!(keys.recv(), Ok(Key::Up));
        rustix::io::write(&person, b"\x1b").unwrap();
        assert_eq!(keys.recv(), Ok(Key::Escape));
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
