use timeloom_bag::{TopicInfo, TopicStatistics};
use timeloom_msg::value::Array;
use timeloom_msg::{FieldProgram, Schema, StampProgram, TypeResolver, Value};

use crate::check::{Check, Place};
use crate::{Bounds, Error, QosContract, Result, Span, TopicContract};

/// Holds one topic against its contract, message by message.
pub(crate) struct TopicChecker<'a> {
    name: &'a str,
    contract: &'a TopicContract,
    topic: TopicInfo,
    /// Why messages cannot be decoded, where that is needed.
    undecodable: Option<String>,
    count: u64,
    first_ns: i64,
    last_ns: i64,
    gap: LongestGap,
    stamps: Option<StampCheck>,
    frame: Option<FrameCheck>,
    values: Vec<ValueCheck>,
}

impl<'a> TopicChecker<'a> {
    pub(crate) fn new(
        name: &'a str,
        contract: &'a TopicContract,
        topic: &TopicInfo,
        resolver: &TypeResolver,
    ) -> Result<Self> {
        let mut checker = Self {
            name,
            contract,
            topic: topic.clone(),
            undecodable: None,
            count: 0,
            first_ns: 0,
            last_ns: 0,
            gap: LongestGap::default(),
            stamps: None,
            frame: None,
            values: Vec::new(),
        };
        if contract.needs_values() {
            match topic.schema(resolver) {
                Ok(schema) => checker.compile(&schema)?,
                Err(error) => checker.undecodable = Some(error.to_string()),
            }
        }
        Ok(checker)
    }

    fn compile(&mut self, schema: &Schema) -> Result<()> {
        let wrong = |reason: String| Error::Field {
            topic: self.name.to_owned(),
            reason,
        };
        if self.contract.stamps.is_some() {
            let program = StampProgram::compile(schema)
                .ok_or_else(|| wrong(format!("stamps: {} has no header", schema.name())))?;
            self.stamps = Some(StampCheck::new(program));
        }
        if self.contract.frame_id.is_some() {
            let program = FieldProgram::compile(schema, "header.frame_id")
                .map_err(|error| wrong(format!("frame_id: {error}")))?;
            self.frame = Some(FrameCheck::new(program));
        }
        for (field, bounds) in &self.contract.values {
            let program = FieldProgram::compile(schema, field)
                .map_err(|error| wrong(format!("values: {field}: {error}")))?;
            self.values.push(ValueCheck::new(field, *bounds, program));
        }
        Ok(())
    }

    /// Takes a message: its log time since the start of the recording, the log time itself, the payload.
    pub(crate) fn message(&mut self, time_ns: i64, log_time_ns: i64, payload: &[u8]) {
        if self.count == 0 {
            self.first_ns = time_ns;
        }
        let before = if self.count == 0 { 0 } else { self.last_ns };
        self.gap
            .add(before, time_ns, self.count, self.contract.max_gap);
        self.count += 1;
        self.last_ns = time_ns;
        let place = Place {
            time_ns,
            message: self.count,
        };
        if let Some(check) = &mut self.stamps {
            check.message(self.contract, log_time_ns, payload, place);
        }
        if let (Some(check), Some(frame)) = (&mut self.frame, &self.contract.frame_id) {
            check.message(frame, payload, place);
        }
        for check in &mut self.values {
            check.message(payload, place);
        }
    }

    /// The checks, for a recording of this length.
    pub(crate) fn finish(
        mut self,
        duration_ns: i64,
        statistics: Option<&TopicStatistics>,
    ) -> Vec<Check> {
        let mut checks = vec![self.check("present", "yes", "yes", true)];
        if let Some(wanted) = &self.contract.type_name {
            let kept = *wanted == self.topic.type_name;
            checks.push(self.check("type", wanted, &self.topic.type_name, kept));
        }
        if let Some(wanted) = &self.contract.qos {
            checks.push(self.qos(wanted));
        }
        if let Some(bounds) = self.contract.count {
            let count = self.count;
            let kept = bounds.contains(count as f64);
            checks.push(self.check("count", &bounds.to_string(), &count.to_string(), kept));
        }
        if let Some(bounds) = self.contract.rate {
            checks.push(self.rate(bounds));
        }
        if let Some(longest) = self.contract.max_gap {
            let before = if self.count == 0 { 0 } else { self.last_ns };
            self.gap.add(before, duration_ns, self.count, Some(longest));
            checks.push(self.gap_check(longest));
        }
        checks.extend(self.losses(statistics));
        if let Some(reason) = &self.undecodable {
            let actual = format!("not decoded: {reason}");
            checks.push(self.check("stamps and values", "decoded messages", &actual, false));
        }
        if let Some(stamps) = &self.stamps {
            checks.extend(stamps.checks(self.name, self.contract));
        }
        if let (Some(check), Some(frame)) = (&self.frame, &self.contract.frame_id) {
            checks.push(check.check(self.name, frame));
        }
        checks.extend(self.values.iter().map(|value| value.check(self.name)));
        checks
    }

    fn check(&self, what: &str, allowed: &str, actual: &str, kept: bool) -> Check {
        plain(self.name, what, allowed, actual, kept)
    }

    fn rate(&self, bounds: Bounds) -> Check {
        let allowed = format!("{bounds} Hz");
        let span = self.last_ns.saturating_sub(self.first_ns);
        if self.count < 2 || span <= 0 {
            let actual = format!("no rate: {} messages", self.count);
            return self.check("rate", &allowed, &actual, false);
        }
        let rate = (self.count - 1) as f64 * 1e9 / span as f64;
        let actual = format!("{rate:.2} Hz");
        self.check("rate", &allowed, &actual, bounds.contains(rate))
    }

    fn gap_check(&self, longest: Span) -> Check {
        let allowed = format!("at most {longest}");
        let actual = Span(self.gap.longest).to_string();
        Check {
            violations: self.gap.violations,
            first: self.gap.first,
            ..self.check("max_gap", &allowed, &actual, self.gap.violations == 0)
        }
    }

    fn qos(&self, wanted: &QosContract) -> Check {
        let parts = [&wanted.reliability, &wanted.durability];
        let parts: Vec<&str> = parts.iter().filter_map(|part| part.as_deref()).collect();
        let allowed = parts.join(" ");
        let Ok(profiles) = timeloom_msg::qos::parse_profiles(&self.topic.offered_qos_profiles)
        else {
            return self.check("qos", &allowed, "not readable", false);
        };
        let names = profiles.iter().map(|profile| {
            let reliability = profile.reliability.name();
            (reliability, profile.durability.name())
        });
        let names: Vec<_> = names.collect();
        let matches = |wanted: &Option<String>, actual: &str| {
            wanted.as_ref().is_none_or(|wanted| wanted == actual)
        };
        let kept = !names.is_empty()
            && names.iter().all(|(reliability, durability)| {
                matches(&wanted.reliability, reliability) && matches(&wanted.durability, durability)
            });
        let actual: Vec<String> = names
            .iter()
            .map(|(reliability, durability)| format!("{reliability} {durability}"))
            .collect();
        let actual = if actual.is_empty() {
            "no profile in the bag".to_owned()
        } else {
            actual.join(", ")
        };
        self.check("qos", &allowed, &actual, kept)
    }

    fn losses(&self, statistics: Option<&TopicStatistics>) -> Vec<Check> {
        let mut checks = Vec::new();
        if let Some(most) = self.contract.max_lost {
            let allowed = format!("at most {most}");
            checks.push(match statistics.map(TopicStatistics::messages_lost) {
                Some(lost) => self.check("max_lost", &allowed, &lost.to_string(), lost <= most),
                None => self.check("max_lost", &allowed, "the bag keeps no account", false),
            });
        }
        if let Some(most) = self.contract.max_unknown {
            let allowed = format!("at most {most}");
            checks.push(match statistics.map(|statistics| &statistics.unknown) {
                Some(unknown) if unknown.is_open() => {
                    self.check("max_unknown", &allowed, "open", false)
                }
                Some(unknown) => {
                    let unknown = unknown.at_most();
                    self.check(
                        "max_unknown",
                        &allowed,
                        &unknown.to_string(),
                        unknown <= most,
                    )
                }
                None => self.check("max_unknown", &allowed, "the bag keeps no account", false),
            });
        }
        checks
    }
}

impl TopicContract {
    fn needs_values(&self) -> bool {
        self.stamps.is_some() || self.frame_id.is_some() || !self.values.is_empty()
    }
}

/// A check without a place.
pub(crate) fn plain(topic: &str, what: &str, allowed: &str, actual: &str, kept: bool) -> Check {
    Check {
        topic: topic.to_owned(),
        what: what.to_owned(),
        allowed: allowed.to_owned(),
        actual: actual.to_owned(),
        kept,
        violations: u64::from(!kept),
        first: None,
    }
}

#[derive(Default)]
struct LongestGap {
    longest: u64,
    violations: u64,
    first: Option<Place>,
}

impl LongestGap {
    fn add(&mut self, from_ns: i64, to_ns: i64, message: u64, allowed: Option<Span>) {
        let gap = u64::try_from(to_ns.saturating_sub(from_ns)).unwrap_or(0);
        self.longest = self.longest.max(gap);
        if allowed.is_some_and(|allowed| gap > allowed.0) {
            self.violations += 1;
            self.first.get_or_insert(Place {
                time_ns: from_ns,
                message,
            });
        }
    }
}

/// Violations of one part of a contract.
#[derive(Default)]
struct Violations {
    count: u64,
    first: Option<Place>,
}

impl Violations {
    fn add(&mut self, place: Place) {
        self.count += 1;
        self.first.get_or_insert(place);
    }

    fn check(&self, topic: &str, what: &str, allowed: &str, actual: &str) -> Check {
        Check {
            violations: self.count,
            first: self.first,
            ..plain(topic, what, allowed, actual, self.count == 0)
        }
    }
}

struct StampCheck {
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
    fn new(program: StampProgram) -> Self {
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

    fn message(
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

    fn checks(&self, topic: &str, contract: &TopicContract) -> Vec<Check> {
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

struct FrameCheck {
    program: FieldProgram,
    wrong: Violations,
    first_wrong: String,
}

impl FrameCheck {
    fn new(program: FieldProgram) -> Self {
        Self {
            program,
            wrong: Violations::default(),
            first_wrong: String::new(),
        }
    }

    fn message(&mut self, wanted: &str, payload: &[u8], place: Place) {
        let value = self.program.read(payload);
        let frame = value.as_ref().ok().and_then(Value::as_str);
        if frame == Some(wanted) {
            return;
        }
        if self.wrong.count == 0 {
            self.first_wrong = frame.unwrap_or("(not readable)").to_owned();
        }
        self.wrong.add(place);
    }

    fn check(&self, topic: &str, wanted: &str) -> Check {
        let actual = if self.wrong.count == 0 {
            wanted
        } else {
            &self.first_wrong
        };
        self.wrong.check(topic, "frame_id", wanted, actual)
    }
}

struct ValueCheck {
    field: String,
    bounds: Bounds,
    program: FieldProgram,
    outside: Violations,
    unreadable: u64,
    not_numbers: u64,
    range: Option<(f64, f64)>,
}

impl ValueCheck {
    fn new(field: &str, bounds: Bounds, program: FieldProgram) -> Self {
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

    fn message(&mut self, payload: &[u8], place: Place) {
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

    fn check(&self, topic: &str) -> Check {
        let mut actual = match self.range {
            Some((low, high)) => format!("{low} to {high}"),
            None => "no value".to_owned(),
        };
        for (count, what) in [(self.not_numbers, "NaN"), (self.unreadable, "not readable")] {
            if count > 0 {
                actual.push_str(&format!(", {count} {what}"));
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
