//! From values to payloads.

use super::writer::Writer;
use super::{Endian, WideChars};
use crate::definition::{ArrayShape, Primitive};
use crate::schema::{Element, Schema, SchemaType, StructType};
use crate::value::{Array, Struct, Value};
use crate::{Error, Result};

/// Options of an encoder; the default is the encoding of ROS 2 on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct EncodeOptions {
    /// The order of bytes.
    pub endian: Endian,
    /// The layout of wide characters.
    pub wide: WideChars,
}

impl Schema {
    /// Encodes a value in little-endian CDR, encapsulation header included.
    ///
    /// # Errors
    /// When the value does not fit the type; the error names the field.
    pub fn encode(&self, value: &Value) -> Result<Vec<u8>> {
        self.encode_with(value, EncodeOptions::default())
    }

    /// Encodes a value with the given options.
    pub fn encode_with(&self, value: &Value, options: EncodeOptions) -> Result<Vec<u8>> {
        let mut writer = Writer::new(options.endian, options.wide);
        match value {
            Value::Struct(message) => writer.message(self.root(), message)?,
            other => return Err(mismatch(self.name().to_string(), other.kind())),
        }
        Ok(writer.finish())
    }
}

impl Writer {
    fn message(&mut self, ty: &StructType, message: &Struct) -> Result<()> {
        let (fields, values) = (ty.fields(), message.values());
        if fields.len() != values.len() || message.ty().name() != ty.name() {
            let found = format!("{} with {} fields", message.ty().name(), values.len());
            return Err(mismatch(
                format!("{} with {} fields", ty.name(), fields.len()),
                &found,
            ));
        }
        if fields.is_empty() {
            self.uint8(0);
        }
        for (field, value) in fields.iter().zip(values) {
            self.field(field.ty(), value)
                .map_err(|error| within(error, field.name()))?;
        }
        Ok(())
    }

    fn field(&mut self, ty: &SchemaType, value: &Value) -> Result<()> {
        let array = match (ty.shape, value) {
            (ArrayShape::Single, _) => return self.element(&ty.element, value),
            (_, Value::Array(array)) => array,
            (_, other) => {
                return Err(mismatch(
                    format!("{}[]", ty.element.describe()),
                    other.kind(),
                ));
            }
        };
        match ty.shape {
            ArrayShape::Fixed(n) if array.len() != n as usize => {
                return Err(mismatch(
                    format!("{n} elements"),
                    &format!("{} elements", array.len()),
                ));
            }
            ArrayShape::Bounded(n) if array.len() > n as usize => {
                return Err(mismatch(
                    format!("at most {n} elements"),
                    &format!("{} elements", array.len()),
                ));
            }
            ArrayShape::Fixed(_) => {}
            _ => self.length(array.len())?,
        }
        self.elements(&ty.element, array)
    }

    fn element(&mut self, element: &Element, value: &Value) -> Result<()> {
        match (element, value) {
            (Element::Primitive(primitive), _) => return self.primitive(*primitive, value),
            (Element::String(bound), Value::String(text)) => {
                check_bound(text.as_bytes().len(), *bound)?;
                self.text(text)?;
            }
            (Element::WString(bound), Value::WString(text)) => {
                check_bound(text.units().len(), *bound)?;
                self.wide_text(text)?;
            }
            (Element::Struct(ty), Value::Struct(message)) => self.message(ty, message)?,
            (_, other) => return Err(mismatch(element.describe(), other.kind())),
        }
        Ok(())
    }

    fn primitive(&mut self, primitive: Primitive, value: &Value) -> Result<()> {
        match (primitive, value) {
            (Primitive::Bool, Value::Bool(v)) => self.uint8(u8::from(*v)),
            (
                Primitive::Byte | Primitive::Char | Primitive::IdlChar | Primitive::Uint8,
                Value::Uint8(v),
            ) => {
                self.uint8(*v);
            }
            (Primitive::Int8, Value::Int8(v)) => self.int8(*v),
            (Primitive::Int16, Value::Int16(v)) => self.int16(*v),
            (Primitive::Uint16, Value::Uint16(v)) => self.uint16(*v),
            (Primitive::Int32, Value::Int32(v)) => self.int32(*v),
            (Primitive::Uint32, Value::Uint32(v)) => self.uint32(*v),
            (Primitive::Int64, Value::Int64(v)) => self.int64(*v),
            (Primitive::Uint64, Value::Uint64(v)) => self.uint64(*v),
            (Primitive::Float32, Value::Float32(v)) => self.float32(*v),
            (Primitive::Float64, Value::Float64(v)) => self.float64(*v),
            (_, other) => return Err(mismatch(primitive.name().to_owned(), other.kind())),
        }
        Ok(())
    }

    fn elements(&mut self, element: &Element, array: &Array) -> Result<()> {
        match (element, array) {
            (Element::Primitive(primitive), _) => return self.primitives(*primitive, array),
            (Element::String(bound), Array::String(items)) => {
                for text in items {
                    check_bound(text.as_bytes().len(), *bound)?;
                    self.text(text)?;
                }
            }
            (Element::WString(bound), Array::WString(items)) => {
                for text in items {
                    check_bound(text.units().len(), *bound)?;
                    self.wide_text(text)?;
                }
            }
            (Element::Struct(ty), Array::Struct(items)) => {
                for (index, message) in items.iter().enumerate() {
                    self.message(ty, message)
                        .map_err(|error| within(error, &format!("[{index}]")))?;
                }
            }
            (_, other) => return Err(mismatch(format!("{}[]", element.describe()), other.kind())),
        }
        Ok(())
    }

    fn primitives(&mut self, primitive: Primitive, array: &Array) -> Result<()> {
        match (primitive, array) {
            (Primitive::Bool, Array::Bool(v)) => self.booleans(v),
            (
                Primitive::Byte | Primitive::Char | Primitive::IdlChar | Primitive::Uint8,
                Array::Uint8(v),
            ) => {
                self.uint8s(v);
            }
            (Primitive::Int8, Array::Int8(v)) => self.int8s(v),
            (Primitive::Int16, Array::Int16(v)) => self.int16s(v),
            (Primitive::Uint16, Array::Uint16(v)) => self.uint16s(v),
            (Primitive::Int32, Array::Int32(v)) => self.int32s(v),
            (Primitive::Uint32, Array::Uint32(v)) => self.uint32s(v),
            (Primitive::Int64, Array::Int64(v)) => self.int64s(v),
            (Primitive::Uint64, Array::Uint64(v)) => self.uint64s(v),
            (Primitive::Float32, Array::Float32(v)) => self.float32s(v),
            (Primitive::Float64, Array::Float64(v)) => self.float64s(v),
            (_, other) => return Err(mismatch(format!("{}[]", primitive.name()), other.kind())),
        }
        Ok(())
    }
}

fn check_bound(length: usize, bound: Option<u32>) -> Result<()> {
    match bound {
        Some(bound) if length > bound as usize => Err(mismatch(
            format!("at most {bound} characters"),
            &format!("{length} characters"),
        )),
        _ => Ok(()),
    }
}

fn mismatch(expected: String, found: &str) -> Error {
    Error::Mismatch {
        path: String::new(),
        expected,
        found: found.to_owned(),
    }
}

/// Puts a field in front of the path of an error.
fn within(error: Error, name: &str) -> Error {
    match error {
        Error::Mismatch {
            path,
            expected,
            found,
        } => {
            let dot = if path.is_empty() || path.starts_with('[') {
                ""
            } else {
                "."
            };
            Error::Mismatch {
                path: format!("{name}{dot}{path}"),
                expected,
                found,
            }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "uint8 a\nfloat64 b\nB[] list\nstring<=3 s\nint16[2] two\n===\nMSG: p/B\nint8 x\n";

    #[test]
    fn both_endians() {
        let schema =
            Schema::parse_ros2msg("p/msg/T", "uint8 a 1\nuint32 b 2\nstring s \"x\"\n").unwrap();
        let value = schema.default_value().unwrap();
        let little = schema.encode(&value).unwrap();
        assert_eq!(
            little,
            [0, 1, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, b'x', 0]
        );
        let big = schema
            .encode_with(
                &value,
                EncodeOptions {
                    endian: Endian::Big,
                    ..EncodeOptions::default()
                },
            )
            .unwrap();
        assert_eq!(
            big,
            [0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 2, b'x', 0]
        );
        assert_eq!(schema.decode(&big).unwrap(), value);
    }

    #[test]
    fn errors_name_the_field() {
        let schema = Schema::parse_ros2msg("p/msg/T", TEXT).unwrap();
        let fails = |change: &dyn Fn(&mut Value)| {
            let mut value = schema.default_value().unwrap();
            change(&mut value);
            schema.encode(&value).unwrap_err().to_string()
        };
        assert_eq!(
            fails(&|v| v.set("s", "long").unwrap()),
            "s: expected at most 3 characters, found 4 characters"
        );
        assert_eq!(
            fails(&|v| v.set("two", Array::Int16(vec![1])).unwrap()),
            "two: expected 2 elements, found 1 elements"
        );
        let Value::Struct(message) = schema.default_value().unwrap() else {
            panic!("a message")
        };
        let inner = message.ty().field("list").unwrap().1.ty().element.clone();
        let Element::Struct(inner) = inner else {
            panic!("a message")
        };
        let wrong = Struct::new(inner, vec![Value::Bool(true)]);
        let error = fails(&|v| v.set("list", Array::Struct(vec![wrong.clone()])).unwrap());
        assert_eq!(error, "list[0].x: expected int8, found bool");
        assert!(schema.encode(&Value::Bool(true)).is_err());
    }
}
