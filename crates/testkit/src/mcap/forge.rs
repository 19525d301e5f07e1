//! Builds MCAP files byte by byte: right ones, and ones with a chosen mistake.

use super::fields::{MAGIC, op, wide};

/// A file under construction: the data section grows by calls, what the summary will say can be changed until
/// [`finish`](Self::finish).
#[derive(Debug, Clone)]
pub struct ForgedMcap {
    /// The file so far: magic, header, data section.
    pub bytes: Vec<u8>,
    /// Records of the schemas that the summary repeats.
    pub schemas: Vec<Vec<u8>>,
    /// Records of the channels that the summary repeats.
    pub channels: Vec<Vec<u8>>,
    /// The chunk indexes.
    pub chunk_indexes: Vec<ForgedChunkIndex>,
    /// Bodies of the attachment indexes.
    pub attachment_indexes: Vec<Vec<u8>>,
    /// Bodies of the metadata indexes.
    pub metadata_indexes: Vec<Vec<u8>>,
    /// The statistics.
    pub statistics: ForgedStatistics,
    /// Records that end the data section; a data end without a checksum unless changed.
    pub data_end: Vec<u8>,
    /// Opcodes of the groups of the summary, in their order.
    pub groups: Vec<u8>,
    /// Added to the offset of each group in the summary offsets.
    pub group_shift: u64,
    /// Added to the start of the summary in the footer.
    pub start_shift: u64,
    /// Whether the footer has a checksum.
    pub summary_crc: bool,
}

/// A chunk to append; what the head says is changed by the last fields.
#[derive(Debug, Clone, Default)]
pub struct ForgedChunk {
    /// Uncompressed records.
    pub records: Vec<u8>,
    /// Channel, log time and place of each message.
    pub messages: Vec<(u16, u64, u64)>,
    /// The name of the compression; the records stay as they are.
    pub compression: String,
    /// Added to the start time.
    pub start_shift: u64,
    /// Added to the uncompressed size.
    pub size_shift: u64,
    /// Instead of no checksum.
    pub crc: u32,
}

/// The content of a chunk index.
#[derive(Debug, Clone, Default)]
pub struct ForgedChunkIndex {
    /// First log time.
    pub start: u64,
    /// Last log time.
    pub end: u64,
    /// Place of the chunk.
    pub offset: u64,
    /// Length of the chunk record.
    pub length: u64,
    /// Place of the message index by channel.
    pub index_offsets: Vec<(u16, u64)>,
    /// Length of the message indexes.
    pub index_length: u64,
    /// Name of the compression.
    pub compression: String,
    /// Size of the stored records.
    pub compressed: u64,
    /// Size of the unpacked records.
    pub uncompressed: u64,
}

/// The content of the statistics.
#[derive(Debug, Clone, Default)]
pub struct ForgedStatistics {
    /// Messages.
    pub messages: u64,
    /// Schemas.
    pub schemas: u16,
    /// Channels.
    pub channels: u32,
    /// Attachments.
    pub attachments: u32,
    /// Metadata records.
    pub metadata: u32,
    /// Chunks.
    pub chunks: u32,
    /// First log time.
    pub start: u64,
    /// Last log time.
    pub end: u64,
    /// Messages by channel.
    pub by_channel: Vec<(u16, u64)>,
}

impl Default for ForgedMcap {
    fn default() -> Self {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(Self::header_record("forged"));
        Self {
            bytes,
            schemas: Vec::new(),
            channels: Vec::new(),
            chunk_indexes: Vec::new(),
            attachment_indexes: Vec::new(),
            metadata_indexes: Vec::new(),
            statistics: ForgedStatistics::default(),
            data_end: record(op::DATA_END, &[0; 4]),
            groups: vec![
                op::SCHEMA,
                op::CHANNEL,
                op::STATISTICS,
                op::CHUNK_INDEX,
                op::ATTACHMENT_INDEX,
                op::METADATA_INDEX,
            ],
            group_shift: 0,
            start_shift: 0,
            summary_crc: true,
        }
    }
}

/// A record with its opcode and length.
pub(super) fn record(opcode: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![opcode];
    bytes.extend(wide(body.len()).to_le_bytes());
    bytes.extend(body);
    bytes
}

/// A string behind its length.
pub(super) fn text(text: &str) -> Vec<u8> {
    block(text.as_bytes())
}

fn block(content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).unwrap_or(u32::MAX);
    [&length.to_le_bytes(), content].concat()
}

fn id_map(map: &[(u16, u64)]) -> Vec<u8> {
    let entry = |(id, number): &(u16, u64)| [&id.to_le_bytes()[..], &number.to_le_bytes()].concat();
    block(&map.iter().flat_map(entry).collect::<Vec<_>>())
}

fn numbers(numbers: &[u64]) -> Vec<u8> {
    numbers
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

impl ForgedMcap {
    /// A header record that names the writer.
    pub fn header_record(library: &str) -> Vec<u8> {
        record(op::HEADER, &[text("ros2"), text(library)].concat())
    }

    /// A schema record of a type with one string.
    pub fn schema_record(id: u16, name: &str) -> Vec<u8> {
        let body = [
            id.to_le_bytes().to_vec(),
            text(name),
            text("ros2msg"),
            text("string data\n"),
        ];
        record(op::SCHEMA, &body.concat())
    }

    /// A channel record.
    pub fn channel_record(id: u16, schema: u16, topic: &str) -> Vec<u8> {
        let body = [
            id.to_le_bytes().to_vec(),
            schema.to_le_bytes().to_vec(),
            text(topic),
            text("cdr"),
            block(&[text("offered_qos_profiles"), text("")].concat()),
        ];
        record(op::CHANNEL, &body.concat())
    }

    /// A message record with the payload of a `std_msgs/msg/String`.
    pub fn message_record(channel: u16, log_time: u64) -> Vec<u8> {
        let head = [
            &channel.to_le_bytes()[..],
            &0u32.to_le_bytes(),
            &log_time.to_le_bytes(),
            &log_time.to_le_bytes(),
        ];
        let payload = [0, 1, 0, 0, 2, 0, 0, 0, b'x', 0];
        record(op::MESSAGE, &[head.concat(), payload.to_vec()].concat())
    }

    /// Adds the record of a schema to the summary and counts it; the caller puts it into the data section.
    pub fn know_schema(&mut self, id: u16, name: &str) -> Vec<u8> {
        let schema = Self::schema_record(id, name);
        self.schemas.push(schema.clone());
        self.statistics.schemas += 1;
        schema
    }

    /// Adds the record of a channel to the summary and counts it; the caller puts it into the data section.
    pub fn know_channel(&mut self, id: u16, schema: u16, topic: &str) -> Vec<u8> {
        let channel = Self::channel_record(id, schema, topic);
        self.channels.push(channel.clone());
        self.statistics.channels += 1;
        channel
    }

    /// Appends records to the data section as they are.
    pub fn append(&mut self, records: &[u8]) {
        self.bytes.extend(records);
    }

    /// Appends a message outside of chunks and counts it.
    pub fn bare_message(&mut self, channel: u16, log_time: u64) {
        self.append(&Self::message_record(channel, log_time));
        self.count(channel, log_time);
    }

    fn count(&mut self, channel: u16, log_time: u64) {
        let statistics = &mut self.statistics;
        if statistics.messages == 0 {
            (statistics.start, statistics.end) = (log_time, log_time);
        }
        statistics.messages += 1;
        statistics.start = statistics.start.min(log_time);
        statistics.end = statistics.end.max(log_time);
        match statistics
            .by_channel
            .iter_mut()
            .find(|entry| entry.0 == channel)
        {
            Some((_, count)) => *count += 1,
            None => statistics.by_channel.push((channel, 1)),
        }
    }

    /// Appends a chunk with its message indexes, and remembers its index.
    pub fn chunk(&mut self, chunk: &ForgedChunk) {
        let times = || chunk.messages.iter().map(|message| message.1);
        let (start, end) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
        let size = wide(chunk.records.len());
        let body = [
            numbers(&[start + chunk.start_shift, end, size + chunk.size_shift]),
            chunk.crc.to_le_bytes().to_vec(),
            text(&chunk.compression),
            numbers(&[size]),
            chunk.records.clone(),
        ];
        let chunk_record = record(op::CHUNK, &body.concat());
        let mut index = ForgedChunkIndex {
            start: start + chunk.start_shift,
            end,
            offset: wide(self.bytes.len()),
            length: wide(chunk_record.len()),
            compression: chunk.compression.clone(),
            compressed: size,
            uncompressed: size + chunk.size_shift,
            ..ForgedChunkIndex::default()
        };
        self.append(&chunk_record);
        let mut channels: Vec<u16> = chunk.messages.iter().map(|message| message.0).collect();
        channels.sort_unstable();
        channels.dedup();
        for channel in channels {
            let of_channel = chunk.messages.iter().filter(|message| message.0 == channel);
            let entries: Vec<_> = of_channel
                .flat_map(|entry| numbers(&[entry.1, entry.2]))
                .collect();
            let body = [channel.to_le_bytes().to_vec(), block(&entries)].concat();
            index.index_offsets.push((channel, wide(self.bytes.len())));
            let indexes = record(op::MESSAGE_INDEX, &body);
            index.index_length += wide(indexes.len());
            self.append(&indexes);
        }
        for (channel, log_time, _) in &chunk.messages {
            self.count(*channel, *log_time);
        }
        self.statistics.chunks += 1;
        self.chunk_indexes.push(index);
    }

    /// Appends an attachment with its index.
    pub fn attachment(&mut self, name: &str, data: &[u8]) {
        let fields = [
            numbers(&[5, 6]),
            text(name),
            text("text/plain"),
            numbers(&[wide(data.len())]),
            data.to_vec(),
        ]
        .concat();
        let crc = crc32fast::hash(&fields).to_le_bytes();
        let attachment = record(op::ATTACHMENT, &[&fields[..], &crc].concat());
        let place = [wide(self.bytes.len()), wide(attachment.len())];
        let index = [
            numbers(&place),
            numbers(&[5, 6, wide(data.len())]),
            text(name),
            text("text/plain"),
        ];
        self.attachment_indexes.push(index.concat());
        self.statistics.attachments += 1;
        self.append(&attachment);
    }

    /// Appends a metadata record with its index.
    pub fn metadata(&mut self, name: &str, map: &[(&str, &str)]) {
        let entries: Vec<u8> = map
            .iter()
            .flat_map(|(key, value)| [text(key), text(value)].concat())
            .collect();
        let metadata = record(op::METADATA, &[text(name), block(&entries)].concat());
        let place = [wide(self.bytes.len()), wide(metadata.len())];
        self.metadata_indexes
            .push([numbers(&place), text(name)].concat());
        self.statistics.metadata += 1;
        self.append(&metadata);
    }

    fn group(&self, opcode: u8) -> Vec<u8> {
        let indexes = |bodies: &[Vec<u8>]| {
            bodies
                .iter()
                .flat_map(|body| record(opcode, body))
                .collect()
        };
        match opcode {
            op::SCHEMA => self.schemas.concat(),
            op::CHANNEL => self.channels.concat(),
            op::STATISTICS => record(opcode, &self.statistics.body()),
            op::CHUNK_INDEX => {
                let bodies: Vec<_> = self
                    .chunk_indexes
                    .iter()
                    .map(ForgedChunkIndex::body)
                    .collect();
                indexes(&bodies)
            }
            op::ATTACHMENT_INDEX => indexes(&self.attachment_indexes),
            op::METADATA_INDEX => indexes(&self.metadata_indexes),
            _ => record(opcode, &[]),
        }
    }

    /// The whole file.
    pub fn finish(&self) -> Vec<u8> {
        let mut bytes = [&self.bytes[..], &self.data_end].concat();
        let start = bytes.len();
        let mut offsets = Vec::new();
        for opcode in &self.groups {
            let group = self.group(*opcode);
            if group.is_empty() {
                continue;
            }
            let place = [wide(bytes.len()) + self.group_shift, wide(group.len())];
            let body = [vec![*opcode], numbers(&place)].concat();
            offsets.extend(record(op::SUMMARY_OFFSET, &body));
            bytes.extend(group);
        }
        let offsets_start = if offsets.is_empty() {
            0
        } else {
            wide(bytes.len())
        };
        bytes.extend(offsets);
        let summary_start = if bytes.len() > start { wide(start) } else { 0 };
        let footer = numbers(&[summary_start + self.start_shift, offsets_start]);
        bytes.extend(&record(op::FOOTER, &[&footer[..], &[0; 4]].concat())[..25]);
        let crc = if self.summary_crc {
            crc32fast::hash(&bytes[start..])
        } else {
            0
        };
        bytes.extend(crc.to_le_bytes());
        bytes.extend(MAGIC);
        bytes
    }
}

impl ForgedChunk {
    /// Appends schemas, channels or whatever else a chunk should not hold.
    #[must_use]
    pub fn with(mut self, records: &[u8]) -> Self {
        self.records.extend(records);
        self
    }

    /// Appends a message.
    #[must_use]
    pub fn message(mut self, channel: u16, log_time: u64) -> Self {
        let place = wide(self.records.len());
        self.messages.push((channel, log_time, place));
        self.with(&ForgedMcap::message_record(channel, log_time))
    }
}

impl ForgedChunkIndex {
    fn body(&self) -> Vec<u8> {
        [
            numbers(&[self.start, self.end, self.offset, self.length]),
            id_map(&self.index_offsets),
            numbers(&[self.index_length]),
            text(&self.compression),
            numbers(&[self.compressed, self.uncompressed]),
        ]
        .concat()
    }
}

impl ForgedStatistics {
    fn body(&self) -> Vec<u8> {
        let counts = [self.channels, self.attachments, self.metadata, self.chunks];
        [
            numbers(&[self.messages]),
            self.schemas.to_le_bytes().to_vec(),
            counts.into_iter().flat_map(u32::to_le_bytes).collect(),
            numbers(&[self.start, self.end]),
            id_map(&self.by_channel),
        ]
        .concat()
    }
}

#[cfg(test)]
mod tests;
