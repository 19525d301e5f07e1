use timeloom_msg::{Result, Stamp, Value};
use timeloom_time::{Ros, Time, TimeError, WireTime};

/// The stamps of a decoded message (`builtin_interfaces/Time`) as times, and back.
///
/// ```
/// use timeloom_msg::Definitions;
/// use timeloom_time::{Ros, Time, WireTime};
/// use timeloom_wire::MessageTime;
///
/// let schema = Definitions::builtin().schema("sensor_msgs/msg/Imu")?;
/// let mut imu = schema.default_value()?;
/// let now = Time::<Ros>::from_millis(1_500);
/// imu.set_time("header.stamp", WireTime::try_from(now)?)?;
/// assert_eq!(imu.time("header.stamp"), Some(now));
/// assert_eq!(imu.time("orientation"), None, "no stamp");
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub trait MessageTime {
    /// The time in the field at `path`; `None` if there is no stamp.
    fn time(&self, path: &str) -> Option<Time<Ros>>;

    /// Sets the field at `path`. A time becomes a [`WireTime`] with `try_from`, which reports the year 2038, or with
    /// `saturating_from`.
    ///
    /// # Errors
    /// When there is no stamp at that path.
    fn set_time(&mut self, path: &str, time: WireTime) -> Result<()>;
}

impl MessageTime for Value {
    fn time(&self, path: &str) -> Option<Time<Ros>> {
        let part = |name: &str| self.get(&format!("{path}.{name}"));
        let sec = i32::try_from(part("sec")?.as_i64()?).ok()?;
        let nanosec = u32::try_from(part("nanosec")?.as_u64()?).ok()?;
        Some(WireTime { sec, nanosec }.into())
    }

    fn set_time(&mut self, path: &str, time: WireTime) -> Result<()> {
        self.set(&format!("{path}.sec"), time.sec)?;
        self.set(&format!("{path}.nanosec"), time.nanosec)
    }
}

/// A [`Stamp`], as it is read from a payload without decoding it, as a time, and back.
///
/// ```
/// use timeloom_msg::Stamp;
/// use timeloom_time::Time;
/// use timeloom_wire::StampTime;
///
/// let stamp = Stamp { sec: -2, nanosec: 500_000_000 };
/// assert_eq!(stamp.time(), Time::from_millis(-1_500));
/// assert_eq!(Stamp::try_of(stamp.time())?, stamp);
/// assert!(Stamp::try_of(Time::MAX).is_err(), "beyond 2038");
/// # Ok::<_, timeloom_time::TimeError>(())
/// ```
pub trait StampTime: Sized {
    /// The stamp as a time.
    fn time(self) -> Time<Ros>;

    /// A time as a stamp.
    ///
    /// # Errors
    /// [`TimeError::WireRange`] beyond 2038.
    fn try_of(time: Time<Ros>) -> std::result::Result<Self, TimeError>;
}

impl StampTime for Stamp {
    fn time(self) -> Time<Ros> {
        Time::from_nanos(self.nanos())
    }

    fn try_of(time: Time<Ros>) -> std::result::Result<Self, TimeError> {
        let WireTime { sec, nanosec } = WireTime::try_from(time)?;
        Ok(Self { sec, nanosec })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use timeloom_msg::Definitions;

    proptest! {
        #[test]
        fn every_time_that_fits_comes_back(sec in any::<i32>(), nanosec in 0u32..1_000_000_000) {
            let wire = WireTime { sec, nanosec };
            let schema = Definitions::builtin().schema("std_msgs/msg/Header").unwrap();
            let mut header = schema.default_value().unwrap();
            header.set_time("stamp", wire).unwrap();
            prop_assert_eq!(header.time("stamp"), Some(wire.into()));
            let stamp = Stamp { sec, nanosec };
            prop_assert_eq!(Stamp::try_of(stamp.time()), Ok(stamp));
        }
    }

    #[test]
    fn a_field_that_is_not_a_stamp_gives_none() {
        let schema = Definitions::builtin()
            .schema("std_msgs/msg/Header")
            .unwrap();
        let mut header = schema.default_value().unwrap();
        assert_eq!(header.time("frame_id"), None);
        assert_eq!(header.time("nothing"), None);
        assert!(header.set_time("frame_id", WireTime::default()).is_err());
    }
}
