//! Values of parameters as one line of text with their type: `double 0.5`, `string "map"`, `integer_array [1, 2]`.

use super::ParameterValue;

impl ParameterValue {
    /// The value as one line: the name of its type and the value as JSON; numbers that JSON does not have are `NaN`,
    /// `inf` and `-inf`.
    ///
    /// ```
    /// use timeloom_msg::ParameterValue;
    ///
    /// let value = ParameterValue::from(0.5);
    /// assert_eq!(value.to_typed_text(), "double 0.5");
    /// assert_eq!(ParameterValue::from_typed_text("double 0.5"), Some(value));
    /// ```
    pub fn to_typed_text(&self) -> String {
        let list = |items: Vec<String>| format!("[{}]", items.join(", "));
        let value = match self {
            Self::NotSet => return "not_set".to_owned(),
            Self::Bool(value) => value.to_string(),
            Self::Integer(value) => value.to_string(),
            Self::Double(value) => format!("{value:?}"),
            Self::String(value) => quoted(value),
            Self::Bytes(items) => list(items.iter().map(ToString::to_string).collect()),
            Self::Bools(items) => list(items.iter().map(ToString::to_string).collect()),
            Self::Integers(items) => list(items.iter().map(ToString::to_string).collect()),
            Self::Doubles(items) => list(items.iter().map(|item| format!("{item:?}")).collect()),
            Self::Strings(items) => list(items.iter().map(|item| quoted(item)).collect()),
        };
        format!("{} {value}", self.type_name())
    }

    /// Reads such a line; `None` if it is none.
    pub fn from_typed_text(text: &str) -> Option<Self> {
        if text == "not_set" {
            return Some(Self::NotSet);
        }
        let (kind, value) = text.split_once(' ')?;
        Some(match kind {
            "bool" => Self::Bool(value.parse().ok()?),
            "integer" => Self::Integer(value.parse().ok()?),
            "double" => Self::Double(value.parse().ok()?),
            "string" => Self::String(serde_json::from_str(value).ok()?),
            "byte_array" => Self::Bytes(items(value)?),
            "bool_array" => Self::Bools(items(value)?),
            "integer_array" => Self::Integers(items(value)?),
            "double_array" => Self::Doubles(items(value)?),
            "string_array" => Self::Strings(serde_json::from_str(value).ok()?),
            _ => return None,
        })
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The items between brackets; numbers and truth values have no comma inside.
fn items<T: std::str::FromStr>(text: &str) -> Option<Vec<T>> {
    let inside = text.strip_prefix('[')?.strip_suffix(']')?;
    if inside.is_empty() {
        return Some(Vec::new());
    }
    inside
        .split(',')
        .map(|item| item.trim().parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values() -> impl Strategy<Value = ParameterValue> {
        let list = 0..4_usize;
        prop_oneof![
            Just(ParameterValue::NotSet),
            any::<bool>().prop_map(ParameterValue::Bool),
            any::<i64>().prop_map(ParameterValue::Integer),
            any::<f64>().prop_map(ParameterValue::Double),
            any::<String>().prop_map(ParameterValue::String),
            prop::collection::vec(any::<u8>(), list.clone()).prop_map(ParameterValue::Bytes),
            prop::collection::vec(any::<bool>(), list.clone()).prop_map(ParameterValue::Bools),
            prop::collection::vec(any::<i64>(), list.clone()).prop_map(ParameterValue::Integers),
            prop::collection::vec(any::<f64>(), list.clone()).prop_map(ParameterValue::Doubles),
            prop::collection::vec(any::<String>(), list).prop_map(ParameterValue::Strings),
        ]
    }

    proptest! {
        #[test]
        fn a_value_reads_back_from_one_line(value in values()) {
            let text = value.to_typed_text();
            prop_assert!(!text.contains('\n'), "{text}");
            prop_assert_eq!(ParameterValue::from_typed_text(&text), Some(value));
        }

        #[test]
        fn any_text_is_read_without_a_panic(text: String) {
            let _read = ParameterValue::from_typed_text(&text);
        }
    }

    #[test]
    fn numbers_that_json_does_not_have_read_back() {
        for (value, text) in [
            (f64::INFINITY, "double inf"),
            (f64::NEG_INFINITY, "double -inf"),
            (1e300, "double 1e300"),
        ] {
            let value = ParameterValue::Double(value);
            assert_eq!(value.to_typed_text(), text);
            assert_eq!(ParameterValue::from_typed_text(text), Some(value));
        }
        let Some(ParameterValue::Double(value)) = ParameterValue::from_typed_text("double NaN")
        else {
            panic!("not a double");
        };
        assert!(value.is_nan());
        for wrong in [
            "",
            "double",
            "integer 0.5",
            "integer_array [1",
            "colour red",
        ] {
            assert_eq!(ParameterValue::from_typed_text(wrong), None, "{wrong}");
        }
    }
}
