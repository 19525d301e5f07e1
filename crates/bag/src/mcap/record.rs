//! The records of MCAP that this crate reads and writes.

use super::fields::{Fields, put_record, put_str, put_string_map};
use crate::message::size_u64;

/// First and last bytes of every MCAP file.
pub(crate) const MAGIC: [u8; 8] = [0x89, b'M', b'C', b'A', b'P', b'0', b'\r', b'\n'];
/// Opcode and length of a record.
pub(crate) const RECORD_HEAD: usize = 9;
/// Channel, sequence and the two times before the payload of a message.
pub(crate) const MESSAGE_HEAD: usize = 22;
/// Footer record and closing magic.
pub(crate) const TAIL: usize = RECORD_HEAD + 20 + MAGIC.len();

pub(crate) mod op {
    pub(crate) const HEADER: u8 = 0x01;
    pub(crate) const FOOTER: u8 = 0x02;
    pub(crate) const SCHEMA: u8 = 0x03;
    pub(crate) const CHANNEL: u8 = 0x04;
    pub(crate) const MESSAGE: u8 = 0x05;
    pub(crate) const CHUNK: u8 = 0x06;
    pub(crate) const MESSAGE_INDEX: u8 = 0x07;
    pub(crate) const CHUNK_INDEX: u8 = 0x08;
    pub(crate) const ATTACHMENT: u8 = 0x09;
    pub(crate) const ATTACHMENT_INDEX: u8 = 0x0A;
    pub(crate) const STATISTICS: u8 = 0x0B;
    pub(crate) const METADATA: u8 = 0x0C;
    pub(crate) const METADATA_INDEX: u8 = 0x0D;
    pub(crate) const SUMMARY_OFFSET: u8 = 0x0E;
    pub(crate) const DATA_END: u8 = 0x0F;
    /// The first opcode of private records: every reader skips unknown ones.
    pub(crate) const PRIVATE: u8 = 0x80;
    /// Private: the account of a file that is being written.
    pub(crate) const ACCOUNT: u8 = 0xAC;
    /// Private: zeros that align what follows with the blocks of the disk.
    pub(crate) const PADDING: u8 = 0xAD;
}

/// Opcode and length at the start of a record.
pub(crate) fn record_head(bytes: &[u8]) -> Option<(u8, u64)> {
    let (opcode, rest) = bytes.split_first()?;
    Some((*opcode, Fields::new(rest).u64()?))
}

/// Iterates over the complete records of a buffer: opcode, offset of the record, body.
pub(crate) struct Records<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Records<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Bytes behind the last complete record; 0 when the buffer ends on a record boundary.
    pub(crate) fn remainder(&self) -> usize {
        self.bytes.len() - self.at
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = (u8, usize, &'a [u8]);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.bytes.get(self.at..)?;
        let (opcode, length) = record_head(rest)?;
        let length = usize::try_from(length).ok()?;
        let body = rest.get(RECORD_HEAD..)?.get(..length)?;
        let at = self.at;
        self.at += RECORD_HEAD + length;
        Some((opcode, at, body))
    }
}

/// Head of a message record.
#[derive(Clone, Copy)]
pub(crate) struct MessageHead {
    pub(crate) channel: u16,
    pub(crate) sequence: u32,
    pub(crate) log_time: i64,
    pub(crate) publish_time: i64,
}

impl MessageHead {
    #[inline]
    pub(crate) fn parse(body: &[u8]) -> Option<(Self, &[u8])> {
        // Its length is compared once, and not for every field.
        let (head, payload) = body.split_first_chunk::<MESSAGE_HEAD>()?;
        let mut fields = Fields::new(head);
        let head = Self {
            channel: fields.u16()?,
            sequence: fields.u32()?,
            log_time: fields.time()?,
            publish_time: fields.time()?,
        };
        Some((head, payload))
    }
}

/// A schema: the definition of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Schema {
    pub(crate) id: u16,
    pub(crate) name: String,
    pub(crate) encoding: String,
    pub(crate) data: Vec<u8>,
}

impl Schema {
    pub(crate) fn parse(body: &[u8]) -> Option<Self> {
        let mut fields = Fields::new(body);
        let (id, name, encoding) = (
            fields.u16()?,
            fields.str()?.to_owned(),
            fields.str()?.to_owned(),
        );
        Some(Self {
            id,
            name,
            encoding,
            data: fields.block()?.to_vec(),
        })
    }

    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        put_record(out, op::SCHEMA, |out| {
            out.extend_from_slice(&self.id.to_le_bytes());
            put_str(out, &self.name);
            put_str(out, &self.encoding);
            super::fields::put_block(out, &self.data);
        });
    }
}

/// A channel: a topic of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Channel {
    pub(crate) id: u16,
    pub(crate) schema: u16,
    pub(crate) topic: String,
    pub(crate) encoding: String,
    pub(crate) metadata: Vec<(String, String)>,
}

impl Channel {
    pub(crate) fn parse(body: &[u8]) -> Option<Self> {
        let mut fields = Fields::new(body);
        let (id, schema) = (fields.u16()?, fields.u16()?);
        let (topic, encoding) = (fields.str()?.to_owned(), fields.str()?.to_owned());
        let metadata = fields
            .string_map()?
            .into_iter()
            .map(|(k, v)| (k.to_owned(), v.to_owned()))
            .collect();
        Some(Self {
            id,
            schema,
            topic,
            encoding,
            metadata,
        })
    }

    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        put_record(out, op::CHANNEL, |out| {
            out.extend_from_slice(&self.id.to_le_bytes());
            out.extend_from_slice(&self.schema.to_le_bytes());
            put_str(out, &self.topic);
            put_str(out, &self.encoding);
            let map: Vec<_> = self
                .metadata
                .iter()
                .map(|(k, v)| (k.as_str(), v.as_str()))
                .collect();
            put_string_map(out, &map);
        });
    }
}

/// Head of a chunk, before its records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChunkHead {
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) uncompressed_size: u64,
    pub(crate) crc: u32,
    pub(crate) compression: String,
    pub(crate) compressed_size: u64,
}

impl ChunkHead {
    /// Bytes of the longest head that is read at once; real compression names are 4 bytes.
    pub(crate) const MAX_SIZE: usize = 8 + 8 + 8 + 4 + 4 + 64 + 8;

    /// The head and its own size.
    pub(crate) fn parse(body: &[u8]) -> Option<(Self, usize)> {
        let mut fields = Fields::new(body);
        let head = Self {
            start: fields.time()?,
            end: fields.time()?,
            uncompressed_size: fields.u64()?,
            crc: fields.u32()?,
            compression: fields.str()?.to_owned(),
            compressed_size: fields.u64()?,
        };
        Some((head, body.len() - fields.rest().len()))
    }

    /// Opcode, length and head of a chunk record.
    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        let length = 40 + size_u64(self.compression.len()) + self.compressed_size;
        out.push(op::CHUNK);
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(&self.start.to_le_bytes());
        out.extend_from_slice(&self.end.to_le_bytes());
        out.extend_from_slice(&self.uncompressed_size.to_le_bytes());
        out.extend_from_slice(&self.crc.to_le_bytes());
        put_str(out, &self.compression);
        out.extend_from_slice(&self.compressed_size.to_le_bytes());
    }
}

/// A metadata record.
pub(crate) struct Metadata<'a> {
    pub(crate) name: &'a str,
    pub(crate) map: Vec<(&'a str, &'a str)>,
}

impl<'a> Metadata<'a> {
    pub(crate) fn parse(body: &'a [u8]) -> Option<Self> {
        let mut fields = Fields::new(body);
        Some(Self {
            name: fields.str()?,
            map: fields.string_map()?,
        })
    }

    pub(crate) fn put(&self, out: &mut Vec<u8>) {
        put_record(out, op::METADATA, |out| {
            put_str(out, self.name);
            put_string_map(out, &self.map);
        });
    }

    pub(crate) fn get(&self, key: &str) -> Option<&'a str> {
        self.map
            .iter()
            .find(|(name, _)| *name == key)
            .map(|(_, value)| *value)
    }
}
