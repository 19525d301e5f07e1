//! Values of topics at the times of another topic.

mod alignment;
mod blend;
mod partner;
mod stream;
mod topic_times;

use std::sync::Arc;

use arrow_array::{
    Array as _, ArrayRef, DurationNanosecondArray, RecordBatch, StructArray, UInt32Array,
};
use arrow_schema::{DataType, Field, Fields, Schema, TimeUnit};

pub use self::alignment::{Alignment, Correction};
pub use self::partner::{Method, Partner};
pub use self::stream::AlignStream;
pub use self::topic_times::TopicTimes;
use crate::column::arrow::{time_type, times};
use crate::{Error, Result, TimeBase, TopicReader};

/// Options of [`align`](crate::align).
#[derive(Debug, Clone, Copy)]
pub struct AlignOptions {
    /// The value that is used for a time.
    pub method: Method,
    /// The largest distance in time between a value and the time it is used for; any unless given.
    pub tolerance_ns: Option<i64>,
}

/// All messages of a topic in the order of their times.
#[derive(Debug, Clone)]
pub struct Samples {
    /// The topic.
    pub topic: String,
    /// The times, ascending.
    pub times: Vec<i64>,
    /// A row for each time.
    pub rows: RecordBatch,
}

impl Samples {
    /// Reads a whole topic. Messages that cannot be decoded, or whose stamp cannot be read, are left out.
    ///
    /// # Errors
    /// When the bag cannot be read, or the type has no header stamp but one is wanted.
    pub fn read(topic: &str, reader: &mut TopicReader, base: TimeBase) -> Result<Self> {
        let schema = reader.empty().schema();
        let mut batches = Vec::new();
        let times = TopicTimes::read_with(topic, reader, base, |batch| batches.push(batch))?;
        let rows = arrow_select::concat::concat_batches(&schema, &batches)?;
        Self::sorted(topic, &times.times, &rows)
    }

    /// Rows with their times, in any order; rows without a time are left out.
    ///
    /// # Errors
    /// When Arrow refuses an array.
    pub fn sorted(topic: &str, times: &[Option<i64>], rows: &RecordBatch) -> Result<Self> {
        let mut order: Vec<(i64, u32)> = times
            .iter()
            .zip(0_u32..)
            .filter_map(|(time, row)| Some(((*time)?, row)))
            .collect();
        order.sort_unstable();
        let indices = order.iter().map(|(_, row)| *row).collect::<Vec<_>>();
        let rows = arrow_select::take::take_record_batch(rows, &UInt32Array::from(indices))?;
        Ok(Self {
            topic: topic.to_owned(),
            times: order.into_iter().map(|(time, _)| time).collect(),
            rows,
        })
    }
}

/// The table, and counts of messages that are not in it.
#[derive(Debug, Clone)]
pub struct Aligned {
    /// A row for each time: `time`, and a message per topic with `time`, `distance` and its fields.
    pub rows: RecordBatch,
    /// For each topic, how many times have no value within the tolerance.
    pub unmatched: Vec<(String, u64)>,
}

/// Finds the value of each topic for each time.
///
/// The distance is that of the value's time from the row's time; negative when the value is older. An interpolated value
/// has the time and the distance of the nearer of its two messages.
///
/// # Errors
/// When Arrow refuses an array.
pub fn align(frames: &[i64], topics: &[Samples], options: AlignOptions) -> Result<Aligned> {
    let mut fields = vec![Field::new("time", time_type(), false)];
    let mut columns: Vec<ArrayRef> = vec![times(frames.to_vec(), None)];
    let mut unmatched = Vec::new();
    for samples in topics {
        let partners = partner::find(frames, &samples.times, options);
        let missing = partners.iter().filter(|partner| partner.is_none()).count();
        unmatched.push((samples.topic.clone(), missing as u64));
        let column = message(frames, samples, &partners, options.method)?;
        fields.push(Field::new(&samples.topic, column.data_type().clone(), true));
        columns.push(Arc::new(column));
    }
    let rows = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?;
    Ok(Aligned { rows, unmatched })
}

/// The column of a topic.
fn message(
    frames: &[i64],
    samples: &Samples,
    partners: &[Option<Partner>],
    method: Method,
) -> Result<StructArray> {
    let nearest = |partner: &Option<Partner>| partner.map(Partner::nearer);
    let indices: UInt32Array = partners.iter().map(nearest).collect();
    let nulls = indices.nulls().cloned();
    let time = |row: Option<u32>| row.and_then(|row| samples.times.get(row as usize).copied());
    let found: Vec<Option<i64>> = indices.iter().map(time).collect();
    let distances: DurationNanosecondArray = found
        .iter()
        .zip(frames)
        .map(|(time, frame)| Some((*time)?.saturating_sub(*frame)))
        .collect();
    let mut fields = vec![
        Field::new("time", time_type(), true),
        Field::new("distance", DataType::Duration(TimeUnit::Nanosecond), true),
    ];
    let found_times = found.iter().map(|time| time.unwrap_or(0)).collect();
    let mut arrays: Vec<ArrayRef> = vec![times(found_times, nulls.clone()), Arc::new(distances)];
    for (field, column) in samples
        .rows
        .schema()
        .fields()
        .iter()
        .zip(samples.rows.columns())
    {
        let mut taken = arrow_select::take::take(column, &indices, None)?;
        if method == Method::Interpolate {
            taken = blend::blend(&taken, column, partners)?;
        }
        let reserved = ["time", "distance"].contains(&field.name().as_str());
        let name = if reserved {
            format!("{}_", field.name())
        } else {
            field.name().clone()
        };
        fields.push(Field::new(name, field.data_type().clone(), true));
        arrays.push(taken);
    }
    StructArray::try_new(Fields::from(fields), arrays, nulls).map_err(Error::from)
}
