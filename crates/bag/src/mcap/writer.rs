//! The MCAP writer: batches in, chunks out.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use super::account_record;
use super::carry_over::CarryOver;
use super::options::McapOptions;
use super::output_file::InHurry;
use super::pipeline::Pipeline;
use super::record::{Channel, Schema};
use super::sink::Sink;
use super::state_record;
use super::summary_writer::SummaryWriter;
use super::write_chunk::{MESSAGE_PREFIX, WriteChunk};
use crate::message::size_u64;
use crate::storage::{DiskWait, FileSummary, StorageWriter, WriteOutcome};
use crate::{BagMetadata, Error, LossCause, Message, Result, StatePart, TopicId, TopicInfo};

/// Payloads from this size on are written without a copy if they are not compressed.
const LARGE: usize = 256 << 10;
/// Chunks grow up to this when the index would need too much memory.
const MAX_CHUNK: usize = 64 << 20;

/// Writes one MCAP file. See [`StorageWriter`] for the contract.
pub struct McapWriter {
    path: PathBuf,
    options: McapOptions,
    schemas: Vec<Schema>,
    channels: Vec<Channel>,
    by_name: HashMap<String, TopicId>,
    chunk: Box<WriteChunk>,
    /// Time of the first message of the open chunk.
    opened_ns: i64,
    chunk_size: usize,
    takes_large: bool,
    hurry: InHurry,
    pipeline: Pipeline,
}

impl McapWriter {
    /// Creates a file; an existing one is an error. `metadata` is at its start, as in rosbag2.
    pub fn create(
        path: &Path,
        options: McapOptions,
        metadata: Option<&BagMetadata>,
    ) -> Result<Self> {
        Self::create_with(path, options, metadata, None)
    }

    /// Like [`create`](Self::create); records carried over from other files are next.
    pub(crate) fn create_with(
        path: &Path,
        mut options: McapOptions,
        metadata: Option<&BagMetadata>,
        carry_over: Option<&mut CarryOver>,
    ) -> Result<Self> {
        // Offsets within a chunk have 32 bits.
        options.chunk_size = options.chunk_size.min(1 << 30);
        let mut sink = Sink::create(path, &options)?;
        if let Some(metadata) = metadata {
            sink.append_metadata(metadata)?;
        }
        if let Some(carry_over) = carry_over {
            carry_over.write(&mut sink)?;
        }
        let hurry = InHurry::clone(sink.hurry());
        let pipeline = Pipeline::new(sink, &options)?;
        Ok(Self {
            path: path.to_path_buf(),
            chunk_size: options.chunk_size,
            takes_large: pipeline.takes_large(options.compression),
            options,
            schemas: Vec::new(),
            channels: Vec::new(),
            by_name: HashMap::new(),
            chunk: Box::default(),
            opened_ns: 0,
            hurry,
            pipeline,
        })
    }

    /// Submits the messages of the open chunk; definitions without a message wait for one.
    fn submit_messages(&mut self, outcome: &mut WriteOutcome) {
        if self.chunk.has_messages() {
            self.submit(outcome);
        }
    }

    /// Submits everything that is not in the file yet, also definitions alone.
    fn submit(&mut self, outcome: &mut WriteOutcome) {
        if self.chunk.is_empty() {
            return;
        }
        self.pipeline.submit(&mut self.chunk, outcome);
        let (_, memory) = self.pipeline.progress();
        self.fit_chunk(memory);
    }

    /// Each further quarter of the index memory doubles the chunks, so that the index grows ever more slowly.
    fn fit_chunk(&mut self, index_memory: usize) {
        let quarter = (self.options.index_memory / 4).max(1);
        let doublings = u32::try_from(index_memory / quarter).unwrap_or(u32::MAX);
        let base = self.options.chunk_size_for(self.channels.len());
        let grown = base.checked_shl(doublings.min(20)).unwrap_or(MAX_CHUNK);
        self.chunk_size = grown.min(MAX_CHUNK).max(base);
    }

    #[inline]
    fn push(&mut self, message: &Message<'_>, now_ns: i64, outcome: &mut WriteOutcome) {
        let topic = match u16::try_from(message.topic.0) {
            Ok(topic)
                if usize::from(topic) < self.channels.len()
                    && message.data.len() < u32::MAX as usize =>
            {
                topic
            }
            _ => return self.refuse(message, outcome),
        };
        let size = MESSAGE_PREFIX + message.data.len();
        if size > LARGE && self.takes_large {
            self.submit_messages(outcome);
            self.pipeline
                .submit_large(&mut self.chunk, topic, message, outcome);
            return;
        }
        if self.chunk.records.len() + size > self.chunk_size {
            self.submit_messages(outcome);
        }
        if !self.chunk.has_messages() {
            self.opened_ns = now_ns;
        }
        self.chunk.push(topic, message);
    }

    #[cold]
    fn refuse(&self, message: &Message<'_>, outcome: &mut WriteOutcome) {
        outcome.lose(
            message.topic,
            LossCause::Storage,
            message.log_time_ns,
            message.size(),
        );
        let count = self.channels.len();
        outcome.fail(if message.topic.index() < count {
            let limit = u64::from(u32::MAX);
            Error::TooLarge {
                path: self.path.clone(),
                what: "message",
                size: message.size(),
                limit,
            }
        } else {
            Error::UnknownTopic {
                id: message.topic.0,
                count,
            }
        });
    }

    fn is_old(&self, now_ns: i64) -> bool {
        self.chunk.has_messages()
            && now_ns.saturating_sub(self.opened_ns) >= self.options.max_chunk_age_ns
    }

    fn schema_id(&mut self, topic: &TopicInfo) -> Result<u16> {
        let encoding = match topic.definition.encoding.as_str() {
            "" if topic.definition.text.is_empty() => "unknown",
            "" => "ros2msg",
            encoding => encoding,
        };
        let data = topic.definition.text.as_bytes();
        let same = |schema: &&Schema| {
            schema.name == topic.type_name && schema.encoding == encoding && schema.data == data
        };
        if let Some(schema) = self.schemas.iter().find(same) {
            return Ok(schema.id);
        }
        let id = u16::try_from(self.schemas.len() + 1).map_err(|_full| too_many(&topic.name))?;
        let schema = Schema {
            id,
            name: topic.type_name.clone(),
            encoding: encoding.to_owned(),
            data: data.to_vec(),
        };
        schema.put(&mut self.chunk.definitions);
        self.schemas.push(schema);
        Ok(id)
    }
}

fn too_many(topic: &str) -> Error {
    Error::TooManyTopics {
        name: topic.to_owned(),
        limit: usize::from(u16::MAX) - 1,
    }
}

impl StorageWriter for McapWriter {
    fn add_topic(&mut self, topic: &TopicInfo) -> Result<TopicId> {
        if let Some(id) = self.by_name.get(&topic.name) {
            let schema = self
                .channels
                .get(id.index())
                .map_or(0, |channel| channel.schema);
            let existing = self
                .schemas
                .get(usize::from(schema).wrapping_sub(1))
                .map_or("", |schema| &schema.name);
            if existing == topic.type_name {
                return Ok(*id);
            }
            return Err(Error::TopicConflict {
                name: topic.name.clone(),
                existing: existing.to_owned(),
                wanted: topic.type_name.clone(),
            });
        }
        let index = self.channels.len();
        let id = u16::try_from(index + 1)
            .ok()
            .filter(|id| *id < u16::MAX)
            .ok_or_else(|| too_many(&topic.name))?;
        let channel = Channel {
            id,
            schema: self.schema_id(topic)?,
            topic: topic.name.clone(),
            encoding: topic.serialization_format.clone(),
            metadata: vec![
                (
                    "offered_qos_profiles".into(),
                    topic.offered_qos_profiles.clone(),
                ),
                (
                    "topic_type_hash".into(),
                    topic.type_description_hash.clone(),
                ),
            ],
        };
        channel.put(&mut self.chunk.definitions);
        self.channels.push(channel);
        self.fit_chunk(self.pipeline.progress().1);
        let id = TopicId(u32::from(id) - 1);
        self.by_name.insert(topic.name.clone(), id);
        Ok(id)
    }

    fn write(&mut self, batch: &[Message<'_>], now_ns: i64) -> WriteOutcome {
        let mut outcome = WriteOutcome::default();
        for message in batch {
            self.push(message, now_ns, &mut outcome);
        }
        if self.is_old(now_ns) {
            self.submit(&mut outcome);
        }
        self.pipeline.losses(&mut outcome);
        outcome
    }

    fn tick(&mut self, now_ns: i64) -> WriteOutcome {
        self.write(&[], now_ns)
    }

    fn seal(&mut self) -> WriteOutcome {
        let mut outcome = WriteOutcome::default();
        self.submit(&mut outcome);
        self.pipeline.drain(false, &mut outcome);
        outcome
    }

    fn sync(&mut self) -> WriteOutcome {
        let mut outcome = WriteOutcome::default();
        self.submit(&mut outcome);
        self.pipeline.drain(true, &mut outcome);
        outcome
    }

    fn request_sync(&mut self) -> WriteOutcome {
        let mut outcome = WriteOutcome::default();
        self.submit(&mut outcome);
        self.pipeline.request_sync(&mut outcome);
        outcome
    }

    fn set_disk_wait(&mut self, wait: DiskWait) {
        self.hurry
            .store(wait == DiskWait::Avoided, Ordering::Relaxed);
    }

    fn save_account(&mut self, account: &str) -> WriteOutcome {
        let mut outcome = WriteOutcome::default();
        account_record::put(&mut self.chunk.definitions, account);
        // Written before the open chunk, which has its own age; without messages there is nothing to wait for.
        if !self.chunk.has_messages() {
            self.submit(&mut outcome);
        }
        outcome
    }

    fn save_state(&mut self, part: StatePart, text: &str) -> WriteOutcome {
        let mut outcome = WriteOutcome::default();
        state_record::put(&mut self.chunk.definitions, part, text);
        if !self.chunk.has_messages() {
            self.submit(&mut outcome);
        }
        outcome
    }

    fn file_size(&self) -> u64 {
        self.pipeline.progress().0 + size_u64(self.chunk.size())
    }

    fn finish(
        mut self: Box<Self>,
        metadata: &mut dyn FnMut(&FileSummary) -> BagMetadata,
    ) -> (FileSummary, WriteOutcome) {
        let mut outcome = WriteOutcome::default();
        self.submit(&mut outcome);
        let Self {
            options,
            schemas,
            channels,
            pipeline,
            ..
        } = *self;
        let mut sink = match pipeline.into_sink(&mut outcome) {
            Ok(sink) => sink,
            Err(error) => {
                outcome.fail(error);
                return (FileSummary::default(), outcome);
            }
        };
        sink.topics
            .resize(channels.len(), crate::TopicStatistics::default());
        let mut summary = FileSummary {
            topics: sink.topics.clone(),
            file_size: sink.position(),
        };
        let definitions = sink.append_definitions();
        let written = definitions
            .and_then(|()| sink.append_metadata(&metadata(&summary)))
            .and_then(|()| {
                let end = SummaryWriter::begin(&mut sink)?;
                if options.summary {
                    end.write(&schemas, &channels, options.summary_crc)
                } else {
                    end.write_empty()
                }
            });
        if let Err(error) = written.and_then(|()| sink.sync()) {
            outcome.fail(error);
        }
        summary.file_size = sink.position();
        (summary, outcome)
    }
}
