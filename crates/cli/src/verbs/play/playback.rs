//! A player from its start to its end, with keys, a status line and a summary.

use std::io::{self, Write as _};
use std::sync::{Arc, Mutex};

use timeloom_bag::BagReader;
use timeloom_node::player::{
    Answer, Control, Notice, Options, PlayRange, Player, PlayerHandle, Reporter, Services, Status,
};
use timeloom_node::recorder::Note;
use timeloom_node::{NodeOptions, RosNode, Severity};
use timeloom_text::counted;
use timeloom_time::Duration;
use timeloom_time::sync::lock;
use timeloom_tui::Keyboard;

use super::bag_arguments::BagArguments;
use super::set_parameters::SetParameters;
use super::{full_screen, keys, status_line};
use crate::context::Context;
use crate::damage;
use crate::live::{Live, LiveArguments, has_terminal, print_note};
use crate::outcome::Outcome;

/// Timeout for a player to end after Ctrl-C; one that is stuck in the middleware is abandoned.
const PATIENCE: Duration = Duration::from_secs(3);
/// Polling interval of a player without a status line.
const LOOK: Duration = Duration::from_millis(200);

/// A playback with its options.
pub(crate) struct Playback<'a> {
    pub(crate) bag: &'a BagArguments,
    pub(crate) live: &'a LiveArguments,
    pub(crate) node: NodeOptions,
    pub(crate) reader: BagReader,
    pub(crate) options: Options,
    /// Redraws of the line per second.
    pub(crate) line_rate: f64,
    pub(crate) beginning: Beginning,
    /// Set on the nodes of the robot before anything is played.
    pub(crate) parameters: Option<SetParameters>,
}

/// The first action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beginning {
    /// Messages are published at their times.
    Play,
    /// So many messages are published at once, all of them for 0; then the player pauses.
    Burst(u64),
}

/// The notices of the player's threads.
#[derive(Clone, Default)]
pub(super) struct NoticeQueue(Arc<Mutex<Vec<PlaybackNotice>>>);

pub(super) enum PlaybackNotice {
    Note(Note),
    Burst(u64),
}

impl PlaybackNotice {
    /// The same as text.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Note(note) => note.text.clone(),
            Self::Burst(count) => format!("{} published", counted(*count, "message")),
        }
    }
}

impl NoticeQueue {
    fn note(&self, severity: Severity, text: String) {
        self.say(PlaybackNotice::Note(Note { severity, text }));
    }

    pub(super) fn say(&self, word: PlaybackNotice) {
        lock(&self.0).push(word);
    }

    pub(super) fn take(&self) -> Vec<PlaybackNotice> {
        std::mem::take(&mut *lock(&self.0))
    }
}

impl Playback<'_> {
    pub(crate) fn run(self, context: &mut Context) -> anyhow::Result<Outcome> {
        let live = Live::join_beside(self.live, context)?;
        let are_set = SetParameters::run_all(self.parameters.as_ref(), &live, context)?;
        let node = RosNode::new(Arc::clone(live.participant()), self.node)?;
        let words = NoticeQueue::default();
        let said = words.clone();
        let burst = self.beginning != Beginning::Play;
        let reporter = Reporter::new(move |notice| {
            // A burst does not wait for acknowledgements, so missing ones are not reported.
            if !(burst && matches!(notice, Notice::NoAcknowledgements { .. })) {
                said.note(notice.severity(), notice.to_string());
            }
        });
        let player = Player::open(&node, self.reader, self.options, reporter)?;
        let handle = player.handle().clone();
        let stop = handle.clone();
        live.interrupt()
            .wakes(move || stop.control_then(Control::Stop, drop));
        let full_screen = self.bag.tui && has_terminal(context);
        let keyboard = if self.bag.disable_keyboard_controls || full_screen {
            None
        } else {
            let (pressed, said) = (handle.clone(), words.clone());
            Keyboard::open(move |key| {
                let said = said.clone();
                keys::press(key, &pressed, move |refusal| {
                    said.note(Severity::Info, refusal);
                });
            })?
        };
        handle.control(Control::Play(PlayRange::default()))?;
        // Not before it plays: the first call of a peer means what is played.
        let services = Services::start(&node, handle.clone(), self.bag.distro())?;
        if let Beginning::Burst(count) = self.beginning {
            let said = words.clone();
            handle.control_then(Control::Burst(count), move |answer| {
                if let Ok(Answer::Played(count)) = answer {
                    said.say(PlaybackNotice::Burst(count));
                }
            });
        }
        if full_screen {
            let title = self.bag.first().display().to_string();
            full_screen::run(&title, &handle, &words, &live, context)?;
        }
        let mut screen = Screen {
            line: if self.line_rate > 0.0 && context.printer.shows_progress() {
                Line::Clear
            } else {
                Line::Off
            },
            stays: keyboard.is_some() || full_screen,
            incomplete: false,
        };
        let period = Duration::try_from_hertz(self.line_rate).unwrap_or(LOOK);
        while !handle.wait_for(period.min(LOOK)) {
            screen.show(&words, &handle, context);
            if live.interrupt().happened() && !handle.wait_for(PATIENCE) {
                break;
            }
        }
        screen.show(&words, &handle, context);
        screen.clear();
        drop(keyboard);
        drop(services);
        let status = handle.status();
        if handle.wait_for(Duration::ZERO) {
            drop(player);
        } else {
            // Stuck in the middleware, behind a subscription that takes nothing: the process ends all the same.
            std::mem::forget(player);
        }
        summary(&status, self.bag, context);
        context.printer.warnings(&live.later_notes());
        let lost = status.lost() > 0 || damage::means_loss(&status.damage) || screen.incomplete;
        Ok(match (lost, are_set) {
            (false, false) => Outcome::ProblemFound,
            (lost, _) => Outcome::lost_if(lost),
        })
    }
}

/// The display of a player.
struct Screen {
    line: Line,
    /// After a burst there are keys to go on with.
    stays: bool,
    /// A topic could not be played, or was not acknowledged.
    incomplete: bool,
}

/// The line of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    /// Switched off, or not a terminal.
    Off,
    /// It is not there now.
    Clear,
    /// It is there.
    Drawn,
}

impl Screen {
    /// Prints the notices and draws the line again.
    fn show(&mut self, words: &NoticeQueue, player: &PlayerHandle, context: &mut Context) {
        for word in words.take() {
            self.clear();
            match word {
                PlaybackNotice::Note(note) => {
                    self.incomplete |= note.severity >= Severity::Error;
                    print_note(&note, context);
                }
                PlaybackNotice::Burst(count) => self.burst_is_over(count, player, context),
            }
        }
        if self.line != Line::Off {
            self.line = Line::Drawn;
            self.write(&format!("\r\x1b[K{}", status_line::line(&player.status())));
        }
    }

    fn burst_is_over(&mut self, count: u64, player: &PlayerHandle, context: &mut Context) {
        if self.stays {
            let text = format!(
                "{} published; SPACE goes on, → plays the next, q ends",
                counted(count, "message")
            );
            context.printer.note(&text);
        }
        if !self.stays {
            player.control_then(Control::Finish, drop);
        }
    }

    fn clear(&mut self) {
        if self.line == Line::Drawn {
            self.line = Line::Clear;
            self.write("\r\x1b[K");
        }
    }

    fn write(&mut self, text: &str) {
        // Playing continues without a terminal.
        if io::stderr().write_all(text.as_bytes()).is_err() {
            self.line = Line::Off;
        }
    }
}

fn summary(status: &Status, bag: &BagArguments, context: &mut Context) {
    let topics = status
        .topics
        .iter()
        .filter(|topic| topic.played > 0)
        .count();
    context.printer.note(&format!(
        "played {} of {}",
        counted(status.played(), "message"),
        counted(topics as u64, "topic")
    ));
    for topic in &status.topics {
        for (count, what) in [
            (topic.dropped, "dropped: too late"),
            (
                topic.stepped_over,
                "not played: /clock stepped over them, or ended before them",
            ),
            (topic.failed, "refused by the middleware"),
        ] {
            if count > 0 {
                let text = format!("{} of {} {what}", counted(count, "message"), topic.name);
                context.printer.loss(&text);
            }
        }
    }
    if let Some(remedy) = damage::remedy(bag.first(), &status.damage) {
        context.printer.hint(&remedy);
    }
}
