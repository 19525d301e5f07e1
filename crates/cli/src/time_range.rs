//! `--start` and `--end`.

use clap::Args;
use timeloom_bag::storage::FileInfo;
use timeloom_text::seconds;

use crate::context::Context;
use crate::failure::Failure;
use crate::time_argument::TimeArgument;

/// The part of a bag that is wanted.
#[derive(Debug, Args, Default)]
pub(crate) struct TimeRangeArguments {
    /// First log time: +10s, -10s (before the end), 14:03:07, 2026-11-15T08:58:51.9, RFC 3339, seconds, nanoseconds
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) start: Option<TimeArgument>,

    /// Last log time, inclusive, in the same formats
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) end: Option<TimeArgument>,
}

/// Log times in nanoseconds, both inclusive; `None` is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TimeRange {
    pub(crate) start_ns: Option<i64>,
    pub(crate) end_ns: Option<i64>,
}

impl TimeRangeArguments {
    /// The range within a bag.
    pub(crate) fn resolve(&self, bag: &FileInfo) -> Result<TimeRange, Failure> {
        let (first, last) = (bag.start_time_ns.unwrap_or(0), bag.end_time_ns.unwrap_or(0));
        let zone = Context::time_zone();
        let resolve = |name: &str, time: TimeArgument| {
            let beyond =
                || Failure::usage(format!("--{name} is beyond the times that a bag can hold"));
            time.resolve(first, last, &zone).ok_or_else(beyond)
        };
        let start_ns = self.start.map(|time| resolve("start", time)).transpose()?;
        let end_ns = self.end.map(|time| resolve("end", time)).transpose()?;
        let range = TimeRange { start_ns, end_ns };
        range.check()?;
        Ok(range)
    }
}

impl TimeRange {
    /// Refuses an end before the start.
    pub(crate) fn check(self) -> Result<(), Failure> {
        let (Some(start), Some(end)) = (self.start_ns, self.end_ns) else {
            return Ok(());
        };
        if end < start {
            let text = format!(
                "the end ({}) is before the start ({})",
                seconds(end),
                seconds(start)
            );
            return Err(Failure::usage(text)
                .hint("give --end a later time than --start; both are inclusive"));
        }
        Ok(())
    }

    /// Position of a log time in this range of a bag, from 0 to 1.
    pub(crate) fn fraction(self, bag: &FileInfo, log_time_ns: i64) -> f64 {
        let start = self.start_ns.max(bag.start_time_ns).unwrap_or(0);
        let end = bag
            .end_time_ns
            .unwrap_or(start)
            .min(self.end_ns.unwrap_or(i64::MAX));
        let span = end.saturating_sub(start);
        if span <= 0 {
            0.0
        } else {
            log_time_ns.saturating_sub(start) as f64 / span as f64
        }
    }
}
