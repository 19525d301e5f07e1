//! The playback thread: it executes the controls and publishes the messages, one at a time.

mod controls;
mod feed;
mod follow;
mod following;
mod lap;
mod owner;
mod pace;
mod pacing;
mod prepare;
mod publish;
mod recover;
mod settle;
mod wait;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use timeloom_time::{Clock, Event, PlayerClock, Steady, System, Time};

pub(super) use self::feed::MessageFeed;
use self::feed::NextMessage;
pub(super) use self::following::Following;
use self::following::Leader;
pub(super) use self::pacing::Pacing;
use super::clock_output::ClockOutput;
use super::clock_watch::ClockWatch;
use super::external_jumps::NANOSECOND;
use super::jump_restart::JumpRestart;
use super::listeners::Listeners;
use super::live_status::{LiveStatus, add};
use super::mailbox::{Mailbox, Request};
use super::notice::Reporter;
use super::options::{Options, Repeat};
use super::output::Outputs;
use super::run::{Run, RunRange};
use super::source::Part;
use super::split_events::SplitEvents;
use super::status::State;
use crate::RosNode;

/// The state of the playback thread.
pub(super) struct Playback {
    pub(super) node: RosNode,
    pub(super) options: Options,
    /// The first and last time of the bag; `None` if it is empty.
    pub(super) bag: Option<RunRange>,
    pub(super) clock: Arc<dyn PlayerClock>,
    pub(super) steady: Clock<Steady>,
    pub(super) system: Clock<System>,
    pub(super) mailbox: Arc<Mailbox>,
    pub(super) feed: MessageFeed,
    pub(super) outputs: Outputs,
    pub(super) listeners: Listeners,
    pub(super) live: Arc<LiveStatus>,
    pub(super) reporter: Reporter,
    pub(super) restart: Arc<JumpRestart>,
    pub(super) clock_output: ClockOutput,
    pub(super) splits: SplitEvents,
    pub(super) pacing: Pacing,
    /// Set with an external clock.
    pub(super) following: Option<Following>,
    pub(super) clock_watch: Option<Arc<ClockWatch>>,
    /// Set while nothing is played.
    pub(super) ended: Event,
    pub(super) state: PlaybackState,
}

/// The requests of the user, and the progress of a run.
#[derive(Default)]
pub(super) struct PlaybackState {
    phase: RunPhase,
    run: Option<Run>,
    /// Paused by the user; the clock itself is also stopped before the start and after the end.
    paused: bool,
    rate: f64,
    /// Controls that wait for playing to begin.
    deferred: VecDeque<Request>,
    /// The topics without subscriptions were reported.
    unmatched_reported: bool,
    /// The start of this lap of a loop.
    lap_began: Time<Steady>,
    /// Time is stopped until other participants have rediscovered this one.
    recovering: bool,
}

impl PlaybackState {
    pub(super) fn new(options: &Options) -> Self {
        Self {
            paused: options.start_paused,
            rate: options.rate.get(),
            ..Self::default()
        }
    }
}

/// The phase of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum RunPhase {
    /// Nothing is played.
    #[default]
    Idle,
    /// Waits since that time for the subscriptions and servers that exist.
    Settle(Time<Steady>),
    /// Waits for the requested number of subscriptions.
    Subscribers,
    /// Waits for a system time.
    StartAt,
    /// Waits for the end of the delay.
    Delay(Time<Steady>),
    /// Waits for the first sample of `/clock`.
    ClockStart,
    /// Publishes messages.
    Playing,
}

impl Playback {
    /// Runs until the mailbox quits.
    pub(super) fn run(mut self) {
        while !self.mailbox.is_quitting() {
            if let Some(request) = self.mailbox.take() {
                self.execute_or_defer(request);
            } else {
                self.step();
            }
        }
        self.end(State::Stopped);
        self.mailbox.close();
    }

    fn is_external(&self) -> bool {
        self.following.is_some()
    }

    fn step(&mut self) {
        match self.state.phase {
            RunPhase::Idle => self.rest(),
            RunPhase::Playing => self.play(),
            phase => self.prepare(phase),
        }
    }

    fn play(&mut self) {
        if self.recovers() || self.awaits_acknowledgement() || self.take_up_deferred() {
            return;
        }
        let following = self.following.as_ref();
        if following.is_some_and(|following| following.leader() == Leader::Gone) {
            self.give_up();
            return;
        }
        let Some(lap) = self.state.run.as_ref().map(|run| run.lap) else {
            self.state.phase = RunPhase::Idle;
            return;
        };
        if self.follow_jump() {
            return;
        }
        match self.front() {
            NextMessage::Starved => self.starve(),
            NextMessage::End => self.at_end(),
            NextMessage::Message(_, part) if part.lap() != lap => self.next_lap(part.lap()),
            NextMessage::Message(_, Part::Latched(_)) => self.publish_latched(),
            NextMessage::Message(time, Part::Lap(_)) => self.play_message(time),
        }
    }

    /// The next message.
    fn front(&mut self) -> NextMessage {
        let outputs = &self.outputs;
        self.feed.front(|topic| outputs.last_time(topic))
    }

    /// Waits for the loader, which rings.
    fn starve(&mut self) {
        if self.feed.starve() {
            add(&self.live.starved, 1);
        }
        self.rest();
    }

    fn play_message(&mut self, time: i64) {
        let Some(run) = &self.state.run else { return };
        let due = run.due(time);
        if run.burst.is_some() {
            self.burst(time);
            return;
        }
        if self.state.paused {
            self.pacing.listen();
            self.rest();
            return;
        }
        self.live.next_due.store(due.nanos(), Ordering::Relaxed);
        self.hold(due);
        // A leader that is paused where time was moved to has not published the messages at this time.
        let waits = self.is_external() && due == self.pacing.arrived();
        let passed = if waits {
            due.saturating_add(NANOSECOND)
        } else {
            due
        };
        if self.reach(passed) && !self.was_suspended() {
            self.publish_due(due);
        }
    }

    /// The last message is published.
    fn at_end(&mut self) {
        if self.finish_burst() {
            return;
        }
        self.live.next_due.store(i64::MAX, Ordering::Relaxed);
        self.release();
        let stays = if self.is_external() {
            // The owner of the clock may move it back.
            self.options.repeat != Repeat::Once
        } else {
            self.state.paused
        };
        if stays {
            self.rest();
        } else {
            self.finish();
        }
    }

    /// Publishes the state for the status.
    fn show_state(&self) {
        self.live.set_state(match self.state.phase {
            RunPhase::Idle => return,
            RunPhase::Settle(_) | RunPhase::Subscribers => State::WaitingForSubscribers,
            RunPhase::StartAt | RunPhase::Delay(_) => State::WaitingForStart,
            RunPhase::ClockStart => State::WaitingForClock,
            RunPhase::Playing if self.state.paused => State::Paused,
            RunPhase::Playing => State::Playing,
        });
    }
}
