//! Abbreviation of long fields, such as pixels, points and long texts.

use super::array::for_each_kind;
use super::{Array, Struct, Value};

/// The parts of a message that are abbreviated for display.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Abbreviation {
    /// Replace arrays by their type and length.
    pub arrays: bool,
    /// Replace texts by their length.
    pub texts: bool,
    /// Largest number of elements of an array and of characters of a text.
    pub longest: Option<usize>,
}

impl Abbreviation {
    /// Abbreviates a value, and everything in it.
    pub fn apply(self, value: &mut Value) {
        if !self.arrays && !self.texts && self.longest.is_none() {
            return;
        }
        match value {
            Value::Struct(message) => self.apply_to_fields(message),
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
                    for_each_kind!(array, items => items.truncate(longest));
                }
                if let Array::Struct(messages) = array {
                    for message in messages {
                        self.apply_to_fields(message);
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

    fn apply_to_fields(self, message: &mut Struct) {
        let names: Vec<String> = message.fields().map(|(name, _)| name.to_owned()).collect();
        for name in names {
            if let Some(value) = message.get_mut(&name) {
                self.apply(value);
            }
        }
    }
}

/// The type of the elements.
fn element(array: &Array) -> String {
    if let Array::Struct(messages) = array
        && let Some(first) = messages.first()
    {
        return first.ty().name().to_string();
    }
    array.kind().trim_end_matches("[]").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Definitions;

    fn shortened(parts: Abbreviation) -> String {
        let schema = Definitions::builtin()
            .schema("sensor_msgs/msg/Image")
            .unwrap();
        let mut image = schema.default_value().unwrap();
        image.set("header.frame_id", "camera").unwrap();
        image.set("data", Array::Uint8(vec![7; 640])).unwrap();
        parts.apply(&mut image);
        image.to_json()
    }

    #[test]
    fn arrays_and_texts_are_replaced_by_their_length() {
        let (arrays, texts) = (
            Abbreviation {
                arrays: true,
                ..Abbreviation::default()
            },
            Abbreviation {
                texts: true,
                ..Abbreviation::default()
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
        assert!(shortened(Abbreviation::default()).contains("camera"));
        let text = shortened(Abbreviation {
            longest: Some(3),
            ..Abbreviation::default()
        });
        assert!(text.contains(r#""frame_id":"cam...""#), "{text}");
        // Three bytes, as base64.
        assert!(text.contains(r#""data":"BwcH""#), "{text}");
    }
}
