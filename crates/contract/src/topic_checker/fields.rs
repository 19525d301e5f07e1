//! Checks of fields of messages.

use std::fmt::Write as _;

use timeloom_msg::value::Array;
use timeloom_msg::{FieldProgram, StampProgram, Value};

use crate::check::{Check, Place, Violations};
use crate::{Bounds, Span, TopicContract};

/// Header stamps held against a contract.
pub(super) struct StampCheck {
    program: StampProgram,
    newest: Option<i64>,
    back: Violations,
    old: Violations,
    future: Violations,
    unreadable: Violations,
    /// Smallest and largest age.
    ages: Option<(i64, i64)>,
}

impl StampCheck {
    pub(super) fn new(program: StampProgram) -> Self {
        Self {
            program,
            newest: None,
            back: Violations::default(),
            old: Violations::default(),
            future: Violations::default(),
            unreadable: Violations::default(),
            ages: None,
        }
    }

    pub(super) fn message(
        &mut self,
        contract: &TopicContract,
        log_time_ns: i64,
        payload: &[u8],
        place: Place,
    ) {
        let Some(wanted) = &contract.stamps else {
            return;
        };
        let Ok(stamp) = self.program.read(payload) else {
            return self.unreadable.add(place);
        };
        let stamp = stamp.nanos();
        if self.newest.is_some_and(|newest| stamp < newest) {
            self.back.add(place);
        }
        self.newest = self.newest.max(Some(stamp));
        let age = log_time_ns.saturating_sub(stamp);
        let (low, high) = self.ages.unwrap_or((age, age));
        self.ages = Some((low.min(age), high.max(age)));
        let exceeds = |age: i64, limit: Option<Span>| {
            limit.is_some_and(|limit| u64::try_from(age).is_ok_and(|age| age > limit.0))
        };
        if exceeds(age, wanted.max_age) {
            self.old.add(place);
        }
        if exceeds(age.saturating_neg(), wanted.max_future) {
            self.future.add(place);
        }
    }

    pub(super) fn checks(&self, topic: &str, contract: &TopicContract) -> Vec<Check> {
        let Some(wanted) = &contract.stamps else {
            return Vec::new();
        };
        let mut checks = Vec::new();
        if self.unreadable.count > 0 {
            checks.push(
                self.unreadable
                    .check(topic, "stamps", "readable", "not readable"),
            );
        }
        if wanted.monotonic {
            let actual = match self.back.count {
                0 => "never go back".to_owned(),
                count => format!("go back {count} times"),
            };
            checks.push(
                self.back
                    .check(topic, "stamps.monotonic", "never go back", &actual),
            );
        }
        let text = |nanos: Option<i64>| match nanos {
            Some(nanos) if nanos < 0 => format!("-{}", Span(nanos.unsigned_abs())),
            Some(nanos) => Span(nanos.unsigned_abs()).to_string(),
            None => "no stamp".to_owned(),
        };
        if let Some(limit) = wanted.max_age {
            let actual = text(self.ages.map(|(_, high)| high));
            checks.push(self.old.check(
                topic,
                "stamps.max_age",
                &format!("at most {limit}"),
                &actual,
            ));
        }
        if let Some(limit) = wanted.max_future {
            let actual = text(self.ages.map(|(low, _)| low.saturating_neg()));
            let allowed = format!("at most {limit}");
            checks.push(
                self.future
                    .check(topic, "stamps.max_future", &allowed, &actual),
            );
        }
        checks
    }
}

/// The frame of every header.
pub(super) struct FrameCheck {
    program: FieldProgram,
    wrong: Violations,
    first_wrong: String,
}

impl FrameCheck {
    pub(super) fn new(program: FieldProgram) -> Self {
        Self {
            program,
            wrong: Violations::default(),
            first_wrong: String::new(),
        }
    }

    pub(super) fn message(&mut self, wanted: &str, payload: &[u8], place: Place) {
        let value = self.program.read(payload);
        let frame = value.as_ref().ok().and_then(Value::as_str);
        if frame == Some(wanted) {
            return;
        }
        if self.wrong.count == 0 {
            frame
                .unwrap_or("(not readable)")
                .clone_into(&mut self.first_wrong);
        }
        self.wrong.add(place);
    }

    pub(super) fn check(&self, topic: &str, wanted: &str) -> Check {
        let actual = if self.wrong.count == 0 {
            wanted
        } else {
            &self.first_wrong
        };
        self.wrong.check(topic, "frame_id", wanted, actual)
    }
}

/// The numbers of a field.
pub(super) struct ValueCheck {
    field: String,
    bounds: Bounds,
    program: FieldProgram,
    outside: Violations,
    unreadable: u64,
    not_numbers: u64,
    range: Option<(f64, f64)>,
}

impl ValueCheck {
    pub(super) fn new(field: &str, bounds: Bounds, program: FieldProgram) -> Self {
        Self {
            field: field.to_owned(),
            bounds,
            program,
            outside: Violations::default(),
            unreadable: 0,
            not_numbers: 0,
            range: None,
        }
    }

    pub(super) fn message(&mut self, payload: &[u8], place: Place) {
        let Ok(value) = self.program.read(payload) else {
            self.unreadable += 1;
            return self.outside.add(place);
        };
        let mut outside = false;
        let mut take = |number: f64| {
            if number.is_nan() {
                self.not_numbers += 1;
            } else {
                let (low, high) = self.range.unwrap_or((number, number));
                self.range = Some((low.min(number), high.max(number)));
            }
            outside |= !self.bounds.contains(number);
        };
        match &value {
            Value::Bool(value) => take(f64::from(u8::from(*value))),
            Value::Array(array) => numbers(array, &mut take),
            value => match value.as_f64() {
                Some(number) => take(number),
                None => outside = true,
            },
        }
        if outside {
            self.outside.add(place);
        }
    }

    pub(super) fn check(&self, topic: &str) -> Check {
        let mut actual = match self.range {
            Some((low, high)) => format!("{low} to {high}"),
            None => "no value".to_owned(),
        };
        for (count, what) in [(self.not_numbers, "NaN"), (self.unreadable, "not readable")] {
            if count > 0 {
                // Writing to a string cannot fail.
                let _ok = write!(actual, ", {count} {what}");
            }
        }
        self.outside
            .check(topic, &self.field, &self.bounds.to_string(), &actual)
    }
}

/// The elements of an array as numbers; other elements are NaN, which no bounds contain.
fn numbers(array: &Array, take: &mut impl FnMut(f64)) {
    for index in 0..array.len() {
        let number = array.get(index).and_then(|value| value.as_f64());
        take(number.unwrap_or(f64::NAN));
    }
}
