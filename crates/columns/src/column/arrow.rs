//! From plain vectors to Arrow arrays.

use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    Array as _, ArrayRef, BinaryArray, BooleanArray, DurationNanosecondArray, FixedSizeListArray,
    ListArray, PrimitiveArray, StringArray, StructArray, TimestampNanosecondArray,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, Fields, TimeUnit};
use timeloom_msg::definition::ArrayShape;

use super::{Column, Lists, Strings, StructColumn};

/// The zone of all times.
pub const UTC: &str = "UTC";

/// The type of every time: nanoseconds since the epoch.
pub fn time_type() -> DataType {
    DataType::Timestamp(TimeUnit::Nanosecond, Some(UTC.into()))
}

impl Column {
    /// The Arrow type; `None` when the column holds nothing.
    pub fn data_type(&self) -> Option<DataType> {
        Some(match self {
            Self::Bool(_) => DataType::Boolean,
            Self::Int8(_) => DataType::Int8,
            Self::Uint8(_) => DataType::UInt8,
            Self::Int16(_) => DataType::Int16,
            Self::Uint16(_) => DataType::UInt16,
            Self::Int32(_) => DataType::Int32,
            Self::Uint32(_) => DataType::UInt32,
            Self::Int64(_) => DataType::Int64,
            Self::Uint64(_) => DataType::UInt64,
            Self::Float32(_) => DataType::Float32,
            Self::Float64(_) => DataType::Float64,
            Self::Time(_) => time_type(),
            Self::Duration(_) => DataType::Duration(TimeUnit::Nanosecond),
            Self::Text(_) => DataType::Utf8,
            Self::Bytes(_) => DataType::Binary,
            Self::List(lists) => lists.data_type()?,
            Self::Struct(message) => DataType::Struct(message.fields()?),
            Self::Nothing => return None,
        })
    }

    /// The column as an Arrow array, without a copy of the values; `None` when it holds nothing.
    pub(crate) fn into_array(
        self,
        nulls: Option<NullBuffer>,
    ) -> Result<Option<ArrayRef>, ArrowError> {
        Ok(Some(match self {
            Self::Bool(values) => {
                let values = values.into_iter().map(|value| value == 1).collect();
                Arc::new(BooleanArray::new(values, nulls))
            }
            Self::Int8(values) => numbers::<Int8Type>(values, nulls),
            Self::Uint8(values) => numbers::<UInt8Type>(values, nulls),
            Self::Int16(values) => numbers::<Int16Type>(values, nulls),
            Self::Uint16(values) => numbers::<UInt16Type>(values, nulls),
            Self::Int32(values) => numbers::<Int32Type>(values, nulls),
            Self::Uint32(values) => numbers::<UInt32Type>(values, nulls),
            Self::Int64(values) => numbers::<Int64Type>(values, nulls),
            Self::Uint64(values) => numbers::<UInt64Type>(values, nulls),
            Self::Float32(values) => numbers::<Float32Type>(values, nulls),
            Self::Float64(values) => numbers::<Float64Type>(values, nulls),
            Self::Time(values) => times(values, nulls),
            Self::Duration(values) => Arc::new(DurationNanosecondArray::new(values.into(), nulls)),
            Self::Text(strings) => {
                let (offsets, data) = strings.into_buffers();
                Arc::new(StringArray::try_new(offsets, data, nulls)?)
            }
            Self::Bytes(strings) => {
                let (offsets, data) = strings.into_buffers();
                Arc::new(BinaryArray::try_new(offsets, data, nulls)?)
            }
            Self::List(lists) => return lists.into_array(nulls),
            Self::Struct(message) => return message.into_array(nulls),
            Self::Nothing => return Ok(None),
        }))
    }
}

/// Times in nanoseconds as an array.
pub(crate) fn times(values: Vec<i64>, nulls: Option<NullBuffer>) -> ArrayRef {
    Arc::new(TimestampNanosecondArray::new(values.into(), nulls).with_timezone(UTC))
}

fn numbers<T: ArrowPrimitiveType>(values: Vec<T::Native>, nulls: Option<NullBuffer>) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::from(values), nulls))
}

impl Strings {
    fn into_buffers(self) -> (OffsetBuffer<i32>, Buffer) {
        let offsets = OffsetBuffer::new(ScalarBuffer::from(self.offsets));
        (offsets, Buffer::from_vec(self.data))
    }
}

impl Lists {
    fn item(&self) -> Option<Arc<Field>> {
        let item = self.items.data_type()?;
        Some(Arc::new(Field::new_list_field(item, true)))
    }

    fn fixed_size(&self) -> Option<i32> {
        match self.shape {
            ArrayShape::Fixed(size) => i32::try_from(size).ok().filter(|size| *size > 0),
            _ => None,
        }
    }

    fn data_type(&self) -> Option<DataType> {
        let item = self.item()?;
        Some(match self.fixed_size() {
            Some(size) => DataType::FixedSizeList(item, size),
            None => DataType::List(item),
        })
    }

    fn into_array(self, nulls: Option<NullBuffer>) -> Result<Option<ArrayRef>, ArrowError> {
        let (item, size) = (self.item(), self.fixed_size());
        let (Some(item), Some(items)) = (item, self.items.into_array(None)?) else {
            return Ok(None);
        };
        if let Some(size) = size {
            let lists = FixedSizeListArray::try_new(item, size, items, nulls)?;
            return Ok(Some(Arc::new(lists)));
        }
        let offsets = OffsetBuffer::new(ScalarBuffer::from(self.offsets));
        Ok(Some(Arc::new(ListArray::try_new(
            item, offsets, items, nulls,
        )?)))
    }
}

impl StructColumn {
    /// The fields that hold something.
    fn fields(&self) -> Option<Fields> {
        let fields = self.ty.fields().iter().zip(&self.children);
        let fields: Fields = fields
            .filter_map(|(field, child)| Some(Field::new(field.name(), child.data_type()?, true)))
            .collect();
        (!fields.is_empty()).then_some(fields)
    }

    fn into_array(self, nulls: Option<NullBuffer>) -> Result<Option<ArrayRef>, ArrowError> {
        let Some(fields) = self.fields() else {
            return Ok(None);
        };
        let mut arrays = Vec::with_capacity(fields.len());
        for child in self.children {
            // A field of a message that could not be read is null, too: not every reader looks at the message.
            arrays.extend(child.into_array(nulls.clone())?);
        }
        let array = StructArray::try_new_with_length(fields, arrays, nulls, self.rows)?;
        debug_assert_eq!(array.len(), self.rows);
        Ok(Some(Arc::new(array)))
    }
}
