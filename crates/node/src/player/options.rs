use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use timeloom_bag::TopicInfo;
use timeloom_msg::{Distro, QosProfile, TypeResolver};
use timeloom_time::{Duration, PlaybackRate, Ros, System, Time};

/// The options of a [`Player`](super::Player). The defaults are those of `ros2 bag play`.
#[derive(Clone, Debug)]
pub struct Options {
    /// The topics to play.
    pub selection: Selection,
    /// The distribution of the other nodes, if there are any: topics of a type that makes its `ros2 bag record -a` fail
    /// ([`Distro::lacks`]) are not played, with a notice.
    pub peers: Option<Distro>,
    /// Topics that are played even if the distribution lacks their type.
    pub named_topics: BTreeSet<String>,
    /// The `QoS` per (remapped) topic, instead of the recorded one.
    pub qos_overrides: BTreeMap<String, QosProfile>,
    /// The time that orders and times messages.
    pub order: MessageOrder,
    /// The bounds of the read-ahead.
    pub read_ahead: ReadAheadLimits,
    /// The playback rate.
    pub rate: PlaybackRate,
    /// Whether to start paused.
    pub start_paused: bool,
    /// The range to play.
    pub range: PlayRange,
    /// The behaviour at the end.
    pub repeat: Repeat,
    /// A range to repeat; requires a [`Repeat`] other than [`Repeat::Once`].
    pub loop_range: Option<(Time<Ros>, Time<Ros>)>,
    /// The wait before the first message.
    pub delay: Duration,
    /// The system time of the start, for players on several machines.
    pub start_at: Option<Time<System>>,
    /// The wait of the first message for the discovery of existing subscriptions and servers; `None` for transports
    /// that discover them at once.
    pub settle: Option<SettleWait>,
    /// The number of subscriptions that each topic must have before the first message.
    pub wait_for_subscribers: usize,
    /// The topics that must have them.
    pub waited_for: Selection,
    /// The wait for acknowledgements at the end.
    pub wait_for_acks: AckWait,
    /// When to publish `/clock`.
    pub clock: ClockPublishing,
    /// The clock to play by.
    pub time: ClockMode,
    /// The policy for steps of an external clock.
    pub clock_steps: ClockSteps,
    /// The policy when publishing cannot keep up with time.
    pub pace: Pace,
    /// Playback of recorded service events.
    pub services: ServiceReplay,
    /// Playback of recorded actions: with [`ServiceReplay::AsRequests`] goals are sent again, and the topics of the
    /// recorded server are not played.
    pub actions: ServiceReplay,
    /// Finds type definitions that are not in the bags.
    pub types: TypeResolver,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            selection: Selection::default(),
            peers: None,
            named_topics: BTreeSet::new(),
            qos_overrides: BTreeMap::new(),
            order: MessageOrder::Received,
            read_ahead: ReadAheadLimits::default(),
            rate: PlaybackRate::REAL_TIME,
            start_paused: false,
            range: PlayRange::default(),
            repeat: Repeat::Once,
            loop_range: None,
            delay: Duration::ZERO,
            start_at: None,
            settle: None,
            wait_for_subscribers: 0,
            waited_for: Selection::default(),
            wait_for_acks: AckWait::Briefly,
            clock: ClockPublishing::default(),
            time: ClockMode::Controlled,
            clock_steps: ClockSteps::PlayAll,
            pace: Pace::CatchUp,
            services: ServiceReplay::AsEvents,
            actions: ServiceReplay::AsEvents,
            types: TypeResolver::default(),
        }
    }
}

/// A selection of topics.
#[derive(Clone)]
pub struct Selection(Arc<dyn Fn(&TopicInfo) -> bool + Send + Sync>);

impl Selection {
    /// The topics for which the function returns true.
    pub fn new(takes: impl Fn(&TopicInfo) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(takes))
    }

    /// Whether a topic is selected.
    pub fn takes(&self, topic: &TopicInfo) -> bool {
        (self.0)(topic)
    }
}

impl Default for Selection {
    fn default() -> Self {
        Self::new(|_| true)
    }
}

impl fmt::Debug for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Selection")
    }
}

/// The time that orders and times messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MessageOrder {
    /// The log time: when the recorder received them.
    #[default]
    Received,
    /// The publish time; sorted within the read-ahead.
    Sent,
}

/// The bounds of the read-ahead. At least one message is always read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadAheadLimits {
    /// Messages.
    pub messages: usize,
    /// Bytes of messages.
    pub bytes: u64,
    /// The time for which the messages suffice at the playback rate; 4 MiB are read in any case. `None` reads up to the
    /// other bounds, as does a player that follows an external clock: its rate is not known.
    pub time: Option<Duration>,
}

impl Default for ReadAheadLimits {
    fn default() -> Self {
        Self {
            messages: 1000,
            bytes: 128 << 20,
            time: Some(Duration::from_millis(500)),
        }
    }
}

/// A range of a bag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlayRange {
    /// The start; the first message by default, and at the earliest.
    pub start: Option<PlayStart>,
    /// The length, in the bag's time.
    pub duration: Option<Duration>,
    /// The last time that is played, inclusive. With a duration, the later end applies, as in `ros2 bag play`.
    pub until: Option<Time<Ros>>,
}

/// The start of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlayStart {
    /// Relative to the first message.
    Offset(Duration),
    /// At this time.
    At(Time<Ros>),
}

/// The behaviour at the end of the range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repeat {
    /// Playing ends.
    #[default]
    Once,
    /// Time jumps back to the start, as in `ros2 bag play --loop`.
    JumpBack,
    /// The messages restart, and time continues.
    Monotonic,
}

/// The wait for the discovery of existing subscriptions and servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettleWait {
    /// The shortest wait after the publishers were created: discovery takes a while to begin.
    pub least: Duration,
    /// Until the graph has not changed for this long.
    pub quiet: Duration,
    /// The longest wait; endpoints that are not connected by then are reported.
    pub most: Duration,
}

impl SettleWait {
    /// For discovery on a network.
    ///
    /// Fast DDS may ignore the first request for its endpoints, because it does not know the asking participant yet;
    /// the next request comes a second later.
    pub const NETWORK: Self = Self {
        least: Duration::from_millis(1500),
        quiet: Duration::from_millis(200),
        most: Duration::from_secs(3),
    };
}

/// The wait for acknowledgements at the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AckWait {
    /// One second for all publishers together; missing ones are reported.
    #[default]
    Briefly,
    /// This long, for each publisher.
    For(Duration),
    /// Without a limit.
    Forever,
}

/// When to publish `/clock`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClockPublishing {
    /// The period in steady time; `None` turns it off.
    pub period: Option<Duration>,
    /// The messages before which it is published.
    pub before: ClockTrigger,
}

impl ClockPublishing {
    /// Whether `/clock` is published at all.
    pub fn is_on(&self) -> bool {
        self.period.is_some() || self.before != ClockTrigger::None
    }
}

/// The messages before which `/clock` is published.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ClockTrigger {
    /// None.
    #[default]
    None,
    /// Those of these topics.
    Topics(Vec<String>),
    /// All.
    All,
}

/// The clock of a player.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClockMode {
    /// The player's own clock: it can be paused, moved and scaled.
    #[default]
    Controlled,
    /// The player follows `/clock`.
    External {
        /// Whether time runs on between samples of `/clock`, for at most one period.
        extrapolate: bool,
    },
}

/// The policy for the messages of a step of an external clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClockSteps {
    /// Publish all of them at once, however large the step is.
    #[default]
    PlayAll,
    /// Skip, count and report the messages of larger steps than this.
    SkipBeyond(Duration),
}

/// The policy when publishing cannot keep up with time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// Publish late messages at once, in order; time does not wait. Like `ros2 bag play`.
    #[default]
    CatchUp,
    /// Time waits for late messages: all topics slow down alike.
    KeepOrder,
    /// Drop and count messages that are later than this.
    Drop {
        /// The largest accepted lateness, in the player's time.
        tolerance: Duration,
    },
    /// Time waits until each message is acknowledged.
    WaitAcked,
    /// Time waits for the messages of a topic of another node.
    Lockstep {
        /// The topic; the stamps in its messages are used, if it has any.
        topic: String,
        /// The largest lead of time.
        window: Duration,
    },
}

/// Playback of recorded service events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServiceReplay {
    /// Their introspection events are published.
    #[default]
    AsEvents,
    /// The services are called again.
    AsRequests(RequestSource),
}

/// The introspection events that are sent again as requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestSource {
    /// Events of the servers.
    #[default]
    Service,
    /// Events of the clients.
    Client,
}
