//! Access to fields and numbers.

use super::{Array, Struct, Text, Value};
use crate::{Error, Result};

impl Value {
    /// The value at a dotted path, such as `header.stamp.sec` or `points[3].x`; only that value is copied.
    pub fn get(&self, path: &str) -> Option<Self> {
        let mut place = Place::Value(self);
        for part in path.split('.') {
            let (name, mut indices) = part.split_once('[').unwrap_or((part, ""));
            place = Place::Value(place.as_struct()?.get(name)?);
            while !indices.is_empty() {
                let (index, rest) = indices.split_once(']')?;
                place = place.element(index.parse().ok()?)?;
                indices = rest.strip_prefix('[').unwrap_or(rest);
            }
        }
        Some(match place {
            Place::Value(value) => value.clone(),
            Place::Struct(message) => Self::Struct(message.clone()),
            Place::Leaf(value) => value,
        })
    }

    /// Sets the field at a dotted path of nested messages.
    ///
    /// # Errors
    /// When there is no such field, or it holds another kind of value.
    pub fn set(&mut self, path: &str, value: impl Into<Self>) -> Result<()> {
        let value = value.into();
        let name = self
            .as_struct()
            .map_or_else(|| self.kind().to_owned(), |s| s.ty().name().to_string());
        let mut slot = self;
        for part in path.split('.') {
            let missing = || Error::Path {
                name: name.clone(),
                path: path.to_owned(),
            };
            let Self::Struct(message) = slot else {
                return Err(missing());
            };
            slot = message.get_mut(part).ok_or_else(missing)?;
        }
        if slot.kind() != value.kind() {
            let (expected, found) = (slot.kind().to_owned(), value.kind().to_owned());
            return Err(Error::Mismatch {
                path: path.to_owned(),
                expected,
                found,
            });
        }
        *slot = value;
        Ok(())
    }

    /// The message, when it is one.
    pub fn as_struct(&self) -> Option<&Struct> {
        if let Self::Struct(message) = self {
            Some(message)
        } else {
            None
        }
    }

    /// The array, when it is one.
    pub fn as_array(&self) -> Option<&Array> {
        if let Self::Array(array) = self {
            Some(array)
        } else {
            None
        }
    }

    /// The text, when it is a string of UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self {
            text.as_str()
        } else {
            None
        }
    }

    /// The number as a signed integer, when it is an integer that fits.
    pub fn as_i64(&self) -> Option<i64> {
        Some(match *self {
            Self::Int8(v) => v.into(),
            Self::Int16(v) => v.into(),
            Self::Int32(v) => v.into(),
            Self::Int64(v) => v,
            _ => return self.as_u64().and_then(|v| i64::try_from(v).ok()),
        })
    }

    /// The number as an unsigned integer, when it is an integer that fits.
    pub fn as_u64(&self) -> Option<u64> {
        match *self {
            Self::Uint8(v) => Some(v.into()),
            Self::Uint16(v) => Some(v.into()),
            Self::Uint32(v) => Some(v.into()),
            Self::Uint64(v) => Some(v),
            Self::Int8(_) | Self::Int16(_) | Self::Int32(_) | Self::Int64(_) => {
                self.as_i64().and_then(|v| u64::try_from(v).ok())
            }
            _ => None,
        }
    }

    /// The number as a floating point number; large integers are rounded.
    pub fn as_f64(&self) -> Option<f64> {
        match *self {
            Self::Float32(v) => Some(v.into()),
            Self::Float64(v) => Some(v),
            Self::Uint64(v) => Some(v as f64),
            _ => self.as_i64().map(|v| v as f64),
        }
    }

    /// The kind of value, as an error names it.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Bool(_) => "bool",
            Self::Int8(_) => "int8",
            Self::Uint8(_) => "uint8",
            Self::Int16(_) => "int16",
            Self::Uint16(_) => "uint16",
            Self::Int32(_) => "int32",
            Self::Uint32(_) => "uint32",
            Self::Int64(_) => "int64",
            Self::Uint64(_) => "uint64",
            Self::Float32(_) => "float32",
            Self::Float64(_) => "float64",
            Self::String(_) => "string",
            Self::WString(_) => "wstring",
            Self::Array(array) => array.kind(),
            Self::Struct(_) => "message",
        }
    }
}

/// The current position of a path.
enum Place<'a> {
    Value(&'a Value),
    Struct(&'a Struct),
    Leaf(Value),
}

impl<'a> Place<'a> {
    fn as_struct(&self) -> Option<&'a Struct> {
        match self {
            Place::Value(value) => value.as_struct(),
            Place::Struct(message) => Some(message),
            Place::Leaf(_) => None,
        }
    }

    fn element(&self, index: usize) -> Option<Self> {
        let Place::Value(Value::Array(array)) = self else {
            return None;
        };
        match array {
            Array::Struct(items) => items.get(index).map(Place::Struct),
            _ => array.get(index).map(Place::Leaf),
        }
    }
}

/// Conversions from the plain types.
macro_rules! from_plain {
    ($($plain:ty => $variant:ident),+ $(,)?) => {
        $(impl From<$plain> for Value {
            fn from(value: $plain) -> Self {
                Self::$variant(value.into())
            }
        })+
    };
}

from_plain! {
    bool => Bool, i8 => Int8, u8 => Uint8, i16 => Int16, u16 => Uint16, i32 => Int32, u32 => Uint32,
    i64 => Int64, u64 => Uint64, f32 => Float32, f64 => Float64,
    &str => String, String => String, Text => String, Array => Array, Struct => Struct,
}

#[cfg(test)]
mod tests {
    use crate::{Schema, Value};

    #[test]
    fn paths_reach_nested_fields_and_elements() {
        let text = "B b\nB[2] list\nint32[3] n [4, 5, 6]\n===\nMSG: p/B\nuint8 x 7\nstring s\n";
        let mut value = Schema::parse_ros2msg("p/msg/A", text)
            .unwrap()
            .default_value()
            .unwrap();
        assert_eq!(value.get("b.x"), Some(Value::Uint8(7)));
        assert_eq!(value.get("list[1].x"), Some(Value::Uint8(7)));
        assert_eq!(value.get("n[2]").and_then(|v| v.as_i64()), Some(6));
        for missing in ["c", "b.y", "list[2].x", "n[9]", "n[x]", "b[0]", "n.x", ""] {
            assert_eq!(value.get(missing), None, "{missing}");
        }
        value.set("b.s", "hello").unwrap();
        assert_eq!(value.get("b.s").unwrap().as_str(), Some("hello"));
        assert_eq!(
            value.set("b.z", 1_u8).unwrap_err().to_string(),
            "p/msg/A has no field `b.z`"
        );
        assert_eq!(
            value.set("b.x", 1_i8).unwrap_err().to_string(),
            "b.x: expected uint8, found int8"
        );
    }

    #[test]
    fn numbers_convert_only_when_they_fit() {
        assert_eq!(Value::Uint64(u64::MAX).as_i64(), None);
        assert_eq!(Value::Uint64(u64::MAX).as_u64(), Some(u64::MAX));
        assert_eq!(Value::Int8(-1).as_u64(), None);
        assert_eq!(Value::Int8(-1).as_f64(), Some(-1.0));
        assert_eq!(Value::Bool(true).as_f64(), None);
    }
}
