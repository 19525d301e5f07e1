//! The data section: its content and order.

use std::collections::BTreeMap;

use super::check::{Findings, Layout};
use super::chunk::{SeenChunk, read_chunk};
use super::fields::{Fields, Record, op, wide};
use super::rule::Rule;

/// The content of the data section.
#[derive(Default)]
pub(super) struct DataSection {
    /// Bodies by id.
    pub(super) schemas: BTreeMap<u16, Vec<u8>>,
    /// Bodies by id.
    pub(super) channels: BTreeMap<u16, Vec<u8>>,
    pub(super) chunks: Vec<SeenChunk>,
    /// Messages by channel.
    pub(super) counts: BTreeMap<u16, u64>,
    /// First and last log time.
    pub(super) times: Option<(u64, u64)>,
    bare_messages: u64,
    /// Bodies of the index records that the attachments need, sorted.
    pub(super) attachment_indexes: Vec<Vec<u8>>,
    /// Bodies of the index records that the metadata records need, sorted.
    pub(super) metadata_indexes: Vec<Vec<u8>>,
}

/// Channel and log time of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SeenMessage {
    pub(super) channel: u16,
    pub(super) log_time: u64,
}

impl DataSection {
    pub(super) fn read(records: &[Record<'_>], findings: &mut Findings) -> Self {
        let mut data = Self::default();
        let mut behind_chunk = false;
        for record in records {
            match record.opcode {
                op::SCHEMA | op::CHANNEL => data.definition(record, findings),
                op::MESSAGE => {
                    data.bare_messages += u64::from(data.message(record, findings).is_some());
                }
                op::CHUNK => {
                    let chunk = read_chunk(record, &mut data, findings);
                    data.chunks.extend(chunk);
                }
                op::MESSAGE_INDEX => data.message_index(record, behind_chunk, findings),
                op::ATTACHMENT => data.attachment(record, findings),
                op::METADATA => data.metadata(record, findings),
                // Private records may be anywhere; readers skip those that they do not know.
                0x80.. => {}
                opcode => not_here("data section", opcode, record.at, findings),
            }
            behind_chunk = matches!(record.opcode, op::CHUNK)
                || (behind_chunk && record.opcode == op::MESSAGE_INDEX);
        }
        data.attachment_indexes.sort();
        data.metadata_indexes.sort();
        data
    }

    /// A schema or a channel, inside or outside of a chunk.
    pub(super) fn definition(&mut self, record: &Record<'_>, findings: &mut Findings) {
        let parsed = match record.opcode {
            op::SCHEMA => schema(record.body).map(|id| (id, None)),
            _ => channel(record.body).map(|(id, schema)| (id, Some(schema))),
        };
        let Some((id, schema)) = parsed else {
            return malformed(record, findings);
        };
        let (known, rule) = match schema {
            None => (&mut self.schemas, Rule::SchemaId),
            Some(_) => (&mut self.channels, Rule::ChannelId),
        };
        findings.expect(id > 0 || rule == Rule::ChannelId, rule, || "id 0".into());
        let first = known.entry(id).or_insert_with(|| record.body.to_vec());
        findings.expect(first == record.body, rule, || {
            format!("id {id} at byte {} differs from before", record.at)
        });
        if let Some(schema) = schema {
            findings.expect(
                self.schemas.contains_key(&schema),
                Rule::ChannelSchema,
                || format!("channel {id} comes without schema {schema}"),
            );
        }
    }

    /// A message, inside or outside of a chunk.
    pub(super) fn message(
        &mut self,
        record: &Record<'_>,
        findings: &mut Findings,
    ) -> Option<SeenMessage> {
        let mut fields = Fields(record.body);
        let (channel, _sequence) = (fields.u16(), fields.u32());
        let (log_time, publish_time) = (fields.u64(), fields.u64());
        let (Some(channel), Some(log_time), Some(_)) = (channel, log_time, publish_time) else {
            malformed(record, findings);
            return None;
        };
        findings.expect(
            self.channels.contains_key(&channel),
            Rule::MessageChannel,
            || format!("message at byte {} of channel {channel}", record.at),
        );
        findings.expect(i64::try_from(log_time).is_ok(), Rule::MessageTime, || {
            format!("{log_time}")
        });
        *self.counts.entry(channel).or_default() += 1;
        let (first, last) = self.times.get_or_insert((log_time, log_time));
        (*first, *last) = ((*first).min(log_time), (*last).max(log_time));
        Some(SeenMessage { channel, log_time })
    }

    fn message_index(&mut self, record: &Record<'_>, behind_chunk: bool, findings: &mut Findings) {
        match self.chunks.last_mut() {
            Some(chunk) if behind_chunk => chunk.take_index(record, findings),
            _ => findings.add(Rule::MessageIndexPlace, format!("at byte {}", record.at)),
        }
    }

    fn attachment(&mut self, record: &Record<'_>, findings: &mut Findings) {
        let Some(index) = attachment_index(record) else {
            return malformed(record, findings);
        };
        self.attachment_indexes.push(index);
        let (content, crc) = record.body.split_at(record.body.len() - 4);
        let crc = Fields(crc).u32().unwrap_or(0);
        let actual = crc32fast::hash(content);
        findings.expect(crc == 0 || crc == actual, Rule::AttachmentCrc, || {
            format!("{crc:08x}, the bytes have {actual:08x}")
        });
    }

    fn metadata(&mut self, record: &Record<'_>, findings: &mut Findings) {
        let mut fields = Fields(record.body);
        let (Some(name), Some(())) = (fields.block(), fields.string_map()) else {
            return malformed(record, findings);
        };
        let mut index = place(record);
        put_block(&mut index, name);
        self.metadata_indexes.push(index);
    }

    /// Rules that hold for all chunks together.
    pub(super) fn check_indexes(&self, layout: Layout, findings: &mut Findings) {
        let indexed = layout == Layout::Indexed || self.chunks.iter().any(SeenChunk::is_indexed);
        for (number, chunk) in self.chunks.iter().enumerate() {
            chunk.check(number, indexed, findings);
        }
        findings.expect(
            self.chunks.is_empty() || self.bare_messages == 0,
            Rule::MessageOutsideChunk,
            || format!("{} messages", self.bare_messages),
        );
    }
}

pub(super) fn malformed(record: &Record<'_>, findings: &mut Findings) {
    let text = format!("opcode {:#04x} at byte {}", record.opcode, record.at);
    findings.add(Rule::RecordShape, text);
}

pub(super) fn not_here(section: &str, opcode: u8, at: usize, findings: &mut Findings) {
    let text = format!("opcode {opcode:#04x} in the {section}, at byte {at}");
    findings.add(Rule::RecordPlace, text);
}

pub(super) fn schema(body: &[u8]) -> Option<u16> {
    let mut fields = Fields(body);
    let id = fields.u16()?;
    let (_name, _encoding, _data) = (fields.text()?, fields.text()?, fields.block()?);
    Some(id)
}

pub(super) fn channel(body: &[u8]) -> Option<(u16, u16)> {
    let mut fields = Fields(body);
    let ids = (fields.u16()?, fields.u16()?);
    let (_topic, _encoding) = (fields.text()?, fields.text()?);
    fields.string_map()?;
    Some(ids)
}

/// Offset and length, as index records begin.
fn place(record: &Record<'_>) -> Vec<u8> {
    [wide(record.at), record.length()]
        .into_iter()
        .flat_map(u64::to_le_bytes)
        .collect()
}

fn put_block(out: &mut Vec<u8>, block: &[u8]) {
    out.extend(u32::try_from(block.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend(block);
}

/// The body of the index record of an attachment.
fn attachment_index(record: &Record<'_>) -> Option<Vec<u8>> {
    let mut fields = Fields(record.body);
    let mut index = place(record);
    let times = [fields.u64()?, fields.u64()?];
    let (name, media_type, size) = (fields.text()?, fields.text()?, fields.u64()?);
    fields.take(size)?;
    fields.u32()?;
    for number in times.into_iter().chain([size]) {
        index.extend(number.to_le_bytes());
    }
    put_block(&mut index, name.as_bytes());
    put_block(&mut index, media_type.as_bytes());
    fields.0.is_empty().then_some(index)
}
