//! Times and durations in files and other formats (feature `serde`): nanoseconds as an integer. Formats for people may
//! also have text, as [`FromStr`](core::str::FromStr) reads it.
//!
//! ```
//! use timeloom_time::{Duration, Time};
//! let (period, start): (Duration, Time) = serde_json::from_str(r#"["250ms", 1500000000]"#)?;
//! assert_eq!((period, start), (Duration::from_millis(250), Time::from_millis(1_500)));
//! assert_eq!(serde_json::to_string(&period)?, "250000000");
//! # Ok::<_, serde_json::Error>(())
//! ```

use core::fmt;
use core::marker::PhantomData;
use core::str::FromStr;

use serde_core::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};
use serde_core::ser::{Serialize, Serializer};

use crate::duration::Duration;
use crate::kind::Kind;
use crate::time::Time;

/// A value of nanoseconds, or text.
trait Nanoseconds: FromStr {
    const EXPECTED: &'static str;
    fn of(nanos: i64) -> Self;
}

impl Nanoseconds for Duration {
    const EXPECTED: &'static str = "nanoseconds, or a duration such as 250ms";
    fn of(nanos: i64) -> Self {
        Self::from_nanos(nanos)
    }
}

impl<K: Kind> Nanoseconds for Time<K> {
    const EXPECTED: &'static str = "nanoseconds, or seconds such as \"1.5\"";
    fn of(nanos: i64) -> Self {
        Self::from_nanos(nanos)
    }
}

struct Read<T>(PhantomData<T>);

impl<T: Nanoseconds> Visitor<'_> for Read<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_i64<E: Error>(self, nanos: i64) -> Result<T, E> {
        Ok(T::of(nanos))
    }

    fn visit_u64<E: Error>(self, nanos: u64) -> Result<T, E> {
        i64::try_from(nanos)
            .map(T::of)
            .map_err(|_too_large| E::invalid_value(Unexpected::Unsigned(nanos), &self))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        text.parse()
            .map_err(|_wrong| E::invalid_value(Unexpected::Str(text), &self))
    }
}

fn read<'de, T: Nanoseconds, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    if deserializer.is_human_readable() {
        deserializer.deserialize_any(Read(PhantomData))
    } else {
        deserializer.deserialize_i64(Read(PhantomData))
    }
}

impl Serialize for Duration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.nanos())
    }
}

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer)
    }
}

impl<K: Kind> Serialize for Time<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.nanos())
    }
}

impl<'de, K: Kind> Deserialize<'de> for Time<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read(deserializer)
    }
}
