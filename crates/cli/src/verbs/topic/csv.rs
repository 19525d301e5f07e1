//! A message as one line of CSV: all its values in their order, as `ros2 topic echo --csv` has them.

use timeloom_msg::Value;
use timeloom_msg::value::{Array, Struct};

/// The values of a message, one cell each. Texts with commas, quotes or line breaks are quoted.
pub(super) fn row(value: &Value) -> String {
    let mut cells = Vec::new();
    collect(value, &mut cells);
    cells.join(",")
}

fn collect(value: &Value, cells: &mut Vec<String>) {
    match value {
        Value::Struct(message) => message
            .fields()
            .for_each(|(_, field)| collect(field, cells)),
        Value::Array(Array::Struct(messages)) => messages
            .iter()
            .flat_map(Struct::values)
            .for_each(|field| collect(field, cells)),
        Value::Array(array) => (0..array.len())
            .filter_map(|index| array.get(index))
            .for_each(|element| collect(&element, cells)),
        Value::String(text) => cells.push(quoted(&text.to_string_lossy())),
        Value::WString(text) => cells.push(quoted(&text.to_string_lossy())),
        number => cells.push(number.to_json()),
    }
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use timeloom_msg::Schema;

    use super::*;

    #[test]
    fn values_stand_in_their_order() {
        let text =
            "B b\nB[] list\nint32[] n\nstring s\nbool on\nfloat64 x\n===\nMSG: p/B\nuint8 y\n";
        let schema = Schema::parse_ros2msg("p/msg/A", text).unwrap();
        let mut message = schema.default_value().unwrap();
        message.set("b.y", 7_u8).unwrap();
        message.set("n", Array::Int32(vec![1, -2])).unwrap();
        message.set("s", "a, \"b\"").unwrap();
        message.set("x", 0.5_f64).unwrap();
        assert_eq!(row(&message), "7,1,-2,\"a, \"\"b\"\"\",false,0.5");
    }
}
