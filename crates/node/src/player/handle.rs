use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, Weak};

use timeloom_time::{Clock, Duration, Event, PlayerClock, Ros, Steady, Time, TimeBase};
use timeloom_wire::backend::lock;

use super::clock_follower::ClockFollower;
use super::clock_watch::ClockWatch;
use super::control::{Answer, Control, Refusal};
use super::live_status::{LiveStatus, TopicCounters};
use super::mailbox::{Mailbox, Reply, Request};
use super::read_ahead::ReadAhead;
use super::services::Controllable;
use super::status::{ClockStatus, SkippedTopic, State, Status, TopicStatus};

/// Controls a player and shows its status. Cheap to clone.
#[derive(Clone)]
pub struct PlayerHandle(pub(super) Arc<Shared>);

/// The state that handles and threads share.
pub(super) struct Shared {
    pub(super) base: TimeBase,
    pub(super) steady: Clock<Steady>,
    pub(super) clock: Arc<dyn PlayerClock>,
    pub(super) mailbox: Arc<Mailbox>,
    pub(super) live: Arc<LiveStatus>,
    pub(super) read_ahead: Arc<ReadAhead>,
    pub(super) ended: Event,
    /// Whether an external clock drives playback.
    pub(super) external: bool,
    pub(super) clock_watch: Weak<ClockWatch>,
    pub(super) follower: Weak<ClockFollower>,
    /// Names and types of the topics, by topic of the bag; none for those that are not played.
    pub(super) names: Vec<Option<(String, String)>>,
    /// Topics that cannot be played.
    pub(super) skipped: Vec<SkippedTopic>,
}

impl PlayerHandle {
    /// Executes a control, and blocks for its result. A burst returns after its last message.
    ///
    /// # Errors
    /// [`Refusal`] has the reason.
    pub fn control(&self, control: Control) -> Result<Answer, Refusal> {
        let done = Event::new(&self.0.base);
        let answer = Arc::new(Mutex::new(Err(Refusal::Ended)));
        let (event, slot) = (done.clone(), Arc::clone(&answer));
        self.control_then(control, move |answer| {
            *lock(&slot) = answer;
            event.set();
        });
        done.wait();
        *lock(&answer)
    }

    /// Executes a control; `reply` is called with its result on the playback thread, and must not block.
    pub fn control_then(
        &self,
        control: Control,
        reply: impl FnOnce(Result<Answer, Refusal>) + Send + 'static,
    ) {
        tracing::info!(?control, "player");
        self.0.mailbox.post(Request {
            control,
            reply: Box::new(reply),
        });
    }

    /// The current status.
    pub fn status(&self) -> Status {
        let shared = &*self.0;
        let live = &shared.live;
        let now = shared.clock.now().nanos();
        let offset = live.offset.load(Ordering::SeqCst);
        // A late message holds playing back, wherever the clock is.
        let progress = now.min(live.next_due.load(Ordering::Relaxed)) - offset;
        let state = match live.state() {
            // Only the owner of an external clock can pause it.
            State::Playing if shared.external && self.is_paused() => State::Paused,
            state => state,
        };
        let achieved_rate = if state == State::Playing {
            live.measure(shared.steady.now(), progress.saturating_add(offset))
        } else {
            None
        };
        let details = live.details();
        let mut status = Status {
            state,
            time: Time::from_nanos(progress),
            range: details.range,
            loop_range: details.loop_range,
            rate: self.rate(),
            achieved_rate,
            laps: live.laps.load(Ordering::Relaxed),
            read_ahead_messages: 0,
            read_ahead_bytes: 0,
            starved: live.starved.load(Ordering::Relaxed),
            latest: Duration::from_nanos(live.latest.load(Ordering::Relaxed)),
            topics: shared.topics(),
            skipped: shared.skipped.clone(),
            damage: details.damage.clone(),
        };
        drop(details);
        status.set_load(shared.read_ahead.load());
        status
    }

    /// Whether the player is paused; with an external clock, whether its time does not advance: its owner has paused it,
    /// is silent, or has not started.
    pub fn is_paused(&self) -> bool {
        if self.0.external {
            let follower = self.0.follower.upgrade();
            follower.is_none_or(|follower| follower.is_standing())
        } else {
            self.0.live.paused.load(Ordering::SeqCst)
        }
    }

    /// The rate, also while paused; with an external clock the measured rate, after its second sample.
    pub fn rate(&self) -> Option<f64> {
        if self.0.external {
            self.0.follower.upgrade()?.rate()
        } else {
            self.0.clock.rate()
        }
    }

    /// Frequency of `/clock` in hertz; 0 if it is off.
    pub fn clock_frequency(&self) -> f64 {
        f64::from_bits(self.0.live.clock_frequency.load(Ordering::SeqCst))
    }

    /// The player's clock, to read, wait on and add jump handlers; it is controlled by [`control`](Self::control).
    pub fn clock(&self) -> &Clock<Ros> {
        self.0.clock.clock()
    }

    /// The status of the clock.
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

    /// The time of the last message in the read-ahead.
    pub fn read_to(&self) -> Option<Time<Ros>> {
        self.0.read_ahead.read_to().map(Time::from_nanos)
    }

    /// Blocks until playing is over.
    pub fn wait(&self) {
        self.0.ended.wait();
    }

    /// Blocks until playing is over, or for a steady time; true if playing is over.
    pub fn wait_for(&self, timeout: Duration) -> bool {
        self.0.ended.wait_for(timeout)
    }
}

impl Controllable for PlayerHandle {
    fn control_then(&self, control: Control, reply: Reply) {
        self.0.mailbox.post(Request { control, reply });
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
        let topics = self.names.iter().zip(&self.live.topics);
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
        write!(f, "PlayerHandle({:?})", self.0.live.state())
    }
}
