//! From ROS types to Arrow types.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Fields, TimeUnit};
use timeloom_msg::definition::{ArrayShape, Primitive};
use timeloom_msg::schema::{Element, SchemaType, StructType};

/// The zone of all times.
pub(crate) const UTC: &str = "UTC";

/// The type of every time: nanoseconds since the epoch.
pub(crate) fn time_type() -> DataType {
    DataType::Timestamp(TimeUnit::Nanosecond, Some(UTC.into()))
}

/// What one element of a field becomes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind<'a> {
    Primitive(Primitive),
    Text,
    Time,
    Span,
    Struct(&'a Arc<StructType>),
}

impl<'a> Kind<'a> {
    pub(super) fn of(element: &'a Element) -> Self {
        match element {
            Element::Primitive(primitive) => Self::Primitive(*primitive),
            Element::String(_) | Element::WString(_) => Self::Text,
            Element::Struct(ty) => match ty.name().to_string().as_str() {
                "builtin_interfaces/msg/Time" if has_two_numbers(ty) => Self::Time,
                "builtin_interfaces/msg/Duration" if has_two_numbers(ty) => Self::Span,
                _ => Self::Struct(ty),
            },
        }
    }

    /// `None` for a message without fields, which no column can hold.
    pub(super) fn data_type(self) -> Option<DataType> {
        Some(match self {
            Self::Primitive(primitive) => number_type(primitive),
            Self::Text => DataType::Utf8View,
            Self::Time => time_type(),
            Self::Span => DataType::Duration(TimeUnit::Nanosecond),
            Self::Struct(ty) => DataType::Struct(struct_fields(ty)?),
        })
    }
}

/// Whether a field is an array of single bytes, which becomes one binary value.
pub(super) fn is_bytes(ty: &SchemaType) -> bool {
    use Primitive::{Byte, Char, IdlChar, Uint8};
    ty.shape != ArrayShape::Single
        && matches!(
            ty.element,
            Element::Primitive(Byte | Char | IdlChar | Uint8)
        )
}

/// The type of a whole field; `None` when it holds nothing.
pub(super) fn data_type(ty: &SchemaType) -> Option<DataType> {
    if is_bytes(ty) {
        return Some(DataType::Binary);
    }
    let element = Kind::of(&ty.element).data_type()?;
    Some(match ty.shape {
        ArrayShape::Single => element,
        _ => DataType::List(item(element)),
    })
}

pub(super) fn item(element: DataType) -> FieldRef {
    Arc::new(Field::new_list_field(element, true))
}

/// The fields of a message that hold something.
pub(super) fn struct_fields(ty: &StructType) -> Option<Fields> {
    let fields = ty.fields().iter().filter_map(|field| {
        let data_type = data_type(field.ty())?;
        Some(Field::new(field.name(), data_type, true))
    });
    let fields: Fields = fields.collect();
    (!fields.is_empty()).then_some(fields)
}

fn number_type(primitive: Primitive) -> DataType {
    match primitive {
        Primitive::Bool => DataType::Boolean,
        Primitive::Byte | Primitive::Char | Primitive::IdlChar | Primitive::Uint8 => {
            DataType::UInt8
        }
        Primitive::Int8 => DataType::Int8,
        Primitive::Int16 => DataType::Int16,
        Primitive::Uint16 => DataType::UInt16,
        Primitive::Int32 => DataType::Int32,
        Primitive::Uint32 => DataType::UInt32,
        Primitive::Int64 => DataType::Int64,
        Primitive::Uint64 => DataType::UInt64,
        Primitive::Float32 => DataType::Float32,
        Primitive::Float64 => DataType::Float64,
    }
}

/// Whether it is `int32 sec` and `uint32 nanosec`: a bag may define anything under the name of a time.
fn has_two_numbers(ty: &StructType) -> bool {
    let is = |index: usize, name: &str, primitive| {
        ty.fields().get(index).is_some_and(|field| {
            field.name() == name
                && field.ty().shape == ArrayShape::Single
                && field.ty().element == Element::Primitive(primitive)
        })
    };
    ty.fields().len() == 2 && is(0, "sec", Primitive::Int32) && is(1, "nanosec", Primitive::Uint32)
}
