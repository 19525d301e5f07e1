use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use timeloom_bag::{BagReader, StorageReader as _};
use timeloom_msg::TypeResolver;
use timeloom_time::TimeBase;
use timeloom_trace::{BagFeed, Engine, EngineOptions, HopReport, Sink, TAG_TYPE};

use super::worker::Worker;
use crate::error::Result;
use crate::peer::lock;

/// Limit for analysed messages: the hops of a very long bag are those of its beginning.
const MOST_MESSAGES: u64 = 2_000_000;
/// Messages between two updates of the page.
const UPDATE: u64 = 20_000;

/// The links of a bag without tags, as `timeloom trace report` finds them; read in the background.
#[derive(Default)]
pub(super) struct BagLinks {
    hops: Arc<Mutex<Option<Vec<HopReport>>>>,
    worker: Worker,
}

impl BagLinks {
    /// Starts reading. A bag with tags is skipped, because the page shows the tags that are played.
    pub(super) fn find(
        &self,
        base: &TimeBase,
        mut reader: BagReader,
        types: TypeResolver,
    ) -> Result<()> {
        let mut topics = reader.info().topics.iter();
        if topics.any(|topic| topic.type_name == TAG_TYPE) {
            return Ok(());
        }
        let hops = Arc::clone(&self.hops);
        self.worker.start(base, "view-lineage", move |stop| {
            let feed = BagFeed {
                types,
                ..BagFeed::default()
            };
            let mut sink = HopSink {
                engine: Engine::new(EngineOptions::default()),
                hops: &hops,
                stop,
                messages: 0,
            };
            // The player reports a bag that cannot be read.
            if feed.run(&mut reader, &mut sink, &mut ()).is_ok() {
                sink.update();
            }
        })
    }

    pub(super) fn hops(&self) -> Option<Vec<HopReport>> {
        lock(&self.hops).clone()
    }
}

struct HopSink<'a> {
    engine: Engine,
    hops: &'a Mutex<Option<Vec<HopReport>>>,
    stop: &'a AtomicBool,
    messages: u64,
}

impl HopSink<'_> {
    fn update(&self) {
        *lock(self.hops) = Some(self.engine.hops());
    }
}

impl Sink for HopSink<'_> {
    fn engine(&mut self) -> &mut Engine {
        &mut self.engine
    }

    fn taken(&mut self) {
        self.messages += 1;
        if self.messages.is_multiple_of(UPDATE) {
            self.update();
        }
    }

    fn is_done(&self) -> bool {
        self.messages >= MOST_MESSAGES || self.stop.load(Ordering::Relaxed)
    }
}
