//! Finishes files in the background: index, compression, metadata.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

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

/// What the thread is asked to do.
enum Job {
    Close(Box<ClosingFile>),
    /// Answer when all before it is done.
    Barrier(Sender<()>),
}

/// What is known about the closed files.
struct State {
    metadata: BagMetadata,
    topics: Vec<TopicStatistics>,
    outcome: WriteOutcome,
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
    ) -> Result<Self> {
        let state = Arc::new(Mutex::new(State {
            metadata,
            topics: Vec::new(),
            outcome: WriteOutcome::default(),
        }));
        let (jobs, receiver) = unbounded();
        let (shared, root) = (Arc::clone(&state), directory.to_path_buf());
        let thread = thread::Builder::new().name("bag-close".into());
        let thread = thread.spawn(move || close_all(&receiver, &root, compression, &shared));
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
            let (_, outcome) = file.writer.finish(&mut |_| state.metadata.clone());
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

    pub(super) fn take_outcome(&self) -> WriteOutcome {
        std::mem::take(&mut lock(&self.state).outcome)
    }

    /// The metadata of a file that was just opened, without the others.
    pub(super) fn metadata_of_open_file(&self, topics: &[TopicInfo], name: &str) -> BagMetadata {
        with_open_file(without_files(&lock(&self.state).metadata), topics, name)
    }

    /// Waits for all files and returns the final metadata, the account of each topic, and what went wrong.
    pub(super) fn finish(self) -> Result<(BagMetadata, Vec<TopicStatistics>, WriteOutcome)> {
        drop(self.jobs);
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
    jobs: &Receiver<Job>,
    directory: &Path,
    compression: Option<i32>,
    state: &Mutex<State>,
) {
    let mut unwritten = None;
    for job in jobs {
        let answer = match job {
            Job::Close(file) => {
                let (metadata, outcome) = close_one(*file, compression, state);
                lock(state).outcome.absorb(outcome);
                unwritten = Some(metadata);
                None
            }
            Job::Barrier(answer) => Some(answer),
        };
        // While files pile up, the metadata of the last one tells about all.
        if (answer.is_some() || jobs.is_empty())
            && let Some(metadata) = unwritten.take()
            && let Err(error) = write_metadata_file(directory, &metadata)
        {
            lock(state).outcome.fail(error);
        }
        if let Some(answer) = answer {
            answer.send(()).unwrap_or_default();
        }
    }
}

/// Finishes a file; returns the metadata of the bag with it.
fn close_one(
    file: ClosingFile,
    compression: Option<i32>,
    state: &Mutex<State>,
) -> (BagMetadata, WriteOutcome) {
    let ClosingFile {
        path,
        writer,
        topics,
        losses,
        next,
    } = file;
    let before = lock(state).metadata.clone();
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
    (shown, outcome)
}

/// The same bag without its files and counts.
fn without_files(metadata: &BagMetadata) -> BagMetadata {
    BagMetadata {
        version: metadata.version,
        storage_identifier: metadata.storage_identifier.clone(),
        starting_time_ns: NO_START_TIME,
        compression_format: metadata.compression_format.clone(),
        compression_mode: metadata.compression_mode.clone(),
        custom_data: metadata.custom_data.clone(),
        ros_distro: metadata.ros_distro.clone(),
        ..BagMetadata::default()
    }
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
