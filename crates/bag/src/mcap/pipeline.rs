//! From a full chunk to the file: on the calling thread, or on a pool and a sink thread in the same order.

mod background_sync;
mod loss_report;
mod threads;

use self::background_sync::BackgroundSync;
use self::threads::Threads;
use super::options::{McapCompression, McapOptions};
use super::sink::Sink;
use super::write_chunk::{Packer, WriteChunk};
use crate::{Error, Message, Result, WriteOutcome};

/// The path of a chunk to the file.
pub(crate) enum Pipeline {
    /// All on the calling thread.
    Inline(Box<Inline>),
    /// Packing on a pool, writing on a sink thread.
    Threads(Box<Threads>),
}

pub(crate) struct Inline {
    sink: Sink,
    packer: Packer,
    /// From the first request on.
    sync: Option<BackgroundSync>,
}

impl Inline {
    /// Asks for a sync on another thread, or syncs where there is none.
    fn request_sync(&mut self, outcome: &mut WriteOutcome) {
        if self.sync.is_none() {
            let file = self.sink.second_handle();
            let started = file.and_then(|file| BackgroundSync::start(move || file.sync_data()));
            self.sync = started.ok();
        }
        let Some(sync) = &self.sync else {
            return self.sync(outcome);
        };
        sync.request();
        let failure = sync.failure();
        self.report(failure, outcome);
    }

    /// Syncs and waits for it.
    fn sync(&self, outcome: &mut WriteOutcome) {
        if let Err(error) = self.sink.sync() {
            outcome.fail(error);
        }
        let failure = self.sync.as_ref().and_then(BackgroundSync::failure);
        self.report(failure, outcome);
    }

    fn report(&self, failure: Option<std::io::Error>, outcome: &mut WriteOutcome) {
        if let Some(error) = failure {
            outcome.fail(self.sink.sync_error(error));
        }
    }
}

impl Pipeline {
    pub(crate) fn new(sink: Sink, options: &McapOptions) -> Result<Self> {
        if options.threads == 0 {
            return Ok(Self::Inline(Box::new(Inline {
                sink,
                packer: Packer::new(options),
                sync: None,
            })));
        }
        Threads::start(sink, options).map(|threads| Self::Threads(Box::new(threads)))
    }

    /// Submits a chunk with its definitions and leaves an empty one; blocks while too many are in progress.
    pub(crate) fn submit(&mut self, chunk: &mut Box<WriteChunk>, outcome: &mut WriteOutcome) {
        match self {
            Self::Inline(inline) => {
                inline.packer.pack(chunk, &[]);
                inline.sink.commit(chunk, &[], outcome);
                chunk.clear();
            }
            Self::Threads(threads) => threads.submit(chunk, outcome),
        }
    }

    /// Writes a large message without copying it, if this pipeline can; the chunk must hold no message yet.
    pub(crate) fn submit_large(
        &mut self,
        chunk: &mut WriteChunk,
        topic: u16,
        message: &Message<'_>,
        outcome: &mut WriteOutcome,
    ) {
        if let Self::Inline(inline) = self {
            chunk.push_head(topic, message);
            inline.packer.pack(chunk, message.data);
            inline.sink.commit(chunk, message.data, outcome);
            chunk.clear();
        }
    }

    /// Whether [`submit_large`](Self::submit_large) works here.
    pub(crate) fn takes_large(&self, compression: McapCompression) -> bool {
        matches!(self, Self::Inline(_)) && compression == McapCompression::None
    }

    /// Losses that happened in the background since the last call.
    pub(crate) fn losses(&mut self, outcome: &mut WriteOutcome) {
        if let Self::Threads(threads) = self {
            threads.losses(outcome);
        }
    }

    /// Waits until all submitted chunks are in the file; with `sync` also on the disk.
    pub(crate) fn drain(&mut self, sync: bool, outcome: &mut WriteOutcome) {
        match self {
            Self::Inline(inline) if sync => inline.sync(outcome),
            Self::Inline(_) => {}
            Self::Threads(threads) => threads.drain(sync, outcome),
        }
    }

    /// Syncs without waiting.
    pub(crate) fn request_sync(&mut self, outcome: &mut WriteOutcome) {
        match self {
            Self::Inline(inline) => inline.request_sync(outcome),
            Self::Threads(threads) => threads.request_sync(outcome),
        }
    }

    /// Size of the file and memory of its index.
    pub(crate) fn progress(&self) -> (u64, usize) {
        match self {
            Self::Inline(inline) => (inline.sink.position(), inline.sink.index.memory()),
            Self::Threads(threads) => threads.progress(),
        }
    }

    /// Waits for everything and returns the sink.
    pub(crate) fn into_sink(self, outcome: &mut WriteOutcome) -> Result<Sink, Error> {
        match self {
            Self::Inline(mut inline) => {
                let failure = inline.sync.take().and_then(BackgroundSync::finish);
                inline.report(failure, outcome);
                Ok(inline.sink)
            }
            Self::Threads(threads) => threads.into_sink(outcome),
        }
    }
}
