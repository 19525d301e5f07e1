//! From payloads to values.

use std::sync::Arc;

use super::{Number, Reader, WideChars};
use crate::Result;
use crate::definition::{ArrayShape, Primitive};
use crate::schema::{Element, Schema, SchemaType, StructType};
use crate::value::{Array, Struct, Text, Value, WideText};

/// Bytes after the message that are padding: DDS rounds payloads up to four.
const PADDING: usize = 3;

impl Schema {
    /// Decodes a payload, its encapsulation header included.
    ///
    /// Bytes after the message are ignored: DDS pads, and newer layouts append fields. See [`Self::decode_prefix`].
    ///
    /// # Errors
    /// When the payload is too short or has values that its type does not allow. Memory is bounded by the payload: 40
    /// bytes for each of its bytes, and those of at most 8 million nested messages.
    pub fn decode(&self, payload: &[u8]) -> Result<Value> {
        self.decode_prefix(payload).map(|(value, _)| value)
    }

    /// Decodes a payload, and returns the number of bytes left after the message.
    pub fn decode_prefix(&self, payload: &[u8]) -> Result<(Value, usize)> {
        let first = self.decode_with(payload, WideChars::FourBytes);
        if !self.root().has_wstring() || matches!(first, Ok((_, rest)) if rest <= PADDING) {
            return first;
        }
        // The payload does not define the layout of wide characters, so the layout that fits is used.
        match self.decode_with(payload, WideChars::TwoBytes) {
            Ok((value, rest)) if rest <= PADDING || first.is_err() => Ok((value, rest)),
            _ => first,
        }
    }

    /// Decodes a payload whose wide characters have a known layout, and returns the number of bytes left after it.
    pub fn decode_with(&self, payload: &[u8], wide: WideChars) -> Result<(Value, usize)> {
        let mut reader = Reader::new(payload, wide)?;
        let message = reader.message(self.root())?;
        Ok((Value::Struct(message), reader.cursor.remaining()))
    }
}

impl Reader<'_> {
    fn message(&mut self, ty: &Arc<StructType>) -> Result<Struct> {
        self.cursor.check("message", ty.min_size())?;
        if ty.fields().is_empty() {
            // An empty message is one byte on the wire.
            self.cursor.number::<u8>()?;
        }
        let mut values = Vec::with_capacity(ty.fields().len());
        for field in ty.fields() {
            values.push(self.value(field.ty())?);
        }
        Ok(Struct::new(Arc::clone(ty), values))
    }

    pub(crate) fn value(&mut self, ty: &SchemaType) -> Result<Value> {
        if ty.shape == ArrayShape::Single {
            return self.element(&ty.element);
        }
        let count = self.cursor.count_of(ty.shape, ty.element.min_size())?;
        self.array(&ty.element, count).map(Value::Array)
    }

    fn element(&mut self, element: &Element) -> Result<Value> {
        match element {
            Element::Primitive(primitive) => self.primitive(*primitive),
            Element::String(bound) => self.text(*bound).map(Value::String),
            Element::WString(bound) => self.wide_text(*bound).map(Value::WString),
            Element::Struct(ty) => {
                self.count_messages(ty.name(), 1)?;
                self.message(ty).map(Value::Struct)
            }
        }
    }

    fn text(&mut self, bound: Option<u32>) -> Result<Text> {
        Ok(Text::from_bytes(self.cursor.text(bound)?.to_vec()))
    }

    fn wide_text(&mut self, bound: Option<u32>) -> Result<WideText> {
        self.cursor.wide_text(bound, self.wide)
    }

    fn primitive(&mut self, primitive: Primitive) -> Result<Value> {
        let cursor = &mut self.cursor;
        Ok(match primitive {
            Primitive::Bool => Value::Bool(cursor.booleans(1)? == [1]),
            Primitive::Byte | Primitive::Char | Primitive::IdlChar | Primitive::Uint8 => {
                Value::Uint8(cursor.number()?)
            }
            Primitive::Int8 => Value::Int8(cursor.number()?),
            Primitive::Int16 => Value::Int16(cursor.number()?),
            Primitive::Uint16 => Value::Uint16(cursor.number()?),
            Primitive::Int32 => Value::Int32(cursor.number()?),
            Primitive::Uint32 => Value::Uint32(cursor.number()?),
            Primitive::Int64 => Value::Int64(cursor.number()?),
            Primitive::Uint64 => Value::Uint64(cursor.number()?),
            Primitive::Float32 => Value::Float32(cursor.number()?),
            Primitive::Float64 => Value::Float64(cursor.number()?),
        })
    }

    fn array(&mut self, element: &Element, count: usize) -> Result<Array> {
        Ok(match element {
            Element::Primitive(primitive) => self.primitives(*primitive, count)?,
            Element::String(bound) => Array::String(
                (0..count)
                    .map(|_| self.text(*bound))
                    .collect::<Result<_>>()?,
            ),
            Element::WString(bound) => Array::WString(
                (0..count)
                    .map(|_| self.wide_text(*bound))
                    .collect::<Result<_>>()?,
            ),
            Element::Struct(ty) => {
                self.count_messages(ty.name(), count)?;
                Array::Struct(
                    (0..count)
                        .map(|_| self.message(ty))
                        .collect::<Result<_>>()?,
                )
            }
        })
    }

    fn primitives(&mut self, primitive: Primitive, count: usize) -> Result<Array> {
        Ok(match primitive {
            Primitive::Bool => {
                let bytes = self.cursor.booleans(count)?;
                Array::Bool(bytes.iter().map(|byte| *byte == 1).collect())
            }
            Primitive::Byte | Primitive::Char | Primitive::IdlChar | Primitive::Uint8 => {
                Array::Uint8(self.numbers(count)?)
            }
            Primitive::Int8 => Array::Int8(self.numbers(count)?),
            Primitive::Int16 => Array::Int16(self.numbers(count)?),
            Primitive::Uint16 => Array::Uint16(self.numbers(count)?),
            Primitive::Int32 => Array::Int32(self.numbers(count)?),
            Primitive::Uint32 => Array::Uint32(self.numbers(count)?),
            Primitive::Int64 => Array::Int64(self.numbers(count)?),
            Primitive::Uint64 => Array::Uint64(self.numbers(count)?),
            Primitive::Float32 => Array::Float32(self.numbers(count)?),
            Primitive::Float64 => Array::Float64(self.numbers(count)?),
        })
    }

    fn numbers<T: Number>(&mut self, count: usize) -> Result<Vec<T>> {
        let mut values = Vec::new();
        self.cursor.extend(&mut values, count)?;
        Ok(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    fn decode(text: &str, payload: &[u8]) -> Result<String> {
        Schema::parse_ros2msg("p/msg/T", text)
            .unwrap()
            .decode(payload)
            .map(|value| value.to_json())
    }

    #[test]
    fn alignment_counts_from_after_the_header() {
        let payload = [
            0, 1, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 240, 63,
        ];
        assert_eq!(
            decode("uint8 a\nfloat64 b", &payload).unwrap(),
            r#"{"a":7,"b":1.0}"#
        );
        // XCDR2 aligns to four at most.
        let payload = [0, 7, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 240, 63];
        assert_eq!(
            decode("uint8 a\nfloat64 b", &payload).unwrap(),
            r#"{"a":7,"b":1.0}"#
        );
        // An empty sequence does not align for its elements.
        let payload = [0, 0, 0, 0, 0, 0, 0, 0, 9];
        assert_eq!(
            decode("float64[] a\nuint8 b", &payload).unwrap(),
            r#"{"a":[],"b":9}"#
        );
    }

    #[test]
    fn lengths_are_checked_before_memory_is_taken() {
        let huge = [0, 1, 0, 0, 255, 255, 255, 255, 0, 0];
        for text in [
            "float64[] a",
            "string a",
            "string[] a",
            "wstring a",
            "bool[] a",
            "E[] a\n===\nMSG: p/E\n",
        ] {
            let error = decode(text, &huge).unwrap_err();
            assert!(
                matches!(error, Error::ShortPayload { .. }),
                "{text}: {error}"
            );
        }
        let error = decode("float64[4000000000] a", &huge)
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "payload too short at byte 4 for message: 32000000000 bytes needed, 6 left"
        );
    }

    #[test]
    fn tiny_messages_are_counted() {
        let mut payload = vec![0, 1, 0, 0];
        payload.extend((9_u32 << 20).to_le_bytes());
        payload.resize(payload.len() + (9 << 20), 0);
        let error = decode("E[] a\n===\nMSG: p/E\n", &payload)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("number of nested messages is 9437184, the limit is 8388608"),
            "{error}"
        );
    }

    #[test]
    fn strings_with_and_without_the_final_zero() {
        assert_eq!(
            decode("string a", &[0, 1, 0, 0, 2, 0, 0, 0, b'x', 0]).unwrap(),
            r#"{"a":"x"}"#
        );
        assert_eq!(
            decode("string a", &[0, 1, 0, 0, 1, 0, 0, 0, b'x']).unwrap(),
            r#"{"a":"x"}"#
        );
        assert_eq!(
            decode("string a", &[0, 1, 0, 0, 0, 0, 0, 0]).unwrap(),
            r#"{"a":""}"#
        );
        assert!(decode("string<=1 a", &[0, 1, 0, 0, 3, 0, 0, 0, b'x', b'y', 0]).is_err());
    }

    #[test]
    fn wide_strings_of_both_middlewares() {
        let four = [0, 1, 0, 0, 2, 0, 0, 0, b'h', 0, 0, 0, b'i', 0, 0, 0];
        let two = [0, 1, 0, 0, 2, 0, 0, 0, b'h', 0, b'i', 0];
        assert_eq!(decode("wstring a", &four).unwrap(), r#"{"a":"hi"}"#);
        assert_eq!(decode("wstring a", &two).unwrap(), r#"{"a":"hi"}"#);
    }

    #[test]
    fn values_that_no_writer_sends_are_errors() {
        assert_eq!(
            decode("bool a", &[0, 1, 0, 0, 2]).unwrap_err().to_string(),
            "invalid bool at byte 4: 2"
        );
        assert_eq!(
            decode("bool[2] a", &[0, 1, 0, 0, 1, 9])
                .unwrap_err()
                .to_string(),
            "invalid bool at byte 5: 9"
        );
        assert!(decode("uint8[<=1] a", &[0, 1, 0, 0, 2, 0, 0, 0, 1, 1]).is_err());
        assert!(decode("uint8 a", &[0, 2, 0, 0, 1]).is_err());
    }

    #[test]
    fn an_empty_message_is_one_byte() {
        assert_eq!(decode("", &[0, 1, 0, 0, 0]).unwrap(), "{}");
        assert!(decode("", &[0, 1, 0, 0]).is_err());
        assert_eq!(
            decode("E e\nuint8 x\n===\nMSG: p/E\n", &[0, 1, 0, 0, 0, 5]).unwrap(),
            r#"{"e":{},"x":5}"#
        );
    }

    #[test]
    fn trailing_bytes_are_reported() {
        let schema = Schema::parse_ros2msg("p/msg/T", "uint8 a").unwrap();
        assert_eq!(schema.decode_prefix(&[0, 1, 0, 0, 1, 2, 3]).unwrap().1, 2);
    }
}
