//! The end of the write path: chunks are written completely, or not at all.

use std::io;
use std::path::{Path, PathBuf};

use super::account_record;
use super::extra::Extra;
use super::fields::{put_record, put_str};
use super::index_log::IndexLog;
use super::options::McapOptions;
use super::output_file::{InHurry, OutputFile, Pieces};
use super::record::{ChunkHead, MAGIC, Metadata, RECORD_HEAD, op};
use super::state_record;
use super::write_chunk::{Span, WriteChunk};
use crate::message::size_u64;
use crate::{BagMetadata, Error, Result, TopicStatistics, WriteOutcome};

/// Name of the metadata record that carries the bag's metadata.
pub(crate) const METADATA_NAME: &str = "rosbag2";
/// Its key.
pub(crate) const METADATA_KEY: &str = "serialized_metadata";

/// An open MCAP file that always ends on a record boundary.
pub(crate) struct Sink {
    file: OutputFile,
    path: PathBuf,
    position: u64,
    chunking: bool,
    pub(crate) index: IndexLog,
    /// Offset and length of each metadata record.
    pub(crate) metadata: Vec<(u64, u64)>,
    /// Records that were carried over from other files, and those of the robot's state.
    pub(crate) extras: Vec<Extra>,
    /// Account by topic of written and refused messages.
    pub(crate) topics: Vec<TopicStatistics>,
    /// Schemas and channels that could not be written with their chunk; they go before the next one.
    unwritten_definitions: Vec<u8>,
    /// The records before a chunk, and the head of the chunk.
    head: Vec<u8>,
    chunk_head: Vec<u8>,
}

impl Sink {
    /// Creates the file with its header; an existing file is an error.
    pub(crate) fn create(path: &Path, options: &McapOptions) -> Result<Self> {
        let mut sink = Self {
            file: OutputFile::create(path, options.write_path)?,
            path: path.to_path_buf(),
            position: 0,
            chunking: options.chunking,
            index: IndexLog::default(),
            metadata: Vec::new(),
            extras: Vec::new(),
            topics: Vec::new(),
            unwritten_definitions: Vec::new(),
            head: Vec::new(),
            chunk_head: Vec::new(),
        };
        let mut head = MAGIC.to_vec();
        put_record(&mut head, op::HEADER, |out| {
            put_str(out, "ros2");
            put_str(out, &options.library);
        });
        sink.append(&head)?;
        Ok(sink)
    }

    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The switch for a writer that must not wait for the disk.
    pub(crate) fn hurry(&self) -> &InHurry {
        self.file.hurry()
    }

    /// Writes a packed chunk behind its definitions, or counts every message of it as lost.
    pub(crate) fn commit(
        &mut self,
        chunk: &WriteChunk,
        payload: &[u8],
        outcome: &mut WriteOutcome,
    ) {
        match self.try_commit(chunk, payload) {
            Ok(()) => {
                for tally in &chunk.tallies {
                    self.account(usize::from(tally.topic))
                        .merge(&tally.statistics());
                }
            }
            Err(source) => {
                outcome.fail(Error::Io {
                    path: self.path.clone(),
                    action: "write",
                    source,
                });
                chunk.lose(outcome);
                for tally in &chunk.tallies {
                    let loss = &mut self.account(usize::from(tally.topic)).lost_in_recorder;
                    loss.storage += u64::from(tally.messages);
                }
                self.keep_definitions(&chunk.definitions);
            }
        }
    }

    /// Definitions wait for the next chunk. Accounts do as well, but the memory for them is bounded: later ones repeat
    /// them.
    fn keep_definitions(&mut self, records: &[u8]) {
        const MAX_WITH_ACCOUNTS: usize = 256 << 10;
        self.unwritten_definitions.extend_from_slice(records);
        if self.unwritten_definitions.len() > MAX_WITH_ACCOUNTS {
            account_record::remove_from(&mut self.unwritten_definitions);
        }
    }

    fn account(&mut self, topic: usize) -> &mut TopicStatistics {
        if topic >= self.topics.len() {
            self.topics.resize(topic + 1, TopicStatistics::default());
        }
        &mut self.topics[topic]
    }

    fn try_commit(&mut self, chunk: &WriteChunk, payload: &[u8]) -> io::Result<()> {
        self.head.clear();
        self.head.extend_from_slice(&self.unwritten_definitions);
        self.head.extend_from_slice(&chunk.definitions);
        let Some(span) = chunk.span else {
            self.file
                .append(self.position, &Pieces::small(&self.head))?;
            self.extras.extend(state_records(&self.head, self.position));
            self.position += size_u64(self.head.len());
            self.unwritten_definitions.clear();
            return Ok(());
        };
        let packed = !chunk.compression.is_empty();
        let body: &[u8] = if packed {
            &chunk.packed
        } else {
            &chunk.records
        };
        self.put_chunk_head(chunk, span, size_u64(body.len() + payload.len()));
        let large = if payload.len() > body.len() { 2 } else { 1 };
        self.align(body, payload, large);
        let before = self.head.len();
        self.head.extend_from_slice(&self.chunk_head);
        let slices = [&self.head[..], body, payload, &chunk.index];
        self.file.append(self.position, &Pieces { slices, large })?;
        let before = self.head.get(..before).unwrap_or_default();
        self.extras.extend(state_records(before, self.position));
        let at = self.position + size_u64(before.len());
        let body_size = size_u64(body.len() + payload.len());
        let length = size_u64(self.chunk_head.len()) + body_size;
        self.position = at + length + size_u64(chunk.index.len());
        self.unwritten_definitions.clear();
        if self.chunking {
            self.index.push(chunk, span, at, length, body_size);
        }
        Ok(())
    }

    /// Prepares the head of the chunk record; empty if messages are not in chunks.
    fn put_chunk_head(&mut self, chunk: &WriteChunk, span: Span, body_size: u64) {
        self.chunk_head.clear();
        if self.chunking {
            let head = ChunkHead {
                start: span.start,
                end: span.end,
                uncompressed_size: chunk.uncompressed_size,
                crc: chunk.crc,
                compression: chunk.compression.to_owned(),
                compressed_size: body_size,
            };
            head.put(&mut self.chunk_head);
        }
    }

    /// Appends a record of padding to the definitions if that lets the large slice be written directly.
    fn align(&mut self, body: &[u8], payload: &[u8], large: usize) {
        let head = self.position + size_u64(self.head.len() + self.chunk_head.len());
        let padding = match large {
            2 => self.file.padding(head + size_u64(body.len()), payload),
            _ => self.file.padding(head, body),
        };
        if let Some(zeros) = padding.checked_sub(RECORD_HEAD) {
            put_record(&mut self.head, op::PADDING, |out| {
                out.resize(out.len() + zeros, 0);
            });
        }
    }

    /// Writes the definitions of chunks that could not be written, so that the file names all its topics.
    pub(crate) fn append_definitions(&mut self) -> Result<()> {
        let definitions = std::mem::take(&mut self.unwritten_definitions);
        let at = self.position;
        self.append(&definitions)?;
        self.extras.extend(state_records(&definitions, at));
        Ok(())
    }

    /// Appends bytes that are whole records.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let written = self.file.append(self.position, &Pieces::small(bytes));
        written.map_err(Error::io(&self.path, "write"))?;
        self.position += size_u64(bytes.len());
        Ok(())
    }

    /// Truncates the file to `position`.
    pub(crate) fn cut_back(&mut self, position: u64) -> Result<()> {
        let cut = self.file.truncate(position);
        cut.map_err(Error::io(&self.path, "truncate"))?;
        self.position = position;
        Ok(())
    }

    /// Appends the record that carries the bag's metadata.
    pub(crate) fn append_metadata(&mut self, metadata: &BagMetadata) -> Result<()> {
        let text = metadata.to_embedded_yaml();
        let mut bytes = Vec::new();
        Metadata {
            name: METADATA_NAME,
            map: vec![(METADATA_KEY, &text)],
        }
        .put(&mut bytes);
        let at = self.position;
        self.append(&bytes)?;
        self.metadata.push((at, size_u64(bytes.len())));
        Ok(())
    }

    /// Makes everything so far survive a power cut.
    pub(crate) fn sync(&self) -> Result<()> {
        self.file.sync().map_err(|error| self.sync_error(error))
    }

    pub(super) fn sync_error(&self, error: std::io::Error) -> Error {
        Error::io(&self.path, "sync")(error)
    }

    /// The file once more, to sync it on another thread.
    pub(super) fn second_handle(&self) -> std::io::Result<std::fs::File> {
        self.file.second_handle()
    }
}

/// The index entries of the records of the robot's state in a run of records that begins at `start`.
fn state_records(records: &[u8], start: u64) -> Vec<Extra> {
    state_record::places(records)
        .map(|(part, at, length)| {
            let offset = start + size_u64(at);
            Extra::metadata(offset, size_u64(length), part.record_name())
        })
        .collect()
}
