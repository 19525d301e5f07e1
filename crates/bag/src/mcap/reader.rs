//! The MCAP reader.

mod own_records;
mod topics;

use std::path::Path;
use std::sync::Arc;

use super::chunk_table::ChunkTable;
use super::cursor::{Blocks, Cursor};
use super::decode::Unpacker;
use super::extra::Extra;
use super::options::McapLimits;
use super::read_chunk::NO_TOPIC;
use super::record::MAGIC;
use super::scan::scan;
use super::summary::{NoSummary, Summary, read_summary};
use super::unpack_ahead::UnpackPool;
use crate::message::size_u64;
use crate::metadata::KnownMetadata;
use crate::source::{Source, open_source};
use crate::storage::{ExtraCounts, FileInfo, Query, StorageReader, StoredAt};
use crate::{Error, LocalPlace, Message, Place, Result, SharedPayload, StatePart};

/// Memory into which a compressed file may be unpacked whole.
const FILE_MEMORY: u64 = 256 << 20;

/// Reads one MCAP file, `.mcap` or `.mcap.zstd`. See [`StorageReader`] for the contract.
///
/// A file without a usable summary is scanned once when it is opened; then all orders work for it, too.
pub struct McapReader {
    source: Box<dyn Source>,
    limits: McapLimits,
    info: FileInfo,
    table: ChunkTable,
    /// Topic by channel id.
    topics: Vec<u32>,
    summary: Vec<u8>,
    unpacker: Unpacker,
    pool: Option<Arc<UnpackPool>>,
    cursor: Cursor,
    lost_messages: u64,
    lost_bytes: u64,
    salvaged_messages: u64,
    extras: Vec<Extra>,
    lost_extras: ExtraCounts,
    has_summary: bool,
    /// Whether the file is complete: neither truncated nor left open.
    has_end: bool,
    /// Offsets of the saved accounts, oldest first; only a scan finds them.
    accounts: Vec<(u64, u64)>,
    /// Offsets of the records with the state of the robot.
    state: Vec<(StatePart, u64, u64)>,
}

impl McapReader {
    /// Opens a file with the default limits.
    pub fn open(path: &Path) -> Result<Self> {
        Self::with_limits(path, McapLimits::default())
    }

    /// Opens a file.
    pub fn with_limits(path: &Path, limits: McapLimits) -> Result<Self> {
        Self::read(&LocalPlace, path, limits, None)
    }

    /// Opens a file of any [`Place`].
    pub fn open_in(place: &dyn Place, path: &Path) -> Result<Self> {
        Self::read(place, path, McapLimits::default(), None)
    }

    /// Opens a file of a bag with this metadata.
    pub(crate) fn open_described(
        place: &dyn Place,
        path: &Path,
        known: Option<KnownMetadata<'_>>,
    ) -> Result<Self> {
        Self::read(place, path, McapLimits::default(), known)
    }

    /// Opens a file without the metadata and the account in it, and without a query.
    pub(crate) fn open_index(place: &dyn Place, path: &Path) -> Result<Self> {
        let (reader, _metadata) = Self::read_index(place, path, McapLimits::default())?;
        Ok(reader)
    }

    fn read(
        place: &dyn Place,
        path: &Path,
        limits: McapLimits,
        known: Option<KnownMetadata<'_>>,
    ) -> Result<Self> {
        let (mut reader, metadata) = Self::read_index(place, path, limits)?;
        reader.read_metadata(&metadata, known)?;
        reader.read_account()?;
        reader.start(&Query::default())?;
        Ok(reader)
    }

    /// Finds topics, counts and blocks; also returns the offsets of the metadata records.
    fn read_index(
        place: &dyn Place,
        path: &Path,
        limits: McapLimits,
    ) -> Result<(Self, Vec<(u64, u64)>)> {
        let (mut source, file_size) = open_source(place, path, FILE_MEMORY, &MAGIC)?;
        check_magic(source.as_mut())?;
        let mut reader = Self {
            info: FileInfo {
                file_size,
                ..FileInfo::default()
            },
            source,
            limits,
            table: ChunkTable::default(),
            topics: Vec::new(),
            summary: Vec::new(),
            unpacker: Unpacker::default(),
            pool: None,
            cursor: Cursor::default(),
            lost_messages: 0,
            lost_bytes: 0,
            salvaged_messages: 0,
            extras: Vec::new(),
            lost_extras: ExtraCounts::default(),
            has_summary: true,
            has_end: true,
            accounts: Vec::new(),
            state: Vec::new(),
        };
        let metadata = reader.index()?;
        Ok((reader, metadata))
    }

    /// Messages in the file's own indexes that cannot be read; exact when a chunk is damaged but its index is not.
    pub fn lost_messages(&self) -> u64 {
        self.lost_messages
    }

    /// Bytes of unreadable records, as far as they are known.
    pub fn lost_bytes(&self) -> u64 {
        self.lost_bytes
    }

    /// Whether the file ends with a readable summary; without one, other readers may refuse it.
    pub fn has_summary(&self) -> bool {
        self.has_summary
    }

    /// Messages from a truncated chunk.
    pub fn salvaged_messages(&self) -> u64 {
        self.salvaged_messages
    }

    /// Scans the whole file although it has a summary, so that all damage is found.
    pub fn verify(path: &Path) -> Result<Self> {
        let mut reader = Self::open(path)?;
        if reader.info.damage.is_empty() {
            let metadata = reader.scan(None)?;
            reader.read_metadata(&metadata, None)?;
            reader.read_account()?;
            reader.start(&Query::default())?;
        }
        Ok(reader)
    }

    /// Finds topics, counts and blocks; returns the offsets of the metadata records.
    fn index(&mut self) -> Result<Vec<(u64, u64)>> {
        match read_summary(self.source.as_mut())? {
            Ok(summary) => {
                self.info.compatibility.clone_from(&summary.compatibility);
                if is_complete(&summary) {
                    Ok(self.take_summary(summary))
                } else {
                    self.scan(None)
                }
            }
            Err(NoSummary::Wanted) => {
                self.has_summary = false;
                self.scan(None)
            }
            Err(NoSummary::Damaged(reason)) => {
                self.has_summary = false;
                self.has_end = false;
                self.scan(Some(reason))
            }
        }
    }

    fn take_summary(&mut self, summary: Summary) -> Vec<(u64, u64)> {
        let statistics = summary.statistics.as_ref();
        let count = |id: u16| {
            let counts = statistics
                .map(|statistics| statistics.channels.as_slice())
                .unwrap_or_default();
            counts
                .iter()
                .find(|(channel, _)| *channel == id)
                .map_or(0, |(_, count)| *count)
        };
        self.take_topics(&summary.schemas, summary.channels, count);
        if let Some(statistics) = statistics.filter(|statistics| statistics.message_count > 0) {
            self.info.start_time_ns = Some(statistics.start);
            self.info.end_time_ns = Some(statistics.end);
        }
        self.table = ChunkTable::new(summary.blocks);
        self.summary = summary.bytes;
        self.take_extras(summary.extras);
        self.state = summary.state;
        summary.metadata
    }

    fn scan(&mut self, reason: Option<String>) -> Result<Vec<(u64, u64)>> {
        let found = scan(self.source.as_mut(), &self.limits)?;
        self.info.damage = self
            .source
            .damage()
            .into_iter()
            .chain(reason)
            .chain(found.damage)
            .collect();
        let counts = found.counts;
        self.take_topics(&found.schemas, found.channels, |id| {
            counts.get(usize::from(id)).copied().unwrap_or(0)
        });
        let known: u64 = self.info.message_count();
        let all: u64 = counts.iter().sum();
        if all > known {
            self.info.damage.push(format!(
                "{} messages belong to no known channel",
                all - known
            ));
        }
        self.lost_messages = found.lost_messages + (all - known);
        self.lost_bytes = found.lost_bytes;
        self.salvaged_messages = found.salvaged_messages;
        self.info.start_time_ns = found.blocks.iter().map(|block| block.start).min();
        self.info.end_time_ns = found.blocks.iter().map(|block| block.end).max();
        self.table = ChunkTable::new(found.blocks);
        self.summary.clear();
        self.take_extras(found.extras);
        self.lost_extras = found.lost_extras;
        self.accounts = found.accounts;
        self.state = found.state;
        Ok(found.metadata)
    }

    fn take_extras(&mut self, extras: Vec<Extra>) {
        self.info.extras = super::extra::count(&extras);
        self.extras = extras;
    }

    /// Attachments and foreign metadata records.
    pub(super) fn extras(&self) -> &[Extra] {
        &self.extras
    }

    pub(super) fn info_extras(&self) -> ExtraCounts {
        self.info.extras
    }

    /// Attachments and foreign metadata records that are named by the file and cannot be read.
    pub fn lost_extras(&self) -> ExtraCounts {
        self.lost_extras
    }

    /// See [`Extra::read`].
    pub(super) fn read_extra(
        &mut self,
        extra: &Extra,
        put: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<Option<Error>> {
        extra.read(self.source.as_mut(), put)
    }
}

/// Whether the summary covers every message: its numbers must agree, and messages outside of chunks need a scan.
fn is_complete(summary: &Summary) -> bool {
    let Some(statistics) = &summary.statistics else {
        return false;
    };
    let counted: u64 = statistics.channels.iter().map(|(_, count)| *count).sum();
    let is_known = |id: u16| summary.channels.iter().any(|channel| channel.id == id);
    let known = statistics
        .channels
        .iter()
        .all(|(id, count)| *count == 0 || is_known(*id));
    let chunks = size_u64(summary.blocks.len()) == u64::from(statistics.chunk_count);
    let reachable = (statistics.message_count == 0 || !summary.blocks.is_empty())
        && summary
            .indexed_messages
            .is_none_or(|indexed| indexed >= statistics.message_count);
    let extras = super::extra::count(&summary.extras);
    // A writer may omit these indexes; then only a scan finds the records.
    let indexed = extras.attachments == u64::from(statistics.attachment_count)
        && extras.metadata_records + size_u64(summary.metadata.len() + summary.state.len())
            == u64::from(statistics.metadata_count);
    counted == statistics.message_count && known && chunks && reachable && indexed
}

fn check_magic(source: &mut dyn Source) -> Result<()> {
    let mut magic = [0u8; MAGIC.len()];
    let read = source.read_at(0, &mut magic);
    match read {
        Err(error) if !error.is_damage() => Err(error),
        Ok(()) if magic == MAGIC => Ok(()),
        _ => Err(Error::BadMagic {
            path: source.path().to_path_buf(),
        }),
    }
}

impl StorageReader for McapReader {
    fn info(&self) -> &FileInfo {
        &self.info
    }

    fn state_texts(&mut self, part: StatePart) -> Result<Vec<String>> {
        self.read_state(part)
    }

    fn start(&mut self, query: &Query) -> Result<()> {
        let mut topics = self.topics.clone();
        if let Some(wanted) = query.topic_table(self.info.topics.len()) {
            for topic in &mut topics {
                let index = usize::try_from(*topic).unwrap_or(usize::MAX);
                if !wanted.get(index).copied().unwrap_or(false) {
                    *topic = NO_TOPIC;
                }
            }
        }
        self.cursor = Cursor::new(query.clone(), topics, &self.table);
        self.source
            .announce(&mut self.cursor.upcoming(&self.table, &self.summary));
        Ok(())
    }

    fn advance(&mut self) -> Result<bool> {
        Ok(self.next_time_ns()?.is_some())
    }

    fn next_time_ns(&mut self) -> Result<Option<i64>> {
        if let Some(time) = self.cursor.step() {
            return Ok(Some(time));
        }
        let mut blocks = Blocks {
            source: self.source.as_mut(),
            unpacker: &mut self.unpacker,
            pool: &mut self.pool,
            table: &self.table,
            limits: &self.limits,
            summary: &self.summary,
        };
        self.cursor.advance(&mut blocks)
    }

    fn message(&self) -> Option<Message<'_>> {
        self.cursor.message()
    }

    fn shared_payload(&self) -> Option<SharedPayload> {
        self.cursor.shared_payload()
    }

    fn stored_at(&self) -> Option<StoredAt<'_>> {
        let (path, offset) = (self.source.file()?, self.cursor.stored_at()?);
        Some(StoredAt { path, offset })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::mcap::McapOptions;
    use crate::place::{Listing, LocalCopy, PlaceEntry, PlaceKind};
    use crate::{BagOptions, BagWriter, StorageOptions, TopicInfo};

    /// Files whose chunks can be read once and then no more, as if the network failed.
    struct FailingPlace;

    struct FailingSource(Box<dyn Source>, HashSet<u64>);

    impl Source for FailingSource {
        fn path(&self) -> &Path {
            self.0.path()
        }

        fn size(&self) -> u64 {
            self.0.size()
        }

        fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<()> {
            if buffer.len() > 50_000 && !self.1.insert(offset) {
                let source = "the network is down".into();
                return Err(Error::Place { source });
            }
            self.0.read_at(offset, buffer)
        }
    }

    impl Place for FailingPlace {
        fn kind(&self, path: &Path) -> Result<PlaceKind> {
            LocalPlace.kind(path)
        }

        fn size(&self, path: &Path) -> Result<Option<u64>> {
            LocalPlace.size(path)
        }

        fn list(&self, folder: &Path) -> Result<Vec<PlaceEntry>> {
            LocalPlace.list(folder)
        }

        fn list_below(&self, folder: &Path) -> Result<Listing> {
            LocalPlace.list_below(folder)
        }

        fn open(&self, path: &Path) -> Result<Box<dyn Source>> {
            let source = LocalPlace.open(path)?;
            Ok(Box::new(FailingSource(source, HashSet::new())))
        }

        fn at_hand(&self, _path: &Path) -> Option<LocalCopy> {
            None
        }

        fn local_copy(&self, path: &Path) -> Result<LocalCopy> {
            LocalPlace.local_copy(path)
        }
    }

    #[test]
    fn a_chunk_that_cannot_be_read_again_is_an_error_and_not_the_end() {
        let directory = tempfile::tempdir().unwrap();
        let options = BagOptions {
            storage: StorageOptions::Mcap(McapOptions {
                chunk_size: 100_000,
                ..McapOptions::default()
            }),
            ..BagOptions::default()
        };
        let path = directory.path().join("bag");
        let mut writer = BagWriter::create(&path, options).unwrap();
        let topic = writer.add_topic(&TopicInfo::new("/a", "b/msg/C")).unwrap();
        // Two to a chunk; the first chunk spans the second, and its memory is released meanwhile.
        for log_time_ns in [0, 100, 1, 2, 200, 201] {
            let message = Message {
                topic,
                log_time_ns,
                publish_time_ns: log_time_ns,
                sequence: 0,
                data: &vec![7; 45_000],
            };
            writer.write(&[message], 0).into_result().unwrap();
        }
        writer.finish().unwrap().1.into_result().unwrap();
        let limits = McapLimits {
            max_open_bytes: 1,
            ..McapLimits::default()
        };
        let mut reader =
            McapReader::read(&FailingPlace, &path.join("bag_0.mcap"), limits, None).unwrap();
        let (mut times, mut errors) = (Vec::new(), 0);
        loop {
            match reader.next_message() {
                Ok(Some(message)) => times.push(message.log_time_ns),
                Ok(None) => break,
                Err(error) => {
                    assert!(!error.is_damage());
                    errors += 1;
                }
            }
        }
        assert_eq!((times, errors), (vec![0, 1, 2, 200, 201], 1));
    }
}
