//! The times of the messages of a topic.

use arrow_array::RecordBatch;

use crate::{Result, TimeBase, TopicReader};

/// The times of the messages of a topic, in the order of the bag.
#[derive(Debug, Clone, Default)]
pub struct TopicTimes {
    /// The topic.
    pub topic: String,
    /// The time of each message; `None` for one that has none or cannot be decoded. They may be replaced by others, such
    /// as corrected ones.
    pub times: Vec<Option<i64>>,
    /// When each message was received.
    pub log_times: Vec<i64>,
    /// Bytes of a row, of those rows that are the largest.
    pub(super) row_bytes: usize,
}

impl TopicTimes {
    /// Reads the times of a topic; all its messages are decoded to find those that cannot be.
    ///
    /// # Errors
    /// When the bag cannot be read, or the type has no header stamp but one is wanted.
    pub fn read(topic: &str, reader: &mut TopicReader, base: TimeBase) -> Result<Self> {
        Self::read_with(topic, reader, base, drop)
    }

    /// The same, with the rows for `take`.
    pub(super) fn read_with(
        topic: &str,
        reader: &mut TopicReader,
        base: TimeBase,
        mut take: impl FnMut(RecordBatch),
    ) -> Result<Self> {
        if base == TimeBase::HeaderStamp {
            reader.keep_stamps()?;
        }
        let mut all = Self {
            topic: topic.to_owned(),
            ..Self::default()
        };
        while let Some(batch) = reader.next_batch()? {
            let times = match base {
                TimeBase::LogTime => batch.log_times.iter().copied().map(Some).collect(),
                TimeBase::PublishTime => batch.publish_times.iter().copied().map(Some).collect(),
                TimeBase::HeaderStamp => reader.take_stamps(),
            };
            // A message that cannot be decoded has no value to offer.
            let valid = times.into_iter().zip(&batch.valid);
            all.times
                .extend(valid.map(|(time, valid)| time.filter(|_| *valid)));
            all.log_times.extend_from_slice(&batch.log_times);
            let rows = batch.into_record_batch()?;
            let bytes = rows
                .get_array_memory_size()
                .checked_div(rows.num_rows().max(1))
                .unwrap_or(0);
            all.row_bytes = all.row_bytes.max(bytes);
            take(rows);
        }
        Ok(all)
    }

    /// Number of messages without a time.
    pub fn missing(&self) -> u64 {
        self.times.iter().filter(|time| time.is_none()).count() as u64
    }
}
