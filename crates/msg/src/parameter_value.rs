mod typed_text;

use std::fmt;

use crate::value::{Array, Struct, Text};
use crate::{Definitions, Result, Value};

/// The value of a parameter, as `rcl_interfaces/msg/ParameterValue` has it.
///
/// ```
/// use timeloom_msg::{ParameterValue, Value};
///
/// let value = ParameterValue::Double(0.5);
/// assert_eq!(value.type_name(), "double");
/// if let Value::Struct(message) = value.to_value()? {
///     assert_eq!(ParameterValue::from_message(&message), Some(value));
/// }
/// # Ok::<(), timeloom_msg::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterValue {
    /// No value.
    NotSet,
    /// A truth value.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A floating point number.
    Double(f64),
    /// Text.
    String(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Truth values.
    Bools(Vec<bool>),
    /// Whole numbers.
    Integers(Vec<i64>),
    /// Floating point numbers.
    Doubles(Vec<f64>),
    /// Texts.
    Strings(Vec<String>),
}

/// The message that holds a value.
const TYPE: &str = "rcl_interfaces/msg/ParameterValue";

impl ParameterValue {
    /// The number of its type, from `rcl_interfaces/msg/ParameterType`.
    pub const fn type_number(&self) -> u8 {
        match self {
            Self::NotSet => 0,
            Self::Bool(_) => 1,
            Self::Integer(_) => 2,
            Self::Double(_) => 3,
            Self::String(_) => 4,
            Self::Bytes(_) => 5,
            Self::Bools(_) => 6,
            Self::Integers(_) => 7,
            Self::Doubles(_) => 8,
            Self::Strings(_) => 9,
        }
    }

    /// The name of its type, as `ros2 param` spells it.
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::NotSet => "not set",
            Self::Bool(_) => "bool",
            Self::Integer(_) => "integer",
            Self::Double(_) => "double",
            Self::String(_) => "string",
            Self::Bytes(_) => "byte_array",
            Self::Bools(_) => "bool_array",
            Self::Integers(_) => "integer_array",
            Self::Doubles(_) => "double_array",
            Self::Strings(_) => "string_array",
        }
    }

    /// The value as a message.
    ///
    /// # Errors
    /// None that this build can cause: the type is built in.
    pub fn to_value(&self) -> Result<Value> {
        let mut message = Definitions::builtin().schema(TYPE)?.default_value()?;
        self.fill(&mut message)?;
        Ok(message)
    }

    fn fill(&self, message: &mut Value) -> Result<()> {
        let texts = |items: &[String]| items.iter().map(|item| Text::from(item.as_str())).collect();
        message.set("type", self.type_number())?;
        match self {
            Self::NotSet => Ok(()),
            Self::Bool(value) => message.set("bool_value", *value),
            Self::Integer(value) => message.set("integer_value", *value),
            Self::Double(value) => message.set("double_value", *value),
            Self::String(value) => message.set("string_value", value.as_str()),
            Self::Bytes(items) => message.set("byte_array_value", Array::Uint8(items.clone())),
            Self::Bools(items) => message.set("bool_array_value", Array::Bool(items.clone())),
            Self::Integers(items) => {
                message.set("integer_array_value", Array::Int64(items.clone()))
            }
            Self::Doubles(items) => {
                message.set("double_array_value", Array::Float64(items.clone()))
            }
            Self::Strings(items) => message.set("string_array_value", Array::String(texts(items))),
        }
    }

    /// Reads a message; none if it is of another type or its value type is unknown.
    pub fn from_message(message: &Struct) -> Option<Self> {
        let array = |name: &str| message.get(name).and_then(Value::as_array);
        let text = |text: &Text| text.to_string_lossy().into_owned();
        Some(match message.get("type")?.as_u64()? {
            0 => Self::NotSet,
            1 => Self::Bool(matches!(message.get("bool_value")?, Value::Bool(true))),
            2 => Self::Integer(message.get("integer_value")?.as_i64()?),
            3 => Self::Double(message.get("double_value")?.as_f64()?),
            4 => match message.get("string_value")? {
                Value::String(value) => Self::String(text(value)),
                _ => return None,
            },
            5 => match array("byte_array_value")? {
                Array::Uint8(items) => Self::Bytes(items.clone()),
                _ => return None,
            },
            6 => match array("bool_array_value")? {
                Array::Bool(items) => Self::Bools(items.clone()),
                _ => return None,
            },
            7 => match array("integer_array_value")? {
                Array::Int64(items) => Self::Integers(items.clone()),
                _ => return None,
            },
            8 => match array("double_array_value")? {
                Array::Float64(items) => Self::Doubles(items.clone()),
                _ => return None,
            },
            9 => match array("string_array_value")? {
                Array::String(items) => Self::Strings(items.iter().map(text).collect()),
                _ => return None,
            },
            _ => return None,
        })
    }
}

impl fmt::Display for ParameterValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSet => f.write_str("not set"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Double(value) => write!(f, "{value:?}"),
            Self::String(value) => f.write_str(value),
            Self::Bytes(items) => write!(f, "{items:?}"),
            Self::Bools(items) => write!(f, "{items:?}"),
            Self::Integers(items) => write!(f, "{items:?}"),
            Self::Doubles(items) => write!(f, "{items:?}"),
            Self::Strings(items) => write!(f, "{items:?}"),
        }
    }
}

/// Conversions from the plain types.
macro_rules! from_plain {
    ($($plain:ty => $variant:ident),+ $(,)?) => {
        $(impl From<$plain> for ParameterValue {
            fn from(value: $plain) -> Self {
                Self::$variant(value.into())
            }
        })+
    };
}

from_plain! {
    bool => Bool, i64 => Integer, f64 => Double, &str => String, String => String,
    Vec<u8> => Bytes, Vec<bool> => Bools, Vec<i64> => Integers, Vec<f64> => Doubles, Vec<String> => Strings,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_goes_through_the_message_and_back() {
        let values = [
            ParameterValue::NotSet,
            true.into(),
            (-5_i64).into(),
            0.5.into(),
            "text".into(),
            vec![1_u8, 2].into(),
            vec![true, false].into(),
            vec![1_i64, -1].into(),
            vec![0.5, 1.0].into(),
            vec!["a".to_owned(), String::new()].into(),
        ];
        let schema = Definitions::builtin().schema(TYPE).unwrap();
        for (number, value) in values.iter().enumerate() {
            assert_eq!(usize::from(value.type_number()), number);
            let payload = schema.encode(&value.to_value().unwrap()).unwrap();
            let message = schema.decode(&payload).unwrap();
            let back = ParameterValue::from_message(message.as_struct().unwrap());
            assert_eq!(back.as_ref(), Some(value));
        }
    }

    #[test]
    fn a_type_that_is_none_is_refused() {
        let mut message = ParameterValue::NotSet.to_value().unwrap();
        message.set("type", 10_u8).unwrap();
        assert!(ParameterValue::from_message(message.as_struct().unwrap()).is_none());
    }
}
