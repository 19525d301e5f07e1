//! Messages with every field at its default.

use std::sync::Arc;

use super::{Array, Struct, Text, Value, WideText};
use crate::definition::{ArrayShape, Literal, Primitive};
use crate::schema::{Element, Schema, SchemaField, StructType};
use crate::{Error, Result};

/// Largest default message: fixed arrays are filled, and a definition can have any size.
const MAX_DEFAULT: u64 = 64 << 20;

impl Schema {
    /// A message with the defaults of the definition, and zeros and empty strings elsewhere.
    ///
    /// # Errors
    /// When the fixed arrays of the type need more than 64 MiB.
    pub fn default_value(&self) -> Result<Value> {
        let size = self.root().min_size();
        if size > MAX_DEFAULT {
            let name = self.name().to_string();
            return Err(Error::Limit {
                name,
                what: "size of the default message",
                actual: size,
                limit: MAX_DEFAULT,
            });
        }
        Ok(Value::Struct(default_struct(self.root())))
    }
}

fn default_struct(ty: &Arc<StructType>) -> Struct {
    Struct::new(
        Arc::clone(ty),
        ty.fields().iter().map(default_field).collect(),
    )
}

fn default_field(field: &SchemaField) -> Value {
    let element = &field.ty().element;
    let items: &[Literal] = match field.default() {
        Some(Literal::List(items)) => items,
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    match field.ty().shape {
        ArrayShape::Single => default_element(element, items.first()),
        ArrayShape::Fixed(n) => default_array(element, items, n as usize),
        ArrayShape::Bounded(_) | ArrayShape::Unbounded => {
            default_array(element, items, items.len())
        }
    }
}

fn default_element(element: &Element, literal: Option<&Literal>) -> Value {
    match element {
        Element::Primitive(primitive) => default_primitive(*primitive, literal),
        Element::String(_) => Value::String(text(literal).into()),
        Element::WString(_) => Value::WString(text(literal).into()),
        Element::Struct(ty) => Value::Struct(default_struct(ty)),
    }
}

fn default_array(element: &Element, items: &[Literal], count: usize) -> Value {
    let at = |index: usize| items.get(index);
    macro_rules! fill {
        ($variant:ident, $convert:expr) => {
            Array::$variant((0..count).map(|index| $convert(at(index))).collect())
        };
    }
    Value::Array(match element {
        Element::Primitive(primitive) => match primitive {
            Primitive::Bool => fill!(Bool, truth),
            Primitive::Byte | Primitive::Char | Primitive::IdlChar | Primitive::Uint8 => {
                fill!(Uint8, integer)
            }
            Primitive::Int8 => fill!(Int8, integer),
            Primitive::Int16 => fill!(Int16, integer),
            Primitive::Uint16 => fill!(Uint16, integer),
            Primitive::Int32 => fill!(Int32, integer),
            Primitive::Uint32 => fill!(Uint32, integer),
            Primitive::Int64 => fill!(Int64, integer),
            Primitive::Uint64 => fill!(Uint64, integer),
            Primitive::Float32 => fill!(Float32, single),
            Primitive::Float64 => fill!(Float64, double),
        },
        Element::String(_) => fill!(String, |literal| Text::from(text(literal))),
        Element::WString(_) => fill!(WString, |literal| WideText::from(text(literal))),
        Element::Struct(ty) => Array::Struct((0..count).map(|_| default_struct(ty)).collect()),
    })
}

fn default_primitive(primitive: Primitive, literal: Option<&Literal>) -> Value {
    match primitive {
        Primitive::Bool => Value::Bool(truth(literal)),
        Primitive::Byte | Primitive::Char | Primitive::IdlChar | Primitive::Uint8 => {
            Value::Uint8(integer(literal))
        }
        Primitive::Int8 => Value::Int8(integer(literal)),
        Primitive::Int16 => Value::Int16(integer(literal)),
        Primitive::Uint16 => Value::Uint16(integer(literal)),
        Primitive::Int32 => Value::Int32(integer(literal)),
        Primitive::Uint32 => Value::Uint32(integer(literal)),
        Primitive::Int64 => Value::Int64(integer(literal)),
        Primitive::Uint64 => Value::Uint64(integer(literal)),
        Primitive::Float32 => Value::Float32(single(literal)),
        Primitive::Float64 => Value::Float64(double(literal)),
    }
}

fn text(literal: Option<&Literal>) -> &str {
    if let Some(Literal::Text(text)) = literal {
        text
    } else {
        ""
    }
}

fn truth(literal: Option<&Literal>) -> bool {
    matches!(literal, Some(Literal::Bool(true)))
}

/// The parser has checked the range, so that the fallback is only for no default.
fn integer<T: Default + TryFrom<i64> + TryFrom<u64>>(literal: Option<&Literal>) -> T {
    match literal {
        Some(Literal::Int(value)) => T::try_from(*value).unwrap_or_default(),
        Some(Literal::Uint(value)) => T::try_from(*value).unwrap_or_default(),
        _ => T::default(),
    }
}

fn double(literal: Option<&Literal>) -> f64 {
    if let Some(Literal::Float(value)) = literal {
        *value
    } else {
        0.0
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "a float32 default is rounded as everywhere in ROS"
)]
fn single(literal: Option<&Literal>) -> f32 {
    double(literal) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_and_zeros() {
        let text = "bool b true\nint8 i -3\nfloat32 f 0.5\nstring s \"x\"\nuint16[2] u [1, 2]\nint32[3] z\nstring[] t [\"a\"]\nwstring w\n";
        let schema = Schema::parse_ros2msg("p/msg/A", text).unwrap();
        let json = r#"{"b":true,"i":-3,"f":0.5,"s":"x","u":[1,2],"z":[0,0,0],"t":["a"],"w":""}"#;
        assert_eq!(schema.default_value().unwrap().to_json(), json);
    }

    #[test]
    fn excessive_arrays_are_refused() {
        let schema = Schema::parse_ros2msg("p/msg/A", "float64[4000000000] x\n").unwrap();
        assert!(
            schema
                .default_value()
                .unwrap_err()
                .to_string()
                .contains("size of the default message")
        );
    }
}
