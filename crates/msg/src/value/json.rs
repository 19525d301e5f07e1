//! Values as JSON, one line for each message.

use std::fmt::{Display, Write as _};

use data_encoding::BASE64;

use super::{Array, Struct, Value};

/// The style of `uint8[]`, `byte[]` and `char[]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum BytesStyle {
    /// One base64 text, as in Protobuf: a third larger than the data.
    #[default]
    Base64,
    /// A list of numbers.
    Numbers,
    /// Only the count, such as `"<307200 bytes>"`, for terminals.
    Count,
}

/// The style of JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct JsonStyle {
    /// The style of byte arrays.
    pub bytes: BytesStyle,
}

impl Value {
    /// The value as one line of JSON.
    ///
    /// Integers are exact, also above 2^53. Numbers that JSON lacks are the texts `"NaN"`, `"Infinity"` and
    /// `"-Infinity"`. Byte arrays are base64. Bytes that are not UTF-8 print as replacement characters.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write_json(&mut out, JsonStyle::default());
        out
    }

    /// Appends the value as one line of JSON, without a newline.
    pub fn write_json(&self, out: &mut String, style: JsonStyle) {
        match self {
            Self::Bool(v) => push(out, v),
            Self::Int8(v) => push(out, v),
            Self::Uint8(v) => push(out, v),
            Self::Int16(v) => push(out, v),
            Self::Uint16(v) => push(out, v),
            Self::Int32(v) => push(out, v),
            Self::Uint32(v) => push(out, v),
            Self::Int64(v) => push(out, v),
            Self::Uint64(v) => push(out, v),
            Self::Float32(v) => push_single(out, *v),
            Self::Float64(v) => push_double(out, *v),
            Self::String(v) => push_text(out, &v.to_string_lossy()),
            Self::WString(v) => push_text(out, &v.to_string_lossy()),
            Self::Array(array) => push_array(out, array, style),
            Self::Struct(message) => push_struct(out, message, style),
        }
    }
}

fn push_struct(out: &mut String, message: &Struct, style: JsonStyle) {
    out.push('{');
    for (index, (name, value)) in message.fields().enumerate() {
        if index > 0 {
            out.push(',');
        }
        // Field names are identifiers: nothing to escape.
        let _ok = write!(out, "\"{name}\":");
        value.write_json(out, style);
    }
    out.push('}');
}

fn push_array(out: &mut String, array: &Array, style: JsonStyle) {
    match array {
        Array::Bool(items) => push_list(out, items, push),
        Array::Int8(items) => push_list(out, items, push),
        Array::Uint8(bytes) => push_bytes(out, bytes, style.bytes),
        Array::Int16(items) => push_list(out, items, push),
        Array::Uint16(items) => push_list(out, items, push),
        Array::Int32(items) => push_list(out, items, push),
        Array::Uint32(items) => push_list(out, items, push),
        Array::Int64(items) => push_list(out, items, push),
        Array::Uint64(items) => push_list(out, items, push),
        Array::Float32(items) => push_list(out, items, |out, v| push_single(out, *v)),
        Array::Float64(items) => push_list(out, items, |out, v| push_double(out, *v)),
        Array::String(items) => {
            push_list(out, items, |out, v| push_text(out, &v.to_string_lossy()));
        }
        Array::WString(items) => {
            push_list(out, items, |out, v| push_text(out, &v.to_string_lossy()));
        }
        Array::Struct(items) => push_list(out, items, |out, v| push_struct(out, v, style)),
    }
}

fn push_list<T>(out: &mut String, items: &[T], mut one: impl FnMut(&mut String, &T)) {
    out.push('[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        one(out, item);
    }
    out.push(']');
}

fn push_bytes(out: &mut String, bytes: &[u8], style: BytesStyle) {
    match style {
        BytesStyle::Base64 => push_base64(out, bytes),
        BytesStyle::Numbers => push_list(out, bytes, push),
        BytesStyle::Count => {
            let _ok = write!(out, "\"<{} bytes>\"", bytes.len());
        }
    }
}

fn push_base64(out: &mut String, bytes: &[u8]) {
    out.push('"');
    BASE64.encode_append(bytes, out);
    out.push('"');
}

/// Writing to a string cannot fail.
fn push(out: &mut String, value: &impl Display) {
    let _ok = write!(out, "{value}");
}

/// Debug prints the shortest digits that give the same number, with a point or an exponent.
fn push_double(out: &mut String, value: f64) {
    match special(value) {
        Some(text) => out.push_str(text),
        None => {
            let _ok = write!(out, "{value:?}");
        }
    }
}

fn push_single(out: &mut String, value: f32) {
    match special(value.into()) {
        Some(text) => out.push_str(text),
        None => {
            let _ok = write!(out, "{value:?}");
        }
    }
}

fn special(value: f64) -> Option<&'static str> {
    match (
        value.is_nan(),
        value.is_infinite(),
        value.is_sign_negative(),
    ) {
        (true, ..) => Some("\"NaN\""),
        (_, true, false) => Some("\"Infinity\""),
        (_, true, true) => Some("\"-Infinity\""),
        _ => None,
    }
}

fn push_text(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // Line separators are legal in JSON, but some readers of NDJSON split at them.
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                let _ok = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{Text, WideText};

    fn json(value: impl Into<Value>) -> String {
        value.into().to_json()
    }

    #[test]
    fn numbers_are_exact() {
        assert_eq!(json(u64::MAX), "18446744073709551615");
        assert_eq!(json(i64::MIN), "-9223372036854775808");
        assert_eq!(json(0.1_f32), "0.1");
        assert_eq!(json(0.1_f64), "0.1");
        assert_eq!(json(1e300), "1e300");
        assert_eq!(json(-0.0), "-0.0");
        assert_eq!(json(1.0_f32), "1.0");
    }

    #[test]
    fn numbers_that_json_lacks() {
        assert_eq!(json(f64::NAN), "\"NaN\"");
        assert_eq!(json(f32::INFINITY), "\"Infinity\"");
        assert_eq!(json(f64::NEG_INFINITY), "\"-Infinity\"");
    }

    #[test]
    fn texts_are_escaped() {
        assert_eq!(json("a\"\\\n\u{1}\u{2028}é"), r#""a\"\\\n\u0001\u2028é""#);
        assert_eq!(
            Value::String(Text::from_bytes(vec![b'a', 0xff])).to_json(),
            "\"a\u{fffd}\""
        );
        assert_eq!(
            Value::WString(WideText::from("wide ☃")).to_json(),
            "\"wide ☃\""
        );
    }

    #[test]
    fn bytes_in_every_style() {
        let base64 = |bytes: &[u8]| json(Array::Uint8(bytes.to_vec()));
        assert_eq!(base64(b""), "\"\"");
        assert_eq!(base64(b"f"), "\"Zg==\"");
        assert_eq!(base64(b"fo"), "\"Zm8=\"");
        assert_eq!(base64(b"foo"), "\"Zm9v\"");
        assert_eq!(base64(b"foobar"), "\"Zm9vYmFy\"");
        let styled = |bytes| {
            let mut out = String::new();
            Value::from(Array::Uint8(vec![1, 2])).write_json(&mut out, JsonStyle { bytes });
            out
        };
        assert_eq!(styled(BytesStyle::Numbers), "[1,2]");
        assert_eq!(styled(BytesStyle::Count), "\"<2 bytes>\"");
    }
}
