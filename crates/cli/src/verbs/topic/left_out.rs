//! Long fields of a message that are abbreviated: pixels, points, long texts.

use timeloom_msg::Value;
use timeloom_msg::value::{Array, Struct};

/// The fields that are replaced by their type and length.
#[derive(Clone, Copy, Default)]
pub(super) struct LeftOut {
    pub(super) arrays: bool,
    pub(super) texts: bool,
    /// The most elements of an array and letters of a text; what is beyond is left out.
    pub(super) longest: Option<usize>,
}

impl LeftOut {
    /// Replaces it everywhere in a message.
    pub(super) fn shorten(self, value: &mut Value) {
        if !self.arrays && !self.texts && self.longest.is_none() {
            return;
        }
        match value {
            Value::Struct(message) => self.shorten_fields(message),
            Value::Array(array) if self.arrays => {
                let text = format!(
                    "<sequence type: {}, length: {}>",
                    element(array),
                    array.len()
                );
                *value = text.as_str().into();
            }
            Value::Array(array) => {
                if let Some(longest) = self.longest {
                    truncate(array, longest);
                }
                if let Array::Struct(messages) = array {
                    for message in messages {
                        self.shorten_fields(message);
                    }
                }
            }
            Value::String(_) | Value::WString(_) if self.texts => {
                // Its JSON has two quotes.
                let length = value.to_json().chars().count().saturating_sub(2);
                *value = format!("<string length: {length}>").as_str().into();
            }
            Value::String(text) => {
                if let Some(begin) = self.begin(&text.to_string_lossy()) {
                    *value = begin;
                }
            }
            Value::WString(text) => {
                if let Some(begin) = self.begin(&text.to_string_lossy()) {
                    *value = begin;
                }
            }
            _ => {}
        }
    }

    /// The beginning of a text that is too long.
    fn begin(self, text: &str) -> Option<Value> {
        let longest = self.longest?;
        (text.chars().count() > longest).then(|| {
            let begin: String = text.chars().take(longest).collect();
            format!("{begin}...").as_str().into()
        })
    }

    fn shorten_fields(self, message: &mut Struct) {
        let names: Vec<String> = message.fields().map(|(name, _)| name.to_owned()).collect();
        for name in names {
            if let Some(value) = message.get_mut(&name) {
                self.shorten(value);
            }
        }
    }
}

fn truncate(array: &mut Array, longest: usize) {
    match array {
        Array::Struct(items) => items.truncate(longest),
        Array::Bool(items) => items.truncate(longest),
        Array::Int8(items) => items.truncate(longest),
        Array::Uint8(items) => items.truncate(longest),
        Array::Int16(items) => items.truncate(longest),
        Array::Uint16(items) => items.truncate(longest),
        Array::Int32(items) => items.truncate(longest),
        Array::Uint32(items) => items.truncate(longest),
        Array::Int64(items) => items.truncate(longest),
        Array::Uint64(items) => items.truncate(longest),
        Array::Float32(items) => items.truncate(longest),
        Array::Float64(items) => items.truncate(longest),
        Array::String(items) => items.truncate(longest),
        Array::WString(items) => items.truncate(longest),
    }
}

fn element(array: &Array) -> String {
    match array {
        Array::Struct(messages) => messages.first().map_or_else(
            || "message".to_owned(),
            |first| first.ty().name().to_string(),
        ),
        Array::Bool(_) => "bool".to_owned(),
        Array::Int8(_) => "int8".to_owned(),
        Array::Uint8(_) => "uint8".to_owned(),
        Array::Int16(_) => "int16".to_owned(),
        Array::Uint16(_) => "uint16".to_owned(),
        Array::Int32(_) => "int32".to_owned(),
        Array::Uint32(_) => "uint32".to_owned(),
        Array::Int64(_) => "int64".to_owned(),
        Array::Uint64(_) => "uint64".to_owned(),
        Array::Float32(_) => "float32".to_owned(),
        Array::Float64(_) => "float64".to_owned(),
        Array::String(_) => "string".to_owned(),
        Array::WString(_) => "wstring".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use timeloom_msg::Definitions;

    fn shortened(left_out: LeftOut) -> String {
        let schema = Definitions::builtin()
            .schema("sensor_msgs/msg/Image")
            .unwrap();
        let mut image = schema.default_value().unwrap();
        image.set("header.frame_id", "camera").unwrap();
        image.set("data", Array::Uint8(vec![7; 640])).unwrap();
        left_out.shorten(&mut image);
        image.to_json()
    }

    #[test]
    fn arrays_and_texts_are_replaced_by_their_length() {
        let (arrays, texts) = (
            LeftOut {
                arrays: true,
                ..LeftOut::default()
            },
            LeftOut {
                texts: true,
                ..LeftOut::default()
            },
        );
        let text = shortened(arrays);
        assert!(
            text.contains(r#""data":"<sequence type: uint8, length: 640>""#),
            "{text}"
        );
        assert!(text.contains(r#""frame_id":"camera""#), "{text}");
        let text = shortened(texts);
        assert!(
            text.contains(r#""frame_id":"<string length: 6>""#),
            "{text}"
        );
        assert!(text.len() > 640, "{text}");
        assert!(shortened(LeftOut::default()).contains("camera"));
        let text = shortened(LeftOut {
            longest: Some(3),
            ..LeftOut::default()
        });
        assert!(text.contains(r#""frame_id":"cam...""#), "{text}");
        // Three bytes, as base64.
        assert!(text.contains(r#""data":"BwcH""#), "{text}");
    }
}
