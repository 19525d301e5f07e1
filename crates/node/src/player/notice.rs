use std::fmt;
use std::sync::Arc;

use timeloom_msg::Distro;
use timeloom_time::Duration;

use crate::Severity;

/// An event that the application should report to the user; libraries do not print.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// A part of a bag cannot be read; playing continues after it.
    Damage(String),
    /// The storage of the bag failed; playing ends there.
    Unreadable(String),
    /// A topic cannot be played.
    TopicSkipped {
        /// The topic.
        topic: String,
        /// The number of its messages in the bag.
        messages: u64,
        /// The reason.
        reason: String,
    },
    /// A topic is not played because other nodes would fail on its type.
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
        /// The error of the middleware.
        reason: String,
    },
    /// Messages were too far apart in the bag to be sorted by publish time.
    SentTooLate {
        /// The number of messages.
        messages: u64,
    },
    /// Reliable subscriptions have not acknowledged everything in time.
    NotAcknowledged {
        /// The topics.
        topics: Vec<String>,
    },
    /// Playing ended before reliable subscriptions had acknowledged everything, with the default wait.
    EndedUnacknowledged {
        /// The topics.
        topics: Vec<String>,
    },
    /// A subscription requests more than is offered, and receives nothing.
    IncompatibleQos {
        /// The topic.
        topic: String,
        /// The node of the subscription.
        node: String,
        /// The policy, and what to do.
        reason: String,
    },
    /// A subscription or server in the graph was not connected in time: it may miss the first messages.
    NotConnected {
        /// The topic or service.
        name: String,
        /// The nodes.
        nodes: Vec<String>,
    },
    /// The options ask for acknowledgements, but these topics are best effort and have none.
    NoAcknowledgements {
        /// The topics.
        topics: Vec<String>,
    },
    /// More than one node publishes `/clock`.
    ManyClocks {
        /// The nodes.
        nodes: Vec<String>,
    },
    /// The external clock is silent.
    ClockSilent {
        /// Its last time; empty if there never was a sample.
        source: String,
    },
    /// The external clock was after the end of the bag when playing began: no message is left to play.
    ClockPastEnd {
        /// The time of the clock, in nanoseconds.
        clock_ns: i64,
        /// The last time of the bag, in nanoseconds.
        end_ns: i64,
    },
    /// The external clock stepped over messages, and the options say to skip them.
    MessagesSkipped {
        /// The number of messages.
        messages: u64,
        /// The time of the clock before and after, in nanoseconds.
        step_ns: (i64, i64),
    },
    /// The external clock jumped more often than its owner remembers while its samples were lost: messages may be
    /// missing.
    ClockJumpsLost {
        /// The time of the clock before and after, in nanoseconds.
        step_ns: (i64, i64),
    },
    /// The owner of the external clock is gone: the messages after its last time are not played.
    ClockGone {
        /// The number of messages.
        messages: u64,
        /// The last time of the clock, in nanoseconds.
        clock_ns: i64,
    },
    /// This process was suspended for so long that other participants may have dropped it: playing waits until they have
    /// rediscovered it.
    WasStopped {
        /// The length of the suspension.
        length: Duration,
    },
    /// The player's time is later than `/clock` can show.
    ClockBeyondRange {
        /// The player's time, in nanoseconds.
        clock_ns: i64,
    },
    /// Topics without the subscriptions that playing waits for.
    WaitingForSubscribers {
        /// The number of subscriptions that each topic must have.
        wanted: usize,
        /// The topics, with the number of their subscriptions.
        topics: Vec<(String, usize)>,
    },
    /// The external clock is far before the bag.
    ClockElsewhere {
        /// The time of the clock, in nanoseconds.
        clock_ns: i64,
        /// The first and last time of the bag, in nanoseconds.
        bag_ns: (i64, i64),
    },
    /// The topic that time waits for cannot be subscribed: time will not advance.
    NotInStep {
        /// The topic.
        topic: String,
        /// The reason.
        reason: String,
    },
    /// A service request was not sent: the service has no server, or its type is not known.
    RequestDropped {
        /// The service.
        service: String,
        /// The reason.
        reason: String,
    },
}

impl Notice {
    /// The severity: an error if messages are not or will not be played.
    pub fn severity(&self) -> Severity {
        match self {
            Self::NotAcknowledged { .. }
            | Self::MessagesSkipped { .. }
            | Self::ClockJumpsLost { .. }
            | Self::ClockPastEnd { .. } => Severity::Error,
            Self::TopicSkipped { messages, .. } if *messages > 0 => Severity::Error,
            Self::WaitingForSubscribers { .. } => Severity::Info,
            _ => Severity::Warn,
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damage(text) => write!(f, "bag is damaged, continuing after the damage: {text}"),
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
                "{topic} is not played: {} has no {type_name}, and a `ros2 bag record -a` nearby would fail on it; \
                 select it with --topics to play it",
                distro.as_str()
            ),
            Self::MixedQos { topic } => write!(
                f,
                "{topic} was recorded from publishers of different QoS; the strongest is offered"
            ),
            Self::PublishFailed { topic, reason } => {
                write!(f, "failed to publish on {topic}: {reason}")
            }
            Self::SentTooLate { messages } => write!(
                f,
                "{messages} messages could not be sorted by publish time; increase the read-ahead"
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
                write!(
                    f,
                    "failed to subscribe to {topic}, time does not advance: {reason}"
                )
            }
            Self::RequestDropped { service, reason } => {
                write!(f, "failed to send a request to {service}: {reason}")
            }
            clock => clock.fmt_clock(f),
        }
    }
}

impl Notice {
    /// Notices about `/clock`.
    fn fmt_clock(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ManyClocks { nodes } => write!(
                f,
                "{} publishers of /clock: {}; time jumps between them, stop all but one",
                nodes.len(),
                nodes.join(", ")
            ),
            Self::ClockSilent { source } if source.is_empty() => {
                f.write_str("no sample on /clock: time does not advance until there is one")
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
                 the player waits for another publisher",
                seconds(*clock_ns)
            ),
            Self::WasStopped { length } => write!(
                f,
                "this process was suspended for {:.1} s: playing waits until subscriptions have rediscovered it",
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
        "/clock shows {}, but the bag is from {} to {}",
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

/// The callback for notices.
#[derive(Clone)]
pub struct Reporter(Arc<dyn Fn(&Notice) + Send + Sync>);

impl Reporter {
    /// Calls the function with each notice, on any thread of the player; it must not block.
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
