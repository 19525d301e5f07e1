//! The due time of the next tick: the state machine of timers and rates.

use crate::duration::Duration;
use crate::error::TimeError;
use crate::kind::{Kind, Ros};
use crate::time::Time;

/// The policy for ticks that were missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum MissedTick {
    /// Deliver one tick, count the missed ones, and stay on the grid.
    #[default]
    Skip,
    /// Deliver every missed tick, one after the other.
    CatchUp,
    /// Deliver one tick, count the missed ones, and start a new grid at the call.
    Delay,
}

/// One due tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tick<K: Kind = Ros> {
    /// When the tick was due.
    pub expected: Time<K>,
    /// When it was taken.
    pub actual: Time<K>,
    /// The number of later ticks that were due and are not delivered.
    pub missed: u64,
}

impl<K: Kind> Tick<K> {
    /// The lateness of the tick.
    pub fn lateness(&self) -> Duration {
        self.actual - self.expected
    }
}

/// A periodic or one-shot schedule on one clock, as pure state: it takes the time as an argument
/// and reads no clock.
///
/// All arithmetic saturates, so no input panics. A schedule whose next tick would lie beyond
/// [`Time::MAX`] is finished.
///
/// ```
/// use timeloom_time::{Duration, MissedTick, Ros, Schedule, Time};
///
/// let ms = |n: i64| Time::<Ros>::from_nanos(n * 1_000_000);
/// let mut schedule = Schedule::new(ms(0), Duration::from_millis(100), MissedTick::Skip)?;
/// assert_eq!(schedule.call(ms(99)), None);
///
/// let tick = schedule.call(ms(350)).unwrap();
/// assert_eq!((tick.expected, tick.missed), (ms(100), 2));
/// assert_eq!(schedule.next(), Some(ms(400)));
/// # Ok::<(), timeloom_time::TimeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule<K: Kind = Ros> {
    period: Duration,
    next: Time<K>,
    last_call: Time<K>,
    policy: MissedTick,
    first: Option<First>,
    repeat: Repeat,
    state: State,
}

/// The requested first tick, while it is pending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum First {
    At,
    After(Duration),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repeat {
    Once,
    Forever,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Running,
    Cancelled,
    Finished,
}

impl<K: Kind> Schedule<K> {
    /// A schedule that ticks every `period`, first at `now + period`.
    ///
    /// A period of zero is always ready.
    ///
    /// # Errors
    ///
    /// [`TimeError::NegativePeriod`] if the period is negative.
    pub fn new(now: Time<K>, period: Duration, policy: MissedTick) -> Result<Self, TimeError> {
        Ok(Self {
            period: Self::check(period)?,
            next: now.saturating_add(period),
            last_call: now,
            policy,
            first: None,
            repeat: Repeat::Forever,
            state: State::Running,
        })
    }

    /// A schedule for a loop, which cannot run without a pause: the period must be positive.
    ///
    /// # Errors
    ///
    /// [`TimeError::PeriodNotPositive`] if the period is zero or negative.
    pub fn rate(now: Time<K>, period: Duration, policy: MissedTick) -> Result<Self, TimeError> {
        if period <= Duration::ZERO {
            return Err(TimeError::PeriodNotPositive {
                nanoseconds: period.nanos(),
            });
        }
        Self::new(now, period, policy)
    }

    /// A schedule for a loop that runs `hertz` times per second.
    ///
    /// # Errors
    ///
    /// Those of [`Duration::try_from_hertz`].
    pub fn rate_hertz(now: Time<K>, hertz: f64, policy: MissedTick) -> Result<Self, TimeError> {
        Self::rate(now, Duration::try_from_hertz(hertz)?, policy)
    }

    /// The same schedule with its first tick at `first`, which may be in the past.
    ///
    /// The point is absolute: it does not move when the clock jumps or changes its source.
    #[must_use]
    pub fn with_first_at(mut self, first: Time<K>) -> Self {
        self.next = first;
        self.first = Some(First::At);
        self
    }

    /// The same schedule with its first tick `delay` after its creation. A negative delay is due
    /// at once.
    #[must_use]
    pub fn with_first_after(mut self, delay: Duration) -> Self {
        self.next = self.last_call.saturating_add(delay);
        self.first = Some(First::After(delay));
        self
    }

    /// The same schedule, finished after its first tick.
    #[must_use]
    pub fn once(mut self) -> Self {
        self.repeat = Repeat::Once;
        self
    }

    /// The period.
    pub fn period(&self) -> Duration {
        self.period
    }

    /// The policy for missed ticks.
    pub fn policy(&self) -> MissedTick {
        self.policy
    }

    /// The time of the next tick; `None` if cancelled or finished.
    pub fn next(&self) -> Option<Time<K>> {
        (self.state == State::Running).then_some(self.next)
    }

    /// The time of the last call, or of the creation or re-anchoring if there was none since.
    pub fn last_call(&self) -> Time<K> {
        self.last_call
    }

    /// Whether [`cancel`](Self::cancel) was called and no [`reset`](Self::reset) since.
    pub fn is_cancelled(&self) -> bool {
        self.state == State::Cancelled
    }

    /// Whether there will be no more ticks: a one-shot schedule that has fired.
    pub fn is_finished(&self) -> bool {
        self.state == State::Finished
    }

    /// Whether a tick is due at `now`.
    pub fn is_ready(&self, now: Time<K>) -> bool {
        self.next().is_some_and(|next| next <= now)
    }

    /// The time from `now` to the next tick, negative if it is overdue; `None` if cancelled or
    /// finished.
    pub fn time_until_next(&self, now: Time<K>) -> Option<Duration> {
        self.next().map(|next| next - now)
    }

    /// The time from the last call to `now`.
    pub fn time_since_last_call(&self, now: Time<K>) -> Duration {
        now - self.last_call
    }

    /// Takes the tick that is due at `now` and schedules the next one; `None` if none is due.
    pub fn call(&mut self, now: Time<K>) -> Option<Tick<K>> {
        if !self.is_ready(now) {
            return None;
        }
        let late = self.whole_periods_since_next(now);
        let tick = Tick {
            expected: self.next,
            actual: now,
            missed: match (self.policy, self.repeat) {
                (MissedTick::CatchUp, _) | (_, Repeat::Once) => 0,
                (MissedTick::Skip | MissedTick::Delay, Repeat::Forever) => late,
            },
        };
        self.last_call = now;
        self.first = None;
        self.advance(now, late);
        Some(tick)
    }

    /// Stops the schedule until it is reset. A finished schedule stays finished.
    pub fn cancel(&mut self) {
        if self.state == State::Running {
            self.state = State::Cancelled;
        }
    }

    /// Starts the schedule again, with the next tick at `now + period`, even if it was cancelled
    /// or finished.
    pub fn reset(&mut self, now: Time<K>) {
        self.next = now.saturating_add(self.period);
        self.last_call = now;
        self.first = None;
        self.state = State::Running;
    }

    /// Replaces the period and returns the old one. The next tick does not move; the period
    /// counts from there.
    ///
    /// # Errors
    ///
    /// [`TimeError::NegativePeriod`] if the period is negative; nothing changes then.
    pub fn exchange_period(&mut self, period: Duration) -> Result<Duration, TimeError> {
        Ok(core::mem::replace(&mut self.period, Self::check(period)?))
    }

    /// Follows a jump of the clock to `now`.
    ///
    /// A jump to before the last call restarts the schedule once: the next tick is one period after `now`. A shorter
    /// jump back, and any jump forward, leaves it unchanged, as does a pending first tick at an absolute point.
    pub fn on_jump(&mut self, now: Time<K>) {
        if now >= self.last_call {
            return;
        }
        self.last_call = now;
        match self.first {
            Some(First::At) => {}
            Some(First::After(delay)) => self.next = now.saturating_add(delay),
            None => self.next = now.saturating_add(self.period),
        }
    }

    /// Follows a change of the clock's source that moved it from `old` to `new`: the time left
    /// until the next tick stays the same, to the nanosecond.
    ///
    /// A pending first tick at an absolute point stays at that point.
    pub fn on_clock_change(&mut self, old: Time<K>, new: Time<K>) {
        let shift = |time: Time<K>| {
            let moved =
                i128::from(time.nanos()) - i128::from(old.nanos()) + i128::from(new.nanos());
            Time::from_nanos(clamp(moved))
        };
        self.last_call = shift(self.last_call);
        if self.first != Some(First::At) {
            self.next = shift(self.next);
        }
    }

    fn check(period: Duration) -> Result<Duration, TimeError> {
        if period.is_negative() {
            return Err(TimeError::NegativePeriod {
                nanoseconds: period.nanos(),
            });
        }
        Ok(period)
    }

    /// Number of further grid points after `next` that are due at `now`.
    fn whole_periods_since_next(&self, now: Time<K>) -> u64 {
        let period = self.period.nanos().unsigned_abs();
        // `abs_diff` cannot overflow; the caller made sure that `next <= now`.
        now.nanos()
            .abs_diff(self.next.nanos())
            .checked_div(period)
            .unwrap_or(0)
    }

    fn advance(&mut self, now: Time<K>, late: u64) {
        if self.repeat == Repeat::Once {
            self.state = State::Finished;
            return;
        }
        let period = i128::from(self.period.nanos());
        let next = match self.policy {
            _ if period == 0 => i128::from(now.nanos()),
            MissedTick::Skip => i128::from(self.next.nanos()) + (i128::from(late) + 1) * period,
            MissedTick::CatchUp => i128::from(self.next.nanos()) + period,
            MissedTick::Delay => i128::from(now.nanos()) + period,
        };
        if next > i128::from(i64::MAX) {
            self.state = State::Finished;
        }
        self.next = Time::from_nanos(clamp(next));
    }
}

fn clamp(nanos: i128) -> i64 {
    i64::try_from(nanos).unwrap_or(if nanos < 0 { i64::MIN } else { i64::MAX })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_the_largest_numbers_do_not_overflow() {
        let mut schedule =
            Schedule::<Ros>::new(Time::MIN, Duration::NANOSECOND, MissedTick::Skip).unwrap();
        let tick = schedule.call(Time::MAX).unwrap();
        assert_eq!(tick.missed, u64::MAX - 1);
        assert!(schedule.is_finished(), "no tick fits after the last point");

        let mut schedule =
            Schedule::<Ros>::new(Time::MIN, Duration::MAX, MissedTick::Skip).unwrap();
        assert_eq!(schedule.next(), Some(Time::from_nanos(-1)));
        assert_eq!(schedule.call(Time::MAX).unwrap().missed, 1);
    }

    #[test]
    fn clamping_stops_at_both_ends() {
        assert_eq!(clamp(i128::MAX), i64::MAX);
        assert_eq!(clamp(i128::MIN), i64::MIN);
        assert_eq!(clamp(-7), -7);
    }
}
