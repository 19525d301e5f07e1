//! From messages to batches of rows.

use std::sync::Arc;

use timeloom_bag::Message;
use timeloom_msg::Schema;
use timeloom_msg::cdr::Cursor;

use crate::layout::{Layout, read};
use crate::{Batch, Column, Result};

/// Rows of a batch.
const BATCH_ROWS: usize = 64 << 10;
/// Payload bytes of a batch: images do not fill the memory, and are still in the cache when they are copied on.
const BATCH_BYTES: u64 = 4 << 20;

/// The treatment of a message that cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Undecoded {
    /// Its fields are null.
    #[default]
    Null,
    /// It has no row.
    LeaveOut,
}

/// Collects the messages of one topic until a batch is full.
#[derive(Debug, Clone)]
pub struct Rows {
    schema: Arc<Schema>,
    layout: Layout,
    batch: Batch,
    bytes: u64,
    undecoded: Undecoded,
}

impl Rows {
    /// Rows with all fields of a type, or with those at the given paths, such as `linear_acceleration.x`.
    ///
    /// # Errors
    /// When the type has no such field, or one path is a part of another one.
    pub fn new(schema: Arc<Schema>, fields: Option<&[String]>) -> Result<Self> {
        let layout = Layout::new(&schema, fields)?;
        Ok(Self {
            batch: Batch::empty(&layout),
            schema,
            layout,
            bytes: 0,
            undecoded: Undecoded::Null,
        })
    }

    /// The same with another treatment of messages that cannot be decoded.
    #[must_use]
    pub fn with_undecoded(mut self, undecoded: Undecoded) -> Self {
        self.undecoded = undecoded;
        self
    }

    /// The batch without rows: it has the types of all columns.
    pub fn empty(&self) -> Batch {
        Batch::empty(&self.layout)
    }

    /// Whether it is time to take the batch.
    pub fn is_full(&self) -> bool {
        self.batch.len() >= BATCH_ROWS || self.bytes >= BATCH_BYTES
    }

    /// The size of the payloads of the rows so far.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds a message; the error says why it cannot be decoded.
    pub fn push(&mut self, message: &Message<'_>) -> timeloom_msg::Result<()> {
        let rows = self.batch.len();
        self.bytes += message.size();
        let decoded = self.decode(message.data);
        if decoded.is_err() {
            for column in &mut self.batch.columns {
                column.truncate(rows);
            }
            if self.undecoded == Undecoded::LeaveOut {
                return decoded;
            }
            self.batch.columns.iter_mut().for_each(Column::push_empty);
        }
        self.batch.log_times.push(message.log_time_ns);
        self.batch.publish_times.push(message.publish_time_ns);
        self.batch.valid.push(decoded.is_ok());
        decoded
    }

    fn decode(&mut self, payload: &[u8]) -> timeloom_msg::Result<()> {
        let (steps, columns) = (&self.layout.steps, &mut self.batch.columns);
        if self.schema.root().has_wstring() {
            // The layout of wide characters is only known after decoding the whole message.
            let payload = self.schema.encode(&self.schema.decode(payload)?)?;
            return read(steps, columns, &mut Cursor::new(&payload)?);
        }
        read(steps, columns, &mut Cursor::new(payload)?)
    }

    /// The rows so far.
    pub fn take(&mut self) -> Batch {
        self.bytes = 0;
        std::mem::replace(&mut self.batch, Batch::empty(&self.layout))
    }
}
