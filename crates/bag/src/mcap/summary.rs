//! The summary at the end of an MCAP file.

use super::chunk_table::{Block, BlockKind};
use super::compatibility::{self, IndexedChunk};
use super::extra::Extra;
use super::fields::Fields;
use super::record::{Channel, MAGIC, Records, Schema, TAIL, op};
use crate::message::size_u64;
use crate::source::Source;
use crate::{Error, Result, StatePart};

/// A larger summary is not read; the file is scanned instead.
const MAX_BYTES: u64 = 1 << 30;

/// The contents of the summary.
#[derive(Default)]
pub(crate) struct Summary {
    /// The section as in the file; blocks point into it.
    pub(crate) bytes: Vec<u8>,
    pub(crate) schemas: Vec<Schema>,
    pub(crate) channels: Vec<Channel>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) statistics: Option<Statistics>,
    /// Attachments and foreign metadata records.
    pub(crate) extras: Vec<Extra>,
    /// Offset and length of the bag's metadata records.
    pub(crate) metadata: Vec<(u64, u64)>,
    /// Offset and length of the records with the state of the robot.
    pub(crate) state: Vec<(StatePart, u64, u64)>,
    /// Number of messages in the message indexes; `None` without any index.
    pub(crate) indexed_messages: Option<u64>,
    /// Descriptions of data that `ros2 bag` does not read.
    pub(crate) compatibility: Vec<String>,
}

/// The statistics record.
pub(crate) struct Statistics {
    pub(crate) message_count: u64,
    pub(crate) attachment_count: u32,
    pub(crate) metadata_count: u32,
    pub(crate) chunk_count: u32,
    pub(crate) start: i64,
    pub(crate) end: i64,
    /// Messages by channel id.
    pub(crate) channels: Vec<(u16, u64)>,
}

/// The reason why a file has to be scanned.
pub(crate) enum NoSummary {
    /// The options of the writer omit it.
    Wanted,
    /// It is missing or broken; with a description.
    Damaged(String),
}

/// Reads the summary; the inner `Err` is the reason why the file has to be scanned instead.
pub(crate) fn read_summary(source: &mut dyn Source) -> Result<Result<Summary, NoSummary>> {
    let damaged = |reason: String| Ok(Err(NoSummary::Damaged(reason)));
    let size = source.size();
    if size < size_u64(TAIL + MAGIC.len()) {
        return damaged(format!("the file is only {size} bytes long"));
    }
    let mut tail = [0u8; TAIL];
    let tail_at = size - size_u64(TAIL);
    source.read_at(tail_at, &mut tail)?;
    if tail[TAIL - MAGIC.len()..] != MAGIC || tail[0] != op::FOOTER {
        return damaged("the file has no end: it was cut off or never closed".into());
    }
    let mut fields = Fields::new(&tail[9..]);
    let (Some(start), Some(_offsets), Some(crc)) = (fields.u64(), fields.u64(), fields.u32())
    else {
        return damaged("the footer is malformed".into());
    };
    if start == 0 {
        return Ok(Err(NoSummary::Wanted));
    }
    if start >= tail_at || tail_at - start > MAX_BYTES {
        return damaged(format!(
            "the footer places the summary at byte {start} of {size}"
        ));
    }
    let Ok(length) = usize::try_from(tail_at - start) else {
        return damaged("the summary is too long".into());
    };
    let mut bytes = vec![0; length];
    source.read_at(start, &mut bytes)?;
    if crc != 0 {
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&bytes);
        hasher.update(&tail[..25]);
        let actual = hasher.finalize();
        if actual != crc {
            let path = source.path().to_path_buf();
            let error = Error::Crc {
                path,
                what: "summary",
                offset: start,
                expected: crc,
                actual,
            };
            return damaged(error.to_string());
        }
    }
    Ok(
        parse(bytes, start)
            .ok_or_else(|| NoSummary::Damaged("the summary is malformed".to_owned())),
    )
}

fn parse(bytes: Vec<u8>, data_end: u64) -> Option<Summary> {
    let mut summary = Summary::default();
    let mut chunks = Vec::new();
    let mut records = Records::new(&bytes);
    for (opcode, at, body) in &mut records {
        match opcode {
            op::SCHEMA => summary.schemas.push(Schema::parse(body)?),
            op::CHANNEL => summary.channels.push(Channel::parse(body)?),
            op::STATISTICS => summary.statistics = Some(statistics(body)?),
            op::CHUNK_INDEX => {
                let at = at + super::record::RECORD_HEAD;
                let (block, chunk) = chunk_index(body, at, data_end)?;
                summary.blocks.push(block);
                chunks.push(chunk);
            }
            op::METADATA_INDEX | op::ATTACHMENT_INDEX => {
                let extra = Extra::from_index(opcode, body, data_end)?;
                if extra.is_own() {
                    summary.metadata.push((extra.offset, extra.length));
                } else if let Some(part) = extra.state_part() {
                    summary.state.push((part, extra.offset, extra.length));
                } else {
                    summary.extras.push(extra);
                }
            }
            _ => {}
        }
    }
    if records.remainder() > 0 {
        return None;
    }
    summary.indexed_messages = compatibility::indexed_messages(&chunks);
    summary.compatibility = compatibility::problems(
        &chunks,
        summary.statistics.as_ref(),
        &summary.schemas,
        &summary.channels,
    );
    summary.bytes = bytes;
    Some(summary)
}

fn statistics(body: &[u8]) -> Option<Statistics> {
    let mut fields = Fields::new(body);
    let message_count = fields.u64()?;
    // Numbers of schemas and channels.
    fields.bytes(2 + 4)?;
    let (attachment_count, metadata_count) = (fields.u32()?, fields.u32()?);
    let chunk_count = fields.u32()?;
    let (start, end) = (fields.time()?, fields.time()?);
    let mut counts = Fields::new(fields.block()?);
    let mut channels = Vec::new();
    while !counts.rest().is_empty() {
        channels.push((counts.u16()?, counts.u64()?));
    }
    Some(Statistics {
        message_count,
        attachment_count,
        metadata_count,
        chunk_count,
        start,
        end,
        channels,
    })
}

/// A chunk index record; `at` is the offset of its body in the summary.
fn chunk_index(body: &[u8], at: usize, data_end: u64) -> Option<(Block, IndexedChunk)> {
    let mut fields = Fields::new(body);
    let (start, end, offset, length) =
        (fields.time()?, fields.time()?, fields.u64()?, fields.u64()?);
    if offset.checked_add(length).is_none_or(|end| end > data_end) {
        return None;
    }
    let map = fields.block()?;
    let map_end = at + body.len() - fields.rest().len();
    let chunk = IndexedChunk {
        offset,
        times: (start, end),
        channels: size_u64(map.len() / 10),
        index_length: fields.u64()?,
    };
    let unpacked = unpacked_size(&mut fields);
    let block = Block {
        start,
        end,
        offset,
        length,
        channels: map_end - map.len()..map_end,
        unpacked,
        kind: BlockKind::Chunk,
    };
    Some((block, chunk))
}

/// The rest of a chunk index: the size of the records if they are compressed.
fn unpacked_size(fields: &mut Fields<'_>) -> Option<u64> {
    let (compression, _stored, unpacked) = (fields.block()?, fields.u64()?, fields.u64()?);
    (!compression.is_empty()).then_some(unpacked)
}
