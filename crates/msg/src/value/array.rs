//! Arrays and sequences, packed by element type.

use super::{Struct, Text, Value, WideText};

/// Calls `$body` with the elements of any array as `$items`.
macro_rules! for_each_kind {
    ($array:expr, $items:ident => $body:expr) => {
        match $array {
            Array::Bool($items) => $body,
            Array::Int8($items) => $body,
            Array::Uint8($items) => $body,
            Array::Int16($items) => $body,
            Array::Uint16($items) => $body,
            Array::Int32($items) => $body,
            Array::Uint32($items) => $body,
            Array::Int64($items) => $body,
            Array::Uint64($items) => $body,
            Array::Float32($items) => $body,
            Array::Float64($items) => $body,
            Array::String($items) => $body,
            Array::WString($items) => $body,
            Array::Struct($items) => $body,
        }
    };
}

pub(super) use for_each_kind;

/// The elements of an array or sequence.
#[derive(Debug, Clone, PartialEq)]
pub enum Array {
    /// `bool[]`.
    Bool(Vec<bool>),
    /// `int8[]`.
    Int8(Vec<i8>),
    /// `uint8[]`, `byte[]` and `char[]`.
    Uint8(Vec<u8>),
    /// `int16[]`.
    Int16(Vec<i16>),
    /// `uint16[]`.
    Uint16(Vec<u16>),
    /// `int32[]`.
    Int32(Vec<i32>),
    /// `uint32[]`.
    Uint32(Vec<u32>),
    /// `int64[]`.
    Int64(Vec<i64>),
    /// `uint64[]`.
    Uint64(Vec<u64>),
    /// `float32[]`.
    Float32(Vec<f32>),
    /// `float64[]`.
    Float64(Vec<f64>),
    /// `string[]`.
    String(Vec<Text>),
    /// `wstring[]`.
    WString(Vec<WideText>),
    /// Messages.
    Struct(Vec<Struct>),
}

impl Array {
    /// The number of elements.
    pub fn len(&self) -> usize {
        for_each_kind!(self, items => items.len())
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One element as a value of its own.
    pub fn get(&self, index: usize) -> Option<Value> {
        Some(match self {
            Self::Bool(items) => Value::Bool(*items.get(index)?),
            Self::Int8(items) => Value::Int8(*items.get(index)?),
            Self::Uint8(items) => Value::Uint8(*items.get(index)?),
            Self::Int16(items) => Value::Int16(*items.get(index)?),
            Self::Uint16(items) => Value::Uint16(*items.get(index)?),
            Self::Int32(items) => Value::Int32(*items.get(index)?),
            Self::Uint32(items) => Value::Uint32(*items.get(index)?),
            Self::Int64(items) => Value::Int64(*items.get(index)?),
            Self::Uint64(items) => Value::Uint64(*items.get(index)?),
            Self::Float32(items) => Value::Float32(*items.get(index)?),
            Self::Float64(items) => Value::Float64(*items.get(index)?),
            Self::String(items) => Value::String(items.get(index)?.clone()),
            Self::WString(items) => Value::WString(items.get(index)?.clone()),
            Self::Struct(items) => Value::Struct(items.get(index)?.clone()),
        })
    }

    /// The kind of elements, as an error names it.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Bool(_) => "bool[]",
            Self::Int8(_) => "int8[]",
            Self::Uint8(_) => "uint8[]",
            Self::Int16(_) => "int16[]",
            Self::Uint16(_) => "uint16[]",
            Self::Int32(_) => "int32[]",
            Self::Uint32(_) => "uint32[]",
            Self::Int64(_) => "int64[]",
            Self::Uint64(_) => "uint64[]",
            Self::Float32(_) => "float32[]",
            Self::Float64(_) => "float64[]",
            Self::String(_) => "string[]",
            Self::WString(_) => "wstring[]",
            Self::Struct(_) => "message[]",
        }
    }
}
