//! Finishes files in the background: index, compression, metadata.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};

use super::account::deleted_account;
use super::described::{
    add_file, add_open_file, add_times, forget_first_file, remove_open_file, take_back,
    with_missing, without_files,
};
use crate::bag::layout::{BagFile, open_file};
use crate::compression::compress_file;
use crate::metadata::write_metadata_file;
use crate::storage::{StorageWriter, WriteOutcome};
use crate::{BagMetadata, Error, Result, StorageId, TopicAccount, TopicInfo, TopicStatistics};

/// A file on its way to the closer.
pub(super) struct ClosingFile {
    pub(super) path: PathBuf,
    pub(super) writer: Box<dyn StorageWriter>,
    pub(super) topics: Arc<Vec<TopicInfo>>,
    /// Messages that were missing before the storage while this file was open, and messages found again, by topic.
    pub(super) missing: Vec<TopicAccount>,
    /// Name of the file that is open now.
    pub(super) next: Option<String>,
}

/// A file that was deleted in favour of newer ones.
pub(super) struct DeletedFile {
    /// The number of the file that carries its account on: the one that was open.
    pub(super) carrier: usize,
    /// Its account, by topic.
    pub(super) accounts: Vec<TopicStatistics>,
}

/// A job of the thread.
enum Job {
    Close(Box<ClosingFile>),
    /// Answer when all jobs before it are done.
    Barrier(Sender<()>),
    /// Delete the oldest file and answer with its path.
    DeleteOldest(Sender<Option<PathBuf>>),
    /// A key of the custom data has this value from now on.
    CustomData(String, String),
}

/// A report of the thread to the writer.
#[derive(Default)]
struct News {
    outcome: WriteOutcome,
    deleted: Vec<DeletedFile>,
}

/// The closed files together.
#[derive(Default)]
pub(super) struct Closed {
    pub(super) metadata: BagMetadata,
    pub(super) deleted_files: usize,
    pub(super) deleted_messages: u64,
}

/// Settings of the thread.
pub(super) struct Settings {
    pub(super) directory: PathBuf,
    pub(super) storage: StorageId,
    pub(super) compression: Option<i32>,
    pub(super) max_files: usize,
}

/// The thread that finishes files, and its reports.
pub(super) struct Closer {
    jobs: Sender<Job>,
    thread: JoinHandle<Closed>,
    news: Arc<Mutex<News>>,
    /// The bag without its files.
    base: BagMetadata,
}

fn lock(news: &Mutex<News>) -> MutexGuard<'_, News> {
    news.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Closer {
    pub(super) fn start(settings: Settings, metadata: BagMetadata) -> Result<Self> {
        let news = Arc::new(Mutex::new(News::default()));
        let (jobs, receiver) = unbounded();
        let directory = settings.directory.clone();
        let base = without_files(&metadata);
        let worker = Worker {
            settings,
            news: Arc::clone(&news),
            closed: Closed {
                metadata,
                ..Closed::default()
            },
            carried: Vec::new(),
            files_closed: 0,
            files_described: 0,
        };
        let thread = thread::Builder::new().name("bag-close".into());
        let thread = thread.spawn(move || worker.run(&receiver));
        let thread = thread.map_err(Error::io(&directory, "start a thread for"))?;
        Ok(Self {
            jobs,
            thread,
            news,
            base,
        })
    }

    pub(super) fn close(&self, file: ClosingFile) {
        let sent = self.jobs.send(Job::Close(Box::new(file)));
        if let Err(crossbeam_channel::SendError(Job::Close(file))) = sent {
            // The thread is gone: finish here, late but complete.
            let (_, outcome) = file.writer.finish(&mut |_| self.base.clone());
            let mut news = lock(&self.news);
            news.outcome.absorb(outcome);
            news.outcome.fail(Error::ThreadGone { thread: "closing" });
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

    /// Errors and deleted files since the last call.
    pub(super) fn take_news(&self) -> (WriteOutcome, Vec<DeletedFile>) {
        let mut news = lock(&self.news);
        (
            std::mem::take(&mut news.outcome),
            std::mem::take(&mut news.deleted),
        )
    }

    /// Sets a key of the custom data, for all metadata that is written from now on; true if the key is new.
    pub(super) fn set_custom_data(&mut self, key: &str, value: &str) -> bool {
        let known = self.base.custom_data.iter().any(|(known, _)| known == key);
        set_custom_data(&mut self.base, key, value);
        let job = Job::CustomData(key.to_owned(), value.to_owned());
        // A thread that is gone writes no metadata; its failure is reported elsewhere.
        self.jobs.send(job).unwrap_or_default();
        !known
    }

    /// The metadata of a file that was just opened, without the others.
    pub(super) fn metadata_of_open_file(&self, topics: &[TopicInfo], name: &str) -> BagMetadata {
        let mut metadata = self.base.clone();
        add_open_file(&mut metadata, topics, name);
        metadata
    }

    /// Waits for all files and returns their contents, and the errors.
    pub(super) fn finish(self) -> Result<(Closed, WriteOutcome)> {
        drop(self.jobs);
        let Ok(closed) = self.thread.join() else {
            return Err(Error::ThreadGone { thread: "closing" });
        };
        Ok((closed, std::mem::take(&mut lock(&self.news).outcome)))
    }
}

fn set_custom_data(metadata: &mut BagMetadata, key: &str, value: &str) {
    metadata.custom_data.retain(|(known, _)| known != key);
    metadata
        .custom_data
        .push((key.to_owned(), value.to_owned()));
}

/// The thread's own state.
struct Worker {
    settings: Settings,
    news: Arc<Mutex<News>>,
    closed: Closed,
    /// The accounts of deleted files, until the next file is closed and has them.
    carried: Vec<TopicStatistics>,
    files_closed: usize,
    /// Number of closed files in the last written `metadata.yaml`.
    files_described: usize,
}

impl Worker {
    fn run(mut self, jobs: &Receiver<Job>) -> Closed {
        let mut unwritten = None;
        for job in jobs {
            let mut answer = None;
            let mut last = false;
            match job {
                Job::Close(file) => {
                    let shown = (Arc::clone(&file.topics), file.next.clone());
                    last = file.next.is_none();
                    self.close_one(*file);
                    unwritten = Some(shown);
                }
                Job::Barrier(sender) => answer = Some(sender),
                Job::CustomData(key, value) => {
                    set_custom_data(&mut self.closed.metadata, &key, &value);
                    continue;
                }
                Job::DeleteOldest(sender) => {
                    let deleted = self.delete_oldest();
                    // The writer may be gone meanwhile.
                    sender.send(deleted).unwrap_or_default();
                }
            }
            let wanted = last || ((answer.is_some() || jobs.is_empty()) && self.is_due());
            if wanted && let Some((topics, next)) = unwritten.take() {
                self.describe(&topics, next.as_deref());
            }
            if let Some(answer) = answer {
                answer.send(()).unwrap_or_default();
            }
        }
        if let Some((topics, next)) = unwritten {
            self.describe(&topics, next.as_deref());
        }
        self.closed
    }

    /// With very many files the metadata is not written for each of them: all of it together would be quadratic.
    fn is_due(&self) -> bool {
        const EVERY: usize = 16;
        self.files_closed - self.files_described > self.files_described / EVERY
            || self.files_described < EVERY
    }

    /// Writes the metadata of the closed files and of the open one.
    fn describe(&mut self, topics: &[TopicInfo], next: Option<&str>) {
        let metadata = &mut self.closed.metadata;
        if let Some(next) = next {
            add_open_file(metadata, topics, next);
        }
        let written = write_metadata_file(&self.settings.directory, metadata);
        if next.is_some() {
            remove_open_file(metadata);
        }
        self.files_described = self.files_closed;
        if let Err(error) = written {
            lock(&self.news).outcome.fail(error);
        }
    }

    /// Deletes the oldest file that is left, and its part of the metadata.
    fn delete_oldest(&mut self) -> Option<PathBuf> {
        let name = self.closed.metadata.relative_file_paths.first()?.clone();
        let path = self.settings.directory.join(name);
        let accounts = self.oldest_accounts(&path);
        if let Err(source) = std::fs::remove_file(&path)
            && source.kind() != std::io::ErrorKind::NotFound
        {
            let error = Error::io(&path, "delete")(source);
            lock(&self.news).outcome.fail(error);
            return None;
        }
        self.closed.deleted_files += 1;
        self.closed.deleted_messages += forget_first_file(&mut self.closed.metadata, &accounts);
        let count = accounts.len().max(self.carried.len());
        self.carried.resize(count, TopicStatistics::default());
        for (carried, account) in self.carried.iter_mut().zip(&accounts) {
            carried.merge(&deleted_account(account));
        }
        lock(&self.news).deleted.push(DeletedFile {
            carrier: self.files_closed,
            accounts,
        });
        Some(path)
    }

    /// The account of the oldest file by topic: as in memory, else as in the file itself.
    fn oldest_accounts(&self, path: &Path) -> Vec<TopicStatistics> {
        let metadata = &self.closed.metadata;
        let known = metadata.files.first().map(|file| &file.topics_statistics);
        let topics = metadata.topics.iter();
        if let Some(known) = known.filter(|known| !known.is_empty()) {
            let of_topic = |name: &str| known.iter().find(|(topic, _)| topic == name);
            return topics
                .map(|record| {
                    of_topic(&record.topic.name)
                        .map_or_else(TopicStatistics::default, |(_, it)| *it)
                })
                .collect();
        }
        let file = BagFile {
            path: path.to_path_buf(),
            storage: self.settings.storage,
            record: None,
        };
        let reader = open_file(&file, Some(false)).ok();
        let account = reader.and_then(|reader| reader.info().account.as_deref().cloned());
        let account = account.unwrap_or_default();
        topics
            .map(|record| account.topic(&record.topic).statistics)
            .collect()
    }

    /// Finishes a file and adds it to the metadata.
    fn close_one(&mut self, file: ClosingFile) {
        let ClosingFile {
            path,
            writer,
            topics,
            mut missing,
            next,
        } = file;
        for (missing, carried) in missing.iter_mut().zip(std::mem::take(&mut self.carried)) {
            missing.statistics.merge(&carried);
        }
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let base = without_files(&self.closed.metadata);
        // A file embeds only its own metadata: with many splits, the metadata of the whole bag in each of them would
        // outgrow the messages.
        let (summary, mut outcome) = writer.finish(&mut |summary| {
            let mut alone = base.clone();
            add_file(&mut alone, &topics, &name, &with_missing(summary, &missing));
            alone
        });
        let mut stored = name;
        if let Some(level) = self.settings.compression {
            match compress_file(&path, level) {
                Ok(_) => stored.push_str(".zstd"),
                Err(error) => outcome.fail(error),
            }
        }
        let mut accounts = with_missing(&summary, &missing);
        add_times(&mut accounts, &outcome);
        add_file(&mut self.closed.metadata, &topics, &stored, &accounts);
        take_back(&mut self.closed.metadata);
        self.files_closed += 1;
        lock(&self.news).outcome.absorb(outcome);
        while self.has_too_many(next.is_some()) && self.delete_oldest().is_some() {}
    }

    /// The open file counts, too.
    fn has_too_many(&self, has_open: bool) -> bool {
        let files = self.closed.metadata.files.len() + usize::from(has_open);
        self.settings.max_files > 0 && files > self.settings.max_files
    }
}
