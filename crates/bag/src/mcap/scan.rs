//! A scan of a whole file, for files without a usable summary.

mod walk;

pub(crate) use walk::Walk;

use super::account_record;
use super::chunk_table::{Block, BlockKind};
use super::decode::{Unpacker, unpack_chunk, unpack_partial};
use super::extra::{AttachmentHead, Extra, ExtraKind, MAX_HEAD};
use super::options::McapLimits;
use super::record::{Channel, ChunkHead, MAGIC, MessageHead, Metadata, Records, Schema, op};
use crate::message::size_u64;
use crate::source::Source;
use crate::storage::ExtraCounts;
use crate::{Error, Result, StatePart};

/// Runs of bare records are cut into blocks of about this size.
const RUN: u64 = 1 << 20;

/// The result of a scan.
#[derive(Default)]
pub(crate) struct Scan {
    pub(crate) schemas: Vec<Schema>,
    pub(crate) channels: Vec<Channel>,
    pub(crate) blocks: Vec<Block>,
    /// Messages by channel id.
    pub(crate) counts: Vec<u64>,
    /// Attachments and foreign metadata records.
    pub(crate) extras: Vec<Extra>,
    /// The malformed or truncated ones of them.
    pub(crate) lost_extras: ExtraCounts,
    /// Offsets of the bag's metadata records.
    pub(crate) metadata: Vec<(u64, u64)>,
    /// Offsets of the records with the state of the robot.
    pub(crate) state: Vec<(StatePart, u64, u64)>,
    /// The accounts that the writer saved, oldest first.
    pub(crate) accounts: Vec<(u64, u64)>,
    /// Descriptions of damage.
    pub(crate) damage: Vec<String>,
    /// Messages in an index or a head that cannot be read.
    pub(crate) lost_messages: u64,
    /// Messages from a truncated chunk or record.
    pub(crate) salvaged_messages: u64,
    /// Bytes of the file that belong to no readable record.
    pub(crate) lost_bytes: u64,
}

/// Scans all records of a file. Damage is noted, not an error; only reading itself can fail.
pub(crate) fn scan(source: &mut dyn Source, limits: &McapLimits) -> Result<Scan> {
    let mut scanner = Scanner {
        scan: Scan::default(),
        run: None,
        unpacker: Unpacker::default(),
        damaged_chunk: false,
    };
    source.announce(&mut std::iter::once(0..source.size()));
    let mut walk = Walk::new(source, size_u64(MAGIC.len()), limits.max_chunk_bytes);
    while let Some(step) = walk.next_record()? {
        match step {
            walk::Step::Record {
                opcode,
                offset,
                length,
            } => {
                if !scanner.record(&mut walk, limits, opcode, offset, length)? {
                    break;
                }
            }
            walk::Step::Open {
                opcode,
                offset,
                available,
            } => scanner.open_record(&mut walk, limits, opcode, offset, available)?,
            walk::Step::Garbage { offset, skipped } => {
                scanner.close_run();
                scanner.scan.lost_bytes += skipped;
                scanner.scan.damage.push(format!(
                    "{skipped} bytes at byte {offset} are no MCAP records"
                ));
            }
        }
    }
    scanner.close_run();
    Ok(scanner.scan)
}

struct Scanner {
    scan: Scan,
    run: Option<Block>,
    unpacker: Unpacker,
    /// The last chunk could not be read: its index has the number of messages that this costs.
    damaged_chunk: bool,
}

impl Scanner {
    /// Processes one complete record; `false` at the end of the data.
    fn record(
        &mut self,
        walk: &mut Walk<'_>,
        limits: &McapLimits,
        opcode: u8,
        offset: u64,
        length: u64,
    ) -> Result<bool> {
        match opcode {
            op::MESSAGE | op::SCHEMA | op::CHANNEL => {
                let body = walk.body(offset, length)?;
                self.bare(opcode, body, offset, length);
                return Ok(true);
            }
            op::DATA_END | op::FOOTER => return Ok(false),
            _ => self.close_run(),
        }
        match opcode {
            op::CHUNK => self.chunk(walk, limits, offset, length)?,
            op::MESSAGE_INDEX if self.damaged_chunk => {
                self.scan.lost_messages += length.saturating_sub(6) / 16;
            }
            op::ACCOUNT => self
                .scan
                .accounts
                .push((offset, account_record::whole(length))),
            op::METADATA | op::ATTACHMENT => self.extra(walk, opcode, offset, length)?,
            _ => {}
        }
        if !matches!(opcode, op::CHUNK | op::MESSAGE_INDEX) {
            self.damaged_chunk = false;
        }
        Ok(true)
    }

    /// A metadata record or an attachment; of the latter, only the head is read.
    fn extra(&mut self, walk: &mut Walk<'_>, opcode: u8, offset: u64, length: u64) -> Result<()> {
        let whole = length + 9;
        let found = if opcode == op::METADATA {
            let record = Metadata::parse(walk.body(offset, length)?);
            record.map(|record| Extra::metadata(offset, whole, record.name))
        } else {
            let head = walk.body(offset, length.min(MAX_HEAD))?;
            let head = AttachmentHead::parse(head, length);
            head.map(|(name, head)| Extra {
                kind: ExtraKind::Attachment(head),
                offset,
                length: whole,
                name,
            })
        };
        match found {
            Some(extra) if extra.is_own() => {
                self.scan.metadata.push((offset, whole));
            }
            Some(extra) => match extra.state_part() {
                Some(part) => self.scan.state.push((part, offset, whole)),
                None => self.scan.extras.push(extra),
            },
            None => {
                self.lose_extra(opcode, whole);
                let what = if opcode == op::METADATA {
                    "metadata record"
                } else {
                    "attachment"
                };
                self.scan
                    .damage
                    .push(format!("the {what} at byte {offset} is malformed"));
            }
        }
        Ok(())
    }

    fn lose_extra(&mut self, opcode: u8, bytes: u64) {
        let lost = &mut self.scan.lost_extras;
        match opcode {
            op::ATTACHMENT => lost.attachments += 1,
            _ => lost.metadata_records += 1,
        }
        self.scan.lost_bytes += bytes;
    }

    fn chunk(
        &mut self,
        walk: &mut Walk<'_>,
        limits: &McapLimits,
        offset: u64,
        length: u64,
    ) -> Result<()> {
        self.damaged_chunk = false;
        let path = walk.source().path().to_path_buf();
        let outcome = self.read_chunk(walk, limits, offset, length);
        let mut block = Block {
            start: 0,
            end: 0,
            offset,
            length: length + 9,
            channels: 0..0,
            unpacked: None,
            kind: BlockKind::Chunk,
        };
        match outcome {
            Ok((records, is_compressed)) => {
                block.unpacked = is_compressed.then_some(size_u64(records.len()));
                self.take_records(&records, block);
            }
            Err(error @ (Error::Io { .. } | Error::Truncated { .. } | Error::Place { .. })) => {
                return Err(error);
            }
            Err(error) => {
                let prefix = format!("{}: ", path.display());
                self.scan
                    .damage
                    .push(error.to_string().replace(&prefix, ""));
                self.scan.lost_bytes += length + 9;
                self.damaged_chunk = true;
            }
        }
        Ok(())
    }

    /// The records of a chunk, and whether they are compressed.
    fn read_chunk(
        &mut self,
        walk: &mut Walk<'_>,
        limits: &McapLimits,
        offset: u64,
        length: u64,
    ) -> Result<(Vec<u8>, bool)> {
        let body = walk.body(offset, length)?.to_vec();
        let mut records = Vec::new();
        unpack_chunk(
            walk.source().path(),
            &mut self.unpacker,
            limits,
            offset,
            &body,
            &mut records,
        )?;
        let head = ChunkHead::parse(&body);
        let is_compressed = head.is_some_and(|(head, _)| !head.compression.is_empty());
        Ok((records, is_compressed))
    }

    /// The last record of a truncated file.
    fn open_record(
        &mut self,
        walk: &mut Walk<'_>,
        limits: &McapLimits,
        opcode: u8,
        offset: u64,
        available: u64,
    ) -> Result<()> {
        self.close_run();
        self.scan.damage.push(format!(
            "the record at byte {offset} is cut off after {available} bytes"
        ));
        if opcode == op::ATTACHMENT {
            self.lose_extra(opcode, available + 9);
            return Ok(());
        }
        let body = walk.body(offset, available)?.to_vec();
        if opcode != op::CHUNK {
            self.scan.lost_messages += u64::from(opcode == op::MESSAGE);
            self.scan.lost_bytes += available + 9;
            return Ok(());
        }
        let Some((head, head_size)) = ChunkHead::parse(&body) else {
            self.scan.lost_bytes += available + 9;
            return Ok(());
        };
        let stored = body.get(head_size..).unwrap_or_default();
        let records = unpack_partial(&head.compression, stored, limits.max_chunk_bytes);
        let block = Block {
            start: 0,
            end: 0,
            offset,
            length: available + 9,
            channels: 0..0,
            unpacked: None,
            kind: BlockKind::TruncatedChunk,
        };
        let mut whole = Records::new(&records);
        for _ in &mut whole {}
        // The message in which the file ends is lost, also when the cut is between two messages of a chunk whose head
        // states more bytes. Messages behind it are not counted: a writer that was killed leaves a placeholder there.
        let stated = (head.compressed_size <= limits.max_chunk_bytes)
            .then_some(head.compressed_size)
            .filter(|size| *size > size_u64(stored.len()));
        self.scan.lost_messages += u64::from(whole.remainder() > 0 || stated.is_some());
        self.scan.lost_bytes += size_u64(whole.remainder());
        self.scan.salvaged_messages += self.take_records(&records, block);
        Ok(())
    }

    /// Counts the records of a chunk and remembers its offset; returns its messages.
    fn take_records(&mut self, bytes: &[u8], mut block: Block) -> u64 {
        let mut messages = 0;
        (block.start, block.end) = (i64::MAX, i64::MIN);
        for (opcode, _, body) in Records::new(bytes) {
            if let Some(time) = self.take(opcode, body) {
                messages += 1;
                block.start = block.start.min(time);
                block.end = block.end.max(time);
            }
        }
        if messages > 0 {
            self.scan.blocks.push(block);
        }
        messages
    }

    /// A record outside of chunks.
    fn bare(&mut self, opcode: u8, body: &[u8], offset: u64, length: u64) {
        let time = self.take(opcode, body);
        let Some(time) = time else { return };
        let fresh = Block {
            start: time,
            end: time,
            offset,
            length: 0,
            channels: 0..0,
            unpacked: None,
            kind: BlockKind::Records,
        };
        let run = self.run.get_or_insert(fresh);
        run.start = run.start.min(time);
        run.end = run.end.max(time);
        run.length = offset + 9 + length - run.offset;
        if run.length >= RUN {
            self.close_run();
        }
    }

    fn close_run(&mut self) {
        self.scan.blocks.extend(self.run.take());
    }

    /// Handles a record; returns the log time if it is a message of a known channel.
    fn take(&mut self, opcode: u8, body: &[u8]) -> Option<i64> {
        match opcode {
            op::SCHEMA => {
                let schema = Schema::parse(body)?;
                if self.scan.schemas.iter().all(|known| known.id != schema.id) {
                    self.scan.schemas.push(schema);
                }
                None
            }
            op::CHANNEL => {
                let channel = Channel::parse(body)?;
                if self
                    .scan
                    .channels
                    .iter()
                    .all(|known| known.id != channel.id)
                {
                    self.scan.channels.push(channel);
                }
                None
            }
            op::MESSAGE => {
                let (head, _) = MessageHead::parse(body)?;
                let at = usize::from(head.channel);
                if at >= self.scan.counts.len() {
                    self.scan.counts.resize(at + 1, 0);
                }
                self.scan.counts[at] += 1;
                Some(head.log_time)
            }
            _ => None,
        }
    }
}
