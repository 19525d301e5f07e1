//! Aligned rows in batches, without whole topics in memory.

use std::sync::Arc;

use arrow_array::{Array as _, ArrayRef, RecordBatch, UInt32Array};
use arrow_schema::{Field, Schema, SchemaRef};

use super::partner::{Partner, find};
use super::{AlignOptions, Method, Samples, TopicTimes, message};
use crate::column::arrow::{time_type, times};
use crate::{Result, TopicReader};

/// Bytes of the values of one batch, about.
const BATCH_BYTES: usize = 32 << 20;
/// Rows of a batch.
const BATCH_ROWS: usize = 4096;

/// The rows of [`align`](super::align), batch by batch.
///
/// The times of all messages are in memory, and the values that a batch needs. Where the times of a topic are not in the
/// order of the bag, values stay in memory until the last batch that needs them.
pub struct AlignStream {
    frames: Vec<i64>,
    topics: Vec<Source>,
    method: Method,
    schema: SchemaRef,
    rows_per_batch: usize,
    done: usize,
}

impl AlignStream {
    /// Finds the partners of `frames`, which are in ascending order. The reader of each topic begins where the one for
    /// its times began.
    ///
    /// # Errors
    /// When Arrow refuses an array.
    pub fn new(
        frames: Vec<i64>,
        topics: Vec<(TopicTimes, TopicReader)>,
        options: AlignOptions,
    ) -> Result<Self> {
        let row_bytes: usize = topics.iter().map(|(times, _)| times.row_bytes).sum();
        let fitting = BATCH_BYTES.checked_div(row_bytes).unwrap_or(BATCH_ROWS);
        let topics: Vec<Source> = topics
            .into_iter()
            .map(|(times, reader)| Source::new(&frames, times, reader, options))
            .collect();
        let mut stream = Self {
            frames,
            topics,
            method: options.method,
            schema: Arc::new(Schema::empty()),
            rows_per_batch: fitting.clamp(1, BATCH_ROWS),
            done: 0,
        };
        stream.schema = stream.batch(0, 0)?.schema();
        Ok(stream)
    }

    /// The columns: `time`, and a message per topic with `time`, `distance` and its fields.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.frames.len()
    }

    /// For each topic, how many rows have no value within the tolerance.
    pub fn unmatched(&self) -> Vec<(String, u64)> {
        let of = |source: &Source| {
            let missing = source.partners.iter().filter(|partner| partner.is_none());
            (source.topic.clone(), missing.count() as u64)
        };
        self.topics.iter().map(of).collect()
    }

    fn batch(&mut self, start: usize, end: usize) -> Result<RecordBatch> {
        let frames = self.frames.get(start..end).unwrap_or_default();
        let mut fields = vec![Field::new("time", time_type(), false)];
        let mut columns: Vec<ArrayRef> = vec![times(frames.to_vec(), None)];
        for source in &mut self.topics {
            source.fill(start, end)?;
            let partners = source.local_partners(start, end);
            let column = message(frames, &source.held, &partners, self.method)?;
            let field = Field::new(&source.topic, column.data_type().clone(), true);
            fields.push(field);
            columns.push(Arc::new(column));
        }
        Ok(RecordBatch::try_new(
            Arc::new(Schema::new(fields)),
            columns,
        )?)
    }
}

impl Iterator for AlignStream {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.done;
        if start >= self.frames.len() {
            return None;
        }
        self.done = start
            .saturating_add(self.rows_per_batch)
            .min(self.frames.len());
        Some(self.batch(start, self.done))
    }
}

/// A topic, and the rows of it that are held for the next batches.
struct Source {
    topic: String,
    reader: TopicReader,
    /// The partners of each frame, as places in `needed`.
    partners: Vec<Option<Partner>>,
    /// The first place in `needed` that this frame or a later one needs.
    first_needed: Vec<u32>,
    /// The messages that are partners: their number in the bag, ascending, and their time.
    needed: Vec<(u32, i64)>,
    /// The held rows: those at the places `held_from..` of `needed`.
    held: Samples,
    held_from: usize,
    /// Messages read so far.
    read: u32,
}

impl Source {
    fn new(frames: &[i64], times: TopicTimes, reader: TopicReader, options: AlignOptions) -> Self {
        let mut order: Vec<(i64, u32)> = times
            .times
            .iter()
            .zip(0_u32..)
            .filter_map(|(time, row)| Some(((*time)?, row)))
            .collect();
        order.sort_unstable();
        let sorted: Vec<i64> = order.iter().map(|(time, _)| *time).collect();
        let mut partners = find(frames, &sorted, options);
        let mut needed: Vec<(u32, i64)> = partners
            .iter()
            .flatten()
            .flat_map(|partner| [partner.before, partner.after])
            .filter_map(|place| order.get(place as usize))
            .map(|(time, row)| (*row, *time))
            .collect();
        needed.sort_unstable();
        needed.dedup();
        let place = |place: u32| {
            let (_, row) = order.get(place as usize)?;
            let found = needed.binary_search_by_key(row, |(row, _)| *row).ok()?;
            u32::try_from(found).ok()
        };
        for partner in &mut partners {
            *partner = partner.and_then(|partner| {
                Some(Partner {
                    before: place(partner.before)?,
                    after: place(partner.after)?,
                    ..partner
                })
            });
        }
        let mut first_needed = vec![u32::MAX; partners.len()];
        let mut first = u32::MAX;
        for (slot, partner) in first_needed.iter_mut().zip(&partners).rev() {
            if let Some(partner) = partner {
                first = first.min(partner.before).min(partner.after);
            }
            *slot = first;
        }
        let rows = RecordBatch::new_empty(reader.empty().schema());
        Self {
            held: Samples {
                topic: times.topic.clone(),
                times: Vec::new(),
                rows,
            },
            topic: times.topic,
            reader,
            partners,
            first_needed,
            needed,
            held_from: 0,
            read: 0,
        }
    }

    /// Holds all rows that some frames need, and none that only earlier frames needed.
    fn fill(&mut self, start: usize, end: usize) -> Result<()> {
        let frames = self.partners.get(start..end).unwrap_or_default();
        let places = frames.iter().flatten();
        let last = places.map(|partner| partner.before.max(partner.after));
        let wanted = last.max().map_or(0, |last| last as usize + 1);
        let first = self.first_needed.get(start).copied().unwrap_or(0) as usize;
        let mut parts = vec![self.released(first)];
        let mut covered = self.held_from + self.held.times.len();
        while covered < wanted {
            let Some(batch) = self.reader.next_batch()? else {
                break;
            };
            let from = self.read;
            let count = u32::try_from(batch.len()).unwrap_or(u32::MAX);
            self.read = from.saturating_add(count);
            let rest = self.needed.get(covered..).unwrap_or_default();
            let in_batch = rest.partition_point(|(row, _)| *row < self.read);
            let kept = rest.get(..in_batch).unwrap_or_default();
            if kept.is_empty() {
                continue;
            }
            let rows: UInt32Array = kept.iter().map(|(row, _)| Some(*row - from)).collect();
            let batch = batch.into_record_batch()?;
            parts.push(arrow_select::take::take_record_batch(&batch, &rows)?);
            self.held.times.extend(kept.iter().map(|(_, time)| *time));
            covered += kept.len();
        }
        if parts.len() > 1 {
            let schema = self.held.rows.schema();
            self.held.rows = arrow_select::concat::concat_batches(&schema, &parts)?;
        } else if let Some(part) = parts.pop() {
            self.held.rows = part;
        }
        Ok(())
    }

    /// The held rows from a place on; the others are released.
    fn released(&mut self, first: usize) -> RecordBatch {
        let rows = self.held.times.len();
        let release = first.saturating_sub(self.held_from).min(rows);
        self.held.times.drain(..release);
        self.held_from += release;
        self.held.rows.slice(release, rows - release)
    }

    /// The partners of some frames, as places in the held rows.
    fn local_partners(&self, start: usize, end: usize) -> Vec<Option<Partner>> {
        let local = |place: u32| place.checked_sub(u32::try_from(self.held_from).ok()?);
        let partners = self.partners.get(start..end).unwrap_or_default();
        let partner = |partner: &Option<Partner>| {
            let partner = (*partner)?;
            Some(Partner {
                before: local(partner.before)?,
                after: local(partner.after)?,
                ..partner
            })
        };
        partners.iter().map(partner).collect()
    }
}
