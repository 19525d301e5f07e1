//! From JSON or YAML to the value of a message: what is not said keeps its default.

use std::cell::Cell;
use std::sync::Arc;

use serde_json::Value as Json;
use timeloom_msg::Definitions;
use timeloom_msg::definition::{ArrayShape, Primitive};
use timeloom_msg::schema::{Element, Schema, SchemaType, StructType};
use timeloom_msg::value::{Array, Struct, Value};
use timeloom_time::WireTime;

use crate::failure::Failure;
use crate::suggestion::nearest;

/// What a message is made with.
struct Known<'a> {
    definitions: &'a Definitions,
    now: WireTime,
    /// Whether the message has the time of now in it.
    stamped: Cell<bool>,
}

/// The message that `json` describes, as `timeloom topic echo` prints one or as ros2 takes it, and whether `now`
/// is in it: as in ros2, a time may be `now` and a header `auto`.
pub(crate) fn message_value(
    schema: &Schema,
    json: &Json,
    now: WireTime,
) -> anyhow::Result<(Value, bool)> {
    let mut value = schema.default_value()?;
    let known = Known {
        definitions: schema.definitions(),
        now,
        stamped: Cell::new(false),
    };
    if let Value::Struct(message) = &mut value {
        let name = schema.name().to_string();
        fill(&known, message, json, "")
            .map_err(|reason| Failure::new(format!("{name} {reason}")))?;
    }
    Ok((value, known.stamped.get()))
}

/// JSON or YAML as JSON; nothing is an object without fields.
pub(crate) fn parse(text: &str) -> anyhow::Result<Json> {
    if text.trim().is_empty() {
        return Ok(Json::Object(serde_json::Map::new()));
    }
    let as_json = match serde_json::from_str(text) {
        Ok(json) => return Ok(json),
        Err(error) => error,
    };
    // YAML is a superset, in which names need no quotes.
    serde_saphyr::from_str(text).map_err(|_as_yaml| {
        let hint = "write it as JSON, such as '{\"data\": 1}', or as YAML, such as '{data: 1}'";
        Failure::usage(format!("the message cannot be read: {as_json}"))
            .hint(hint)
            .into()
    })
}

fn fill(known: &Known<'_>, message: &mut Struct, json: &Json, path: &str) -> Result<(), String> {
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
            return Err(no_field(&ty, &place, name));
        };
        *slot = value_of(known, field.ty(), json, slot, &place)?;
    }
    Ok(())
}

/// Sets the time of now, where the word asks for it.
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
        *sec = Value::Int32(known.now.sec);
    }
    if let Some(nanosec) = time.get_mut("nanosec") {
        *nanosec = Value::Uint32(known.now.nanosec);
    }
    known.stamped.set(true);
    true
}

fn value_of(
    known: &Known<'_>,
    ty: &SchemaType,
    json: &Json,
    default: &Value,
    path: &str,
) -> Result<Value, String> {
    if ty.shape == ArrayShape::Single {
        return element(known, &ty.element, json, Some(default), path);
    }
    if let (Json::String(text), Element::Primitive(primitive)) = (json, &ty.element)
        && is_byte(*primitive)
    {
        let expected = || wrong(path, "base64 or a list of numbers", json);
        let bytes = from_base64(text).ok_or_else(expected)?;
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
) -> Result<Value, String> {
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

/// The default of a nested message, which only a schema can make.
fn default_struct(known: &Known<'_>, ty: &StructType, path: &str) -> Result<Struct, String> {
    match Schema::compile(known.definitions, ty.name()).and_then(|schema| schema.default_value()) {
        Ok(Value::Struct(message)) => Ok(message),
        _ => Err(format!("has no default for {path}")),
    }
}

fn array(known: &Known<'_>, ty: &Element, items: &[Json], path: &str) -> Result<Array, String> {
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

fn primitive_value(primitive: Primitive, json: &Json, path: &str) -> Result<Value, String> {
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

/// JSON has no names for what is not finite; we print and take these.
fn number(json: &Json, path: &str) -> Result<f64, String> {
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

fn string<'a>(json: &'a Json, path: &str) -> Result<&'a str, String> {
    json.as_str().ok_or_else(|| wrong(path, "a text", json))
}

fn is_byte(primitive: Primitive) -> bool {
    matches!(
        primitive,
        Primitive::Byte | Primitive::Char | Primitive::IdlChar | Primitive::Uint8
    )
}

fn from_base64(text: &str) -> Option<Vec<u8>> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = text.trim_end_matches('=').as_bytes();
    if digits.len() % 4 == 1 {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    let (mut bits, mut count) = (0_u32, 0);
    for digit in digits {
        let value = LETTERS.iter().position(|letter| letter == digit)?;
        bits = (bits << 6 | u32::try_from(value).ok()?) & 0xffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).ok()?);
        }
    }
    Some(bytes)
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

fn wrong(path: &str, expected: &str, json: &Json) -> String {
    let mut found = json.to_string();
    if found.chars().count() > 60 {
        found = found.chars().take(60).chain(['…']).collect();
    }
    let place = if path.is_empty() {
        "needs".to_owned()
    } else {
        format!("needs at {path}")
    };
    format!("{place} {expected}, not {found}")
}

fn no_field(ty: &StructType, path: &str, name: &str) -> String {
    let names: Vec<&str> = ty
        .fields()
        .iter()
        .map(timeloom_msg::schema::SchemaField::name)
        .collect();
    match nearest(name, names.iter().copied()) {
        Some(near) => format!("has no field {path}: did you mean {near}?"),
        None => format!(
            "has no field {path}: {} has {}",
            ty.name(),
            names.join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: WireTime = WireTime { sec: 3, nanosec: 4 };

    fn json(type_name: &str, text: &str) -> String {
        let schema = Definitions::builtin().schema(type_name).unwrap();
        match parse(text).and_then(|json| message_value(&schema, &json, NOW)) {
            Ok((value, _)) => {
                schema.encode(&value).unwrap();
                value.to_json()
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn what_is_not_said_keeps_its_default() {
        assert_eq!(
            json("std_msgs/msg/Header", r#"{"stamp": {"nanosec": 7}}"#),
            r#"{"stamp":{"sec":0,"nanosec":7},"frame_id":""}"#
        );
        assert_eq!(json("std_msgs/msg/String", ""), r#"{"data":""}"#);
    }

    #[test]
    fn yaml_is_taken_too() {
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
            wrong.contains("an object with fields, not \"now\""),
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
    fn what_does_not_fit_is_named() {
        for (type_name, text, reason) in [
            (
                "std_msgs/msg/String",
                r#"{"dta": ""}"#,
                "did you mean data?",
            ),
            (
                "std_msgs/msg/Int8",
                r#"{"data": 128}"#,
                "an integer that fits i8, not 128",
            ),
            (
                "std_msgs/msg/Bool",
                r#"{"data": 1}"#,
                "true or false, not 1",
            ),
            ("std_msgs/msg/String", "[1]", "an object with fields"),
            ("std_msgs/msg/String", "{", "cannot be read"),
        ] {
            let found = json(type_name, text);
            assert!(found.contains(reason), "{found}");
        }
    }
}
