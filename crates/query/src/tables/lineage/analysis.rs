//! The analysis of `trace` over a bag, for its links and flows.

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::{DataFusionError, Result};
use timeloom_trace::{BagFeed, BagObserver, Engine, EngineOptions, RecordKind, Sink};
use tokio::sync::mpsc::Sender;

use crate::bag_set::{Bag, BagSet};
use crate::findings::Undecoded;

/// Rows of one batch.
const BATCH_ROWS: usize = 8192;

/// The columns of a table, filled with the records of an engine.
pub(super) trait Columns: Default {
    /// The records that the engine keeps.
    const KIND: RecordKind;

    /// Takes the records of an engine.
    fn take(&mut self, bag: &str, engine: &mut Engine);

    /// The number of rows.
    fn rows(&self) -> usize;

    /// Takes the rows.
    fn finish(&mut self, schema: &SchemaRef) -> Result<RecordBatch>;
}

/// Sends the rows of a bag, analysed as `timeloom trace report` does by default.
pub(super) fn read<C: Columns>(
    set: &BagSet,
    bag: &Bag,
    schema: &SchemaRef,
    batches: &Sender<Result<RecordBatch>>,
) -> Result<()> {
    let failed = |error: &dyn std::fmt::Display| {
        DataFusionError::Execution(format!("{}: {error}", bag.name))
    };
    let reader = set.reader(bag);
    let mut reader = reader.map_err(|error| failed(&error))?;
    let mut sink = RowSink {
        engine: Engine::new(EngineOptions {
            records: C::KIND,
            ..EngineOptions::default()
        }),
        bag: &bag.name,
        schema,
        batches,
        columns: C::default(),
        is_done: false,
    };
    let feed = BagFeed {
        types: set.source.types(),
        ..BagFeed::default()
    };
    let intake = feed.run(&mut reader, &mut sink, &mut Damage { set, bag });
    let intake = intake.map_err(|error| failed(&error))?;
    if intake.broken > 0 {
        let key = Undecoded {
            bag: bag.name.clone(),
            topic: "the tags".to_owned(),
            from_ns: None,
        };
        let reason = "not a MessageTrackingTag";
        set.findings.add_undecoded(key, intake.broken, reason);
    }
    sink.engine.finish();
    sink.columns.take(&bag.name, &mut sink.engine);
    if sink.columns.rows() > 0 {
        sink.send();
    }
    Ok(())
}

/// Adds damage to the findings of the query.
struct Damage<'a> {
    set: &'a BagSet,
    bag: &'a Bag,
}

impl BagObserver for Damage<'_> {
    fn damage(&mut self, error: &timeloom_bag::Error) {
        let text = format!("{}: {error}", self.bag.name);
        self.set.findings.add_unread(text);
    }
}

/// An engine whose records become rows.
struct RowSink<'a, C> {
    engine: Engine,
    bag: &'a str,
    schema: &'a SchemaRef,
    batches: &'a Sender<Result<RecordBatch>>,
    columns: C,
    is_done: bool,
}

impl<C: Columns> RowSink<'_, C> {
    /// Sends a batch; a query that has ended takes no more.
    fn send(&mut self) {
        let batch = self.columns.finish(self.schema);
        self.is_done |= self.batches.blocking_send(batch).is_err();
    }
}

impl<C: Columns> Sink for RowSink<'_, C> {
    fn engine(&mut self) -> &mut Engine {
        &mut self.engine
    }

    fn taken(&mut self) {
        self.columns.take(self.bag, &mut self.engine);
        if self.columns.rows() >= BATCH_ROWS {
            self.send();
        }
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}
