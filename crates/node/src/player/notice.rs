use std::fmt;
use std::sync::Arc;

use timeloom_msg::Distro;
use timeloom_time::Duration;

/// Something that a player noticed and its owner should know; libraries do not print.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// A stretch of a bag cannot be read; playing goes on behind it.
    Damage(String),
    /// The place that the bag is in failed, in words; playing ends there.
    Unreadable(String),
    /// A topic cannot be played.
    TopicSkipped {
        /// The topic.
        topic: String,
        /// How many messages the bag has of it.
        messages: u64,
        /// Why not.
        reason: String,
    },
    /// A topic is left out because other nodes would fail on its type.
    LeftOut {
        /// The topic.
        topic: String,
        /// Its type.
        type_name: String,
        /// The distribution that lacks the type.
        distro: Distro,
    },
    /// The publishers of a topic had different `QoS`; the strongest is offered.
    MixedQos {
        /// The topic.
        topic: String,
    },
    /// A message was refused by the middleware, for the first time on that topic.
    PublishFailed {
        /// The topic.
        topic: String,
        /// What the middleware said.
        reason: String,
    },
    /// Messages came out of the bag too late to be sorted by their time of sending.
    SentTooLate {
        /// How many.
        messages: u64,
    },
    /// Reliable subscriptions have not acknowledged everything in time.
    NotAcknowledged {
        /// The topics.
        topics: Vec<String>,
    },
    /// Playing ended while reliable subscriptions had not acknowledged everything; waiting for them was not asked for.
    EndedUnacknowledged {
        /// The topics.
        topics: Vec<String>,
    },
    /// A subscription asks for more than is offered: it gets nothing.
    IncompatibleQos {
        /// The topic.
        topic: String,
        /// The node of the subscription.
        node: String,
        /// The policy, and what to do.
        reason: String,
    },
    /// A subscription or server is in the graph and was not connected in time: it may miss the first messages.
    NotConnected {
        /// The topic or service.
        name: String,
        /// The nodes.
        nodes: Vec<String>,
    },
    /// Acknowledgements were to be waited for, but these topics have none: they are best effort.
    NoAcknowledgements {
        /// The topics.
        topics: Vec<String>,
    },
    /// More than one node publishes `/clock`.
    ManyClocks {
        /// Who.
        nodes: Vec<String>,
    },
    /// The external clock is silent.
    ClockSilent {
        /// What it showed last, in seconds, and who sent it; empty if nobody ever did.
        source: String,
    },
    /// The external clock was behind the end of the bag when playing began: no message is left to play.
    ClockPastEnd {
        /// What it shows, in nanoseconds.
        clock_ns: i64,
        /// The last time of the bag, in nanoseconds.
        end_ns: i64,
    },
    /// The external clock stepped over messages, and the options say to skip them.
    MessagesSkipped {
        /// How many.
        messages: u64,
        /// What the clock showed before and after, in nanoseconds.
        step_ns: (i64, i64),
    },
    /// The external clock jumped more often than its owner remembers while its samples were lost: messages may be
    /// missing.
    ClockJumpsLost {
        /// The time of the clock before and after, in nanoseconds.
        step_ns: (i64, i64),
    },
    /// The owner of the external clock is gone: the messages after the time that it showed last are not played.
    ClockGone {
        /// How many messages.
        messages: u64,
        /// What it showed last, in nanoseconds.
        clock_ns: i64,
    },
    /// This process did not run for so long that others may have given it up: playing waits until they have found it.
    WasStopped {
        /// How long it did not run.
        length: Duration,
    },
    /// The player's time is later than `/clock` can show.
    ClockBeyondRange {
        /// The player's time, in nanoseconds.
        clock_ns: i64,
    },
    /// Topics that still lack the subscriptions that playing waits for.
    WaitingForSubscribers {
        /// How many subscriptions each topic must have.
        wanted: usize,
        /// The topics, with how many they have.
        topics: Vec<(String, usize)>,
    },
    /// The external clock is before the bag: nothing will be played before it gets there.
    ClockElsewhere {
        /// What it shows, in nanoseconds.
        clock_ns: i64,
        /// The first and last time of the bag, in nanoseconds.
        bag_ns: (i64, i64),
    },
    /// The topic that time waits for cannot be heard: time will stand.
    NotInStep {
        /// The topic.
        topic: String,
        /// Why.
        reason: String,
    },
    /// A service request was not sent: nobody answers that service, or its type is not known.
    RequestDropped {
        /// The service.
        service: String,
        /// Why.
        reason: String,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damage(text) => write!(f, "damaged, played on behind it: {text}"),
            Self::Unreadable(text) => write!(f, "reading ended early: {text}"),
            Self::TopicSkipped {
                topic: name,
                messages: n,
                reason,
            } => write!(f, "{name} is not played ({n} messages): {reason}"),
            Self::LeftOut {
                topic,
                type_name,
                distro,
            } => write!(
                f,
                "{topic} is left out: {} has no {type_name}, and a `ros2 bag record -a` nearby would fail on it; \
                 name it with --topics to play it",
                distro.as_str()
            ),
            Self::MixedQos { topic } => write!(
                f,
                "{topic} was recorded from publishers of different QoS; the strongest is offered"
            ),
            Self::PublishFailed { topic, reason } => {
                write!(f, "messages of {topic} are refused: {reason}")
            }
            Self::SentTooLate { messages } => write!(
                f,
                "{messages} messages came too late to be sorted by their time of sending; a larger \
                 read-ahead sorts further"
            ),
            Self::NotAcknowledged { topics } => write!(
                f,
                "not every subscription has acknowledged all messages of {}",
                topics.join(", ")
            ),
            Self::EndedUnacknowledged { topics } => write!(
                f,
                "ended before every subscription had acknowledged all messages of {}; --wait-for-all-acked waits \
                 longer",
                topics.join(", ")
            ),
            Self::IncompatibleQos {
                topic,
                node,
                reason,
            } => write!(f, "{topic} does not reach {node}: {reason}"),
            Self::NotConnected { name, nodes } => write!(
                f,
                "{name} is not connected to {} yet, which may miss the first messages; --wait-for-subscribers waits \
                 longer",
                nodes.join(", ")
            ),
            Self::NoAcknowledgements { topics } => write!(
                f,
                "best-effort topics have no acknowledgements to wait for: {}",
                topics.join(", ")
            ),
            Self::WaitingForSubscribers { wanted, topics } => waiting(f, *wanted, topics),
            Self::NotInStep { topic, reason } => {
                write!(f, "{topic} cannot be waited for: {reason}; time stands")
            }
            Self::RequestDropped { service, reason } => {
                write!(f, "a request to {service} was not sent: {reason}")
            }
            clock => clock.fmt_clock(f),
        }
    }
}

impl Notice {
    /// Those about `/clock`.
    fn fmt_clock(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ManyClocks { nodes } => write!(
                f,
                "{} publishers of /clock: {}; time jumps between them, stop all but one",
                nodes.len(),
                nodes.join(", ")
            ),
            Self::ClockSilent { source } if source.is_empty() => {
                f.write_str("nobody publishes /clock: time stands until somebody does")
            }
            Self::ClockSilent { source } => write!(f, "/clock is silent: {source}"),
            Self::ClockPastEnd { clock_ns, end_ns } => write!(
                f,
                "/clock shows {}, after the end of the bag at {}: no message is left to play; with --loop the player \
                 waits for /clock to go back",
                seconds(*clock_ns),
                seconds(*end_ns)
            ),
            Self::MessagesSkipped { messages, step_ns } => write!(
                f,
                "/clock stepped from {} to {}: {messages} messages skipped",
                seconds(step_ns.0),
                seconds(step_ns.1)
            ),
            Self::ClockJumpsLost { step_ns } => write!(
                f,
                "/clock was not received between {} and {} and jumped too often meanwhile: some messages were not played",
                seconds(step_ns.0),
                seconds(step_ns.1)
            ),
            Self::ClockGone { messages, clock_ns } => write!(
                f,
                "the publisher of /clock is gone, its last time was {}: {messages} messages not played; with --loop \
                 the player waits for another one",
                seconds(*clock_ns)
            ),
            Self::WasStopped { length } => write!(
                f,
                "this process did not run for {:.1} s: playing waits until subscriptions have found it again",
                length.as_secs_f64()
            ),
            Self::ClockBeyondRange { clock_ns } => write!(
                f,
                "/clock stays at 2147483647.999999999 s: its message cannot hold times after \
                 2038-01-19T03:14:07Z, and the time is {}",
                seconds(*clock_ns)
            ),
            Self::ClockElsewhere { clock_ns, bag_ns } => elsewhere(f, *clock_ns, *bag_ns),
            _ => Ok(()),
        }
    }
}

fn waiting(f: &mut fmt::Formatter<'_>, wanted: usize, topics: &[(String, usize)]) -> fmt::Result {
    let of = |(topic, matched): &(String, usize)| format!("{topic} ({matched} of {wanted})");
    let topics: Vec<String> = topics.iter().map(of).collect();
    write!(f, "waiting for subscriptions of {}", topics.join(", "))
}

fn elsewhere(f: &mut fmt::Formatter<'_>, clock_ns: i64, bag_ns: (i64, i64)) -> fmt::Result {
    write!(
        f,
        "/clock shows {}, the bag is from {} to {}: messages wait for their time",
        seconds(clock_ns),
        seconds(bag_ns.0),
        seconds(bag_ns.1)
    )
}

fn seconds(nanoseconds: i64) -> String {
    let whole = nanoseconds.div_euclid(1_000_000_000);
    let rest = nanoseconds.rem_euclid(1_000_000_000);
    format!("{whole}.{:03} s", rest / 1_000_000)
}

/// Where notices go.
#[derive(Clone)]
pub struct Reporter(Arc<dyn Fn(&Notice) + Send + Sync>);

impl Reporter {
    /// Calls the function with each notice, on the thread that noticed; it must not block.
    pub fn new(report: impl Fn(&Notice) + Send + Sync + 'static) -> Self {
        Self(Arc::new(report))
    }

    #[expect(
        clippy::needless_pass_by_value,
        reason = "notices are made for the report"
    )]
    pub(super) fn report(&self, notice: Notice) {
        (self.0)(&notice);
    }
}

impl Default for Reporter {
    fn default() -> Self {
        Self::new(|_| {})
    }
}

impl fmt::Debug for Reporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reporter")
    }
}
