//! From JSON to the value of a message; missing fields keep their default.

use std::cell::Cell;
use std::sync::Arc;

use data_encoding::BASE64_NOPAD;
use serde_json::Value as Json;

use super::{Array, Struct, Value};
use crate::definition::{ArrayShape, Primitive};
use crate::schema::{Element, SchemaField, SchemaType, StructType};
use crate::{Definitions, Error, Result, Schema};

/// A message from JSON.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageFromJson {
    /// The message.
    pub value: Value,
    /// Whether the JSON requested the current time with `now` or `auto`.
    pub uses_now: bool,
}

/// Reads a message that is written as JSON or, with fewer quotes, as YAML; an empty text has no fields.
///
/// # Errors
/// [`Error::MessageText`] with the position of the syntax error.
pub fn parse_message_text(text: &str) -> Result<Json> {
    if text.trim().is_empty() {
        return Ok(Json::Object(serde_json::Map::new()));
    }
    let as_json = match serde_json::from_str(text) {
        Ok(json) => return Ok(json),
        Err(error) => error,
    };
    serde_saphyr::from_str(text).map_err(|_as_yaml| Error::MessageText {
        reason: as_json.to_string(),
    })
}

impl Schema {
    /// The message that `json` describes: an object with fields, as [`Value::to_json`] writes it. Missing fields keep
    /// their default. As in `ros2 topic pub`, a time may be `now` and a header `auto`: both become `now`, in seconds
    /// and nanoseconds.
    ///
    /// ```
    /// # use timeloom_msg::Definitions;
    /// use timeloom_msg::value::parse_message_text;
    ///
    /// let schema = Definitions::builtin().schema("std_msgs/msg/Header")?;
    /// let json = parse_message_text("{stamp: now, frame_id: map}")?;
    /// let message = schema.value_from_json(&json, (3, 4))?;
    /// assert!(message.uses_now);
    /// assert_eq!(message.value.to_json(), r#"{"stamp":{"sec":3,"nanosec":4},"frame_id":"map"}"#);
    /// # Ok::<(), timeloom_msg::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::UnknownField`] and [`Error::Mismatch`] with the path of the field.
    pub fn value_from_json(&self, json: &Json, now: (i32, u32)) -> Result<MessageFromJson> {
        let mut value = self.default_value()?;
        let known = Known {
            definitions: self.definitions(),
            now,
            uses_now: Cell::new(false),
        };
        if let Value::Struct(message) = &mut value {
            fill(&known, message, json, "")?;
        }
        Ok(MessageFromJson {
            value,
            uses_now: known.uses_now.get(),
        })
    }
}

struct Known<'a> {
    definitions: &'a Definitions,
    now: (i32, u32),
    uses_now: Cell<bool>,
}

fn fill(known: &Known<'_>, message: &mut Struct, json: &Json, path: &str) -> Result<()> {
    let fields = match json {
        Json::Object(fields) => fields,
        Json::Null => return Ok(()),
        Json::String(word) if stamp(known, message, word) => return Ok(()),
        other => return Err(wrong(path, "an object with fields", other)),
    };
    let ty = Arc::clone(message.ty());
    for (name, json) in fields {
        let place = join(path, name);
        let (Some((_, field)), Some(slot)) = (ty.field(name), message.get_mut(name)) else {
            return Err(unknown_field(&ty, place));
        };
        *slot = value_of(known, field.ty(), json, slot, &place)?;
    }
    Ok(())
}

/// Sets the current time if the word requests it.
fn stamp(known: &Known<'_>, message: &mut Struct, word: &str) -> bool {
    let name = message.ty().name().to_string();
    let time = match (name.as_str(), word) {
        ("builtin_interfaces/msg/Time", "now") => Some(message),
        ("std_msgs/msg/Header", "auto") => match message.get_mut("stamp") {
            Some(Value::Struct(time)) => Some(time),
            _ => None,
        },
        _ => None,
    };
    let Some(time) = time else { return false };
    if let Some(sec) = time.get_mut("sec") {
        *sec = Value::Int32(known.now.0);
    }
    if let Some(nanosec) = time.get_mut("nanosec") {
        *nanosec = Value::Uint32(known.now.1);
    }
    known.uses_now.set(true);
    true
}

fn value_of(
    known: &Known<'_>,
    ty: &SchemaType,
    json: &Json,
    default: &Value,
    path: &str,
) -> Result<Value> {
    if ty.shape == ArrayShape::Single {
        return element(known, &ty.element, json, Some(default), path);
    }
    if let (Json::String(text), Element::Primitive(primitive)) = (json, &ty.element)
        && is_byte(*primitive)
    {
        let expected = || wrong(path, "base64 or a list of numbers", json);
        let digits = text.trim_end_matches('=').as_bytes();
        let bytes = BASE64_NOPAD.decode(digits).map_err(|_invalid| expected())?;
        return Ok(Value::Array(Array::Uint8(bytes)));
    }
    let Json::Array(items) = json else {
        return Err(wrong(path, "a list", json));
    };
    array(known, &ty.element, items, path).map(Value::Array)
}

fn element(
    known: &Known<'_>,
    element: &Element,
    json: &Json,
    default: Option<&Value>,
    path: &str,
) -> Result<Value> {
    match element {
        Element::Primitive(primitive) => primitive_value(*primitive, json, path),
        Element::String(_) => string(json, path).map(|text| Value::String(text.into())),
        Element::WString(_) => string(json, path).map(|text| Value::WString(text.into())),
        Element::Struct(ty) => {
            let mut message = match default {
                Some(Value::Struct(message)) => message.clone(),
                _ => default_struct(known, ty, path)?,
            };
            fill(known, &mut message, json, path)?;
            Ok(Value::Struct(message))
        }
    }
}

/// The default of a nested message, which only a schema can create.
fn default_struct(known: &Known<'_>, ty: &StructType, path: &str) -> Result<Struct> {
    match Schema::compile(known.definitions, ty.name())?.default_value()? {
        Value::Struct(message) => Ok(message),
        other => Err(Error::Mismatch {
            path: path.to_owned(),
            expected: ty.name().to_string(),
            found: other.to_json(),
        }),
    }
}

fn array(known: &Known<'_>, ty: &Element, items: &[Json], path: &str) -> Result<Array> {
    let each =
        |index: usize, json: &Json| element(known, ty, json, None, &format!("{path}[{index}]"));
    macro_rules! collect {
        ($variant:ident) => {{
            let mut all = Vec::with_capacity(items.len());
            for (index, json) in items.iter().enumerate() {
                if let Value::$variant(item) = each(index, json)? {
                    all.push(item);
                }
            }
            Array::$variant(all)
        }};
    }
    Ok(match ty {
        Element::Primitive(primitive) => match primitive {
            Primitive::Bool => collect!(Bool),
            Primitive::Byte | Primitive::Char | Primitive::IdlChar | Primitive::Uint8 => {
                collect!(Uint8)
            }
            Primitive::Int8 => collect!(Int8),
            Primitive::Int16 => collect!(Int16),
            Primitive::Uint16 => collect!(Uint16),
            Primitive::Int32 => collect!(Int32),
            Primitive::Uint32 => collect!(Uint32),
            Primitive::Int64 => collect!(Int64),
            Primitive::Uint64 => collect!(Uint64),
            Primitive::Float32 => collect!(Float32),
            Primitive::Float64 => collect!(Float64),
        },
        Element::String(_) => collect!(String),
        Element::WString(_) => collect!(WString),
        Element::Struct(_) => collect!(Struct),
    })
}

fn primitive_value(primitive: Primitive, json: &Json, path: &str) -> Result<Value> {
    macro_rules! integer {
        ($variant:ident, $plain:ty) => {{
            let fits = json
                .as_i64()
                .and_then(|number| <$plain>::try_from(number).ok())
                .or_else(|| {
                    json.as_u64()
                        .and_then(|number| <$plain>::try_from(number).ok())
                });
            let expected = concat!("an integer that fits ", stringify!($plain));
            fits.map(Value::$variant)
                .ok_or_else(|| wrong(path, expected, json))
        }};
    }
    match primitive {
        Primitive::Bool => json
            .as_bool()
            .map(Value::Bool)
            .ok_or_else(|| wrong(path, "true or false", json)),
        Primitive::Byte | Primitive::Char | Primitive::IdlChar | Primitive::Uint8 => {
            integer!(Uint8, u8)
        }
        Primitive::Int8 => integer!(Int8, i8),
        Primitive::Int16 => integer!(Int16, i16),
        Primitive::Uint16 => integer!(Uint16, u16),
        Primitive::Int32 => integer!(Int32, i32),
        Primitive::Uint32 => integer!(Uint32, u32),
        Primitive::Int64 => integer!(Int64, i64),
        Primitive::Uint64 => integer!(Uint64, u64),
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a float32 is what the type asks for"
        )]
        Primitive::Float32 => number(json, path).map(|number| Value::Float32(number as f32)),
        Primitive::Float64 => number(json, path).map(Value::Float64),
    }
}

/// JSON has no numbers that are not finite: these are our names for them, and those of YAML.
fn number(json: &Json, path: &str) -> Result<f64> {
    let named = json.as_str().and_then(|text| match text {
        "NaN" | ".nan" | "nan" => Some(f64::NAN),
        "Infinity" | ".inf" | "inf" => Some(f64::INFINITY),
        "-Infinity" | "-.inf" | "-inf" => Some(f64::NEG_INFINITY),
        _ => None,
    });
    json.as_f64()
        .or(named)
        .ok_or_else(|| wrong(path, "a number", json))
}

fn string<'a>(json: &'a Json, path: &str) -> Result<&'a str> {
    json.as_str().ok_or_else(|| wrong(path, "a text", json))
}

fn is_byte(primitive: Primitive) -> bool {
    matches!(
        primitive,
        Primitive::Byte | Primitive::Char | Primitive::IdlChar | Primitive::Uint8
    )
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

fn wrong(path: &str, expected: &str, json: &Json) -> Error {
    let mut found = json.to_string();
    if found.chars().count() > 60 {
        found = found.chars().take(60).chain(['…']).collect();
    }
    let path = if path.is_empty() { "message" } else { path };
    Error::Mismatch {
        path: path.to_owned(),
        expected: expected.to_owned(),
        found,
    }
}

fn unknown_field(ty: &StructType, path: String) -> Error {
    let names = ty.fields().iter().map(SchemaField::name);
    Error::UnknownField {
        name: ty.name().to_string(),
        path,
        known: names.map(str::to_owned).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(type_name: &str, text: &str) -> String {
        let schema = Definitions::builtin().schema(type_name).unwrap();
        let json = parse_message_text(text);
        match json.and_then(|json| schema.value_from_json(&json, (3, 4))) {
            Ok(message) => {
                schema.encode(&message.value).unwrap();
                message.value.to_json()
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn missing_fields_keep_their_default() {
        assert_eq!(
            json("std_msgs/msg/Header", r#"{"stamp": {"nanosec": 7}}"#),
            r#"{"stamp":{"sec":0,"nanosec":7},"frame_id":""}"#
        );
        assert_eq!(json("std_msgs/msg/String", ""), r#"{"data":""}"#);
    }

    #[test]
    fn yaml_is_accepted() {
        assert_eq!(
            json("std_msgs/msg/Header", "{stamp: {sec: 3}, frame_id: map}"),
            r#"{"stamp":{"sec":3,"nanosec":0},"frame_id":"map"}"#
        );
    }

    #[test]
    fn times_may_be_now_and_headers_auto() {
        let text = "{header: auto, point: {x: 1}}";
        let stamped = json("geometry_msgs/msg/PointStamped", text);
        let header = r#"{"header":{"stamp":{"sec":3,"nanosec":4},"frame_id":""}"#;
        assert!(stamped.starts_with(header), "{stamped}");
        let text = "{header: {stamp: now, frame_id: map}}";
        let stamped = json("geometry_msgs/msg/PointStamped", text);
        assert!(
            stamped.contains(r#""nanosec":4},"frame_id":"map""#),
            "{stamped}"
        );
        let wrong = json("geometry_msgs/msg/PointStamped", "{point: now}");
        assert!(
            wrong.contains("expected an object with fields, found \"now\""),
            "{wrong}"
        );
    }

    #[test]
    fn lists_of_messages_and_bytes() {
        let text = r#"{"points": [{"x": 1, "z": "NaN"}, {}]}"#;
        assert_eq!(
            json("geometry_msgs/msg/Polygon", text),
            r#"{"points":[{"x":1.0,"y":0.0,"z":"NaN"},{"x":0.0,"y":0.0,"z":0.0}]}"#
        );
        for data in [r#""Zm9vYg==""#, "[102, 111, 111, 98]"] {
            let text = format!("{{\"data\": {data}}}");
            assert!(json("std_msgs/msg/UInt8MultiArray", &text).contains("\"Zm9vYg==\""));
        }
    }

    #[test]
    fn errors_name_the_field_and_the_expected_type() {
        for (type_name, text, reason) in [
            (
                "std_msgs/msg/String",
                r#"{"dta": ""}"#,
                "std_msgs/msg/String has no field `dta`: it has data",
            ),
            (
                "std_msgs/msg/Int8",
                r#"{"data": 128}"#,
                "data: expected an integer that fits i8, found 128",
            ),
            (
                "std_msgs/msg/Bool",
                r#"{"data": 1}"#,
                "expected true or false, found 1",
            ),
            (
                "std_msgs/msg/String",
                "[1]",
                "message: expected an object with fields",
            ),
            ("std_msgs/msg/String", "{", "neither JSON nor YAML"),
        ] {
            let found = json(type_name, text);
            assert!(found.contains(reason), "{found}");
        }
    }
}
