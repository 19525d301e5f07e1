use timeloom_time::{Duration, Ros, Time};

use super::control::Refusal;
use super::mailbox::Reply;
use super::options::{ClockMode, Options, PlayRange, PlayStart, Repeat};
use super::read_ahead::ReadPlan;
use super::source::Position;

/// One playing of the bags, from play to end or stop.
pub(super) struct Run {
    pub(super) range: RunRange,
    pub(super) repeat: Repeat,
    /// The part that is repeated; the whole range otherwise.
    pub(super) loop_range: Option<RunRange>,
    /// The number of the lap.
    pub(super) lap: u64,
    /// Player time minus bag time.
    pub(super) offset: i64,
    /// After the last message that was played.
    pub(super) position: Position,
    pub(super) burst: Option<Burst>,
}

/// A burst in progress.
pub(super) struct Burst {
    /// Number of messages still to be played; `None` for all.
    pub(super) left: Option<u64>,
    pub(super) played: u64,
    pub(super) reply: Reply,
}

/// Times of the bag, both inclusive; nothing if the end is before the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RunRange {
    pub(super) start: i64,
    pub(super) end: i64,
}

impl RunRange {
    /// The requested part of a bag; the rules are those of `ros2 bag play`.
    pub(super) fn of(range: &PlayRange, bag: Self) -> Self {
        let start = match range.start {
            None => bag.start,
            Some(PlayStart::Offset(offset)) => bag.start.saturating_add(offset.nanos()),
            Some(PlayStart::At(time)) => time.nanos(),
        };
        let start = start.max(bag.start);
        let by_duration = range.duration.map(|duration| {
            // A duration of zero plays nothing, not even a message at the start.
            let last = if duration > Duration::ZERO {
                duration.nanos()
            } else {
                -1
            };
            start.saturating_add(last)
        });
        let by_time = range.until.map(Time::nanos);
        let end = by_duration.max(by_time).unwrap_or(bag.end).min(bag.end);
        Self { start, end }
    }

    pub(super) fn times(self) -> (Time<Ros>, Time<Ros>) {
        (Time::from_nanos(self.start), Time::from_nanos(self.end))
    }

    /// The duration of a lap; the next one begins a nanosecond after the end of the last.
    fn length(self) -> i64 {
        let played = self.end.saturating_sub(self.start);
        let length = played.saturating_add(1).max(1);
        length.max(least_lap(played).nanos())
    }
}

/// The shortest duration of a lap whose messages span this many nanoseconds. Without it, a loop over one message would
/// publish as fast as the machine can.
fn least_lap(nanos: i64) -> Duration {
    match nanos {
        ..=0 => Duration::from_secs(1),
        1..10_000_000 => Duration::from_millis(10),
        _ => Duration::ZERO,
    }
}

impl Run {
    /// # Errors
    /// When the loop is outside of the range.
    pub(super) fn new(range: RunRange, options: &Options) -> Result<Self, Refusal> {
        // With an external clock, messages are repeated when that clock jumps back.
        let controlled = options.time == ClockMode::Controlled;
        let mut run = Self {
            position: Position::at(range.start),
            range,
            repeat: if controlled {
                options.repeat
            } else {
                Repeat::Once
            },
            loop_range: None,
            lap: 0,
            offset: 0,
            burst: None,
        };
        let part = options.loop_range.filter(|_| controlled);
        run.loop_range = part.map(|part| run.part(part)).transpose()?;
        Ok(run)
    }

    /// The part of a loop that is within the range.
    ///
    /// # Errors
    /// When it is empty.
    pub(super) fn part(&self, (from, to): (Time<Ros>, Time<Ros>)) -> Result<RunRange, Refusal> {
        let start = from.nanos().max(self.range.start);
        let end = to.nanos();
        if from >= to || start > end || start > self.range.end {
            return Err(Refusal::EmptyLoop { from, to });
        }
        Ok(RunRange { start, end })
    }

    /// The time of the bag for a time of the bag or of this lap of a monotonic loop. The two are never the same, because
    /// a lap begins after the previous one.
    pub(super) fn bag_time(&self, time: i64) -> i64 {
        if self.offset > 0 && time > self.range.end {
            time.saturating_sub(self.offset)
        } else {
            time
        }
    }

    /// The shortest duration of a lap, by the machine's clock.
    pub(super) fn least_lap(&self) -> Duration {
        let played = self.position.time.saturating_sub(self.lap_range().start);
        least_lap(played)
    }

    /// The range of a lap.
    pub(super) fn lap_range(&self) -> RunRange {
        self.loop_range.unwrap_or(self.range)
    }

    /// The plan for reading from a position.
    pub(super) fn plan(&self, from: Position, latched: bool) -> ReadPlan {
        let lap = self.lap_range();
        ReadPlan {
            from,
            start: lap.start,
            end: lap.end.min(self.range.end),
            endless: self.repeat != Repeat::Once || self.loop_range.is_some(),
            lap: self.lap,
            latched,
        }
    }

    /// The player's time of a time of the bag.
    pub(super) fn due(&self, time: i64) -> Time<Ros> {
        Time::from_nanos(time.saturating_add(self.offset))
    }

    /// Starts the next lap.
    pub(super) fn turn(&mut self, lap: u64) {
        self.lap = lap;
        self.position = Position::at(self.lap_range().start);
        if self.repeat == Repeat::Monotonic {
            self.offset = self.offset.saturating_add(self.lap_range().length());
        }
    }

    /// The nearest valid target of a seek.
    pub(super) fn clamp(&self, time: i64) -> i64 {
        let most = self.range.end.saturating_add(1).max(self.range.start);
        time.clamp(self.range.start, most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BAG: RunRange = RunRange {
        start: 1_000,
        end: 2_000,
    };

    fn range(start: Option<i64>, duration: Option<i64>, until: Option<i64>) -> (i64, i64) {
        let range = RunRange::of(
            &PlayRange {
                start: start.map(|offset| PlayStart::Offset(Duration::from_nanos(offset))),
                duration: duration.map(Duration::from_nanos),
                until: until.map(Time::from_nanos),
            },
            BAG,
        );
        (range.start, range.end)
    }

    #[test]
    fn the_rules_of_rosbag2_hold() {
        assert_eq!(range(None, None, None), (1_000, 2_000));
        assert_eq!(range(Some(100), Some(50), None), (1_100, 1_150));
        assert_eq!(range(Some(-5), None, None), (1_000, 2_000), "not before it");
        assert_eq!(range(None, Some(0), None), (1_000, 999), "nothing");
        assert_eq!(range(None, None, Some(0)), (1_000, 0), "nothing");
        assert_eq!(
            range(None, Some(50), Some(1_150)),
            (1_000, 1_150),
            "the later"
        );
        assert_eq!(
            range(None, Some(300), Some(1_150)),
            (1_000, 1_300),
            "the later"
        );
        assert_eq!(range(None, Some(9_999), None), (1_000, 2_000));
    }
}
