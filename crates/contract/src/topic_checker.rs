mod fields;

use timeloom_bag::{TopicInfo, TopicStatistics};
use timeloom_msg::{FieldProgram, Schema, StampProgram, TypeResolver};

use crate::check::{Check, Place, Violations};
use crate::{Bounds, Error, QosContract, Result, Span, TopicContract};
use fields::{FrameCheck, StampCheck, ValueCheck};

/// From when on a topic is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Since {
    /// From the start of the recording.
    Start,
    /// From this time on, at which a running robot was subscribed to. Its first message may be late.
    Subscribed(i64),
}

/// Holds one topic against its contract, message by message.
pub(crate) struct TopicChecker<'a> {
    name: &'a str,
    contract: &'a TopicContract,
    topic: TopicInfo,
    /// The reason why messages cannot be decoded, if they must be.
    undecodable: Option<String>,
    count: u64,
    /// When the topic is waited for, and whether the wait for its first message is a gap.
    since: Since,
    first_ns: i64,
    last_ns: i64,
    gaps: Gaps,
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
        since: Since,
    ) -> Result<Self> {
        let mut checker = Self {
            name,
            contract,
            topic: topic.clone(),
            undecodable: None,
            count: 0,
            since,
            first_ns: 0,
            last_ns: 0,
            gaps: Gaps::default(),
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
        if self.count > 0 || self.since == Since::Start {
            let (before, allowed) = (self.last_time(), self.contract.max_gap);
            self.gaps.add(before, time_ns, self.count, allowed);
        }
        self.count += 1;
        self.last_ns = time_ns;
        let place = Place {
            time_ns,
            message: self.count,
            length_ns: 0,
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

    /// The time of the last message, or from which on the first one is waited for.
    fn last_time(&self) -> i64 {
        match (self.count, self.since) {
            (0, Since::Start) => 0,
            (0, Since::Subscribed(time_ns)) => time_ns,
            _ => self.last_ns,
        }
    }

    /// Time has come so far without a message.
    pub(crate) fn pass_time(&mut self, time_ns: i64) {
        if self.count > 0 {
            let (last, allowed) = (self.last_ns, self.contract.max_gap);
            self.gaps.extend(last, time_ns, self.count, allowed);
        }
    }

    /// Violations so far of the parts that do not need the end of the recording.
    pub(crate) fn violated(&self) -> Vec<Check> {
        let mut checks = self.of_topic();
        checks.extend(self.contract.max_gap.map(|longest| self.gap_check(longest)));
        checks.extend(self.of_messages());
        checks.retain(|check| !check.kept);
        checks
    }

    /// The checks, for a recording of this length.
    pub(crate) fn finish(
        mut self,
        duration_ns: i64,
        statistics: Option<&TopicStatistics>,
    ) -> Vec<Check> {
        let mut checks = vec![self.check("present", "yes", "yes", true)];
        checks.extend(self.of_topic());
        if let Some(bounds) = self.contract.count {
            let count = self.count;
            let kept = bounds.contains(count as f64);
            checks.push(self.check("count", &bounds.to_string(), &count.to_string(), kept));
        }
        if let Some(bounds) = self.contract.rate {
            checks.push(self.rate(bounds));
        }
        if let Some(longest) = self.contract.max_gap {
            let before = self.last_time();
            self.gaps
                .add(before, duration_ns, self.count, Some(longest));
            checks.push(self.gap_check(longest));
        }
        checks.extend(self.losses(statistics));
        checks.extend(self.of_messages());
        checks
    }

    /// The checks of what a publisher announces.
    fn of_topic(&self) -> Vec<Check> {
        let mut checks = Vec::new();
        if let Some(wanted) = &self.contract.type_name {
            let kept = *wanted == self.topic.type_name;
            checks.push(self.check("type", wanted, &self.topic.type_name, kept));
        }
        if let Some(wanted) = &self.contract.qos {
            checks.push(self.qos(wanted));
        }
        checks
    }

    /// The checks inside of messages.
    fn of_messages(&self) -> Vec<Check> {
        let mut checks = Vec::new();
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
        Check::plain(self.name, what, allowed, actual, kept)
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
        let actual = Span(self.gaps.longest).to_string();
        self.gaps
            .violations
            .check(self.name, "max_gap", &allowed, &actual)
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
            checks.push(match statistics {
                Some(statistics) if statistics.unknown.uncounted => {
                    let actual = "the recorder did not count lost messages";
                    self.check("max_lost", &allowed, actual, false)
                }
                Some(statistics) => {
                    let lost = statistics.messages_lost();
                    self.check("max_lost", &allowed, &lost.to_string(), lost <= most)
                }
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

/// The times without a message.
#[derive(Default)]
struct Gaps {
    longest: u64,
    violations: Violations,
    /// Whether the current gap is among the violations already.
    is_open_counted: bool,
}

impl Gaps {
    /// A gap that has ended.
    fn add(&mut self, from_ns: i64, to_ns: i64, message: u64, allowed: Option<Span>) {
        self.extend(from_ns, to_ns, message, allowed);
        self.is_open_counted = false;
    }

    /// A gap that has come so far.
    fn extend(&mut self, from_ns: i64, to_ns: i64, message: u64, allowed: Option<Span>) {
        let length_ns = u64::try_from(to_ns.saturating_sub(from_ns)).unwrap_or(0);
        self.longest = self.longest.max(length_ns);
        if allowed.is_none_or(|allowed| length_ns <= allowed.0) {
            return;
        }
        if self.is_open_counted {
            return self.violations.extend_last(length_ns);
        }
        self.is_open_counted = true;
        self.violations.add(Place {
            time_ns: from_ns,
            message,
            length_ns,
        });
    }
}
