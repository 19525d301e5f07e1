use std::cmp::Ordering;
use std::fmt;

use timeloom_msg::Value;

/// A value that a condition compares.
#[derive(Debug, Clone, PartialEq)]
pub enum Scalar {
    /// An integer of any size.
    Integer(i128),
    /// A floating point number.
    Real(f64),
    /// A truth value.
    Bool(bool),
    /// A text.
    Text(String),
}

impl Scalar {
    /// The value of a field; `None` for arrays, messages and text that is not UTF-8.
    pub(super) fn of(value: &Value) -> Option<Self> {
        Some(match value {
            Value::Bool(value) => Self::Bool(*value),
            Value::Float32(value) => Self::Real((*value).into()),
            Value::Float64(value) => Self::Real(*value),
            Value::Uint64(value) => Self::Integer((*value).into()),
            Value::String(text) => Self::Text(text.as_str()?.to_owned()),
            value => Self::Integer(value.as_i64()?.into()),
        })
    }

    /// The number; 1 and 0 for truth values.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Integer(value) => Some(*value as f64),
            Self::Real(value) => Some(*value),
            Self::Bool(value) => Some(f64::from(u8::from(*value))),
            Self::Text(_) => None,
        }
    }

    /// The order of two values; `None` if they are of different kinds or one of them is NaN.
    pub(super) fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Integer(one), Self::Integer(other)) => Some(one.cmp(other)),
            (Self::Text(one), Self::Text(other)) => Some(one.cmp(other)),
            (Self::Bool(one), Self::Bool(other)) => Some(one.cmp(other)),
            (one, other) => one.number()?.partial_cmp(&other.number()?),
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            // With a point or an exponent, so that it reads as it was written.
            Self::Real(value) => write!(f, "{value:?}"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Text(text) => f.write_str(&quoted(text)),
        }
    }
}

/// A text in quotes, as a condition writes it.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for letter in text.chars() {
        if matches!(letter, '"' | '\\') {
            out.push('\\');
        }
        out.push(letter);
    }
    out.push('"');
    out
}
