//! From values to Arrow arrays.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BinaryBuilder, BooleanBuilder, DurationNanosecondBuilder, ListArray,
    NullBufferBuilder, PrimitiveBuilder, StringViewBuilder, StructArray,
    TimestampNanosecondBuilder,
};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::datatypes::{
    DataType, Fields, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use datafusion::error::Result;
use timeloom_msg::Value;
use timeloom_msg::definition::{ArrayShape, Primitive};
use timeloom_msg::schema::{SchemaType, StructType};
use timeloom_msg::value::{Array, Struct};

use super::kind::{Kind, UTC, is_bytes, item, struct_fields};

/// Collects the values of one field.
pub(crate) enum ValueBuilder {
    Bool(BooleanBuilder),
    Int8(PrimitiveBuilder<Int8Type>),
    Uint8(PrimitiveBuilder<UInt8Type>),
    Int16(PrimitiveBuilder<Int16Type>),
    Uint16(PrimitiveBuilder<UInt16Type>),
    Int32(PrimitiveBuilder<Int32Type>),
    Uint32(PrimitiveBuilder<UInt32Type>),
    Int64(PrimitiveBuilder<Int64Type>),
    Uint64(PrimitiveBuilder<UInt64Type>),
    Float32(PrimitiveBuilder<Float32Type>),
    Float64(PrimitiveBuilder<Float64Type>),
    Text(StringViewBuilder),
    Bytes(BinaryBuilder),
    Time(TimestampNanosecondBuilder),
    Span(DurationNanosecondBuilder),
    List(Box<ListBuilder>),
    Struct(StructBuilder),
}

/// Elements of all rows behind each other, and where each row ends.
pub(crate) struct ListBuilder {
    items: ValueBuilder,
    item_type: DataType,
    offsets: Vec<i32>,
    nulls: NullBufferBuilder,
}

/// One builder for each field that holds something, with its place in the value.
pub(crate) struct StructBuilder {
    fields: Fields,
    children: Vec<(usize, ValueBuilder)>,
    nulls: NullBufferBuilder,
}

/// Calls `$body` for the builder of any plain value.
macro_rules! plain {
    ($builder:expr, $inner:ident => $body:expr, $($rest:tt)*) => {
        match $builder {
            Self::Bool($inner) => $body,
            Self::Int8($inner) => $body,
            Self::Uint8($inner) => $body,
            Self::Int16($inner) => $body,
            Self::Uint16($inner) => $body,
            Self::Int32($inner) => $body,
            Self::Uint32($inner) => $body,
            Self::Int64($inner) => $body,
            Self::Uint64($inner) => $body,
            Self::Float32($inner) => $body,
            Self::Float64($inner) => $body,
            Self::Text($inner) => $body,
            Self::Bytes($inner) => $body,
            Self::Time($inner) => $body,
            Self::Span($inner) => $body,
            $($rest)*
        }
    };
}

impl ValueBuilder {
    /// A builder for a field; `None` when the field holds nothing.
    pub(super) fn new(ty: &SchemaType) -> Option<Self> {
        if is_bytes(ty) {
            return Some(Self::Bytes(BinaryBuilder::new()));
        }
        let kind = Kind::of(&ty.element);
        let element = Self::element(kind)?;
        if ty.shape == ArrayShape::Single {
            return Some(element);
        }
        Some(Self::List(Box::new(ListBuilder {
            items: element,
            item_type: kind.data_type()?,
            offsets: vec![0],
            nulls: NullBufferBuilder::new(0),
        })))
    }

    fn element(kind: Kind<'_>) -> Option<Self> {
        Some(match kind {
            Kind::Primitive(primitive) => Self::number(primitive),
            Kind::Text => Self::Text(StringViewBuilder::new()),
            Kind::Time => Self::Time(TimestampNanosecondBuilder::new().with_timezone(UTC)),
            Kind::Span => Self::Span(DurationNanosecondBuilder::new()),
            Kind::Struct(ty) => Self::Struct(StructBuilder::new(ty)?),
        })
    }

    fn number(primitive: Primitive) -> Self {
        match primitive {
            Primitive::Bool => Self::Bool(BooleanBuilder::new()),
            Primitive::Byte | Primitive::Char | Primitive::IdlChar | Primitive::Uint8 => {
                Self::Uint8(PrimitiveBuilder::new())
            }
            Primitive::Int8 => Self::Int8(PrimitiveBuilder::new()),
            Primitive::Int16 => Self::Int16(PrimitiveBuilder::new()),
            Primitive::Uint16 => Self::Uint16(PrimitiveBuilder::new()),
            Primitive::Int32 => Self::Int32(PrimitiveBuilder::new()),
            Primitive::Uint32 => Self::Uint32(PrimitiveBuilder::new()),
            Primitive::Int64 => Self::Int64(PrimitiveBuilder::new()),
            Primitive::Uint64 => Self::Uint64(PrimitiveBuilder::new()),
            Primitive::Float32 => Self::Float32(PrimitiveBuilder::new()),
            Primitive::Float64 => Self::Float64(PrimitiveBuilder::new()),
        }
    }

    /// Adds a value; one of another kind, which no decoder makes, is null.
    pub(super) fn append(&mut self, value: &Value) {
        match (self, value) {
            (Self::Bool(builder), Value::Bool(value)) => builder.append_value(*value),
            (Self::Int8(builder), Value::Int8(value)) => builder.append_value(*value),
            (Self::Uint8(builder), Value::Uint8(value)) => builder.append_value(*value),
            (Self::Int16(builder), Value::Int16(value)) => builder.append_value(*value),
            (Self::Uint16(builder), Value::Uint16(value)) => builder.append_value(*value),
            (Self::Int32(builder), Value::Int32(value)) => builder.append_value(*value),
            (Self::Uint32(builder), Value::Uint32(value)) => builder.append_value(*value),
            (Self::Int64(builder), Value::Int64(value)) => builder.append_value(*value),
            (Self::Uint64(builder), Value::Uint64(value)) => builder.append_value(*value),
            (Self::Float32(builder), Value::Float32(value)) => builder.append_value(*value),
            (Self::Float64(builder), Value::Float64(value)) => builder.append_value(*value),
            (Self::Text(builder), Value::String(text)) => {
                builder.append_value(text.to_string_lossy());
            }
            (Self::Text(builder), Value::WString(text)) => {
                builder.append_value(text.to_string_lossy());
            }
            (Self::Bytes(builder), Value::Array(Array::Uint8(bytes))) => {
                builder.append_value(bytes);
            }
            (Self::Time(builder), Value::Struct(time)) => builder.append_option(nanos(time)),
            (Self::Span(builder), Value::Struct(span)) => builder.append_option(nanos(span)),
            (Self::List(builder), Value::Array(array)) => builder.append(array),
            (Self::Struct(builder), Value::Struct(value)) => builder.append(value),
            (builder, _) => builder.append_null(),
        }
    }

    pub(super) fn append_null(&mut self) {
        plain!(self, builder => builder.append_null(),
            Self::List(builder) => builder.append_null(),
            Self::Struct(builder) => builder.append_null(),
        );
    }

    /// A time that was put together from its two numbers.
    pub(super) fn append_nanos(&mut self, nanos: i64) {
        match self {
            Self::Time(builder) => builder.append_value(nanos),
            Self::Span(builder) => builder.append_value(nanos),
            builder => builder.append_null(),
        }
    }

    /// The array of all values so far; the builder is empty then.
    pub(super) fn finish(&mut self) -> Result<ArrayRef> {
        plain!(self, builder => Ok(Arc::new(builder.finish())),
            Self::List(builder) => builder.finish(),
            Self::Struct(builder) => builder.finish(),
        )
    }

    /// Adds the elements of an array, and says how many they are.
    fn extend(&mut self, array: &Array) -> usize {
        match (&mut *self, array) {
            (Self::Bool(builder), Array::Bool(items)) => builder.append_slice(items),
            (Self::Int8(builder), Array::Int8(items)) => builder.append_slice(items),
            (Self::Int16(builder), Array::Int16(items)) => builder.append_slice(items),
            (Self::Uint16(builder), Array::Uint16(items)) => builder.append_slice(items),
            (Self::Int32(builder), Array::Int32(items)) => builder.append_slice(items),
            (Self::Uint32(builder), Array::Uint32(items)) => builder.append_slice(items),
            (Self::Int64(builder), Array::Int64(items)) => builder.append_slice(items),
            (Self::Uint64(builder), Array::Uint64(items)) => builder.append_slice(items),
            (Self::Float32(builder), Array::Float32(items)) => builder.append_slice(items),
            (Self::Float64(builder), Array::Float64(items)) => builder.append_slice(items),
            _ => {
                for value in (0..array.len()).filter_map(|index| array.get(index)) {
                    self.append(&value);
                }
            }
        }
        array.len()
    }
}

impl ListBuilder {
    fn append(&mut self, array: &Array) {
        let count = self.items.extend(array);
        self.end_row(count);
        self.nulls.append_non_null();
    }

    fn append_null(&mut self) {
        self.end_row(0);
        self.nulls.append_null();
    }

    /// Batches are cut long before 2³¹ elements, and a payload holds fewer.
    fn end_row(&mut self, count: usize) {
        let last = self.offsets.last().copied().unwrap_or(0);
        let count = i32::try_from(count).unwrap_or(i32::MAX);
        self.offsets.push(last.saturating_add(count));
    }

    fn finish(&mut self) -> Result<ArrayRef> {
        let offsets = std::mem::replace(&mut self.offsets, vec![0]);
        let items = self.items.finish()?;
        let list = ListArray::try_new(
            item(self.item_type.clone()),
            OffsetBuffer::new(offsets.into()),
            items,
            self.nulls.finish(),
        )?;
        Ok(Arc::new(list))
    }
}

impl StructBuilder {
    fn new(ty: &StructType) -> Option<Self> {
        let mut children = Vec::new();
        for (index, field) in ty.fields().iter().enumerate() {
            children.extend(ValueBuilder::new(field.ty()).map(|builder| (index, builder)));
        }
        Some(Self {
            fields: struct_fields(ty)?,
            children,
            nulls: NullBufferBuilder::new(0),
        })
    }

    fn append(&mut self, value: &Struct) {
        for (index, child) in &mut self.children {
            match value.values().get(*index) {
                Some(value) => child.append(value),
                None => child.append_null(),
            }
        }
        self.nulls.append_non_null();
    }

    fn append_null(&mut self) {
        for (_, child) in &mut self.children {
            child.append_null();
        }
        self.nulls.append_null();
    }

    fn finish(&mut self) -> Result<ArrayRef> {
        let children = self.children.iter_mut();
        let arrays = children
            .map(|(_, child)| child.finish())
            .collect::<Result<Vec<_>>>()?;
        let array = StructArray::try_new(self.fields.clone(), arrays, self.nulls.finish())?;
        Ok(Arc::new(array))
    }
}

/// Nanoseconds of a time or a duration.
fn nanos(value: &Struct) -> Option<i64> {
    match value.values() {
        [Value::Int32(sec), Value::Uint32(nanosec)] => Some(join(*sec, *nanosec)),
        _ => None,
    }
}

/// Nanoseconds of the two numbers of a time.
pub(super) fn join(sec: i32, nanosec: u32) -> i64 {
    i64::from(sec) * 1_000_000_000 + i64::from(nanosec)
}
