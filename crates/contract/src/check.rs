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
    /// What the contract allows.
    pub allowed: String,
    /// What the recording has.
    pub actual: String,
    /// Whether the recording keeps the contract.
    pub kept: bool,
    /// How many messages, or gaps, violate it.
    pub violations: u64,
    /// The first violation, where it has a place.
    pub first: Option<Place>,
}

/// A place in a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Log time since the start of the recording.
    pub time_ns: i64,
    /// The number of the message within its topic, from 1; 0 before the first one.
    pub message: u64,
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
