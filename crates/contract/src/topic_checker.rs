mod fields;

use timeloom_bag::{TopicInfo, TopicStatistics};
use timeloom_msg::{FieldProgram, Schema, StampProgram, TypeResolver};

use crate::check::{Check, Place};
use crate::{Bounds, Error, QosContract, Result, Span, TopicContract};
use fields::{FrameCheck, StampCheck, ValueCheck};

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
