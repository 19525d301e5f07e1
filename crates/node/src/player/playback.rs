//! The playback thread: all that happens to a player happens here, one thing at a time.

mod follow;
mod lap;
mod obey;
mod owner;
mod pace;
mod prepare;
mod publish;
mod recover;
mod settle;
mod wait;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use timeloom_bag::TopicId;
use timeloom_time::{Clock, Event, PlayerClock, Ros, Steady, System, Time};

use self::owner::NANOSECOND;
use super::board::{Board, add};
use super::clock_follower::ClockFollower;
use super::clock_jumps::JumpInquiry;
use super::clock_publisher::{ClockPublisher, Ticker};
use super::clock_watch::ClockWatch;
use super::external_jumps::ExternalJumps;
use super::jumps::Jumps;
use super::listeners::Listeners;
use super::loader::Questions;
use super::lockstep::Lockstep;
use super::mailbox::{Letter, Mailbox};
use super::notice::Reporter;
use super::options::{Options, Repeat};
use super::outlet::Outlets;
use super::read_ahead::{Block, ReadAhead, Taken};
use super::run::{Run, RunRange};
use super::source::Part;
use super::splits::Splits;
use super::status::State;
use crate::RosNode;

/// Everything the playback thread works with.
pub(super) struct Playback {
    pub(super) node: RosNode,
    pub(super) options: Options,
    /// The first and last time of the bag; none if it is empty.
    pub(super) bag: Option<RunRange>,
    pub(super) clock: Arc<dyn PlayerClock>,
    pub(super) steady: Clock<Steady>,
    pub(super) system: Clock<System>,
    pub(super) mailbox: Arc<Mailbox>,
    pub(super) read_ahead: Arc<ReadAhead>,
    pub(super) questions: Arc<Questions>,
    pub(super) outlets: Outlets,
    pub(super) listeners: Listeners,
    pub(super) board: Arc<Board>,
    pub(super) reporter: Reporter,
    pub(super) jumps: Arc<Jumps>,
    pub(super) clock_publisher: Option<Arc<ClockPublisher>>,
    pub(super) splits: Splits,
    /// The topic that time waits for, if it does.
    pub(super) lockstep: Option<Lockstep>,
    /// What is known of an external clock, if it is one.
    pub(super) following: Option<Following>,
    pub(super) clock_watch: Option<Arc<ClockWatch>>,
    /// Set while nothing is played.
    pub(super) ended: Event,
    pub(super) state: PlaybackState,
}

/// What is known of an external clock.
pub(super) struct Following {
    pub(super) jumps: Arc<ExternalJumps>,
    /// Feeds the clock as long as it is kept.
    pub(super) follower: Arc<ClockFollower>,
    pub(super) inquiry: JumpInquiry,
    /// The owner of `/clock` that was found last.
    pub(super) owner: Option<String>,
    /// How often the owner was asked about the next jump and did not answer.
    pub(super) unanswered: u32,
}

/// What changes as it plays.
#[derive(Default)]
pub(super) struct PlaybackState {
    stage: Stage,
    run: Option<Run>,
    /// What the user wants; the clock itself stands also before the start and after the end.
    paused: bool,
    /// How fast time is to go.
    rate: f64,
    /// Messages at hand.
    block: Block,
    starving: bool,
    ticker: Option<Ticker>,
    /// Controls that wait for playing to begin.
    deferred: VecDeque<Letter>,
    told: Told,
    /// The player's time of the last message that was published, or of the place where playing began.
    last_due: Time<Ros>,
    /// The player's time that the last jump went to, or at which playing began.
    arrived: Time<Ros>,
    /// How far those that time waits for have come.
    in_step: Time<Ros>,
    /// The topic of a message whose acknowledgement time waits for.
    unacknowledged: Option<TopicId>,
    /// When this lap of a loop began.
    lap_began: Time<Steady>,
    /// Messages that the external clock has stepped over, of the step that is being followed.
    stepped_over: u64,
    /// Time stands until others have found this player again.
    recovering: bool,
    leader: Leader,
}

/// The owner of the external clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Leader {
    #[default]
    Present,
    /// It is gone, and the rest is not played.
    Gone,
}

/// What was reported and is not reported again.
#[derive(Default)]
struct Told {
    /// The external clock's silence.
    silence: bool,
    /// The topics without subscriptions.
    unmatched: bool,
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

/// How far a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    /// Nothing is played.
    #[default]
    Idle,
    /// The subscriptions and servers that are there are waited for, since that time.
    Settle(Time<Steady>),
    /// As many subscriptions as were asked for are waited for.
    Subscribers,
    /// A time of the machine's clock is waited for.
    StartAt,
    /// The delay passes.
    Delay(Time<Steady>),
    /// The first sample of `/clock` is waited for.
    ClockStart,
    /// Messages go out.
    Playing,
}

/// What comes next.
enum Front {
    /// A message: its time in the bag.
    Message(i64, Part),
    /// Nothing is read yet.
    Starved,
    /// Nothing more comes.
    End,
}

impl Playback {
    /// Works until the mailbox says quit.
    pub(super) fn run(mut self) {
        while !self.mailbox.is_quitting() {
            if let Some(letter) = self.mailbox.take() {
                self.obey(letter);
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
        match self.state.stage {
            Stage::Idle => self.rest(),
            Stage::Playing => self.play(),
            stage => self.prepare(stage),
        }
    }

    fn play(&mut self) {
        if self.recovers() || self.awaits_acknowledgement() || self.take_up_deferred() {
            return;
        }
        if self.state.leader == Leader::Gone {
            self.give_up();
            return;
        }
        let Some(lap) = self.state.run.as_ref().map(|run| run.lap) else {
            self.state.stage = Stage::Idle;
            return;
        };
        if self.follow_jump() {
            return;
        }
        match self.front() {
            Front::Starved => self.starve(),
            Front::End => self.at_end(),
            Front::Message(_, part) if part.lap() != lap => self.next_lap(part.lap()),
            Front::Message(_, Part::Latched(_)) => self.publish_latched(),
            Front::Message(time, Part::Lap(_)) => self.play_message(time),
        }
    }

    /// What is to be published next.
    fn front(&mut self) -> Front {
        loop {
            if self.state.block.epoch == self.read_ahead.epoch()
                && let Some(item) = self.state.block.items.front()
            {
                self.state.starving = false;
                return Front::Message(item.time, item.part);
            }
            match self.read_ahead.take() {
                Taken::Block(block) => {
                    self.state.block = block;
                    self.drop_known_latched();
                }
                Taken::Starved => return Front::Starved,
                Taken::End => return Front::End,
            }
        }
    }

    /// Waits for the loader, who rings.
    fn starve(&mut self) {
        if !std::mem::replace(&mut self.state.starving, true) {
            add(&self.board.starved, 1);
        }
        self.rest();
    }

    fn play_message(&mut self, time: i64) {
        let Some(run) = &self.state.run else { return };
        let due = run.due(time);
        if run.burst.is_some() {
            self.burst_one(due);
            return;
        }
        if self.state.paused {
            self.rest();
            return;
        }
        self.board.next_due.store(due.nanos(), Ordering::Relaxed);
        self.hold(due);
        // A leader that is paused where time was moved to has not published the messages at this time.
        let waits = self.is_external() && due == self.state.arrived;
        let passed = if waits {
            due.saturating_add(NANOSECOND)
        } else {
            due
        };
        if self.reach(passed) && !self.was_stopped() {
            self.publish_due(due);
        }
    }

    /// The last message is out.
    fn at_end(&mut self) {
        if self.finish_burst() {
            return;
        }
        self.board.next_due.store(i64::MAX, Ordering::Relaxed);
        self.release();
        let stays = if self.is_external() {
            // Whoever drives the clock may turn it back.
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

    /// Tells the board what the user sees.
    fn show_state(&self) {
        self.board.set_state(match self.state.stage {
            Stage::Idle => return,
            Stage::Settle(_) | Stage::Subscribers => State::WaitingForSubscribers,
            Stage::StartAt | Stage::Delay(_) => State::WaitingForStart,
            Stage::ClockStart => State::WaitingForClock,
            Stage::Playing if self.state.paused => State::Paused,
            Stage::Playing => State::Playing,
        });
    }
}
