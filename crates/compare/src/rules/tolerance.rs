/// The tolerance of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Tolerance {
    /// The field is not compared.
    Ignore,
    /// Numbers: a difference up to `absolute`, or up to `relative` times the larger value.
    Number {
        /// Largest absolute difference.
        absolute: f64,
        /// Largest difference as a share of the larger value.
        relative: f64,
        /// Values that differ by a multiple of this are equal: 2π for angles in radians.
        wrap: Option<f64>,
        /// Whether two NaN are equal.
        nan: Nan,
    },
    /// Angles in radians, and quaternions by the angle of rotation between them.
    Angle(f64),
    /// Times and durations, in nanoseconds.
    Time(u64),
}

/// Whether two NaN are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Nan {
    /// NaN equals NaN.
    #[default]
    Equal,
    /// NaN differs from everything.
    Different,
}

impl Tolerance {
    /// Equal values only; NaN equals NaN.
    pub(crate) const EXACT: Self = Self::Number {
        absolute: 0.0,
        relative: 0.0,
        wrap: None,
        nan: Nan::Equal,
    };

    /// Parses a tolerance: `0.01`, `1%`, `0.01,1%`, `0.5deg`, `0.01rad`, `5ms`, `wrap=360`, `nan=different`, `ignore`.
    ///
    /// # Errors
    /// When the text is no tolerance; in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        if let [part] = parts.as_slice()
            && let Some(single) = parse_single(part)?
        {
            return Ok(single);
        }
        let (mut absolute, mut relative, mut wrap, mut nan) = (0.0, 0.0, None, Nan::Equal);
        for part in parts {
            match part.split_once('=') {
                Some(("wrap", period)) => wrap = Some(positive(period)?),
                Some(("nan", "equal")) => nan = Nan::Equal,
                Some(("nan", "different")) => nan = Nan::Different,
                Some(_) => return Err(not_a_tolerance(part)),
                None => match part.strip_suffix('%') {
                    Some(percent) => relative = positive(percent)? / 100.0,
                    None => absolute = positive(part)?,
                },
            }
        }
        Ok(Self::Number {
            absolute,
            relative,
            wrap,
            nan,
        })
    }

    /// The largest absolute difference, without a unit.
    pub fn absolute(self) -> f64 {
        match self {
            Self::Ignore => f64::INFINITY,
            Self::Number { absolute, .. } => absolute,
            Self::Angle(angle) => angle,
            Self::Time(nanos) => nanos as f64,
        }
    }

    pub(crate) fn nan(self) -> Nan {
        match self {
            Self::Number { nan, .. } => nan,
            _ => Nan::Equal,
        }
    }
}

/// A tolerance that stands alone: with a unit, or `ignore`.
fn parse_single(text: &str) -> Result<Option<Tolerance>, String> {
    if text == "ignore" {
        return Ok(Some(Tolerance::Ignore));
    }
    if let Some(degrees) = text.strip_suffix("deg") {
        return Ok(Some(Tolerance::Angle(positive(degrees)?.to_radians())));
    }
    if let Some(radians) = text.strip_suffix("rad") {
        return Ok(Some(Tolerance::Angle(positive(radians)?)));
    }
    let is_time = ["ns", "us", "µs", "ms", "s", "min"]
        .iter()
        .any(|unit| text.ends_with(unit));
    if !is_time {
        return Ok(None);
    }
    let span = timeloom_trace::parse_span(text).map_err(|_reason| not_a_tolerance(text))?;
    let nanos = u64::try_from(span.nanos()).map_err(|_negative| not_a_tolerance(text))?;
    Ok(Some(Tolerance::Time(nanos)))
}

fn positive(text: &str) -> Result<f64, String> {
    let number = text.trim().parse::<f64>().ok();
    number
        .filter(|number| number.is_finite() && *number >= 0.0)
        .ok_or_else(|| not_a_tolerance(text))
}

fn not_a_tolerance(text: &str) -> String {
    format!(
        "{text:?} is not a tolerance: expected 0.01, 1%, 0.5deg, 0.01rad, 5ms, wrap=360, nan=different or ignore"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerances_have_units() {
        assert_eq!(Tolerance::parse("0"), Ok(Tolerance::EXACT));
        assert_eq!(Tolerance::parse("ignore"), Ok(Tolerance::Ignore));
        assert_eq!(Tolerance::parse("5ms"), Ok(Tolerance::Time(5_000_000)));
        assert_eq!(
            Tolerance::parse("180deg"),
            Ok(Tolerance::Angle(std::f64::consts::PI))
        );
        assert_eq!(
            Tolerance::parse("0.5, 2%, wrap=360, nan=different"),
            Ok(Tolerance::Number {
                absolute: 0.5,
                relative: 0.02,
                wrap: Some(360.0),
                nan: Nan::Different,
            })
        );
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "-1",
            "nan",
            "inf",
            "1 apple",
            "5 ms,1",
            "wrap=x",
            "nan=maybe",
            "-5ms",
        ] {
            assert!(Tolerance::parse(text).is_err(), "{text}");
        }
    }
}
