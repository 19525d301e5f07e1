//! `--filter`: which messages count, by an expression over their fields.
//!
//! A small part of Python, with the spelling of `ros2 topic echo --filter`: fields of `m`, numbers, texts, `True`,
//! `False`, comparisons, `in`, `len()`, `and`, `or`, `not`, parentheses. Nothing is executed.

mod parse;

use std::cmp::Ordering;
use std::str::FromStr;

use timeloom_msg::{Schema, Value};

use crate::failure::Failure;
use crate::field_path;

/// An expression that is true or false of a message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MessageFilter {
    text: String,
    root: Expression,
}

#[derive(Debug, Clone, PartialEq)]
enum Expression {
    Constant(Operand),
    /// A field of the message; empty for the message itself.
    Field(String),
    /// Its length in elements or characters.
    Length(Box<Self>),
    Not(Box<Self>),
    All(Vec<Self>),
    Any(Vec<Self>),
    Compare(Box<Self>, Comparison, Box<Self>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
}

/// The value of an expression for one message.
#[derive(Debug, Clone, PartialEq)]
enum Operand {
    Bool(bool),
    Whole(i128),
    Real(f64),
    Text(String),
    /// An array or a message.
    Group(Value),
}

impl FromStr for MessageFilter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let root = parse::expression(text).map_err(|reason| {
            format!(
                "{reason}; fields of m, numbers, texts, True, False, == != < <= > >= in, len(), and, or, not and \
                 parentheses are supported, such as \"m.data > 3 and m.header.frame_id == 'map'\""
            )
        })?;
        Ok(Self {
            text: text.to_owned(),
            root,
        })
    }
}

impl MessageFilter {
    /// Refuses fields that no message of this type has. With a field that is looked at alone, `m` is that field.
    pub(crate) fn check(
        &self,
        schema: &Schema,
        topic: &str,
        field: Option<&str>,
    ) -> Result<(), Failure> {
        for path in self.root.fields() {
            let path = join(field, path);
            if !path.is_empty() {
                field_path::check(schema, topic, &path)?;
            }
        }
        Ok(())
    }

    /// Whether the message matches. With a selected field, `m` is that field.
    ///
    /// # Errors
    /// When things are compared that have no order, such as a text with a number.
    pub(crate) fn takes(&self, message: &Value, field: Option<&str>) -> Result<bool, Failure> {
        let result = self.root.value(message, field).map(|value| value.is_true());
        result.map_err(|reason| Failure::usage(format!("--filter \"{}\": {reason}", self.text)))
    }
}

/// The path of a field of a field.
fn join(field: Option<&str>, path: &str) -> String {
    match (field, path) {
        (None, path) => path.to_owned(),
        (Some(field), "") => field.to_owned(),
        (Some(field), path) => format!("{field}.{path}"),
    }
}

impl Expression {
    fn fields(&self) -> Vec<&str> {
        match self {
            Self::Constant(_) => Vec::new(),
            Self::Field(path) => vec![path],
            Self::Length(inner) | Self::Not(inner) => inner.fields(),
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::fields).collect(),
            Self::Compare(left, _, right) => [left.fields(), right.fields()].concat(),
        }
    }

    fn value(&self, message: &Value, field: Option<&str>) -> Result<Operand, String> {
        let is_true = |part: &Self| part.value(message, field).map(|value| value.is_true());
        Ok(match self {
            Self::Constant(value) => value.clone(),
            Self::Field(path) => Operand::of(message, &join(field, path))?,
            Self::Length(inner) => Operand::Whole(inner.value(message, field)?.length()?),
            Self::Not(inner) => Operand::Bool(!is_true(inner)?),
            Self::All(parts) => {
                for part in parts {
                    if !is_true(part)? {
                        return Ok(Operand::Bool(false));
                    }
                }
                Operand::Bool(true)
            }
            Self::Any(parts) => {
                for part in parts {
                    if is_true(part)? {
                        return Ok(Operand::Bool(true));
                    }
                }
                Operand::Bool(false)
            }
            Self::Compare(left, comparison, right) => {
                let (left, right) = (left.value(message, field)?, right.value(message, field)?);
                Operand::Bool(comparison.holds(&left, &right)?)
            }
        })
    }
}

impl Comparison {
    fn holds(self, left: &Operand, right: &Operand) -> Result<bool, String> {
        if self == Self::In {
            return right.contains(left);
        }
        let order = left.order(right);
        match (self, order) {
            // Things of different kinds are unequal, as in Python.
            (Self::Equal, order) => Ok(order == Some(Ordering::Equal)),
            (Self::Unequal, order) => Ok(order != Some(Ordering::Equal)),
            (_, None) if left.is_number() && right.is_number() => Ok(false),
            (_, None) => Err(format!(
                "{} and {} have no order",
                left.kind(),
                right.kind()
            )),
            (Self::Less, Some(order)) => Ok(order.is_lt()),
            (Self::LessOrEqual, Some(order)) => Ok(order.is_le()),
            (Self::Greater, Some(order)) => Ok(order.is_gt()),
            (_, Some(order)) => Ok(order.is_ge()),
        }
    }
}

impl Operand {
    fn of(message: &Value, path: &str) -> Result<Self, String> {
        let value = if path.is_empty() {
            message.clone()
        } else {
            let found = message.get(path);
            found.ok_or_else(|| format!("the message has no {path}"))?
        };
        Ok(match value {
            Value::Bool(value) => Self::Bool(value),
            Value::Float32(value) => Self::Real(value.into()),
            Value::Float64(value) => Self::Real(value),
            Value::String(text) => Self::Text(text.to_string_lossy().into_owned()),
            Value::WString(text) => Self::Text(text.to_string_lossy()),
            group @ (Value::Array(_) | Value::Struct(_)) => Self::Group(group),
            number => {
                let whole = number.as_i64().map(i128::from);
                let whole = whole.or_else(|| number.as_u64().map(i128::from));
                Self::Whole(whole.unwrap_or_default())
            }
        })
    }

    fn is_true(&self) -> bool {
        match self {
            Self::Bool(value) => *value,
            Self::Whole(value) => *value != 0,
            Self::Real(value) => *value != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::Group(Value::Array(array)) => !array.is_empty(),
            Self::Group(_) => true,
        }
    }

    fn is_number(&self) -> bool {
        matches!(self, Self::Whole(_) | Self::Real(_) | Self::Bool(_))
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Bool(_) | Self::Whole(_) | Self::Real(_) => "a number",
            Self::Text(_) => "a text",
            Self::Group(Value::Array(_)) => "an array",
            Self::Group(_) => "a message",
        }
    }

    fn length(&self) -> Result<i128, String> {
        let length = match self {
            Self::Text(text) => text.chars().count(),
            Self::Group(Value::Array(array)) => array.len(),
            _ => return Err(format!("{} has no length", self.kind())),
        };
        Ok(i128::try_from(length).unwrap_or(i128::MAX))
    }

    /// `None` when there is no order: other kinds, or not a number.
    fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Text(one), Self::Text(two)) => Some(one.cmp(two)),
            (Self::Group(one), Self::Group(two)) => (one == two).then_some(Ordering::Equal),
            _ => match (self.whole(), other.whole()) {
                (Some(one), Some(two)) => Some(one.cmp(&two)),
                _ => self.real()?.partial_cmp(&other.real()?),
            },
        }
    }

    fn whole(&self) -> Option<i128> {
        match self {
            Self::Bool(value) => Some((*value).into()),
            Self::Whole(value) => Some(*value),
            _ => None,
        }
    }

    fn real(&self) -> Option<f64> {
        match self {
            Self::Real(value) => Some(*value),
            _ => self.whole().map(|value| value as f64),
        }
    }

    fn contains(&self, part: &Self) -> Result<bool, String> {
        match (self, part) {
            (Self::Text(text), Self::Text(part)) => Ok(text.contains(part.as_str())),
            (Self::Group(Value::Array(array)), part) => {
                for index in 0..array.len() {
                    if let Some(value) = array.get(index)
                        && Self::of(&value, "")?.order(part) == Some(Ordering::Equal)
                    {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            _ => Err(format!(
                "`in` needs a text or an array, not {}",
                self.kind()
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use timeloom_msg::value::Array;

    use super::*;

    fn message() -> (Schema, Value) {
        let text = "B b\nint32 n\nuint64 big\nfloat64 x\nstring s\nbool on\nint32[] list\n===\nMSG: p/B\nuint8 y\n";
        let schema = Schema::parse_ros2msg("p/msg/A", text).unwrap();
        let mut message = schema.default_value().unwrap();
        message.set("b.y", 7_u8).unwrap();
        message.set("n", -3_i32).unwrap();
        message.set("big", u64::MAX).unwrap();
        message.set("x", 0.5_f64).unwrap();
        message.set("s", "map").unwrap();
        message.set("on", true).unwrap();
        message.set("list", Array::Int32(vec![1, 2])).unwrap();
        (schema, message)
    }

    fn takes(text: &str) -> bool {
        let (schema, message) = message();
        let filter: MessageFilter = text.parse().unwrap();
        filter.check(&schema, "/t", None).unwrap();
        filter.takes(&message, None).unwrap()
    }

    #[test]
    fn expressions_have_the_meaning_of_python() {
        for yes in [
            "m.b.y > 3",
            "m.b.y == 7.0",
            "m.n < 0 and m.x >= 0.5",
            "m.n == -3",
            "m.big == 18446744073709551615",
            "m.s == 'map'",
            "m.s == \"map\" or m.nothing_is_evaluated_here == 1"
                .split(" or")
                .next()
                .unwrap(),
            "'a' in m.s",
            "2 in m.list",
            "len(m.list) == 2 and len(m.s) == 3",
            "m.list[1] == 2",
            "m.on",
            "m.on == True",
            "not (m.n > 0 or m.x > 1)",
            "not m.n > 0",
            "m.s != 3",
            "3 < m.b.y",
            "m.x == 5e-1",
            "m.n == 1 or m.n == 2 or m.n == -3",
        ] {
            assert!(takes(yes), "{yes}");
        }
        for no in [
            "m.b.y > 7",
            "m.s == 3",
            "not m.on",
            "3 in m.list",
            "m.n > 0 and m.on",
        ] {
            assert!(!takes(no), "{no}");
        }
    }

    #[test]
    fn a_field_may_be_the_message() {
        let (schema, message) = message();
        let filter: MessageFilter = "m.y == 7".parse().unwrap();
        filter.check(&schema, "/t", Some("b")).unwrap();
        assert!(filter.takes(&message, Some("b")).unwrap());
        assert!(filter.check(&schema, "/t", None).is_err());
        let itself: MessageFilter = "m == -3".parse().unwrap();
        assert!(itself.takes(&message, Some("n")).unwrap());
    }

    #[test]
    fn invalid_expressions_are_refused_with_the_expected_token() {
        for wrong in [
            "",
            "m.data >",
            "m.data + 1 > 3",
            "data > 3",
            "m.data > 3)",
            "(m.data > 3",
            "m.s == 'open",
            "import os",
            "m.data = 3",
            "len m.s",
            "m.",
            "1 < m.n < 3",
        ] {
            let reason = wrong.parse::<MessageFilter>().unwrap_err();
            assert!(reason.contains("are supported"), "{wrong}: {reason}");
        }
    }

    #[test]
    fn texts_and_numbers_have_no_order() {
        let (_, message) = message();
        let filter: MessageFilter = "m.s > 3".parse().unwrap();
        let error = filter.takes(&message, None).unwrap_err().to_string();
        assert_eq!(
            error,
            "--filter \"m.s > 3\": a text and a number have no order"
        );
        let deep = "(".repeat(100_000);
        assert!(deep.parse::<MessageFilter>().is_err());
        let many = "not ".repeat(100_000) + "m.on";
        assert!(many.parse::<MessageFilter>().is_err());
    }
}
