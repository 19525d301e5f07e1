//! Finishes files in the background: index, compression, metadata.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, Sender, unbounded};

use crate::compression::compress_file;
use crate::metadata::{FileRecord, NO_START_TIME, TopicRecord, write_metadata_file};
use crate::storage::{FileSummary, StorageWriter, WriteOutcome};
use crate::{BagMetadata, Error, Result, TopicInfo, TopicStatistics};

/// A file on its way to the closer.
pub(super) struct ClosingFile {
    pub(super) path: PathBuf,
    pub(super) writer: Box<dyn StorageWriter>,
    pub(super) topics: Vec<TopicInfo>,
    /// What was lost before the storage while this file was open, by topic.
    pub(super) losses: Vec<TopicStatistics>,
    /// Name of the file that is open now.
    pub(super) next: Option<String>,
}

/// What is known about the closed files.
struct State {
    metadata: BagMetadata,
    topics: Vec<TopicStatistics>,
    outcome: WriteOutcome,
}

/// The thread that finishes files, and what it knows.
pub(super) struct Closer {
    files: Sender<ClosingFile>,
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
    ) -> Result<Self> {
        let state = Arc::new(Mutex::new(State {
            metadata,
            topics: Vec::new(),
            outcome: WriteOutcome::default(),
        }));
        let (files, receiver) = unbounded();
        let (shared, root) = (Arc::clone(&state), directory.to_path_buf());
        let thread = thread::Builder::new().name("bag-close".into());
        let thread = thread.spawn(move || close_all(&receiver, &root, compression, &shared));
        let thread = thread.map_err(Error::io(directory, "start a thread for"))?;
        Ok(Self {
            files,
            thread,
            state,
        })
    }

    pub(super) fn close(&self, file: ClosingFile) {
        if let Err(back) = self.files.send(file) {
            // The thread is gone: finish here, late but whole.
            let mut state = lock(&self.state);
            let (_, outcome) = back.0.writer.finish(&mut |_| state.metadata.clone());
            state.outcome.absorb(outcome);
            state.outcome.fail(Error::ThreadGone { thread: "closing" });
        }
    }

    pub(super) fn take_outcome(&self) -> WriteOutcome {
        std::mem::take(&mut lock(&self.state).outcome)
    }

    /// The metadata of the closed files and of one that was just opened.
    pub(super) fn metadata_with_open_file(&self, topics: &[TopicInfo], name: &str) -> BagMetadata {
        with_open_file(lock(&self.state).metadata.clone(), topics, name)
    }

    /// Waits for all files and returns the final metadata, the account of each topic, and what went wrong.
    pub(super) fn finish(self) -> Result<(BagMetadata, Vec<TopicStatistics>, WriteOutcome)> {
        drop(self.files);
        if self.thread.join().is_err() {
            return Err(Error::ThreadGone { thread: "closing" });
        }
        let mut state = lock(&self.state);
        Ok((
            state.metadata.clone(),
            state.topics.clone(),
            std::mem::take(&mut state.outcome),
        ))
    }
}

fn with_open_file(mut metadata: BagMetadata, topics: &[TopicInfo], name: &str) -> BagMetadata {
    metadata.relative_file_paths.push(name.to_owned());
    metadata.files.push(FileRecord {
        path: name.to_owned(),
        starting_time_ns: NO_START_TIME,
        ..FileRecord::default()
    });
    for topic in topics.get(metadata.topics.len()..).unwrap_or_default() {
        metadata.topics.push(TopicRecord::new(topic));
    }
    metadata
}

fn close_all(
    files: &Receiver<ClosingFile>,
    directory: &Path,
    compression: Option<i32>,
    state: &Mutex<State>,
) {
    for file in files {
        let outcome = close_one(file, directory, compression, state);
        lock(state).outcome.absorb(outcome);
    }
}

fn close_one(
    file: ClosingFile,
    directory: &Path,
    compression: Option<i32>,
    state: &Mutex<State>,
) -> WriteOutcome {
    let ClosingFile {
        path,
        writer,
        topics,
        losses,
        next,
    } = file;
    let before = lock(state).metadata.clone();
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    let (summary, mut outcome) = writer.finish(&mut |summary| {
        with_file(
            before.clone(),
            &topics,
            &name,
            &with_losses(summary, &losses),
        )
    });
    let mut stored = name;
    if let Some(level) = compression {
        match compress_file(&path, level) {
            Ok(_) => stored.push_str(".zstd"),
            Err(error) => outcome.fail(error),
        }
    }
    let statistics = with_losses(&summary, &losses);
    let metadata = with_file(before, &topics, &stored, &statistics);
    {
        let mut state = lock(state);
        let count = statistics.len().max(state.topics.len());
        state.topics.resize(count, TopicStatistics::default());
        for (total, file) in state.topics.iter_mut().zip(&statistics) {
            total.merge(file);
        }
        state.metadata = metadata.clone();
    }
    let shown = match next {
        Some(next) => with_open_file(metadata, &topics, &next),
        None => metadata,
    };
    if let Err(error) = write_metadata_file(directory, &shown) {
        outcome.fail(error);
    }
    outcome
}

/// The account of each topic in a file, with what was lost before the storage.
fn with_losses(summary: &FileSummary, losses: &[TopicStatistics]) -> Vec<TopicStatistics> {
    let mut topics = summary.topics.clone();
    topics.resize(topics.len().max(losses.len()), TopicStatistics::default());
    for (topic, lost) in topics.iter_mut().zip(losses) {
        topic.merge(lost);
    }
    topics
}

/// The metadata with one more finished file.
fn with_file(
    mut metadata: BagMetadata,
    topics: &[TopicInfo],
    name: &str,
    statistics: &[TopicStatistics],
) -> BagMetadata {
    let mut total = TopicStatistics::default();
    for (index, topic) in topics.iter().enumerate() {
        if metadata.topics.len() <= index {
            metadata.topics.push(TopicRecord::new(topic));
        }
        let Some(file) = statistics.get(index) else {
            continue;
        };
        total.merge(file);
        if let Some(record) = metadata.topics.get_mut(index) {
            record.message_count += file.messages_recorded;
            record.statistics.get_or_insert_default().merge(file);
        }
    }
    let (start, end) = (total.first_time_ns, total.last_time_ns);
    let file_start = start.unwrap_or(NO_START_TIME);
    metadata.relative_file_paths.push(name.to_owned());
    metadata.files.push(FileRecord {
        path: name.to_owned(),
        starting_time_ns: file_start,
        duration_ns: end.map_or(0, |end| end.saturating_sub(file_start)),
        message_count: total.messages_recorded,
        topics_statistics: topics
            .iter()
            .zip(statistics)
            .map(|(topic, file)| (topic.name.clone(), *file))
            .collect(),
        extra: Vec::new(),
    });
    metadata.message_count += total.messages_recorded;
    let end = end.into_iter().chain(metadata.ending_time_ns()).max();
    metadata.starting_time_ns = metadata.starting_time_ns.min(file_start);
    metadata.duration_ns = end.map_or(0, |end| end.saturating_sub(metadata.starting_time_ns));
    metadata
}
