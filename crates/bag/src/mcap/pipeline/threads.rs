//! Packing on a pool, writing on one sink thread, in the order of submission.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

use super::loss_report::LossReport;
use crate::mcap::options::{McapCompression, McapOptions};
use crate::mcap::sink::Sink;
use crate::mcap::write_chunk::{Packer, WriteChunk};
use crate::{Error, Result, WriteOutcome};

/// A job of the sink thread; jobs are done in the order of their numbers.
enum Step {
    /// A chunk, packed unless the sink packs.
    Chunk(Box<WriteChunk>),
    /// Answer when all steps before it are written; with `true` sync first.
    Barrier(bool, Sender<()>),
}

/// A report of the sink thread to the writer.
#[derive(Default)]
struct Shared {
    losses: LossReport,
    position: AtomicU64,
    index_memory: AtomicUsize,
}

/// The running threads of one file.
pub(crate) struct Threads {
    /// To the pool, if there is one.
    jobs: Option<Sender<(u64, Box<WriteChunk>)>>,
    steps: Sender<(u64, Step)>,
    free: Receiver<Box<WriteChunk>>,
    next: u64,
    shared: Arc<Shared>,
    workers: Vec<JoinHandle<()>>,
    sink: JoinHandle<Sink>,
    /// Counts the messages of a chunk that cannot be handed over.
    counter: Packer,
}

impl Threads {
    pub(crate) fn start(sink: Sink, options: &McapOptions) -> Result<Self> {
        let compresses = options.chunking && options.compression != McapCompression::None;
        let count = options.chunks_in_flight.max(options.threads + 1);
        let (give_back, free) = unbounded();
        for _ in 0..count {
            // The receiver is in this function, so this cannot fail.
            give_back
                .send(Box::<WriteChunk>::default())
                .unwrap_or_default();
        }
        let (steps, sink_steps) = bounded(count + 1);
        let shared = Arc::new(Shared::default());
        shared.position.store(sink.position(), Ordering::Release);
        let path = sink.path().to_path_buf();
        let spawn_error = |source| Error::Io {
            path: path.clone(),
            action: "start a thread for",
            source,
        };
        let mut workers = Vec::new();
        let mut jobs = None;
        if compresses {
            let (send, receive) = bounded::<(u64, Box<WriteChunk>)>(count);
            for _ in 0..options.threads {
                let (receive, steps, packer) =
                    (receive.clone(), steps.clone(), Packer::new(options));
                let worker = thread::Builder::new().name("bag-pack".into());
                workers.push(
                    worker
                        .spawn(move || pack_all(&receive, &steps, packer))
                        .map_err(spawn_error)?,
                );
            }
            jobs = Some(send);
        }
        let packer = (!compresses).then(|| Packer::new(options));
        let state = Arc::clone(&shared);
        let thread = thread::Builder::new().name("bag-sink".into());
        let sink = thread
            .spawn(move || sink_all(sink, &sink_steps, packer, &give_back, &state))
            .map_err(spawn_error)?;
        Ok(Self {
            jobs,
            steps,
            free,
            next: 0,
            shared,
            workers,
            sink,
            counter: Packer::new(options),
        })
    }

    pub(crate) fn submit(&mut self, chunk: &mut Box<WriteChunk>, outcome: &mut WriteOutcome) {
        let fresh = self.free.recv().unwrap_or_default();
        let full = std::mem::replace(chunk, fresh);
        let lost = match &self.jobs {
            Some(jobs) => jobs.send((self.next, full)).err().map(|back| back.0.1),
            None => match self
                .steps
                .send((self.next, Step::Chunk(full)))
                .err()
                .map(|back| back.0.1)
            {
                Some(Step::Chunk(chunk)) => Some(chunk),
                _ => None,
            },
        };
        self.next += 1;
        if let Some(mut chunk) = lost {
            self.counter.pack(&mut chunk, &[]);
            chunk.lose(outcome);
            outcome.fail(Error::ThreadGone { thread: "sink" });
        }
        self.losses(outcome);
    }

    pub(crate) fn losses(&self, outcome: &mut WriteOutcome) {
        self.shared.losses.take(outcome);
    }

    pub(crate) fn drain(&mut self, sync: bool, outcome: &mut WriteOutcome) {
        if self.barrier(sync).is_none_or(|wait| wait.recv().is_err()) {
            outcome.fail(Error::ThreadGone { thread: "sink" });
        }
        self.losses(outcome);
    }

    pub(crate) fn request_sync(&mut self, outcome: &mut WriteOutcome) {
        if self.barrier(true).is_none() {
            outcome.fail(Error::ThreadGone { thread: "sink" });
        }
        self.losses(outcome);
    }

    /// Sends a barrier behind all chunks so far; it is answered when they are written.
    fn barrier(&mut self, sync: bool) -> Option<Receiver<()>> {
        let (answer, wait) = bounded(1);
        let sent = self.steps.send((self.next, Step::Barrier(sync, answer)));
        self.next += 1;
        sent.is_ok().then_some(wait)
    }

    pub(crate) fn progress(&self) -> (u64, usize) {
        (
            self.shared.position.load(Ordering::Acquire),
            self.shared.index_memory.load(Ordering::Acquire),
        )
    }

    pub(crate) fn into_sink(self, outcome: &mut WriteOutcome) -> Result<Sink> {
        drop(self.jobs);
        let mut whole = true;
        for worker in self.workers {
            whole &= worker.join().is_ok();
        }
        drop(self.steps);
        let sink = self.sink.join();
        self.shared.losses.take(outcome);
        match sink {
            Ok(sink) if whole => Ok(sink),
            _ => Err(Error::ThreadGone { thread: "sink" }),
        }
    }
}

fn pack_all(
    jobs: &Receiver<(u64, Box<WriteChunk>)>,
    steps: &Sender<(u64, Step)>,
    mut packer: Packer,
) {
    for (number, mut chunk) in jobs {
        packer.pack(&mut chunk, &[]);
        if steps.send((number, Step::Chunk(chunk))).is_err() {
            return;
        }
    }
}

fn sink_all(
    mut sink: Sink,
    steps: &Receiver<(u64, Step)>,
    mut packer: Option<Packer>,
    free: &Sender<Box<WriteChunk>>,
    shared: &Shared,
) -> Sink {
    let mut next = 0;
    let mut early = BTreeMap::new();
    for (number, step) in steps {
        early.insert(number, step);
        while let Some(step) = early.remove(&next) {
            next += 1;
            let mut outcome = WriteOutcome::default();
            match step {
                Step::Chunk(mut chunk) => {
                    if let Some(packer) = &mut packer {
                        packer.pack(&mut chunk, &[]);
                    }
                    sink.commit(&chunk, &[], &mut outcome);
                    chunk.clear();
                    // The writer may be gone already; then the buffer is not needed.
                    free.send(chunk).unwrap_or_default();
                }
                Step::Barrier(sync, answer) => {
                    if let Some(Err(error)) = sync.then(|| sink.sync()) {
                        outcome.fail(error);
                    }
                    shared.losses.report(std::mem::take(&mut outcome));
                    answer.send(()).unwrap_or_default();
                }
            }
            shared.losses.report(outcome);
            shared.position.store(sink.position(), Ordering::Release);
            shared
                .index_memory
                .store(sink.index.memory(), Ordering::Release);
        }
    }
    sink
}
