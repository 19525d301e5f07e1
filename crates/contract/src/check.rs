use serde::Serialize;
use timeloom_trace::Verdict;

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// One entry for each part of the contract, by topic.
    pub checks: Vec<Check>,
}

/// One part of the contract, held against the recording.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// The topic.
    pub topic: String,
    /// The part of the contract: `rate`, `max_gap`, a field.
    pub what: String,
    /// The allowed value.
    pub allowed: String,
    /// The value in the recording.
    pub actual: String,
    /// Whether the recording keeps the contract.
    pub kept: bool,
    /// Number of messages or gaps that violate it.
    pub violations: u64,
    /// The first violation, where it has a place.
    pub first: Option<Place>,
    /// The places of the violations, at most the first hundred.
    pub places: Vec<Place>,
}

/// A place in a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Log time since the start of the recording.
    pub time_ns: i64,
    /// The number of the message within its topic, from 1; 0 before the first one.
    pub message: u64,
    /// The length of a gap; 0 for a message.
    pub length_ns: u64,
}

/// Violations of one part of a contract, as they are found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Violations {
    pub(crate) count: u64,
    places: Vec<Place>,
}

/// Places that are kept of one part of a contract; the rest is counted.
const MOST_PLACES: usize = 100;

impl Violations {
    pub(crate) fn add(&mut self, place: Place) {
        self.count += 1;
        if self.places.len() < MOST_PLACES {
            self.places.push(place);
        }
    }

    /// The last violation goes on up to here.
    pub(crate) fn extend_last(&mut self, length_ns: u64) {
        if let Some(last) = self
            .places
            .last_mut()
            .filter(|_| self.count <= MOST_PLACES as u64)
        {
            last.length_ns = length_ns;
        }
    }

    pub(crate) fn check(&self, topic: &str, what: &str, allowed: &str, actual: &str) -> Check {
        Check {
            violations: self.count,
            first: self.places.first().copied(),
            places: self.places.clone(),
            ..Check::plain(topic, what, allowed, actual, self.count == 0)
        }
    }
}

impl Report {
    /// Whether the recording keeps every part of the contract.
    pub fn is_kept(&self) -> bool {
        self.checks.iter().all(|check| check.kept)
    }

    /// The checks as verdicts, for a `JUnit` file.
    pub fn verdicts(&self) -> Vec<Verdict> {
        self.checks.iter().map(Check::verdict).collect()
    }
}

impl Check {
    /// A check without a place.
    pub(crate) fn plain(topic: &str, what: &str, allowed: &str, actual: &str, kept: bool) -> Self {
        Self {
            topic: topic.to_owned(),
            what: what.to_owned(),
            allowed: allowed.to_owned(),
            actual: actual.to_owned(),
            kept,
            violations: u64::from(!kept),
            first: None,
            places: Vec::new(),
        }
    }

    /// The place of the first violation in words; empty without one.
    pub fn place_text(&self) -> String {
        let Some(place) = self.first else {
            return String::new();
        };
        let time = format!("at {:.3} s", place.time_ns as f64 / 1e9);
        let more = if self.violations > 1 {
            format!(", {} in all", self.violations)
        } else {
            String::new()
        };
        match place.message {
            0 => format!("{time}{more}"),
            message => format!("{time}, message {message}{more}"),
        }
    }

    fn verdict(&self) -> Verdict {
        let reason = if self.kept {
            String::new()
        } else {
            let place = self.place_text();
            let text = format!(
                "{}: allowed {}, actual {}",
                self.what, self.allowed, self.actual
            );
            if place.is_empty() {
                text
            } else {
                format!("{text} ({place})")
            }
        };
        Verdict {
            budget: self.topic.clone(),
            path: String::new(),
            what: self.what.clone(),
            allowed: self.allowed.clone(),
            actual: self.actual.clone(),
            kept: self.kept,
            reason,
        }
    }
}
