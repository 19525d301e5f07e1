use crate::duration::Duration;

/// A length of time to wait for: a [`Duration`] or one of `std`.
///
/// One of `std` that is longer than 292 years counts as [`Duration::MAX`]: no wait takes that long.
/// `Duration::try_from` detects it.
///
/// ```
/// use timeloom_time::{Duration, IntoDuration};
/// let from_std = std::time::Duration::from_millis(5).into_duration();
/// assert_eq!(from_std, Duration::from_millis(5));
/// assert_eq!(std::time::Duration::MAX.into_duration(), Duration::MAX);
/// ```
pub trait IntoDuration {
    /// The length as a [`Duration`].
    fn into_duration(self) -> Duration;
}

impl IntoDuration for Duration {
    fn into_duration(self) -> Duration {
        self
    }
}

impl IntoDuration for core::time::Duration {
    fn into_duration(self) -> Duration {
        Duration::try_from(self).unwrap_or(Duration::MAX)
    }
}
