//! Finishes files in the background: index, compression, metadata.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

use super::described::{
    forget_first_file, take_back, with_file, with_missing, with_open_file, without_files,
};
use crate::compression::compress_file;
use crate::metadata::write_metadata_file;
use crate::storage::{StorageWriter, WriteOutcome};
use crate::{BagMetadata, Error, Result, TopicAccount, TopicInfo, TopicStatistics};

/// A file on its way to the closer.
pub(super) struct ClosingFile {
    pub(super) path: PathBuf,
    pub(super) writer: Box<dyn StorageWriter>,
    pub(super) topics: Vec<TopicInfo>,
    /// What went missing before the storage while this file was open, by topic.
    pub(super) missing: Vec<TopicAccount>,
    /// Missing in files before, and come after all, by topic.
    pub(super) found_again: Vec<TopicStatistics>,
    /// Name of the file that is open now.
    pub(super) next: Option<String>,
}

/// What the thread is asked to do.
enum Job {
    Close(Box<ClosingFile>),
    /// Answer when all before it is done.
    Barrier(Sender<()>),
    /// Delete the oldest file and answer which it was.
    DeleteOldest(Sender<Option<PathBuf>>),
}

/// What is known about the closed files.
#[derive(Default)]
struct State {
    closed: Closed,
    outcome: WriteOutcome,
}

/// The closed files together.
#[derive(Clone, Default)]
pub(super) struct Closed {
    pub(super) metadata: BagMetadata,
    /// All that was written, by topic.
    pub(super) topics: Vec<TopicStatistics>,
    pub(super) deleted_files: usize,
    pub(super) deleted_messages: u64,
}

/// How files are closed.
struct Settings {
    directory: PathBuf,
    compression: Option<i32>,
    max_files: usize,
}

/// The thread that finishes files, and what it knows.
pub(super) struct Closer {
    jobs: Sender<Job>,
    thread: JoinHandle<()>,
    state: Arc<Mutex<State>>,
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Closer {
    pub(super) fn start(
        directory: &Path,
        metadata: BagMetadata,
        compression: Option<i32>,
        max_files: usize,
    ) -> Result<Self> {
        let mut state = State::default();
        state.closed.metadata = metadata;
        let state = Arc::new(Mutex::new(state));
        let (jobs, receiver) = unbounded();
        let settings = Settings {
            directory: directory.to_path_buf(),
            compression,
            max_files,
        };
        let shared = Arc::clone(&state);
        let thread = thread::Builder::new().name("bag-close".into());
        let thread = thread.spawn(move || close_all(&receiver, &settings, &shared));
        let thread = thread.map_err(Error::io(directory, "start a thread for"))?;
        Ok(Self {
            jobs,
            thread,
            state,
        })
    }

    pub(super) fn close(&self, file: ClosingFile) {
        let sent = self.jobs.send(Job::Close(Box::new(file)));
        if let Err(crossbeam_channel::SendError(Job::Close(file))) = sent {
            // The thread is gone: finish here, late but whole.
            let mut state = lock(&self.state);
            let (_, outcome) = file.writer.finish(&mut |_| state.closed.metadata.clone());
            state.outcome.absorb(outcome);
            state.outcome.fail(Error::ThreadGone { thread: "closing" });
        }
    }

    /// Waits until every file that was handed over is finished.
    pub(super) fn wait(&self) {
        let (answer, wait) = bounded(1);
        // A thread that is gone has nothing left to wait for; its failure is reported elsewhere.
        if self.jobs.send(Job::Barrier(answer)).is_ok() {
            wait.recv().unwrap_or_default();
        }
    }

    /// Deletes the oldest closed file.
    pub(super) fn delete_oldest(&self) -> Option<PathBuf> {
        let (answer, wait) = bounded(1);
        self.jobs.send(Job::DeleteOldest(answer)).ok()?;
        wait.recv().ok().flatten()
    }

    pub(super) fn take_outcome(&self) -> WriteOutcome {
        std::mem::take(&mut lock(&self.state).outcome)
    }

    /// The metadata of a file that was just opened, without the others.
    pub(super) fn metadata_of_open_file(&self, topics: &[TopicInfo], name: &str) -> BagMetadata {
        with_open_file(
            without_files(&lock(&self.state).closed.metadata),
            topics,
            name,
        )
    }

    /// Waits for all files and returns what they hold, and what went wrong.
    pub(super) fn finish(self) -> Result<(Closed, WriteOutcome)> {
        drop(self.jobs);
        if self.thread.join().is_err() {
            return Err(Error::ThreadGone { thread: "closing" });
        }
        let mut state = lock(&self.state);
        Ok((state.closed.clone(), std::mem::take(&mut state.outcome)))
    }
}

fn close_all(jobs: &Receiver<Job>, settings: &Settings, state: &Mutex<State>) {
    let mut unwritten = None;
    for job in jobs {
        let mut answer = None;
        match job {
            Job::Close(file) => {
                let next = file.next.clone();
                let topics = file.topics.clone();
                close_one(*file, settings, state);
                unwritten = Some((topics, next));
            }
            Job::Barrier(sender) => answer = Some(sender),
            Job::DeleteOldest(sender) => {
                let deleted = delete_oldest(settings, state);
                // Whoever asked may have gone meanwhile.
                sender.send(deleted).unwrap_or_default();
            }
        }
        // While files pile up, the metadata of the last one tells about all.
        if (answer.is_some() || jobs.is_empty())
            && let Some((topics, next)) = unwritten.take()
        {
            let written = write_shown(settings, state, &topics, next.as_deref());
            if let Err(error) = written {
                lock(state).outcome.fail(error);
            }
        }
        if let Some(answer) = answer {
            answer.send(()).unwrap_or_default();
        }
    }
}

/// Writes the metadata of the closed files and of the open one.
fn write_shown(
    settings: &Settings,
    state: &Mutex<State>,
    topics: &[TopicInfo],
    next: Option<&str>,
) -> Result<()> {
    let metadata = lock(state).closed.metadata.clone();
    let shown = match next {
        Some(next) => with_open_file(metadata, topics, next),
        None => metadata,
    };
    write_metadata_file(&settings.directory, &shown)
}

/// Deletes the oldest file that is left, and its part of the metadata.
fn delete_oldest(settings: &Settings, state: &Mutex<State>) -> Option<PathBuf> {
    let mut state = lock(state);
    let name = state.closed.metadata.relative_file_paths.first()?.clone();
    let path = settings.directory.join(name);
    if let Err(source) = std::fs::remove_file(&path)
        && source.kind() != std::io::ErrorKind::NotFound
    {
        state.outcome.fail(Error::io(&path, "delete")(source));
        return None;
    }
    let closed = &mut state.closed;
    closed.deleted_files += 1;
    closed.deleted_messages += forget_first_file(&mut closed.metadata);
    Some(path)
}

/// Finishes a file and enters it into what is known.
fn close_one(file: ClosingFile, settings: &Settings, state: &Mutex<State>) {
    let ClosingFile {
        path,
        writer,
        topics,
        missing,
        found_again,
        next,
    } = file;
    let before = lock(state).closed.metadata.clone();
    let alone = without_files(&before);
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    // A file embeds what it holds itself: with many splits, the whole bag in each of them would outgrow the messages.
    let (summary, mut outcome) = writer.finish(&mut |summary| {
        with_file(
            alone.clone(),
            &topics,
            &name,
            &with_missing(summary, &missing),
        )
    });
    let mut stored = name;
    if let Some(level) = settings.compression {
        match compress_file(&path, level) {
            Ok(_) => stored.push_str(".zstd"),
            Err(error) => outcome.fail(error),
        }
    }
    let statistics = with_missing(&summary, &missing);
    let mut metadata = with_file(before, &topics, &stored, &statistics);
    take_back(&mut metadata, &found_again);
    {
        let mut state = lock(state);
        let closed = &mut state.closed;
        let count = statistics.len().max(closed.topics.len());
        closed.topics.resize(count, TopicStatistics::default());
        for (total, file) in closed.topics.iter_mut().zip(&statistics) {
            total.merge(&file.statistics);
        }
        for (total, found) in closed.topics.iter_mut().zip(&found_again) {
            total.find_all(found);
        }
        closed.metadata = metadata;
        state.outcome.absorb(outcome);
    }
    let too_many = || {
        // The open file counts, too.
        let files = lock(state).closed.metadata.files.len() + usize::from(next.is_some());
        settings.max_files > 0 && files > settings.max_files
    };
    while too_many() && delete_oldest(settings, state).is_some() {}
}
