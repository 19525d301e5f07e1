use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A closed interval of numbers; a missing end is open.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bounds {
    /// The smallest value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The largest value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
}

impl Bounds {
    /// Whether a number is inside. NaN is outside.
    pub fn contains(self, number: f64) -> bool {
        !number.is_nan()
            && self.min.is_none_or(|min| number >= min)
            && self.max.is_none_or(|max| number <= max)
    }

    pub(crate) fn problem(self) -> Option<&'static str> {
        let ends = [self.min, self.max];
        if ends.iter().all(Option::is_none) {
            return Some("needs min, max or both");
        }
        if ends.iter().flatten().any(|end| end.is_nan()) {
            return Some("a bound is NaN");
        }
        match ends {
            [Some(min), Some(max)] if max < min => Some("max is less than min"),
            _ => None,
        }
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.min, self.max) {
            (Some(min), Some(max)) => write!(f, "{min} to {max}"),
            (Some(min), None) => write!(f, "at least {min}"),
            (None, Some(max)) => write!(f, "at most {max}"),
            (None, None) => write!(f, "any"),
        }
    }
}

/// A length of time in nanoseconds, written as `50ms`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(pub u64);

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let span = timeloom_trace::parse_span(&text).map_err(serde::de::Error::custom)?;
        let nanos = u64::try_from(span.nanos());
        nanos
            .map(Self)
            .map_err(|_negative| serde::de::Error::custom(format!("{text} is negative")))
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.yaml())
    }
}

impl Span {
    /// The exact spelling in a contract.
    pub(crate) fn yaml(self) -> String {
        match self.0 {
            nanos if nanos % 1_000_000_000 == 0 => format!("{}s", nanos / 1_000_000_000),
            nanos if nanos % 1_000_000 == 0 => format!("{}ms", nanos / 1_000_000),
            nanos if nanos % 1_000 == 0 => format!("{}us", nanos / 1_000),
            nanos => format!("{nanos}ns"),
        }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&timeloom_trace::span_text(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_include_their_ends_and_exclude_nan() {
        let bounds = Bounds {
            min: Some(1.0),
            max: Some(2.0),
        };
        assert!(bounds.contains(1.0) && bounds.contains(2.0));
        assert!(!bounds.contains(0.9) && !bounds.contains(f64::NAN));
        assert_eq!(bounds.to_string(), "1 to 2");
        assert_eq!(Bounds::default().problem(), Some("needs min, max or both"));
    }

    #[test]
    fn spans_are_written_exactly() {
        for nanos in [1, 1_500, 2_000_000, 3_000_000_000, 1_000_000_001] {
            let text = Span(nanos).yaml();
            let back: Span = serde_saphyr::from_str(&text).unwrap();
            assert_eq!(back, Span(nanos), "{text}");
        }
    }
}
