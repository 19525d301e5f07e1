use std::cmp::Ordering;
use std::collections::BTreeMap;

use timeloom_msg::Value;
use timeloom_msg::value::Array;

use super::condition::{DiagnosticLevel, Operator, Quantity, Test, span};
use super::message_rate::MessageRate;
use super::scalar::Scalar;

/// One test with what it has seen.
#[derive(Debug, Clone)]
pub(super) struct TestState {
    pub(super) test: Test,
    seen: Seen,
    /// True at this moment only.
    pulse: bool,
    /// The last outcome, to skip evaluations that change nothing.
    outcome: Option<bool>,
}

#[derive(Debug, Clone)]
enum Seen {
    Field(Option<Scalar>),
    ChangeRate {
        last: Option<(f64, i64)>,
        rate: Option<f64>,
    },
    MessageRate(MessageRate),
    Changed {
        before: Option<Scalar>,
        last: Option<Scalar>,
    },
    Pulses,
    Gap {
        /// `None` until the deadline of the publishers is known.
        nanos: Option<i64>,
        last: Option<i64>,
    },
    Losses {
        total: u64,
        more: u64,
    },
    Diagnostics(BTreeMap<String, (u8, String)>),
}

/// The most components whose diagnostics are remembered.
const MOST_COMPONENTS: usize = 4096;

impl TestState {
    pub(super) fn new(test: &Test) -> Self {
        Self {
            test: test.clone(),
            seen: Seen::new(test),
            pulse: false,
            outcome: None,
        }
    }

    /// Forgets all messages; times begin at `now`.
    pub(super) fn restart(&mut self, now: i64) {
        let deadline = match &self.seen {
            Seen::Gap { nanos, .. } => *nanos,
            _ => None,
        };
        // A loss that was counted before is not a new one.
        let losses = match &self.seen {
            Seen::Losses { total, .. } => Some(*total),
            _ => None,
        };
        *self = Self::new(&self.test.clone());
        match &mut self.seen {
            Seen::Gap { nanos, last } => {
                *nanos = deadline;
                if matches!(self.test, Test::Absent { .. }) {
                    *last = Some(now);
                }
            }
            Seen::Losses { total, .. } => *total = losses.unwrap_or(0),
            _ => {}
        }
    }

    /// The deadline that the publishers offer.
    pub(super) fn set_deadline(&mut self, offered_ns: i64) {
        if let (Test::DeadlineMissed { nanos: None, .. }, Seen::Gap { nanos, .. }) =
            (&self.test, &mut self.seen)
        {
            *nanos = Some(offered_ns);
        }
    }

    /// The field that it reads.
    pub(super) fn path(&self) -> Option<&str> {
        match &self.test {
            Test::Compare {
                quantity: Quantity::Field(field) | Quantity::ChangeRate(field),
                ..
            }
            | Test::Changed(field) => Some(&field.path),
            Test::Called { .. } => Some("info.event_type"),
            _ => None,
        }
    }

    /// Takes a message that it needs no field of; true if its outcome may have changed.
    pub(super) fn message(&mut self, time_ns: i64) -> bool {
        match &mut self.seen {
            Seen::MessageRate(rate) => rate.message(time_ns),
            Seen::Gap { last, .. } => {
                let first = last.is_none();
                *last = Some(time_ns);
                first || self.outcome != Some(false)
            }
            Seen::Pulses => {
                self.pulse = true;
                true
            }
            _ => false,
        }
    }

    /// Takes the value of its field, `None` if it cannot be read; true if its outcome may have changed.
    pub(super) fn field(&mut self, time_ns: i64, value: Option<&Scalar>) -> bool {
        match &mut self.seen {
            Seen::Field(last) => {
                *last = value.cloned();
            }
            Seen::ChangeRate { last, rate } => {
                let number = value.and_then(Scalar::number);
                *rate = number.zip(*last).and_then(|(number, (before, then))| {
                    let seconds = time_ns.saturating_sub(then) as f64 / 1e9;
                    (seconds > 0.0).then(|| (number - before) / seconds)
                });
                *last = number.map(|number| (number, time_ns));
            }
            Seen::Changed { before, last } => {
                let differs =
                    matches!((&*last, value), (Some(last), Some(value)) if differ(last, value));
                if differs {
                    before.clone_from(last);
                }
                *last = value.cloned();
                self.pulse = differs;
                return differs;
            }
            Seen::Pulses => {
                // 0 and 1: a request was sent, or received.
                let request = value
                    .and_then(Scalar::number)
                    .is_some_and(|kind| kind < 2.0);
                self.pulse |= request;
                return request;
            }
            _ => return false,
        }
        self.look() != self.outcome
    }

    /// Takes the diagnostics of a message; true if its outcome may have changed.
    pub(super) fn diagnostics(&mut self, status: &Value) -> bool {
        let (Seen::Diagnostics(levels), Some(Array::Struct(all))) =
            (&mut self.seen, status.as_array())
        else {
            return false;
        };
        for status in all {
            let text = |field: &str| {
                status
                    .get(field)
                    .and_then(Value::as_str)
                    .unwrap_or_default()
            };
            let level = status.get("level").and_then(Value::as_u64).unwrap_or(0);
            let level = u8::try_from(level).unwrap_or(u8::MAX);
            let name = text("name");
            if levels.contains_key(name) || (level > 0 && levels.len() < MOST_COMPONENTS) {
                levels.insert(name.to_owned(), (level, text("message").to_owned()));
            }
        }
        self.look() != self.outcome
    }

    /// Takes the number of lost messages so far; true if its outcome may have changed.
    pub(super) fn losses(&mut self, now_total: u64) -> bool {
        let Seen::Losses { total, more } = &mut self.seen else {
            return false;
        };
        // A message that arrives late takes a loss back.
        *more = now_total.saturating_sub(*total);
        *total = now_total.max(*total);
        if matches!(self.test, Test::Lost { .. }) {
            self.pulse = *more > 0;
            return self.pulse;
        }
        self.look() != self.outcome
    }

    /// Ends a moment; true if it was one.
    pub(super) fn end_pulse(&mut self) -> bool {
        std::mem::take(&mut self.pulse)
    }

    /// The outcome at a time, and the time at which it may change without a message.
    pub(super) fn outcome(&mut self, time_ns: i64) -> (Option<bool>, i64) {
        let mut next = i64::MAX;
        self.outcome = match (&mut self.seen, &self.test) {
            (
                Seen::MessageRate(rate),
                Test::Compare {
                    operator, value, ..
                },
            ) => {
                let (hertz, changes) = rate.hertz(time_ns);
                next = changes;
                hertz.map(|hertz| operator.holds(&Scalar::Real(hertz), value))
            }
            (Seen::Gap { nanos, last }, _) => {
                let due = nanos
                    .zip(*last)
                    .map(|(nanos, last)| last.saturating_add(nanos));
                let missed = due.is_some_and(|due| time_ns >= due);
                if !missed {
                    next = due.unwrap_or(i64::MAX);
                }
                Some(missed)
            }
            _ => self.look(),
        };
        (self.outcome, next)
    }

    /// The outcome of a test that does not depend on time.
    fn look(&self) -> Option<bool> {
        let compared = |left: Option<Scalar>, operator: Operator, right: &Scalar| {
            left.map(|left| operator.holds(&left, right))
        };
        match (&self.seen, &self.test) {
            (
                Seen::Field(Some(left)),
                Test::Compare {
                    operator, value, ..
                },
            ) => Some(operator.holds(left, value)),
            (
                Seen::ChangeRate { rate, .. },
                Test::Compare {
                    operator, value, ..
                },
            ) => compared(rate.map(Scalar::Real), *operator, value),
            (
                Seen::Losses { total, .. },
                Test::Compare {
                    operator, value, ..
                },
            ) => compared(Some(Scalar::Integer((*total).into())), *operator, value),
            (Seen::Diagnostics(levels), Test::Diagnostics { level, name }) => {
                Some(worst(levels, *level, name.as_deref()).is_some())
            }
            (Seen::Field(_), _) => None,
            _ => Some(self.pulse),
        }
    }

    /// The last observation, in words.
    pub(super) fn describe(&mut self, time_ns: i64) -> String {
        let nothing = || format!("{}: nothing known", self.test);
        match (&mut self.seen, &self.test) {
            (Seen::Field(Some(value)), Test::Compare { quantity, .. }) => {
                format!("{quantity} is {value}")
            }
            (
                Seen::ChangeRate {
                    rate: Some(rate), ..
                },
                Test::Compare { quantity, .. },
            ) => format!("{quantity} is {rate:.3} per second"),
            (Seen::MessageRate(rate), Test::Compare { quantity, .. }) => {
                match rate.hertz(time_ns).0 {
                    Some(hertz) => format!("{quantity} is {}", timeloom_text::hertz(hertz)),
                    None => nothing(),
                }
            }
            (
                Seen::Changed {
                    before: Some(before),
                    last: Some(last),
                },
                Test::Changed(field),
            ) => format!("{field} changed from {before} to {last}"),
            (Seen::Gap { last, .. }, test) => {
                let topic = test.topic().unwrap_or_default();
                match last {
                    Some(last) => {
                        let quiet = time_ns.saturating_sub(*last).max(0);
                        format!("no message on {topic} for {}", span(quiet))
                    }
                    None => format!("no message on {topic} yet"),
                }
            }
            (Seen::Losses { total, .. }, Test::Compare { quantity, .. }) => {
                format!("{quantity} is {total}")
            }
            (Seen::Losses { more, .. }, Test::Lost { topic }) => {
                let lost = timeloom_text::counted(*more, "message");
                match topic {
                    Some(topic) => format!("{lost} of {topic} lost"),
                    None => format!("{lost} lost"),
                }
            }
            (Seen::Diagnostics(levels), Test::Diagnostics { level, name }) => {
                match worst(levels, *level, name.as_deref()) {
                    Some((name, (number, text))) => {
                        let level = level_name(*number);
                        format!("diagnostics of {name}: {level}: {text}")
                    }
                    None => format!("no diagnostics at {}", level.name()),
                }
            }
            (Seen::Pulses, Test::Received(topic)) => format!("a message on {topic}"),
            (Seen::Pulses, Test::Called { service }) => format!("{service} was called"),
            _ => nothing(),
        }
    }
}

impl Seen {
    fn new(test: &Test) -> Self {
        let gap = |nanos| Self::Gap { nanos, last: None };
        match test {
            Test::Compare { quantity, .. } => match quantity {
                Quantity::Field(_) => Self::Field(None),
                Quantity::ChangeRate(_) => Self::ChangeRate {
                    last: None,
                    rate: None,
                },
                Quantity::MessageRate { nanos, .. } => Self::MessageRate(MessageRate::new(*nanos)),
                Quantity::Lost { .. } => Self::Losses { total: 0, more: 0 },
            },
            Test::Changed(_) => Self::Changed {
                before: None,
                last: None,
            },
            Test::Received(_) | Test::Called { .. } => Self::Pulses,
            Test::Silent { nanos, .. } | Test::Absent { nanos, .. } => gap(Some(*nanos)),
            Test::DeadlineMissed { nanos, .. } => gap(*nanos),
            Test::Lost { .. } => Self::Losses { total: 0, more: 0 },
            Test::Diagnostics { .. } => Self::Diagnostics(BTreeMap::new()),
        }
    }
}

/// Whether two values differ; NaN is equal to NaN.
fn differ(one: &Scalar, other: &Scalar) -> bool {
    match (one, other) {
        (Scalar::Real(one), Scalar::Real(other)) => {
            one.partial_cmp(other) != Some(Ordering::Equal) && !(one.is_nan() && other.is_nan())
        }
        (one, other) => one != other,
    }
}

/// The worst component at a level or above it.
fn worst<'a>(
    levels: &'a BTreeMap<String, (u8, String)>,
    level: DiagnosticLevel,
    name: Option<&str>,
) -> Option<(&'a String, &'a (u8, String))> {
    levels
        .iter()
        .filter(|(known, (number, _))| {
            *number >= level.number() && name.is_none_or(|name| known.contains(name))
        })
        .max_by_key(|(_, (number, _))| *number)
}

fn level_name(number: u8) -> String {
    let mut levels = DiagnosticLevel::ALL.into_iter();
    let level = levels.find(|level| level.number() == number);
    level.map_or_else(
        || format!("level {number}"),
        |level| level.name().to_owned(),
    )
}
