//! The rules, one by one.

use std::fmt;

/// A rule that an MCAP file can break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// The file begins and ends with the magic bytes.
    Magic,
    /// The first record is a well-formed header.
    Header,
    /// The last record is a footer of 20 bytes.
    Footer,
    /// Every record ends within its section.
    RecordBounds,
    /// The fields of a record fit into it, strings are UTF-8, keys of maps are unique.
    RecordShape,
    /// A section holds only the records that the specification allows in it.
    RecordPlace,
    /// The data section ends with one data end record.
    DataEnd,
    /// The checksum of the data section is right or 0.
    DataCrc,
    /// A schema has an id other than 0, and all schemas of an id are equal.
    SchemaId,
    /// All channels of an id are equal.
    ChannelId,
    /// A channel has a schema and comes after it. Without one, `ros2 bag` fails to open the file.
    ChannelSchema,
    /// A message comes after its channel.
    MessageChannel,
    /// The log time of a message fits into 63 bits: `ros2 bag` takes it for a signed number.
    MessageTime,
    /// A file with chunks has no messages outside of them: readers with an index would not find them.
    MessageOutsideChunk,
    /// A chunk holds a message. With a first chunk that holds none, libmcap 1.3 reads no message at all.
    ChunkEmpty,
    /// Start and end of a chunk are the first and the last log time in it: others are skipped by the reader.
    ChunkTimes,
    /// A chunk unpacks with a known codec to the size that it states.
    ChunkUnpacks,
    /// The checksum of a chunk is right or 0.
    ChunkCrc,
    /// Each channel of a chunk has exactly one message index, directly behind the chunk.
    MessageIndexComplete,
    /// A message index names the log time and the place of each message of its channel, once.
    MessageIndexEntries,
    /// Message indexes stand behind a chunk only.
    MessageIndexPlace,
    /// The file has a summary that begins behind the data section.
    SummaryPlace,
    /// Records of the summary are grouped by opcode; channels come before the statistics.
    SummaryGroups,
    /// The checksum of the summary is right or 0.
    SummaryCrc,
    /// The summary offsets name each group of the summary, and nothing else.
    SummaryOffsets,
    /// The summary repeats all schemas.
    SummarySchemas,
    /// The summary repeats all channels: libmcap skips messages of channels that are not in it.
    SummaryChannels,
    /// Each chunk has exactly one chunk index with its place and length.
    ChunkIndexPlace,
    /// A chunk index has the times of its chunk.
    ChunkIndexTimes,
    /// A chunk index names each message index of its chunk: libmcap skips chunks without the wanted channel.
    ChunkIndexOffsets,
    /// A chunk index has the length of the message indexes: what lies beyond it is not read.
    ChunkIndexLength,
    /// A chunk index has the compression and the sizes of its chunk.
    ChunkIndexSizes,
    /// The summary has exactly one statistics record: without it, libmcap ignores the summary.
    StatisticsPresent,
    /// The statistics count messages, schemas, channels, attachments, metadata records and chunks right.
    StatisticsCounts,
    /// The statistics have the first and the last log time.
    StatisticsTimes,
    /// The statistics count the messages of each channel right.
    StatisticsChannels,
    /// The checksum of an attachment is right or 0.
    AttachmentCrc,
    /// The attachment indexes are those of the attachments.
    AttachmentIndex,
    /// The metadata indexes are those of the metadata records.
    MetadataIndex,
}

impl Rule {
    /// All rules.
    pub const ALL: [Self; 39] = [
        Self::Magic,
        Self::Header,
        Self::Footer,
        Self::RecordBounds,
        Self::RecordShape,
        Self::RecordPlace,
        Self::DataEnd,
        Self::DataCrc,
        Self::SchemaId,
        Self::ChannelId,
        Self::ChannelSchema,
        Self::MessageChannel,
        Self::MessageTime,
        Self::MessageOutsideChunk,
        Self::ChunkEmpty,
        Self::ChunkTimes,
        Self::ChunkUnpacks,
        Self::ChunkCrc,
        Self::MessageIndexComplete,
        Self::MessageIndexEntries,
        Self::MessageIndexPlace,
        Self::SummaryPlace,
        Self::SummaryGroups,
        Self::SummaryCrc,
        Self::SummaryOffsets,
        Self::SummarySchemas,
        Self::SummaryChannels,
        Self::ChunkIndexPlace,
        Self::ChunkIndexTimes,
        Self::ChunkIndexOffsets,
        Self::ChunkIndexLength,
        Self::ChunkIndexSizes,
        Self::StatisticsPresent,
        Self::StatisticsCounts,
        Self::StatisticsTimes,
        Self::StatisticsChannels,
        Self::AttachmentCrc,
        Self::AttachmentIndex,
        Self::MetadataIndex,
    ];
}

/// A rule that a file breaks, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The rule.
    pub rule: Rule,
    /// Place and numbers.
    pub text: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.rule, self.text)
    }
}
