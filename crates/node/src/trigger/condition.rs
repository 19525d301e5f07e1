use std::collections::BTreeSet;
use std::fmt;

use super::scalar::{Scalar, quoted};

/// A condition, as the parser reads it.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// One test.
    Test(Test),
    /// Not that.
    Not(Box<Self>),
    /// All of them.
    All(Vec<Self>),
    /// One of them or more.
    Any(Vec<Self>),
    /// It was true for so long without a break.
    Lasts {
        /// The condition.
        condition: Box<Self>,
        /// For how long.
        nanos: i64,
    },
}

/// One test of a condition.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// A quantity compared with a value.
    Compare {
        /// The left side.
        quantity: Quantity,
        /// The comparison.
        operator: Operator,
        /// The right side.
        value: Scalar,
    },
    /// A field has another value than in the message before; true for that message only.
    Changed(FieldName),
    /// A message arrived; true for that message only.
    Received(String),
    /// No message for so long, after at least one.
    Silent {
        /// The topic.
        topic: String,
        /// For how long.
        nanos: i64,
    },
    /// No message for so long, also when there was never one.
    Absent {
        /// The topic.
        topic: String,
        /// For how long.
        nanos: i64,
    },
    /// No message for longer than the deadline.
    DeadlineMissed {
        /// The topic.
        topic: String,
        /// The deadline; by default the one that the publishers offer.
        nanos: Option<i64>,
    },
    /// Messages were lost in transport or in the recorder since the last look; true for that moment only.
    Lost {
        /// The topic; all of them by default.
        topic: Option<String>,
    },
    /// A component reports this level or a higher one on `/diagnostics`.
    Diagnostics {
        /// The level.
        level: DiagnosticLevel,
        /// Only components whose name contains this.
        name: Option<String>,
    },
    /// A service was called, according to its introspection events; true for that moment only.
    Called {
        /// The service.
        service: String,
    },
}

/// The compared quantity.
#[derive(Debug, Clone, PartialEq)]
pub enum Quantity {
    /// A field of the last message.
    Field(FieldName),
    /// The change of a field per second, between the last two messages.
    ChangeRate(FieldName),
    /// Messages per second.
    MessageRate {
        /// The topic.
        topic: String,
        /// The time over which messages are counted.
        nanos: i64,
    },
    /// The number of messages lost since the start.
    Lost {
        /// The topic; all of them by default.
        topic: Option<String>,
    },
}

/// A field of the messages of a topic.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FieldName {
    /// The topic.
    pub topic: String,
    /// The dotted path, such as `pose.position.x` or `status[0].level`.
    pub path: String,
}

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
}

/// A level of `diagnostic_msgs/msg/DiagnosticStatus`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DiagnosticLevel {
    /// 1.
    Warn,
    /// 2.
    Error,
    /// 3.
    Stale,
}

/// The input of a condition.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum TopicOrService {
    /// A topic.
    Topic(String),
    /// A service.
    Service(String),
}

/// The topic of diagnostics.
pub(super) const DIAGNOSTICS: &str = "/diagnostics";

impl Operator {
    pub(super) const ALL: [Self; 6] = [
        Self::LessOrEqual,
        Self::GreaterOrEqual,
        Self::Equal,
        Self::NotEqual,
        Self::Less,
        Self::Greater,
    ];

    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Equal => "==",
            Self::NotEqual => "!=",
        }
    }

    /// Whether the comparison holds; values that have no order, such as NaN, are only unequal.
    pub(super) fn holds(self, left: &Scalar, right: &Scalar) -> bool {
        let Some(order) = left.compare(right) else {
            return self == Self::NotEqual;
        };
        match self {
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
        }
    }
}

impl DiagnosticLevel {
    pub(super) const ALL: [Self; 3] = [Self::Warn, Self::Error, Self::Stale];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Warn => "warn",
            Self::Error => "error",
            Self::Stale => "stale",
        }
    }

    /// The number in messages.
    pub(super) fn number(self) -> u8 {
        match self {
            Self::Warn => 1,
            Self::Error => 2,
            Self::Stale => 3,
        }
    }
}

impl Condition {
    /// All tests, from left to right.
    pub fn tests(&self) -> Vec<&Test> {
        let mut tests = Vec::new();
        self.collect(&mut tests);
        tests
    }

    fn collect<'a>(&'a self, tests: &mut Vec<&'a Test>) {
        match self {
            Self::Test(test) => tests.push(test),
            Self::Not(inner)
            | Self::Lasts {
                condition: inner, ..
            } => inner.collect(tests),
            Self::All(parts) | Self::Any(parts) => {
                for part in parts {
                    part.collect(tests);
                }
            }
        }
    }

    /// The topics and services that must be recorded for it.
    pub fn inputs(&self) -> BTreeSet<TopicOrService> {
        self.tests().into_iter().filter_map(Test::input).collect()
    }

    /// Whether it is true for single moments only.
    pub(super) fn is_momentary(&self) -> bool {
        match self {
            Self::Test(test) => test.is_momentary(),
            Self::Not(_) | Self::Lasts { .. } => false,
            Self::All(parts) => parts.iter().any(Self::is_momentary),
            Self::Any(parts) => parts.iter().all(Self::is_momentary),
        }
    }
}

impl Test {
    pub(super) fn is_momentary(&self) -> bool {
        matches!(
            self,
            Self::Changed(_) | Self::Received(_) | Self::Lost { .. } | Self::Called { .. }
        )
    }

    /// The topic whose messages it looks at, as it is in the graph.
    pub(super) fn topic(&self) -> Option<String> {
        match self.input()? {
            TopicOrService::Topic(topic) => Some(topic),
            TopicOrService::Service(service) => Some(format!("{service}/_service_event")),
        }
    }

    fn input(&self) -> Option<TopicOrService> {
        Some(TopicOrService::Topic(match self {
            Self::Compare { quantity, .. } => match quantity {
                Quantity::Field(field) | Quantity::ChangeRate(field) => field.topic.clone(),
                Quantity::MessageRate { topic, .. } => topic.clone(),
                Quantity::Lost { topic } => topic.clone()?,
            },
            Self::Changed(field) => field.topic.clone(),
            Self::Received(topic)
            | Self::Silent { topic, .. }
            | Self::Absent { topic, .. }
            | Self::DeadlineMissed { topic, .. } => topic.clone(),
            Self::Lost { topic } => topic.clone()?,
            Self::Diagnostics { .. } => DIAGNOSTICS.to_owned(),
            Self::Called { service } => return Some(TopicOrService::Service(service.clone())),
        }))
    }
}

/// Nanoseconds in the largest unit that is exact.
pub(super) fn span(nanos: i64) -> String {
    match nanos {
        nanos if nanos % 1_000_000_000 == 0 => format!("{}s", nanos / 1_000_000_000),
        nanos if nanos % 1_000_000 == 0 => format!("{}ms", nanos / 1_000_000),
        nanos if nanos % 1_000 == 0 => format!("{}us", nanos / 1_000),
        nanos => format!("{nanos}ns"),
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, parts: &[Self], word: &str| {
            f.write_str("(")?;
            for (index, part) in parts.iter().enumerate() {
                if index > 0 {
                    write!(f, " {word} ")?;
                }
                write!(f, "{part}")?;
            }
            f.write_str(")")
        };
        match self {
            Self::Test(test) => write!(f, "{test}"),
            Self::Not(inner) => write!(f, "not ({inner})"),
            Self::All(parts) => list(f, parts, "and"),
            Self::Any(parts) => list(f, parts, "or"),
            Self::Lasts { condition, nanos } => match &**condition {
                Self::Test(test) => write!(f, "{test} for {}", span(*nanos)),
                other => write!(f, "({other}) for {}", span(*nanos)),
            },
        }
    }
}

impl fmt::Display for FieldName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.topic, self.path)
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(field) => write!(f, "{field}"),
            Self::ChangeRate(field) => write!(f, "rate({field})"),
            Self::MessageRate { topic, nanos } => write!(f, "rate({topic}, {})", span(*nanos)),
            Self::Lost { topic } => write!(f, "lost({})", topic.as_deref().unwrap_or_default()),
        }
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Compare {
                quantity,
                operator,
                value,
            } => write!(f, "{quantity} {} {value}", operator.sign()),
            Self::Changed(field) => write!(f, "changed({field})"),
            Self::Received(topic) => write!(f, "received({topic})"),
            Self::Silent { topic, nanos } => write!(f, "silent({topic}, {})", span(*nanos)),
            Self::Absent { topic, nanos } => write!(f, "absent({topic}, {})", span(*nanos)),
            Self::DeadlineMissed { topic, nanos } => match nanos {
                Some(nanos) => write!(f, "deadline_missed({topic}, {})", span(*nanos)),
                None => write!(f, "deadline_missed({topic})"),
            },
            Self::Lost { topic } => write!(f, "lost({})", topic.as_deref().unwrap_or_default()),
            Self::Diagnostics { level, name } => match name {
                Some(name) => write!(f, "diagnostics({}, {})", level.name(), quoted(name)),
                None => write!(f, "diagnostics({})", level.name()),
            },
            Self::Called { service } => write!(f, "called({service})"),
        }
    }
}
