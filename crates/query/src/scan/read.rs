//! Reads the pieces of one partition.

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::{DataFusionError, Result};
use datafusion::physical_plan::metrics::{Count, ExecutionPlanMetricsSet, MetricBuilder};
use timeloom_bag::{Message, Order, Query, StorageReader as _};
use tokio::sync::mpsc::Sender;

use super::exec::Scan;
use super::piece::Piece;
use super::rows::Rows;
use crate::bag_set::Bag;
use crate::findings::Undecoded;

/// Reads a partition to its end, or until the query ends. Blocks.
pub(super) fn read(
    scan: &Scan,
    partition: usize,
    schema: SchemaRef,
    metrics: &ExecutionPlanMetricsSet,
    batches: &Sender<Result<RecordBatch>>,
) -> Result<()> {
    let rows = Rows::new(schema, &scan.columns, scan.message_schema.clone())?;
    let counter = |name| MetricBuilder::new(metrics).counter(name, partition);
    let mut reading = Reading {
        scan,
        read: counter("messages_read"),
        decoded: counter("messages_decoded"),
        left: scan.limit.unwrap_or(usize::MAX),
        rows,
        batches,
    };
    for piece in scan.partitions.get(partition).into_iter().flatten() {
        let Some(bag) = scan.set.bags.get(piece.bag) else {
            continue;
        };
        if reading.piece(piece, bag)? == Listener::Gone {
            return Ok(());
        }
    }
    reading.send().map(|_| ())
}

/// Whether more rows are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Listener {
    Waits,
    Gone,
}

struct Reading<'a> {
    scan: &'a Scan,
    rows: Rows,
    batches: &'a Sender<Result<RecordBatch>>,
    /// Rows that may still come.
    left: usize,
    read: Count,
    decoded: Count,
}

impl Reading<'_> {
    fn piece(&mut self, piece: &Piece, bag: &Bag) -> Result<Listener> {
        if self.left == 0 {
            return Ok(Listener::Waits);
        }
        let failed = |error: timeloom_bag::Error| {
            DataFusionError::Execution(format!("{}: {error}", bag.name))
        };
        let mut reader = self.scan.set.reader(bag).map_err(failed)?;
        let query = Query {
            order: Order::LogTime,
            topics: self.scan.topics.get(piece.bag).cloned(),
            start_ns: piece.start_ns,
            end_ns: piece.end_ns,
        };
        reader.start(&query).map_err(failed)?;
        let mut undecoded = Vec::new();
        undecoded.resize_with(bag.info.topics.len(), || (0, String::new()));
        let mut listener = Listener::Waits;
        while self.left > 0 && listener == Listener::Waits {
            match reader.next_message() {
                Ok(Some(message)) => {
                    listener = self.take(bag, &message, &mut undecoded)?;
                }
                Ok(None) => break,
                Err(error) => {
                    let findings = &self.scan.set.findings;
                    findings.add_unread(format!("{}: {error}", bag.name));
                }
            }
        }
        self.report(piece, bag, undecoded);
        Ok(listener)
    }

    fn take(
        &mut self,
        bag: &Bag,
        message: &Message<'_>,
        undecoded: &mut [(u64, String)],
    ) -> Result<Listener> {
        self.read.add(1);
        let index = message.topic.index();
        let Some(topic) = bag.info.topics.get(index) else {
            return Ok(Listener::Waits);
        };
        self.left -= 1;
        let pushed = self.rows.push(&bag.name, topic, message);
        if self.rows.decodes() {
            self.decoded.add(1);
        }
        if let (Err(error), Some((count, reason))) = (pushed, undecoded.get_mut(index)) {
            *count += 1;
            if reason.is_empty() {
                *reason = error.to_string();
            }
        }
        if self.rows.is_full() {
            return self.send();
        }
        Ok(Listener::Waits)
    }

    /// Hands the rows over.
    fn send(&mut self) -> Result<Listener> {
        if self.rows.is_empty() {
            return Ok(Listener::Waits);
        }
        let batch = self.rows.finish()?;
        let sent = self.batches.blocking_send(Ok(batch));
        Ok(sent.map_or(Listener::Gone, |()| Listener::Waits))
    }

    fn report(&self, piece: &Piece, bag: &Bag, undecoded: Vec<(u64, String)>) {
        for (topic, (count, reason)) in bag.info.topics.iter().zip(undecoded) {
            if count > 0 {
                let key = Undecoded {
                    bag: bag.name.clone(),
                    topic: topic.name.clone(),
                    from_ns: piece.start_ns,
                };
                self.scan.set.findings.add_undecoded(key, count, &reason);
            }
        }
    }
}
