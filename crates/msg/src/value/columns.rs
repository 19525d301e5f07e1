//! Messages as rows of a table, for CSV.

use super::csv::csv_cell;
use super::{Array, JsonStyle, Struct, Value};
use crate::definition::ArrayShape;
use crate::schema::{Element, Schema, StructType};

/// Fixed arrays up to this size get one column for each element.
const MAX_SPREAD: u32 = 64;
/// Most columns of a table; the rest stays one JSON cell.
const MAX_COLUMNS: usize = 4096;

/// The columns of a message type: one for each scalar, such as `header.stamp.sec` or `covariance[0]`.
///
/// Sequences have any length, so each is one cell of JSON.
///
/// ```
/// use timeloom_msg::Schema;
/// use timeloom_msg::value::Columns;
///
/// let schema = Schema::parse_ros2msg("demo/msg/Pose", "float32 x\nint8[2] grid\nint8[] list\n")?;
/// let columns = Columns::of(&schema);
/// assert_eq!(columns.csv_header(), "x,grid,list");
/// # Ok::<(), timeloom_msg::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    names: Vec<String>,
}

impl Columns {
    /// The columns of a type.
    pub fn of(schema: &Schema) -> Self {
        let mut names = Vec::new();
        name_struct(&mut names, "", schema.root());
        Self { names }
    }

    /// The names, in wire order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The header line of a CSV file, without a newline.
    pub fn csv_header(&self) -> String {
        self.names
            .iter()
            .map(|name| csv_cell(name))
            .collect::<Vec<_>>()
            .join(",")
    }

    /// One cell for each column. `value` must be of the type of the columns.
    pub fn row(&self, value: &Value) -> Vec<String> {
        let mut cells = Vec::with_capacity(self.names.len());
        push_cells(&mut cells, value);
        cells
    }

    /// The line of a CSV file for a message, without a newline.
    pub fn csv_row(&self, value: &Value) -> String {
        self.row(value)
            .iter()
            .map(|cell| csv_cell(cell))
            .collect::<Vec<_>>()
            .join(",")
    }
}

/// The number of columns of a value, by the same rules for names and cells.
fn spreads(shape: ArrayShape) -> Option<u32> {
    match shape {
        ArrayShape::Fixed(n) if n <= MAX_SPREAD => Some(n),
        _ => None,
    }
}

fn name_struct(names: &mut Vec<String>, prefix: &str, ty: &StructType) {
    for field in ty.fields() {
        let name = if prefix.is_empty() {
            field.name().to_owned()
        } else {
            format!("{prefix}.{}", field.name())
        };
        match (field.ty().shape, spreads(field.ty().shape)) {
            _ if names.len() >= MAX_COLUMNS => names.push(name),
            (ArrayShape::Single, _) => name_element(names, name, &field.ty().element),
            (_, Some(n)) if !is_bytes(&field.ty().element) => {
                for index in 0..n {
                    name_element(names, format!("{name}[{index}]"), &field.ty().element);
                }
            }
            _ => names.push(name),
        }
    }
}

fn name_element(names: &mut Vec<String>, name: String, element: &Element) {
    match element {
        Element::Struct(ty) if names.len() < MAX_COLUMNS && !ty.fields().is_empty() => {
            name_struct(names, &name, ty);
        }
        _ => names.push(name),
    }
}

fn is_bytes(element: &Element) -> bool {
    matches!(element, Element::Primitive(primitive) if primitive.size() == 1)
}

fn push_cells(cells: &mut Vec<String>, value: &Value) {
    let Value::Struct(message) = value else {
        cells.push(cell(value));
        return;
    };
    for_each_field(cells, message);
}

fn push_nested(cells: &mut Vec<String>, value: &Value) {
    match value {
        // An empty message has one column, so that every element has at least one.
        Value::Struct(message) if cells.len() < MAX_COLUMNS && !message.values().is_empty() => {
            for_each_field(cells, message);
        }
        _ => cells.push(cell(value)),
    }
}

fn for_each_field(cells: &mut Vec<String>, message: &Struct) {
    for (field, value) in message.ty().fields().iter().zip(message.values()) {
        let spread = spreads(field.ty().shape).is_some() && !is_bytes(&field.ty().element);
        match value {
            _ if cells.len() >= MAX_COLUMNS => cells.push(cell(value)),
            Value::Struct(_) => push_nested(cells, value),
            Value::Array(array) if spread => push_elements(cells, array),
            _ => cells.push(cell(value)),
        }
    }
}

fn push_elements(cells: &mut Vec<String>, array: &Array) {
    for index in 0..array.len() {
        if let Some(value) = array.get(index) {
            push_nested(cells, &value);
        }
    }
}

/// Strings unchanged, numbers as in JSON but without quotes, all else as JSON.
fn cell(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_string_lossy().into_owned(),
        Value::WString(text) => text.to_string_lossy(),
        Value::Float32(_) | Value::Float64(_) | Value::Array(Array::Uint8(_)) => {
            value.to_json().trim_matches('"').to_owned()
        }
        _ => {
            let mut out = String::new();
            value.write_json(&mut out, JsonStyle::default());
            out
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "B b\nB[2] two\nfloat64[2] c\nint32[] list\nuint8[4] bytes\nstring s\n===\nMSG: p/B\nuint8 x\nfloat32 y\n";

    #[test]
    fn names_and_cells_agree() {
        let schema = Schema::parse_ros2msg("p/msg/A", TEXT).unwrap();
        let columns = Columns::of(&schema);
        assert_eq!(
            columns.csv_header(),
            "b.x,b.y,two[0].x,two[0].y,two[1].x,two[1].y,c[0],c[1],list,bytes,s"
        );
        let mut value = schema.default_value().unwrap();
        value.set("s", "a,\"b\"\n").unwrap();
        value.set("b.y", f32::NAN).unwrap();
        value.set("list", Array::Int32(vec![1, 2])).unwrap();
        assert_eq!(
            columns.csv_row(&value),
            "0,NaN,0,0.0,0,0.0,0.0,0.0,\"[1,2]\",AAAAAA==,\"a,\"\"b\"\"\n\""
        );
        assert_eq!(columns.row(&value).len(), columns.names().len());
    }

    #[test]
    fn very_wide_types_stay_bounded() {
        let text =
            "B[64] b\n===\nMSG: p/B\nC[64] c\n===\nMSG: p/C\nD[8] d\n===\nMSG: p/D\nuint16[64] x\n";
        let schema = Schema::parse_ros2msg("p/msg/A", text).unwrap();
        let columns = Columns::of(&schema);
        assert!(columns.names().len() < 10_000, "{}", columns.names().len());
        let value = schema.default_value().unwrap();
        assert_eq!(columns.row(&value).len(), columns.names().len());
    }
}
