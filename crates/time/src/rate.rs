use crate::clock::Clock;
use crate::duration::Duration;
use crate::error::TimeError;
use crate::into_duration::IntoDuration;
use crate::kind::{Kind, Ros};
use crate::schedule::{MissedTick, Schedule, Tick};
use crate::timer::Timer;
use crate::wait::{WaitOptions, Woke};

/// Paces a loop: work, [`sleep`](Self::sleep), work, sleep.
///
/// The loop keeps to a grid: an iteration that took too long is followed by the next grid point, and the loop does not
/// run slow from then on. After a jump back a new grid starts, once.
///
/// ```
/// use timeloom_time::{Clock, Rate, Steady, VirtualTime};
/// let world = VirtualTime::new();
/// let clock = Clock::<Steady>::on(&world.base());
/// let mut rate = Rate::from_hertz(&clock, 50.0)?;
/// let worker = world.spawn("worker", move || {
///     for _ in 0..3 {
///         let tick = rate.sleep().expect("not cancelled");
///         assert_eq!(tick.missed, 0);
///     }
/// });
/// worker.join().unwrap();
/// assert!(Rate::from_hertz(&clock, 0.0).is_err());
/// # Ok::<_, timeloom_time::TimeError>(())
/// ```
#[derive(Debug)]
pub struct Rate<K: Kind = Ros>(Timer<K>);

impl<K: Kind> Rate<K> {
    /// A loop with this period; missed grid points are skipped.
    ///
    /// # Errors
    /// [`TimeError::PeriodNotPositive`].
    pub fn new(clock: &Clock<K>, period: impl IntoDuration) -> Result<Self, TimeError> {
        Self::with_policy(clock, period, MissedTick::default())
    }

    /// A loop with this period and a policy for missed grid points.
    ///
    /// # Errors
    /// [`TimeError::PeriodNotPositive`].
    pub fn with_policy(
        clock: &Clock<K>,
        period: impl IntoDuration,
        policy: MissedTick,
    ) -> Result<Self, TimeError> {
        let period = period.into_duration();
        Timer::new(clock, |now| Schedule::rate(now, period, policy)).map(Self)
    }

    /// A loop of this many iterations per second.
    ///
    /// # Errors
    /// [`TimeError::RateNotPositive`] or [`TimeError::RateOutOfRange`].
    pub fn from_hertz(clock: &Clock<K>, hertz: f64) -> Result<Self, TimeError> {
        Self::new(clock, Duration::try_from_hertz(hertz)?)
    }

    /// Blocks until the next grid point; if it has passed, returns at once with the number of missed grid points.
    ///
    /// # Errors
    /// The reason why there is none: [`Woke::ShutDown`], also when the grid point has passed.
    pub fn sleep(&mut self) -> Result<Tick<K>, Woke<K>> {
        self.0.wait()
    }

    /// Like [`sleep`](Self::sleep), with a timeout, a token, a precision, and what to do at jumps: with
    /// [`OnJump::Return`](crate::OnJump::Return) the sleep ends at a jump that meets the threshold.
    ///
    /// # Errors
    /// The reason why there is none.
    pub fn sleep_with(&mut self, options: &WaitOptions) -> Result<Tick<K>, Woke<K>> {
        self.0.wait_with(options)
    }

    /// Starts a new grid: the next grid point is one period from now.
    pub fn reset(&mut self) {
        self.0.reset();
    }

    /// The period.
    pub fn period(&self) -> Duration {
        self.0.period()
    }
}
