//! The end of an MCAP file: data end, summary, offsets, footer.

use super::fields::put_record;
use super::record::{Channel, MAGIC, Schema, op};
use super::sink::{METADATA_NAME, Sink};
use crate::message::size_u64;
use crate::{Result, TopicStatistics};

/// The summary goes to the file in pieces of this size.
const PIECE: usize = 1 << 20;

/// Writes the end of the file, in pieces, so that a long index needs no memory of its size.
pub(super) struct SummaryWriter<'s> {
    sink: &'s mut Sink,
    buffer: Vec<u8>,
    crc: crc32fast::Hasher,
    /// Opcode, start and length of each group.
    groups: Vec<(u8, u64, u64)>,
    group_start: u64,
}

impl<'s> SummaryWriter<'s> {
    /// Ends the data section; what follows is the summary.
    pub(super) fn begin(sink: &'s mut Sink) -> Result<Self> {
        let mut end = Vec::new();
        put_record(&mut end, op::DATA_END, |out| {
            out.extend_from_slice(&0u32.to_le_bytes());
        });
        sink.append(&end)?;
        let group_start = sink.position();
        Ok(Self {
            sink,
            buffer: Vec::new(),
            crc: crc32fast::Hasher::new(),
            groups: Vec::new(),
            group_start,
        })
    }

    /// Writes the summary of a whole file, the footer and the closing magic.
    pub(super) fn write(
        mut self,
        schemas: &[Schema],
        channels: &[Channel],
        crc: bool,
    ) -> Result<()> {
        let start = self.group_start;
        for schema in schemas {
            schema.put(&mut self.buffer);
        }
        self.end_group(op::SCHEMA)?;
        for channel in channels {
            channel.put(&mut self.buffer);
        }
        self.end_group(op::CHANNEL)?;
        self.statistics(schemas.len(), channels.len());
        self.end_group(op::STATISTICS)?;
        self.chunk_indexes()?;
        self.end_group(op::CHUNK_INDEX)?;
        for (at, length) in self.sink.metadata.clone() {
            put_record(&mut self.buffer, op::METADATA_INDEX, |out| {
                out.extend_from_slice(&at.to_le_bytes());
                out.extend_from_slice(&length.to_le_bytes());
                super::fields::put_str(out, METADATA_NAME);
            });
        }
        self.extra_indexes(op::METADATA);
        self.end_group(op::METADATA_INDEX)?;
        self.extra_indexes(op::ATTACHMENT);
        self.end_group(op::ATTACHMENT_INDEX)?;
        let offsets = self.group_start;
        for (opcode, at, length) in std::mem::take(&mut self.groups) {
            put_record(&mut self.buffer, op::SUMMARY_OFFSET, |out| {
                out.push(opcode);
                out.extend_from_slice(&at.to_le_bytes());
                out.extend_from_slice(&length.to_le_bytes());
            });
        }
        self.footer(start, offsets, crc)
    }

    /// A footer without a summary.
    pub(super) fn write_empty(self) -> Result<()> {
        self.footer(0, 0, false)
    }

    fn footer(mut self, summary: u64, offsets: u64, crc: bool) -> Result<()> {
        self.buffer.push(op::FOOTER);
        self.buffer.extend_from_slice(&20u64.to_le_bytes());
        self.buffer.extend_from_slice(&summary.to_le_bytes());
        self.buffer.extend_from_slice(&offsets.to_le_bytes());
        self.crc.update(&self.buffer);
        let sum = if crc { self.crc.clone().finalize() } else { 0 };
        self.buffer.extend_from_slice(&sum.to_le_bytes());
        self.buffer.extend_from_slice(&MAGIC);
        self.sink.append(&self.buffer)
    }

    fn flush(&mut self) -> Result<()> {
        self.crc.update(&self.buffer);
        self.sink.append(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    fn end_group(&mut self, opcode: u8) -> Result<()> {
        self.flush()?;
        let length = self.sink.position() - self.group_start;
        if length > 0 {
            self.groups.push((opcode, self.group_start, length));
        }
        self.group_start = self.sink.position();
        Ok(())
    }

    fn extra_indexes(&mut self, opcode: u8) {
        let extras = &self.sink.extras;
        for extra in extras.iter().filter(|extra| extra.opcode() == opcode) {
            extra.put_index(&mut self.buffer);
        }
    }

    fn chunk_indexes(&mut self) -> Result<()> {
        let index = std::mem::take(&mut self.sink.index);
        let (sink, crc) = (&mut *self.sink, &mut self.crc);
        index.write(&mut self.buffer, |buffer| {
            if buffer.len() >= PIECE {
                crc.update(buffer);
                sink.append(buffer)?;
                buffer.clear();
            }
            Ok(())
        })
    }

    fn statistics(&mut self, schemas: usize, channels: usize) {
        let mut total = TopicStatistics::default();
        for topic in &self.sink.topics {
            total.merge(topic);
        }
        let sink = &self.sink;
        let extras = super::extra::count(&sink.extras);
        put_record(&mut self.buffer, op::STATISTICS, |out| {
            out.extend_from_slice(&total.messages_recorded.to_le_bytes());
            out.extend_from_slice(&u16::try_from(schemas).unwrap_or(u16::MAX).to_le_bytes());
            out.extend_from_slice(&u32::try_from(channels).unwrap_or(u32::MAX).to_le_bytes());
            let number = |count: u64| u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes();
            out.extend_from_slice(&number(extras.attachments));
            let metadata = size_u64(sink.metadata.len()) + extras.metadata_records;
            out.extend_from_slice(&number(metadata));
            out.extend_from_slice(&sink.index.chunks().to_le_bytes());
            out.extend_from_slice(&total.first_time_ns.unwrap_or(0).to_le_bytes());
            out.extend_from_slice(&total.last_time_ns.unwrap_or(0).to_le_bytes());
            let counts = (0..channels).map(|at| {
                sink.topics
                    .get(at)
                    .map_or(0, |topic| topic.messages_recorded)
            });
            out.extend_from_slice(
                &u32::try_from(size_u64(channels) * 10)
                    .unwrap_or(u32::MAX)
                    .to_le_bytes(),
            );
            for (at, count) in counts.enumerate() {
                out.extend_from_slice(&u16::try_from(at + 1).unwrap_or(u16::MAX).to_le_bytes());
                out.extend_from_slice(&count.to_le_bytes());
            }
        });
    }
}
