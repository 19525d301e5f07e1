//! A topic read in slices of time: several threads read, without the lock of the interpreter.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use pyo3::prelude::*;
use timeloom_bag::storage::FileInfo;
use timeloom_columns::{Batch, Error, Result, TopicReader, TopicRequest};

use crate::errors;

/// Slices for each thread: one whose messages are small or few takes more of them.
const SLICES_PER_THREAD: usize = 4;
/// Smaller bags are read by one thread: each thread opens the bag for itself.
const MIN_BYTES: u64 = 32 << 20;
/// More threads than this wait for the memory.
const MAX_THREADS: usize = 8;
/// How often Ctrl-C is looked for.
const PATIENCE: Duration = Duration::from_millis(50);

/// Log times, both inclusive; `None` for no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slice {
    pub(crate) start_ns: Option<i64>,
    pub(crate) end_ns: Option<i64>,
}

/// How a topic is read.
pub(crate) struct Plan {
    slices: Vec<Slice>,
    threads: usize,
}

impl Plan {
    /// For bags that cannot be read by several threads at a time.
    pub(crate) fn on_one_thread(request: &TopicRequest) -> Self {
        let slice = Slice {
            start_ns: request.start_ns,
            end_ns: request.end_ns,
        };
        Self {
            slices: vec![slice],
            threads: 1,
        }
    }

    /// As many threads as the machine has processors, if the bag is large enough.
    pub(crate) fn new(info: &FileInfo, request: &TopicRequest) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = threads.min(MAX_THREADS);
        // What has no summary is searched by every reader that opens it.
        if info.file_size < MIN_BYTES || !info.damage.is_empty() || threads == 1 {
            return Self::on_one_thread(request);
        }
        let slices = cut(info, request, threads * SLICES_PER_THREAD);
        Self { slices, threads }
    }
}

/// Cuts the times of a request into slices of the same duration.
fn cut(info: &FileInfo, request: &TopicRequest, count: usize) -> Vec<Slice> {
    let later = |a: Option<i64>, b: Option<i64>| a.into_iter().chain(b).max();
    let earlier = |a: Option<i64>, b: Option<i64>| a.into_iter().chain(b).min();
    let first = later(request.start_ns, info.start_time_ns).unwrap_or(0);
    let last = earlier(request.end_ns, info.end_time_ns).unwrap_or(0);
    let span = i128::from(last) - i128::from(first);
    let count = i128::try_from(count).unwrap_or(1).min(span).max(1);
    let begin = |number: i128| i64::try_from(i128::from(first) + span * number / count).ok();
    let slice = |number: i128| Slice {
        start_ns: if number == 0 {
            request.start_ns
        } else {
            begin(number)
        },
        end_ns: if number == count - 1 {
            request.end_ns
        } else {
            begin(number + 1).map(|next| next - 1)
        },
    };
    (0..count).map(slice).collect()
}

/// Reads slices of a topic.
pub(crate) trait SliceReader: Send {
    /// Some rows.
    type Part: Send;

    /// Begins with a slice.
    fn start(&mut self, slice: Slice) -> Result<()>;

    /// The next rows; `None` at the end of the slice.
    fn next_part(&mut self) -> Result<Option<Self::Part>>;

    /// How many rows are in a part.
    fn rows(part: &Self::Part) -> usize;

    /// What of the bag could not be read, in words.
    fn unread(&self) -> &[String];

    /// How many messages could not be decoded, and why the first of them.
    fn undecoded(&self) -> (u64, &str);
}

impl SliceReader for TopicReader {
    type Part = Batch;

    fn start(&mut self, slice: Slice) -> Result<()> {
        self.restart(slice.start_ns, slice.end_ns)
    }

    fn next_part(&mut self) -> Result<Option<Batch>> {
        self.next_batch()
    }

    fn rows(part: &Batch) -> usize {
        part.len()
    }

    fn unread(&self) -> &[String] {
        Self::unread(self)
    }

    fn undecoded(&self) -> (u64, &str) {
        Self::undecoded(self)
    }
}

/// What was read of a topic.
pub(crate) struct Read<P> {
    /// The rows in the order of time.
    pub(crate) parts: Vec<P>,
    /// What is missing, in words.
    pub(crate) lost: Vec<String>,
}

/// Reads all slices of a plan with a reader and as many more as it needs; Ctrl-C ends it.
pub(crate) fn read_all<'py, R: SliceReader>(
    py: Python<'py>,
    topic: &str,
    plan: &Plan,
    reader: R,
    open: impl Fn() -> Result<R> + Sync,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Read<R::Part>> {
    let work = Work {
        slices: &plan.slices,
        next: AtomicUsize::new(0),
        stopped: AtomicBool::new(false),
    };
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        let (work, open) = (&work, &open);
        let mut threads = Vec::new();
        for _ in 1..plan.threads {
            let sender = sender.clone();
            threads.push(scope.spawn(move || work.read(open()?, &sender)));
        }
        threads.push(scope.spawn(move || work.read(reader, &sender)));
        let parts = collect::<R>(py, work, receiver, progress);
        let mut done = Vec::new();
        for thread in threads {
            let ended = py.detach(|| thread.join());
            let reader = ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            done.push(reader);
        }
        // Ctrl-C first, then what went wrong while reading.
        let parts = parts?;
        let readers = done.into_iter().collect::<Result<Vec<R>>>();
        let readers = readers.map_err(|error| errors::table(py, &error))?;
        Ok(Read {
            parts,
            lost: lost(topic, &readers),
        })
    })
}

/// What is missing of all slices. Readers of neighbouring slices meet the same damage.
fn lost<R: SliceReader>(topic: &str, readers: &[R]) -> Vec<String> {
    let mut lost: Vec<String> = Vec::new();
    for text in readers.iter().flat_map(SliceReader::unread) {
        if !lost.contains(text) {
            lost.push(text.clone());
        }
    }
    let count = readers.iter().map(|reader| reader.undecoded().0).sum();
    let mut reasons = readers.iter().map(|reader| reader.undecoded().1);
    let reason = reasons.find(|reason| !reason.is_empty());
    lost.extend(timeloom_columns::undecoded_text(
        topic,
        count,
        reason.unwrap_or_default(),
    ));
    lost
}

/// The slices that are left.
struct Work<'a> {
    slices: &'a [Slice],
    next: AtomicUsize,
    stopped: AtomicBool,
}

impl Work<'_> {
    /// Reads slices until none is left.
    fn read<R: SliceReader>(&self, mut reader: R, sender: &Sender<(usize, R::Part)>) -> Result<R> {
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let slice = self.slices.get(number);
            let Some(slice) = slice.filter(|_| !self.is_stopped()) else {
                return Ok(reader);
            };
            reader.start(*slice).map_err(|error| self.fail(error))?;
            while let Some(part) = reader.next_part().map_err(|error| self.fail(error))?
                && !self.is_stopped()
            {
                // The receiver lives as long as this thread.
                let _sent = sender.send((number, part));
            }
        }
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// An error of one reader ends the others.
    fn fail(&self, error: Error) -> Error {
        self.stopped.store(true, Ordering::Relaxed);
        error
    }
}

/// Takes the rows of all threads, in the order of the slices.
fn collect<'py, R: SliceReader>(
    py: Python<'py>,
    work: &Work<'_>,
    mut receiver: Receiver<(usize, R::Part)>,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<Vec<R::Part>> {
    let mut slices: Vec<Vec<R::Part>> = work.slices.iter().map(|_| Vec::new()).collect();
    let ended = loop {
        let received;
        (receiver, received) = py.detach(move || {
            let received = receiver.recv_timeout(PATIENCE);
            (receiver, received)
        });
        let rows = match received {
            Ok((number, part)) => {
                let rows = R::rows(&part);
                if let Some(slice) = slices.get_mut(number) {
                    slice.push(part);
                }
                rows
            }
            Err(RecvTimeoutError::Timeout) => 0,
            Err(RecvTimeoutError::Disconnected) => break Ok(()),
        };
        let told = match progress {
            Some(progress) if rows > 0 => progress.call1((rows,)).map(drop),
            _ => Ok(()),
        };
        if let Err(error) = told.and_then(|()| py.check_signals()) {
            break Err(error);
        }
    };
    work.stopped.store(ended.is_err(), Ordering::Relaxed);
    ended.map(|()| slices.into_iter().flatten().collect())
}
