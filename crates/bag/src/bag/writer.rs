//! Writes a bag: a directory, its files one after the other, and its metadata.

mod account;
mod closer;
pub(crate) mod described;
mod files;
mod latched;
mod missing;
mod open_file;
mod options;
mod saving;
mod state;

pub use options::{BagOptions, StorageOptions};

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::account::Account;
use self::closer::{Closer, ClosingFile, Settings};
use self::files::{Files, file_name};
use self::latched::Latched;
use self::open_file::OpenFile;
use crate::compression::{CompressionMode, MessageCompressor};
use crate::mcap::CarryOver;
use crate::metadata::{sync_directory, write_metadata_file};
use crate::storage::{DiskWait, WriteOutcome};
use crate::{
    BagMetadata, Error, LossCause, Message, MessageDefinition, MessagePublishers, MissingCause,
    Result, RobotGraph, RobotParameters, TopicAccount, TopicId, TopicInfo, TopicStatistics,
};

/// One file was closed and the next one opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitEvent {
    /// The file that is being closed in the background.
    pub closed_file: PathBuf,
    /// The file that is written now.
    pub opened_file: PathBuf,
}

/// The contents of a finished bag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedBag {
    /// The final metadata, as in `metadata.yaml`.
    pub metadata: BagMetadata,
    /// The account of each topic by dense id; messages of deleted files are left out on purpose.
    pub topics: Vec<TopicStatistics>,
    /// Files that were deleted because newer ones took their place.
    pub deleted_files: usize,
    /// Messages in those files.
    pub deleted_messages: u64,
}

/// Writes a bag.
///
/// A split does not pause the caller: the old file is finished, compressed and entered into `metadata.yaml` by another
/// thread while messages go to the next file. A writer that is dropped without [`finish`](Self::finish) leaves the same
/// as a crash.
///
/// ```
/// use timeloom_bag::{BagOptions, BagWriter, Message, TopicInfo};
///
/// # let directory = tempfile::tempdir().unwrap();
/// # let path = directory.path().join("run");
/// let options = BagOptions { max_file_size: 1 << 30, ..BagOptions::default() };
/// let mut writer = BagWriter::create(&path, options)?;
/// let topic = writer.add_topic(&TopicInfo::new("/imu", "sensor_msgs/msg/Imu"))?;
/// let message = Message { topic, log_time_ns: 9, publish_time_ns: 7, sequence: 1, data: &[0, 1, 0, 0] };
/// // Messages that could not be written are in the outcome, with their cause.
/// assert!(writer.write(&[message], 0).is_ok());
/// let (summary, outcome) = writer.finish()?;
/// assert!(outcome.is_ok());
/// assert_eq!(summary.metadata.message_count, 1);
/// # Ok::<(), timeloom_bag::Error>(())
/// ```
pub struct BagWriter {
    options: BagOptions,
    topics: Arc<Vec<TopicInfo>>,
    account: Account,
    files: Files,
    compressor: Option<MessageCompressor>,
    closer: Closer,
    splits: Vec<SplitEvent>,
    /// Losses of a split that no outcome has reported yet.
    pending: WriteOutcome,
    latched: Latched,
    /// The current graph of the robot: each further file begins with it.
    graph: RobotGraph,
    /// The parameters of its nodes as they are now.
    parameters: RobotParameters,
    /// The last publisher of each topic.
    publishers: MessagePublishers,
}

impl BagWriter {
    /// Creates the directory of a new bag, its first file and a first `metadata.yaml`.
    pub fn create(directory: &Path, options: BagOptions) -> Result<Self> {
        Self::create_with(directory, options, None)
    }

    /// Like [`create`](Self::create); records carried over from other files go into the first one.
    pub(crate) fn create_with(
        directory: &Path,
        mut options: BagOptions,
        carry_over: Option<&mut CarryOver>,
    ) -> Result<Self> {
        if directory.exists() {
            return Err(Error::Exists {
                path: directory.to_path_buf(),
            });
        }
        options.check()?;
        options.fit_pages();
        fs::create_dir_all(directory).map_err(Error::io(directory, "create"))?;
        let compressor = (options.compression == CompressionMode::Message)
            .then(|| MessageCompressor::new(directory, options.compression_level))
            .transpose()?;
        let settings = Settings {
            directory: directory.to_path_buf(),
            storage: options.storage.id(),
            compression: options.file_compression(),
            max_files: options.max_files,
        };
        let closer = Closer::start(settings, options.new_metadata())?;
        let mut writer = Self {
            options,
            topics: Arc::default(),
            account: Account::default(),
            files: Files::new(directory),
            compressor,
            closer,
            splits: Vec::new(),
            pending: WriteOutcome::default(),
            latched: Latched::default(),
            graph: RobotGraph::default(),
            parameters: RobotParameters::default(),
            publishers: MessagePublishers::default(),
        };
        writer.open_next(carry_over)?;
        tracing::info!(bag = %directory.display(), "bag created");
        writer.write_metadata()?;
        if let Some(parent) = directory
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty())
        {
            sync_directory(parent)?;
        }
        Ok(writer)
    }

    /// Declares a topic; the same topic again gives the same id.
    pub fn add_topic(&mut self, topic: &TopicInfo) -> Result<TopicId> {
        let Some(file) = self.files.current_mut() else {
            return Err(Error::ThreadGone { thread: "writer" });
        };
        let topic = self.options.topic(topic);
        let id = file.writer.add_topic(&topic)?;
        if id.index() == self.topics.len() {
            Arc::make_mut(&mut self.topics).push(topic.into_owned());
            self.account.add_topic();
            self.latched.add_topic();
        }
        Ok(id)
    }

    /// The topics by dense id.
    pub fn topics(&self) -> &[TopicInfo] {
        &self.topics
    }

    /// Sets the definition of a topic that was not known with its first messages; files that are opened from now on have it.
    pub fn define_topic(&mut self, topic: TopicId, definition: MessageDefinition, hash: &str) {
        if let Some(info) = Arc::make_mut(&mut self.topics).get_mut(topic.index()) {
            info.definition = definition;
            if info.type_description_hash.is_empty() {
                hash.clone_into(&mut info.type_description_hash);
            }
        }
    }

    /// Begins every further file with the last `depth` messages of a topic.
    pub fn repeat(&mut self, topic: TopicId, depth: usize) {
        self.latched.keep(topic, depth);
    }

    /// Copies of latched messages that were written again so far, by dense id; they count as recorded, too.
    pub fn repeated(&self) -> &[u64] {
        self.latched.repeated()
    }

    /// Writes a batch, and splits the bag where the options require it. `now_ns` is any steady time of the caller.
    pub fn write(&mut self, batch: &[Message<'_>], now_ns: i64) -> WriteOutcome {
        let mut outcome = WriteOutcome::default();
        if self.compressor.is_some() {
            self.write_compressed(batch, now_ns, &mut outcome);
        } else {
            self.write_split(batch, now_ns, &mut outcome);
        }
        self.collect(&mut outcome);
        self.save_account(now_ns, &mut outcome);
        outcome
    }

    /// Sets whether [`write`](Self::write) may wait for the disk, for the file that is written now.
    pub fn set_disk_wait(&mut self, wait: DiskWait) {
        if let Some(file) = self.files.current_mut() {
            file.writer.set_disk_wait(wait);
        }
    }

    fn write_compressed(&mut self, batch: &[Message<'_>], now_ns: i64, outcome: &mut WriteOutcome) {
        let Some(compressor) = &mut self.compressor else {
            return;
        };
        let mut packed = Vec::with_capacity(batch.len());
        for message in batch {
            match compressor.compress(message.data) {
                Ok(data) => packed.push((message, data)),
                Err(error) => {
                    outcome.lose(
                        message.topic,
                        LossCause::Compression,
                        message.log_time_ns,
                        message.size(),
                    );
                    self.account.miss(
                        message.topic,
                        MissingCause::Recorder(LossCause::Compression),
                        1,
                        message.log_time_ns,
                    );
                    outcome.fail(error);
                }
            }
        }
        let messages: Vec<_> = packed
            .iter()
            .map(|(message, data)| Message { data, ..**message })
            .collect();
        self.write_split(&messages, now_ns, outcome);
    }

    /// Writes a batch in the stretches between two splits.
    fn write_split(&mut self, batch: &[Message<'_>], now_ns: i64, outcome: &mut WriteOutcome) {
        let mut rest = batch;
        while !rest.is_empty() {
            let count = match self.files.current() {
                Some(file) => file.until_split(rest, &self.options),
                None => rest.len(),
            };
            if count == 0 {
                let begin = rest.first().map(|message| message.log_time_ns);
                if let Err(error) = self.split_at(begin, now_ns) {
                    // Without a next file the old one is continued: no message is lost for a split.
                    outcome.fail(error);
                    self.store(rest, now_ns, outcome);
                    return;
                }
                continue;
            }
            let (now, later) = rest.split_at(count);
            self.store(now, now_ns, outcome);
            rest = later;
        }
    }

    fn store(&mut self, batch: &[Message<'_>], now_ns: i64, outcome: &mut WriteOutcome) {
        let Some(file) = self.files.current_mut() else {
            return;
        };
        if let Some(first) = batch.first() {
            file.first_time_ns.get_or_insert(first.log_time_ns);
        }
        let written = file.writer.write(batch, now_ns);
        file.count(batch.len(), &written);
        self.latched.see(batch);
        self.account.accept(batch);
        self.account.settle(&written);
        outcome.absorb(written);
    }

    /// Sets a key of the custom data beside those of the options. It is in the metadata of every file that is finished
    /// from now on, and of the bag; a new key of a bag with one file is in its metadata at once, so that it survives a
    /// crash.
    ///
    /// # Errors
    ///
    /// When the metadata cannot be written now; it is tried again when a file is finished.
    pub fn set_custom_data(&mut self, key: &str, value: &str) -> Result<()> {
        let is_new = self.closer.set_custom_data(key, value);
        // With more files, the metadata belongs to the thread that closes them.
        if is_new && self.files.opened() == 1 {
            self.write_metadata()?;
        }
        Ok(())
    }

    /// Writes `metadata.yaml` while the first file is open.
    fn write_metadata(&self) -> Result<()> {
        let name = self.files.current_name();
        let metadata = self.closer.metadata_of_open_file(&self.topics, &name);
        write_metadata_file(self.files.directory(), &metadata)
    }

    /// Continues with a new file; the old one is finished in the background.
    pub fn split(&mut self) -> Result<SplitEvent> {
        self.split_at(None, 0)
    }

    fn split_at(&mut self, begin_ns: Option<i64>, now_ns: i64) -> Result<SplitEvent> {
        let Some(mut old) = self.open_next(None)? else {
            return Err(Error::ThreadGone { thread: "writer" });
        };
        // Buffered messages go to the old file now: a crash must not cost messages in the middle.
        let sealed = old.writer.tick(i64::MAX);
        self.account.settle(&sealed);
        self.pending.absorb(sealed);
        let event = SplitEvent {
            closed_file: old.path.clone(),
            opened_file: self.current_path(),
        };
        tracing::info!(closed = %event.closed_file.display(), opened = %event.opened_file.display(), "bag split");
        let missing = self.account.close_file();
        self.carry_unknown(now_ns);
        self.close(old, missing);
        self.splits.push(event.clone());
        self.repeat_latched(begin_ns, now_ns);
        Ok(event)
    }

    /// Begins the file that was just opened with the messages for late joiners.
    fn repeat_latched(&mut self, begin_ns: Option<i64>, now_ns: i64) {
        let Some(file) = self.files.current_mut() else {
            return;
        };
        let batch = self.latched.messages(begin_ns);
        if batch.is_empty() {
            return;
        }
        if let Some(begin) = begin_ns {
            file.first_time_ns.get_or_insert(begin);
        }
        let written = file.writer.write(&batch, now_ns);
        file.count(batch.len(), &written);
        self.account.accept(&batch);
        self.account.settle(&written);
        self.latched.count_repeated();
        self.pending.absorb(written);
    }

    fn close(&mut self, file: OpenFile, missing: Vec<TopicAccount>) {
        self.files.count_closed(&file);
        self.closer.close(ClosingFile {
            path: file.path,
            writer: file.writer,
            topics: Arc::clone(&self.topics),
            missing,
            next: self.files.current().map(|next| file_name(&next.path)),
        });
    }

    /// Opens the next file; returns the one before it, which is to be closed.
    fn open_next(&mut self, carry_over: Option<&mut CarryOver>) -> Result<Option<OpenFile>> {
        let (bag, number) = (self.files.bag_name(), self.files.opened());
        let stem = self.options.naming.stem(bag, number);
        let name = format!("{stem}.{}", self.options.storage.id().extension());
        let path = self.files.directory().join(&name);
        let metadata = self.closer.metadata_of_open_file(&[], &name);
        let mut writer = self.options.storage.create(&path, &metadata, carry_over)?;
        for topic in self.topics.iter() {
            writer.add_topic(topic)?;
        }
        let state_size = self.begin_state(writer.as_mut());
        Ok(self.files.open(OpenFile {
            path,
            writer,
            first_time_ns: None,
            messages: 0,
            state_size,
        }))
    }

    /// Number of files opened so far.
    pub fn files_opened(&self) -> usize {
        self.files.opened()
    }

    /// Bytes of all files so far, approximately.
    pub fn size(&self) -> u64 {
        self.files.size()
    }

    /// Deletes the oldest file that is closed, and its part of the metadata; `None` when there is none.
    ///
    /// Waits for files that are being closed.
    pub fn delete_oldest_file(&mut self) -> Option<PathBuf> {
        self.closer.delete_oldest()
    }

    /// The file that is written now.
    pub fn current_path(&self) -> PathBuf {
        self.files.current_path()
    }

    fn collect(&mut self, outcome: &mut WriteOutcome) {
        outcome.absorb(std::mem::take(&mut self.pending));
        let (closed, deleted) = self.closer.take_news();
        if !closed.is_ok() {
            self.account.settle_closed(&closed);
            outcome.absorb(closed);
        }
        let open_file = self.files.current_number();
        for file in deleted {
            self.account.delete(&file, file.carrier == open_file);
        }
    }

    /// The splits since the last call.
    pub fn take_splits(&mut self) -> Vec<SplitEvent> {
        std::mem::take(&mut self.splits)
    }

    /// Finishes the last file and the metadata. Blocks until all files are closed.
    pub fn finish(mut self) -> Result<(FinishedBag, WriteOutcome)> {
        if let Some(file) = self.files.take_last() {
            let missing = self.account.close_file();
            self.close(file, missing);
        }
        let (closed, mut outcome) = self.closer.finish()?;
        let records = closed.metadata.topics.iter();
        let mut exact: Vec<_> = records
            .map(|record| record.statistics.unwrap_or_default())
            .collect();
        exact.resize(self.topics.len(), TopicStatistics::default());
        outcome.absorb(std::mem::take(&mut self.pending));
        Ok((
            FinishedBag {
                metadata: closed.metadata,
                topics: exact,
                deleted_files: closed.deleted_files,
                deleted_messages: closed.deleted_messages,
            },
            outcome,
        ))
    }
}
