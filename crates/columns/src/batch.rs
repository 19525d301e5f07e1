//! Some rows of a topic.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::NullBuffer;
use arrow_schema::{Field, Schema, SchemaRef};

use crate::column::arrow::{time_type, times};
use crate::layout::Layout;
use crate::{Column, Result};

/// Rows of a topic: its times and its fields.
#[derive(Debug, Clone)]
pub struct Batch {
    /// When each message was received, in nanoseconds.
    pub log_times: Vec<i64>,
    /// When each message was published, in nanoseconds.
    pub publish_times: Vec<i64>,
    /// Whether each message could be decoded.
    pub valid: Vec<bool>,
    /// The names of the columns.
    pub names: Arc<[String]>,
    /// The fields.
    pub columns: Vec<Column>,
}

impl Batch {
    pub(crate) fn empty(layout: &Layout) -> Self {
        Self {
            log_times: Vec::new(),
            publish_times: Vec::new(),
            valid: Vec::new(),
            names: layout.names.as_slice().into(),
            columns: layout.columns.clone(),
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.log_times.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.log_times.is_empty()
    }

    /// The Arrow schema: `log_time`, `publish_time`, and the fields that hold something.
    ///
    /// A field that is called like one of the times gets `_` behind its name.
    pub fn schema(&self) -> SchemaRef {
        let times = TIMES.map(|name| Field::new(name, time_type(), false));
        let fields = self
            .names
            .iter()
            .zip(&self.columns)
            .filter_map(|(name, column)| {
                let taken = TIMES.contains(&name.as_str());
                let name = if taken {
                    format!("{name}_")
                } else {
                    name.clone()
                };
                Some(Field::new(name, column.data_type()?, true))
            });
        Arc::new(Schema::new(
            times.into_iter().chain(fields).collect::<Vec<_>>(),
        ))
    }

    /// The rows as an Arrow batch, without a copy of the values.
    ///
    /// # Errors
    /// When Arrow refuses an array.
    pub fn into_record_batch(mut self) -> Result<RecordBatch> {
        let schema = self.schema();
        let log_times = std::mem::take(&mut self.log_times);
        let publish_times = std::mem::take(&mut self.publish_times);
        let mut arrays = vec![times(log_times, None), times(publish_times, None)];
        arrays.extend(self.into_arrays()?.into_iter().flatten());
        Ok(RecordBatch::try_new(schema, arrays)?)
    }

    /// The fields as Arrow arrays, without a copy of the values; `None` for a message without fields.
    ///
    /// # Errors
    /// When Arrow refuses an array.
    pub fn into_arrays(self) -> Result<Vec<Option<ArrayRef>>> {
        let nulls = NullBuffer::from(self.valid);
        let nulls = (nulls.null_count() > 0).then_some(nulls);
        let columns = self.columns.into_iter();
        let arrays = columns.map(|column| column.into_array(nulls.clone()));
        Ok(arrays.collect::<std::result::Result<_, _>>()?)
    }
}

const TIMES: [&str; 2] = ["log_time", "publish_time"];
