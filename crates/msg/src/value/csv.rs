//! Messages as lines of CSV.

use super::{Array, Struct, Value};

impl Value {
    /// All values of a message in wire order, as `ros2 topic echo --csv` prints them, without a newline. Arrays are
    /// spread, so that messages of one type can have different numbers of cells; with [`Columns`](super::Columns) all
    /// have the same number.
    pub fn to_csv(&self) -> String {
        let mut cells = Vec::new();
        collect(self, &mut cells);
        cells.join(",")
    }
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
        Value::String(text) => cells.push(csv_cell(&text.to_string_lossy())),
        Value::WString(text) => cells.push(csv_cell(&text.to_string_lossy())),
        number => cells.push(number.to_json()),
    }
}

/// Quotes a cell that holds a comma, a quote or a line end (RFC 4180).
pub(super) fn csv_cell(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Schema;

    #[test]
    fn values_are_in_wire_order() {
        let text =
            "B b\nB[] list\nint32[] n\nstring s\nbool on\nfloat64 x\n===\nMSG: p/B\nuint8 y\n";
        let schema = Schema::parse_ros2msg("p/msg/A", text).unwrap();
        let mut message = schema.default_value().unwrap();
        message.set("b.y", 7_u8).unwrap();
        message.set("n", Array::Int32(vec![1, -2])).unwrap();
        message.set("s", "a, \"b\"").unwrap();
        message.set("x", 0.5_f64).unwrap();
        assert_eq!(message.to_csv(), "7,1,-2,\"a, \"\"b\"\"\",false,0.5");
    }
}
