//! A message as data, without a generated type.

mod abbreviate;
mod access;
mod array;
mod columns;
mod csv;
mod default;
mod from_json;
mod json;
mod text;

use std::sync::Arc;

pub use abbreviate::Abbreviation;
pub use array::Array;
pub use columns::Columns;
pub use from_json::{MessageFromJson, parse_message_text};
pub use json::{BytesStyle, JsonStyle};
pub use text::{Text, WideText};

use crate::schema::StructType;

/// The value of a field or of a whole message.
///
/// ```
/// use timeloom_msg::{Definitions, Value};
///
/// let schema = Definitions::builtin().schema("geometry_msgs/msg/Point")?;
/// let mut point = schema.default_value()?;
/// point.set("x", 1.5)?;
/// assert_eq!(point.get("x"), Some(Value::Float64(1.5)));
/// assert_eq!(point.to_json(), r#"{"x":1.5,"y":0.0,"z":0.0}"#);
/// assert_eq!(point.to_csv(), "1.5,0.0,0.0");
/// # Ok::<(), timeloom_msg::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `bool`.
    Bool(bool),
    /// `int8`.
    Int8(i8),
    /// `uint8`, `byte` and `char`.
    Uint8(u8),
    /// `int16`.
    Int16(i16),
    /// `uint16`.
    Uint16(u16),
    /// `int32`.
    Int32(i32),
    /// `uint32`.
    Uint32(u32),
    /// `int64`.
    Int64(i64),
    /// `uint64`.
    Uint64(u64),
    /// `float32`.
    Float32(f32),
    /// `float64`.
    Float64(f64),
    /// `string`.
    String(Text),
    /// `wstring`.
    WString(WideText),
    /// Many elements of one type.
    Array(Array),
    /// A message.
    Struct(Struct),
}

/// The value of a message: its layout and one value for each field.
#[derive(Debug, Clone, PartialEq)]
pub struct Struct {
    ty: Arc<StructType>,
    values: Vec<Value>,
}

impl Struct {
    /// Joins a layout with its values, one for each field; they are checked when they are encoded.
    pub fn new(ty: Arc<StructType>, values: Vec<Value>) -> Self {
        Self { ty, values }
    }

    /// The layout.
    pub fn ty(&self) -> &Arc<StructType> {
        &self.ty
    }

    /// The values of the fields, in wire order.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// The names and values of the fields, in wire order.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.ty
            .fields()
            .iter()
            .map(crate::schema::SchemaField::name)
            .zip(&self.values)
    }

    /// The value of a field.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let (index, _) = self.ty.field(name)?;
        self.values.get(index)
    }

    /// The value of a field, to change it.
    pub fn get_mut(&mut self, name: &str) -> Option<&mut Value> {
        let (index, _) = self.ty.field(name)?;
        self.values.get_mut(index)
    }
}
