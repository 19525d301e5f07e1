//! Values of constants and defaults.

use std::fmt;

use super::{ArrayShape, BaseType, FieldType, Primitive, Source};
use crate::Result;

/// The value of a constant, or the default of a field.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// A `bool`.
    Bool(bool),
    /// A signed integer.
    Int(i64),
    /// An unsigned integer, `byte` or `char`.
    Uint(u64),
    /// A floating point number.
    Float(f64),
    /// A `string` or `wstring`.
    Text(String),
    /// The elements of an array.
    List(Vec<Self>),
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Uint(value) => write!(f, "{value}"),
            // Debug keeps the point: 1.0, not 1.
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Text(text) => write_text(f, text),
            Self::List(items) => {
                f.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if index > 0 { ", " } else { "" })?;
                }
                f.write_str("]")
            }
        }
    }
}

/// A quoted text on one line: IDL may hold line ends, which `.msg` cannot.
fn write_text(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    let escaped = text
        .replace('"', "\\\"")
        .replace('\n', "\\n")
        .replace('\r', "\\r");
    write!(f, "\"{escaped}\"")
}

impl Literal {
    /// Reads a value of the given type.
    pub(crate) fn parse(source: Source<'_>, ty: &FieldType, text: &str) -> Result<Self> {
        if ty.shape == ArrayShape::Single {
            return Self::parse_one(source, &ty.base, text);
        }
        let wrong = || source.expected("a list such as [1, 2, 3]", text);
        let inner = text
            .strip_prefix('[')
            .and_then(|t| t.strip_suffix(']'))
            .ok_or_else(wrong)?;
        let items = split_items(inner)
            .into_iter()
            .map(|item| Self::parse_one(source, &ty.base, item))
            .collect::<Result<Vec<_>>>()?;
        let count = items.len() as u64;
        match ty.shape {
            ArrayShape::Fixed(n) if u64::from(n) != count => {
                Err(source.expected(format!("{n} elements"), text))
            }
            ArrayShape::Bounded(n) if u64::from(n) < count => {
                Err(source.expected(format!("at most {n} elements"), text))
            }
            _ => Ok(Self::List(items)),
        }
    }

    fn parse_one(source: Source<'_>, base: &BaseType, text: &str) -> Result<Self> {
        let wrong = |what: &str| source.expected(what, text);
        match base {
            BaseType::Primitive(primitive) => parse_primitive(source, *primitive, text),
            BaseType::String(bound) | BaseType::WString(bound) => {
                let value =
                    unquote(text).ok_or_else(|| wrong("a string with its inner quotes escaped"))?;
                match bound {
                    Some(bound) if value.len() > *bound as usize => {
                        Err(wrong(&format!("a string of at most {bound} characters")))
                    }
                    _ => Ok(Self::Text(value)),
                }
            }
            BaseType::Message(_) => Err(wrong("no value: a message field has no default")),
        }
    }
}

fn parse_primitive(source: Source<'_>, primitive: Primitive, text: &str) -> Result<Literal> {
    let wrong = || source.expected(format!("a {} value", primitive.name()), text);
    let signed = |min: i64, max: i64| {
        parse_integer(text)
            .and_then(|v| i64::try_from(v).ok())
            .filter(|v| (min..=max).contains(v))
            .map(Literal::Int)
    };
    let unsigned = |max: u64| {
        parse_integer(text)
            .and_then(|v| u64::try_from(v).ok())
            .filter(|v| *v <= max)
            .map(Literal::Uint)
    };
    let literal = match primitive {
        Primitive::Bool => match text.to_ascii_lowercase().as_str() {
            "true" | "1" => Some(Literal::Bool(true)),
            "false" | "0" => Some(Literal::Bool(false)),
            _ => None,
        },
        Primitive::Int8 => signed(i8::MIN.into(), i8::MAX.into()),
        Primitive::Int16 => signed(i16::MIN.into(), i16::MAX.into()),
        Primitive::Int32 => signed(i32::MIN.into(), i32::MAX.into()),
        Primitive::Int64 => signed(i64::MIN, i64::MAX),
        Primitive::Byte | Primitive::Char | Primitive::IdlChar | Primitive::Uint8 => {
            unsigned(u8::MAX.into())
        }
        Primitive::Uint16 => unsigned(u16::MAX.into()),
        Primitive::Uint32 => unsigned(u32::MAX.into()),
        Primitive::Uint64 => unsigned(u64::MAX),
        Primitive::Float32 | Primitive::Float64 => parse_float(text).map(Literal::Float),
    };
    literal.ok_or_else(wrong)
}

/// Decimal, `0x`, `0o` and `0b` integers, as Python reads them.
fn parse_integer(text: &str) -> Option<i128> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, digits) = match digits.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => (16, &digits[2..]),
        Some("0o") => (8, &digits[2..]),
        Some("0b") => (2, &digits[2..]),
        _ => (10, digits),
    };
    if !digits.starts_with(|c: char| c.is_ascii_hexdigit()) {
        return None;
    }
    let magnitude = i128::from_str_radix(&digits.replace('_', ""), radix).ok()?;
    Some(if negative { -magnitude } else { magnitude })
}

fn parse_float(text: &str) -> Option<f64> {
    let number = text.replace('_', "");
    let looks_numeric = number.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    let named = matches!(
        number.to_ascii_lowercase().trim_start_matches(['+', '-']),
        "nan" | "inf" | "infinity"
    );
    (looks_numeric || named)
        .then(|| number.parse().ok())
        .flatten()
}

/// Removes outer quotes; `None` when an inner quote is not escaped.
fn unquote(text: &str) -> Option<String> {
    for quote in ['"', '\''] {
        let inner = text.strip_prefix(quote).and_then(|t| t.strip_suffix(quote));
        let Some(inner) = inner else { continue };
        let mut value = String::with_capacity(inner.len());
        for c in inner.chars() {
            // Only the quote itself is escaped, as rosidl reads it.
            if c == quote && value.pop() != Some('\\') {
                return None;
            }
            value.push(c);
        }
        return Some(value);
    }
    Some(text.to_owned())
}

/// Splits at commas that are not inside quotes.
fn split_items(text: &str) -> Vec<&str> {
    let mut items = Vec::new();
    let (mut start, mut quote, mut before) = (0, None, ' ');
    for (at, c) in text.char_indices() {
        match (quote, c) {
            // Escaped, as rosidl reads it: nothing escapes the backslash itself.
            (Some(open), _) if c == open && before == '\\' => {}
            (Some(open), _) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, ',') => {
                items.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
        before = c;
    }
    let last = text[start..].trim();
    if !last.is_empty() || !items.is_empty() {
        items.push(last);
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(ty: &FieldType, text: &str) -> Result<Literal> {
        Literal::parse(
            Source {
                name: "t/msg/T",
                line: 1,
            },
            ty,
            text,
        )
    }

    fn one(primitive: Primitive) -> FieldType {
        FieldType::single(BaseType::Primitive(primitive))
    }

    #[test]
    fn integers_in_every_base_and_their_bounds() {
        assert_eq!(
            parse(&one(Primitive::Uint8), "0xFF"),
            Ok(Literal::Uint(255))
        );
        assert_eq!(
            parse(&one(Primitive::Int64), "-9223372036854775808"),
            Ok(Literal::Int(i64::MIN))
        );
        assert_eq!(
            parse(&one(Primitive::Uint64), "18446744073709551615"),
            Ok(Literal::Uint(u64::MAX))
        );
        assert_eq!(parse(&one(Primitive::Int8), "-0b11"), Ok(Literal::Int(-3)));
        for bad in ["256", "-1", "", "0x", "1.5", "x", "_1", "--1"] {
            assert!(parse(&one(Primitive::Uint8), bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn floats_and_bools() {
        assert_eq!(
            parse(&one(Primitive::Float32), "1e-3"),
            Ok(Literal::Float(1e-3))
        );
        assert_eq!(
            parse(&one(Primitive::Float64), "-.5"),
            Ok(Literal::Float(-0.5))
        );
        assert!(parse(&one(Primitive::Float64), "infant").is_err());
        assert_eq!(
            parse(&one(Primitive::Bool), "True"),
            Ok(Literal::Bool(true))
        );
        assert!(parse(&one(Primitive::Bool), "yes").is_err());
    }

    #[test]
    fn strings_with_quotes() {
        let string = FieldType::single(BaseType::String(Some(12)));
        for (text, value) in [
            ("\"a b\"", "a b"),
            ("'a\"b'", "a\"b"),
            (r#""a\"b""#, "a\"b"),
            ("plain", "plain"),
            ("\"\"", ""),
        ] {
            assert_eq!(
                parse(&string, text),
                Ok(Literal::Text(value.to_owned())),
                "{text}"
            );
        }
        assert!(parse(&string, r#""a"b""#).is_err());
        assert!(parse(&string, "longer than twelve").is_err());
    }

    #[test]
    fn line_ends_do_not_break_the_line() {
        assert_eq!(
            Literal::Text("a\n\"b\r".to_owned()).to_string(),
            r#""a\n\"b\r""#
        );
    }

    #[test]
    fn lists_check_their_length() {
        let three = FieldType {
            base: BaseType::Primitive(Primitive::Int32),
            shape: ArrayShape::Fixed(3),
        };
        assert_eq!(
            parse(&three, "[1, -2,3]").unwrap().to_string(),
            "[1, -2, 3]"
        );
        assert!(parse(&three, "[1, 2]").is_err());
        assert!(parse(&three, "1, 2, 3").is_err());
        let texts = FieldType {
            base: BaseType::String(None),
            shape: ArrayShape::Unbounded,
        };
        assert_eq!(
            parse(&texts, r#"["a,b", 'c']"#).unwrap().to_string(),
            r#"["a,b", "c"]"#
        );
        assert_eq!(parse(&texts, "[]").unwrap(), Literal::List(vec![]));
    }
}
