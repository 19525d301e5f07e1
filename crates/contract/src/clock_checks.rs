use timeloom_bag::HostClockRecord;

use crate::check::{Check, Place, Violations};
use crate::{ClockContract, Span};

/// The name that replaces a topic in checks of the host clock.
const NAME: &str = "host clock";

/// Holds the states of the host clock against a contract.
pub(crate) fn clock_checks(
    contract: &ClockContract,
    history: &[HostClockRecord],
    start_ns: i64,
) -> Vec<Check> {
    if history.is_empty() {
        let actual = "the recording has no state of the host clock";
        return vec![Check::plain(NAME, "clock", "known", actual, false)];
    }
    let checker = ClockChecker { history, start_ns };
    let mut checks = Vec::new();
    if contract.synchronised {
        checks.push(checker.synchronised());
    }
    if !contract.sources.is_empty() {
        checks.push(checker.sources(&contract.sources));
    }
    if let Some(limit) = contract.max_offset {
        checks.push(checker.limit("clock.max_offset", limit, |record| record.offset_ns));
    }
    if let Some(limit) = contract.max_error {
        checks.push(checker.limit("clock.max_error", limit, |record| record.error_ns));
    }
    if let Some(limit) = contract.max_step {
        checks.push(checker.steps(limit));
    }
    checks
}

struct ClockChecker<'a> {
    history: &'a [HostClockRecord],
    start_ns: i64,
}

impl ClockChecker<'_> {
    fn violations(&self, is_violation: impl Fn(&HostClockRecord) -> bool) -> Violations {
        let mut violations = Violations::default();
        for record in self.history.iter().filter(|record| is_violation(record)) {
            violations.add(Place {
                time_ns: record.system_ns.saturating_sub(self.start_ns).max(0),
                message: 0,
                length_ns: 0,
            });
        }
        violations
    }

    fn synchronised(&self) -> Check {
        let violations = self.violations(|record| !record.synchronised);
        let actual = match violations.count {
            0 => "at all times".to_owned(),
            count => format!("not at {count} of {} looks", self.history.len()),
        };
        violations.check(NAME, "clock.synchronised", "at all times", &actual)
    }

    fn sources(&self, wanted: &[String]) -> Check {
        let other = |record: &HostClockRecord| !wanted.contains(&record.source);
        let first = self.history.iter().find(|record| other(record));
        let first = first.or(self.history.first());
        let actual = first.map_or("", |record| record.source.as_str());
        self.violations(other)
            .check(NAME, "clock.sources", &wanted.join(" or "), actual)
    }

    /// A state without the number is a violation: nothing is known about it.
    fn limit(
        &self,
        what: &str,
        limit: Span,
        number: impl Fn(&HostClockRecord) -> Option<i64>,
    ) -> Check {
        let violations = self
            .violations(|record| number(record).is_none_or(|nanos| nanos.unsigned_abs() > limit.0));
        let known = self.history.iter().filter_map(&number);
        let worst = known.map(i64::unsigned_abs).max();
        let unknown = self
            .history
            .iter()
            .filter(|record| number(record).is_none());
        let actual = match (worst, unknown.count()) {
            (Some(worst), 0) => Span(worst).to_string(),
            (Some(worst), count) => format!("{}, unknown at {count} looks", Span(worst)),
            (None, _) => "unknown".to_owned(),
        };
        violations.check(NAME, what, &format!("at most {limit}"), &actual)
    }

    fn steps(&self, limit: Span) -> Check {
        let size = |record: &HostClockRecord| record.step_ns.map_or(0, i64::unsigned_abs);
        let largest = self.history.iter().map(size).max().unwrap_or(0);
        self.violations(|record| size(record) > limit.0).check(
            NAME,
            "clock.max_step",
            &format!("at most {limit}"),
            &Span(largest).to_string(),
        )
    }
}
