use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use timeloom_time::{Clock, Duration, Event, PlayerClock, Ros, Steady, Time, TimeBase};

use super::board::{Board, TopicCounters};
use super::clock_follower::ClockFollower;
use super::clock_watch::ClockWatch;
use super::control::{Answer, Control, Refusal};
use super::mailbox::{Letter, Mailbox, Reply};
use super::read_ahead::ReadAhead;
use super::services::Obeys;
use super::status::{ClockStatus, SkippedTopic, State, Status, TopicStatus};

/// The way to control a player and to see what it does. Clones are the same player.
#[derive(Clone)]
pub struct PlayerHandle(pub(super) Arc<Shared>);

/// What handles and threads share.
pub(super) struct Shared {
    pub(super) base: TimeBase,
    pub(super) steady: Clock<Steady>,
    pub(super) clock: Arc<dyn PlayerClock>,
    pub(super) mailbox: Arc<Mailbox>,
    pub(super) board: Arc<Board>,
    pub(super) read_ahead: Arc<ReadAhead>,
    pub(super) ended: Event,
    /// Whether time is somebody else's.
    pub(super) external: bool,
    pub(super) clock_watch: Weak<ClockWatch>,
    pub(super) follower: Weak<ClockFollower>,
    /// Names and types of the topics, by topic of the bag; none for those that are not played.
    pub(super) names: Vec<Option<(String, String)>>,
    /// Topics that cannot be played.
    pub(super) skipped: Vec<SkippedTopic>,
}

impl PlayerHandle {
    /// Asks for something and blocks until it was done. A burst is done when its last message is out.
    ///
    /// # Errors
    /// [`Refusal`] says why it was not done.
    pub fn control(&self, control: Control) -> Result<Answer, Refusal> {
        let done = Event::new(&self.0.base);
        let answer = Arc::new(Mutex::new(Err(Refusal::Ended)));
        let (tell, slot) = (done.clone(), Arc::clone(&answer));
        self.control_then(control, move |answer| {
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = answer;
            tell.set();
        });
        done.wait();
        *answer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for something and has `reply` called when it was done, on the playback thread; it must not block.
    pub fn control_then(
        &self,
        control: Control,
        reply: impl FnOnce(Result<Answer, Refusal>) + Send + 'static,
    ) {
        tracing::info!(?control, "player");
        self.0.mailbox.post(Letter {
            control,
            reply: Box::new(reply),
        });
    }

    /// The player as it is now.
    pub fn status(&self) -> Status {
        let shared = &*self.0;
        let board = &shared.board;
        let now = shared.clock.now().nanos();
        let offset = board.offset.load(Ordering::SeqCst);
        // A message that is late holds playing back, wherever the clock is.
        let progress = now.min(board.next_due.load(Ordering::Relaxed)) - offset;
        let state = match board.state() {
            // The owner of an external clock can pause it, and nobody else.
            State::Playing if shared.external && self.is_paused() => State::Paused,
            state => state,
        };
        let achieved_rate = if state == State::Playing {
            board.measure(shared.steady.now(), progress.saturating_add(offset))
        } else {
            None
        };
        let details = board.details();
        let mut status = Status {
            state,
            time: Time::from_nanos(progress),
            range: details.range,
            loop_range: details.loop_range,
            rate: self.rate(),
            achieved_rate,
            laps: board.laps.load(Ordering::Relaxed),
            read_ahead_messages: 0,
            read_ahead_bytes: 0,
            starved: board.starved.load(Ordering::Relaxed),
            latest: Duration::from_nanos(board.latest.load(Ordering::Relaxed)),
            topics: shared.topics(),
            skipped: shared.skipped.clone(),
            damage: details.damage.clone(),
        };
        drop(details);
        status.set_load(shared.read_ahead.load());
        status
    }

    /// Whether time stands, or will when playing begins, because it was paused; for an external clock, whether its
    /// samples show no new time: its owner has paused it, is silent, or is not there yet.
    pub fn is_paused(&self) -> bool {
        if self.0.external {
            let follower = self.0.follower.upgrade();
            follower.is_none_or(|follower| follower.is_standing())
        } else {
            self.0.board.paused.load(Ordering::SeqCst)
        }
    }

    /// How fast time goes or will go; for an external clock how fast its samples went, if two have come.
    pub fn rate(&self) -> Option<f64> {
        if self.0.external {
            self.0.follower.upgrade()?.rate()
        } else {
            self.0.clock.rate()
        }
    }

    /// How often per second `/clock` is published; 0 for not at all.
    pub fn clock_frequency(&self) -> f64 {
        f64::from_bits(self.0.board.clock_frequency.load(Ordering::SeqCst))
    }

    /// The player's clock: to read, to wait on, and to hear of its jumps. Controls go through [`control`](Self::control).
    pub fn clock(&self) -> &Clock<Ros> {
        self.0.clock.clock()
    }

    /// Whose the time is, and how fresh.
    pub fn clock_status(&self) -> ClockStatus {
        let shared = &*self.0;
        let owners = shared.clock_watch.upgrade();
        let heard = shared
            .follower
            .upgrade()
            .and_then(|follower| follower.last());
        ClockStatus {
            external: shared.external,
            owners: owners.map(|watch| watch.owners()).unwrap_or_default(),
            lag: heard.map(|last| shared.steady.now() - last),
        }
    }

    /// Up to which time of the bag messages are read in advance; none if none are.
    pub fn read_to(&self) -> Option<Time<Ros>> {
        self.0.read_ahead.read_to().map(Time::from_nanos)
    }

    /// Blocks until nothing is played any more; at once if nothing is.
    pub fn wait(&self) {
        self.0.ended.wait();
    }

    /// The same, for so much steady time at most; true if nothing is played.
    pub fn wait_for(&self, timeout: Duration) -> bool {
        self.0.ended.wait_for(timeout)
    }
}

impl Obeys for PlayerHandle {
    fn control_then(&self, control: Control, reply: Reply) {
        self.0.mailbox.post(Letter { control, reply });
    }

    fn is_paused(&self) -> bool {
        Self::is_paused(self)
    }

    fn rate(&self) -> Option<f64> {
        Self::rate(self)
    }

    fn clock_frequency(&self) -> f64 {
        Self::clock_frequency(self)
    }
}

impl Shared {
    fn topics(&self) -> Vec<TopicStatus> {
        let topics = self.names.iter().zip(&self.board.topics);
        let of = |(names, counters): (&Option<(String, String)>, &TopicCounters)| {
            let (name, type_name) = names.clone()?;
            Some(TopicStatus {
                name,
                type_name,
                played: counters.played.load(Ordering::Relaxed),
                bytes: counters.bytes.load(Ordering::Relaxed),
                failed: counters.failed.load(Ordering::Relaxed),
                dropped: counters.dropped.load(Ordering::Relaxed),
                stepped_over: counters.stepped_over.load(Ordering::Relaxed),
            })
        };
        topics.filter_map(of).collect()
    }
}

impl std::fmt::Debug for PlayerHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PlayerHandle({:?})", self.0.board.state())
    }
}
