//! The full-screen views in a terminal of their own: what is drawn, what keys do, and that the terminal comes back.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::robot::Robot;

const PATIENCE: Duration = Duration::from_mins(1);
/// The escape sequence at the end of a full-screen program.
const LEAVES: &str = "\x1b[?1049l";

/// A verb in a terminal of 80×24, and a person in front of it.
struct Terminal {
    child: Child,
    keys: File,
    drawn: Receiver<Vec<u8>>,
    seen: String,
}

impl Terminal {
    fn start(robot: &Robot, arguments: &[&str]) -> Self {
        let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&person).unwrap();
        unlockpt(&person).unwrap();
        let name = ptsname(&person, Vec::new()).unwrap();
        let open =
            || rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        let size = Winsize {
            ws_row: 24,
            ws_col: 80,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&person, size).unwrap();
        let child = robot
            .command(arguments)
            .env("NO_COLOR", "1")
            .stdin(Stdio::from(open()))
            .stdout(Stdio::from(open()))
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let keys = File::from(person);
        let mut screen = keys.try_clone().unwrap();
        let (sender, drawn) = channel();
        std::thread::spawn(move || {
            let mut bytes = vec![0; 4096];
            while let Ok(count @ 1..) = screen.read(&mut bytes) {
                if sender.send(bytes[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self {
            child,
            keys,
            drawn,
            seen: String::new(),
        }
    }

    /// Waits until this was drawn since the last key.
    fn sees(&mut self, text: &str) {
        while !self.seen.contains(text) {
            match self.drawn.recv_timeout(PATIENCE) {
                Ok(bytes) => self.seen.push_str(&String::from_utf8_lossy(&bytes)),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    panic!("{text:?} is not in {:?}", self.seen)
                }
            }
        }
    }

    fn presses(&mut self, key: &str) {
        self.seen.clear();
        self.keys.write_all(key.as_bytes()).unwrap();
    }

    /// The exit code and what stands on the terminal afterwards.
    fn ends(mut self) -> (Option<i32>, String) {
        let mut said = String::new();
        self.child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut said)
            .unwrap();
        (self.child.wait().unwrap().code(), said)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _reaped = self.child.wait();
    }
}

#[test]
fn the_player_runs_in_full_screen() {
    let robot = Robot::new();
    let bag = crate::support::bags().join("mcap_plain");
    let bag = bag.to_str().unwrap();
    let mut terminal = Terminal::start(&robot, &["play", bag, "--start-paused", "--tui"]);
    // Only what changes is drawn, and the a of "waiting" stays.
    terminal.sees("used");
    terminal.sees("/imu/data");
    terminal.presses("n");
    terminal.sees("1 published");
    terminal.presses("=");
    terminal.sees("rate 1.000");
    terminal.presses("q");
    terminal.sees(LEAVES);
    let (code, said) = terminal.ends();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("played 1 message of 1 topic"), "{said}");
}

#[test]
fn the_recorder_runs_in_full_screen() {
    let robot = Robot::new();
    let _publisher = robot.publisher("/chatter", &[]);
    let directory = tempfile::TempDir::new().unwrap();
    let bag = directory.path().join("bag");
    let bag = bag.to_str().unwrap();
    let mut terminal = Terminal::start(&robot, &["record", "/chatter", "-o", bag, "--tui"]);
    terminal.sees("/chatter");
    terminal.presses(" ");
    // Only what changes is drawn, and the d of "recording" stays.
    terminal.sees("pause");
    terminal.presses("\u{3}");
    terminal.sees(LEAVES);
    let (code, said) = terminal.ends();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("recorded"), "{said}");
    assert!(std::path::Path::new(bag).join("metadata.yaml").exists());
}

#[test]
fn without_a_terminal_status_lines_are_printed() {
    let robot = Robot::new();
    let bag = crate::support::bags().join("mcap_plain");
    let run = robot.run(&["play", bag.to_str().unwrap(), "-r", "100", "--tui"]);
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stderr.contains("--tui needs a terminal"), "{run}");
    assert!(run.stderr.contains("played 474 messages"), "{run}");
}
