use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use timeloom_bag::TopicInfo;
use timeloom_msg::{Distro, QosProfile, TypeResolver};
use timeloom_time::{Duration, PlaybackRate, Ros, System, Time};

/// How to play. The defaults are those of `ros2 bag play`.
#[derive(Clone, Debug)]
pub struct Options {
    /// Which topics of the bags.
    pub selection: Selection,
    /// The distribution of the other nodes, if there are any: topics of a type that makes its `ros2 bag record -a` fail
    /// ([`Distro::lacks`]) are left out with a notice.
    pub peers: Option<Distro>,
    /// Topics that are played whatever the distribution lacks.
    pub named_topics: BTreeSet<String>,
    /// The `QoS` of publishers by (renamed) topic, in place of the recorded one.
    pub qos_overrides: BTreeMap<String, QosProfile>,
    /// By which stamp messages are ordered and timed.
    pub order: MessageOrder,
    /// How much is read in advance.
    pub read_ahead: ReadAheadLimits,
    /// How fast time goes.
    pub rate: PlaybackRate,
    /// Whether time stands at first.
    pub start_paused: bool,
    /// Which part of the bags.
    pub range: PlayRange,
    /// What happens at the end.
    pub repeat: Repeat,
    /// A part to play again and again, from A to B; it needs a [`Repeat`] other than [`Repeat::Once`].
    pub loop_range: Option<(Time<Ros>, Time<Ros>)>,
    /// How long to wait before the first message.
    pub delay: Duration,
    /// When to begin, by the machine's clock: for players on several machines.
    pub start_at: Option<Time<System>>,
    /// How long the first message waits for the subscriptions and servers that are there already to be found; not at
    /// all unless set, for transports that find them at once.
    pub settle: Option<SettleWait>,
    /// How many subscriptions each topic must have before the first message.
    pub wait_for_subscribers: usize,
    /// Which of the topics must have them.
    pub waited_for: Selection,
    /// How long to wait at the end until reliable subscriptions have acknowledged everything.
    pub wait_for_acks: AckWait,
    /// What is published on `/clock`.
    pub clock: ClockPublishing,
    /// Whose time it is.
    pub time: TimeSituation,
    /// What to do when an external clock steps forward over messages.
    pub clock_steps: ClockSteps,
    /// What to do when publishing cannot keep up with time.
    pub pace: Pace,
    /// What becomes of recorded service calls.
    pub services: ServiceReplay,
    /// What becomes of recorded actions: with [`ServiceReplay::AsRequests`] their goals are sent again, and what the
    /// recorded server said is left out.
    pub actions: ServiceReplay,
    /// Where definitions come from that the bags do not hold.
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
            time: TimeSituation::Controlled,
            clock_steps: ClockSteps::PlayAll,
            pace: Pace::CatchUp,
            services: ServiceReplay::AsEvents,
            actions: ServiceReplay::AsEvents,
            types: TypeResolver::default(),
        }
    }
}

/// Which topics are played.
#[derive(Clone)]
pub struct Selection(Arc<dyn Fn(&TopicInfo) -> bool + Send + Sync>);

impl Selection {
    /// The topics for which the function holds.
    pub fn new(takes: impl Fn(&TopicInfo) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(takes))
    }

    /// Whether a topic is played.
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

/// By which stamp messages are ordered and timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MessageOrder {
    /// When the recorder received them.
    #[default]
    Received,
    /// When they were sent; sorted within the read-ahead.
    Sent,
}

/// The bounds of the read-ahead; whichever is met first counts. One message is always read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadAheadLimits {
    /// Messages.
    pub messages: usize,
    /// Bytes of messages.
    pub bytes: u64,
}

impl Default for ReadAheadLimits {
    fn default() -> Self {
        Self {
            messages: 1000,
            bytes: 128 << 20,
        }
    }
}

/// Which part of a bag is played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlayRange {
    /// Where to begin; at the first message unless set. Before the first message means there.
    pub start: Option<PlayStart>,
    /// How long to play, in the bag's time.
    pub duration: Option<Duration>,
    /// The last time that is played, inclusive. With a duration too, the later end counts, as in `ros2 bag play`.
    pub until: Option<Time<Ros>>,
}

/// Where to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlayStart {
    /// So long after the first message.
    Offset(Duration),
    /// At this time.
    At(Time<Ros>),
}

/// What happens at the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repeat {
    /// Nothing: playing is over.
    #[default]
    Once,
    /// Time jumps back to the start, as in `ros2 bag play --loop`.
    JumpBack,
    /// The messages begin again and time goes on.
    Monotonic,
}

/// How long to wait for the subscriptions and servers that are there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettleWait {
    /// At least so long after the publishers were made: discovery takes a while to begin.
    pub least: Duration,
    /// Until the graph has not changed for so long.
    pub quiet: Duration,
    /// At most so long; what is not connected by then is reported.
    pub most: Duration,
}

impl SettleWait {
    /// What discovery on a network takes.
    ///
    /// Fast DDS may ignore the first request for its endpoints, because it does not know the asking participant yet;
    /// the next request comes a second later.
    pub const NETWORK: Self = Self {
        least: Duration::from_millis(1500),
        quiet: Duration::from_millis(200),
        most: Duration::from_secs(3),
    };
}

/// How long to wait for acknowledgements at the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AckWait {
    /// One second for all publishers together; what is missing then is reported.
    #[default]
    Briefly,
    /// For so long, for each publisher.
    For(Duration),
    /// Until they are there.
    Forever,
}

/// What is published on `/clock`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClockPublishing {
    /// How often, by the machine's clock; never unless set.
    pub period: Option<Duration>,
    /// Before which messages.
    pub before: ClockTrigger,
}

impl ClockPublishing {
    /// Whether `/clock` is published at all.
    pub fn is_on(&self) -> bool {
        self.period.is_some() || self.before != ClockTrigger::None
    }
}

/// Before which messages `/clock` is published.
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

/// Whose time it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeSituation {
    /// The player's own: it can be paused, moved and scaled.
    #[default]
    Controlled,
    /// That of `/clock`: the player follows.
    External {
        /// Whether time runs on between two samples of `/clock`, for at most one sample's time.
        extrapolate: bool,
    },
}

/// What to do with the messages that an external clock steps over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClockSteps {
    /// All of them are published at once, however large the step is: their time has come.
    #[default]
    PlayAll,
    /// Those of a larger step than this are skipped, counted and reported.
    SkipBeyond(Duration),
}

/// What to do when publishing cannot keep up with time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// Late messages go out at once, in order; time does not wait. What `ros2 bag play` does.
    #[default]
    CatchUp,
    /// Time waits for late messages: all topics slow down alike.
    KeepOrder,
    /// Messages that are later than this are left out, and counted.
    Drop {
        /// How late a message may be, in the player's time.
        tolerance: Duration,
    },
    /// Time waits until each message was acknowledged.
    WaitAcked,
    /// Time goes no further than this beyond the last message of a topic that somebody else publishes.
    Lockstep {
        /// The topic; with a stamp in its messages, that stamp counts.
        topic: String,
        /// How far time may be ahead.
        window: Duration,
    },
}

/// What becomes of recorded service calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServiceReplay {
    /// Their introspection events are published.
    #[default]
    AsEvents,
    /// The services are called again.
    AsRequests(RequestSource),
}

/// Which introspection events count as calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestSource {
    /// Those that servers wrote.
    #[default]
    Service,
    /// Those that clients wrote.
    Client,
}
