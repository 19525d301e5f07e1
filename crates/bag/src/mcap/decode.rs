//! Decompression of chunks within bounds.

use std::io::Read;
use std::path::Path;

use super::options::McapLimits;
use super::record::{ChunkHead, op};
use crate::message::size_u64;
use crate::{Error, Result};

/// Unpacks whole chunk records; keeps its contexts between calls.
#[derive(Default)]
pub(crate) struct Unpacker {
    zstd: Option<zstd::bulk::Decompressor<'static>>,
}

impl Unpacker {
    /// Unpacks `stored` into `out`, which must come out exactly `size` bytes long. The caller bounded `size`.
    pub(crate) fn unpack(
        &mut self,
        path: &Path,
        compression: &str,
        stored: &[u8],
        size: u64,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        out.clear();
        let broken = |reason: String| Error::Compression {
            path: path.to_path_buf(),
            what: "chunk",
            reason,
        };
        let size = usize::try_from(size)
            .map_err(|_too_big| broken(format!("{size} bytes do not fit into memory")))?;
        match compression {
            "" => out.extend_from_slice(stored),
            "zstd" => {
                if self.zstd.is_none() {
                    self.zstd = zstd::bulk::Decompressor::new().ok();
                }
                let Some(zstd) = &mut self.zstd else {
                    return Err(broken("zstd is not available".into()));
                };
                // Not into the whole capacity of a buffer that is used again: an error must depend on the data only.
                // The zeros cost 2 % on one thread; without them, unpacking on several threads was slower (BENCHMARKS.md).
                out.resize(size, 0);
                let unpacked = zstd.decompress_to_buffer(stored, &mut out[..]);
                out.truncate(*unpacked.as_ref().unwrap_or(&0));
                unpacked.map_err(|e| broken(e.to_string()))?;
            }
            "lz4" => {
                let limit = size_u64(size).saturating_add(1);
                let decoder = lz4_flex::frame::FrameDecoder::new(stored);
                decoder
                    .take(limit)
                    .read_to_end(out)
                    .map_err(|e| broken(e.to_string()))?;
            }
            other => {
                return Err(Error::Unknown {
                    kind: "chunk compression",
                    name: other.to_owned(),
                    known: "zstd, lz4",
                });
            }
        }
        if out.len() != size {
            return Err(broken(format!(
                "unpacks to {} bytes instead of {size}",
                out.len()
            )));
        }
        Ok(())
    }
}

/// Checks and unpacks the body of a chunk record into `out`.
pub(crate) fn unpack_chunk(
    path: &Path,
    unpacker: &mut Unpacker,
    limits: &McapLimits,
    offset: u64,
    body: &[u8],
    out: &mut Vec<u8>,
) -> Result<()> {
    if let Some(start) = unpack_chunk_in_place(path, unpacker, limits, offset, body, out)? {
        out.extend_from_slice(body.get(start..).unwrap_or_default());
    }
    Ok(())
}

/// Like [`unpack_chunk`], but records that are not compressed stay in `body`; returns their offset.
pub(crate) fn unpack_chunk_in_place(
    path: &Path,
    unpacker: &mut Unpacker,
    limits: &McapLimits,
    offset: u64,
    body: &[u8],
    out: &mut Vec<u8>,
) -> Result<Option<usize>> {
    let malformed = |reason| Error::Record {
        path: path.to_path_buf(),
        offset,
        opcode: op::CHUNK,
        reason,
    };
    let (head, size) = ChunkHead::parse(body).ok_or_else(|| malformed("the head is cut off"))?;
    let stored = body.get(size..).unwrap_or_default();
    if size_u64(stored.len()) != head.compressed_size {
        return Err(malformed("its size does not match its content"));
    }
    if head.uncompressed_size > limits.max_chunk_bytes {
        return Err(Error::TooLarge {
            path: path.to_path_buf(),
            what: "chunk",
            size: head.uncompressed_size,
            limit: limits.max_chunk_bytes,
        });
    }
    let in_place = head.compression.is_empty();
    if in_place && head.uncompressed_size != head.compressed_size {
        return Err(malformed("it is not compressed but its two sizes differ"));
    }
    if !in_place {
        unpacker.unpack(path, &head.compression, stored, head.uncompressed_size, out)?;
    }
    if limits.check_crc && head.crc != 0 {
        let actual = crc32fast::hash(if in_place { stored } else { out });
        if actual != head.crc {
            return Err(Error::Crc {
                path: path.to_path_buf(),
                what: "chunk",
                offset,
                expected: head.crc,
                actual,
            });
        }
    }
    Ok(in_place.then_some(size))
}

/// Decompresses the existing part of a truncated chunk, at most `limit` bytes.
pub(crate) fn unpack_partial(compression: &str, stored: &[u8], limit: u64) -> Vec<u8> {
    let mut out = Vec::new();
    let mut drain = |reader: &mut dyn Read| {
        let mut piece = [0u8; 16 << 10];
        while size_u64(out.len()) < limit {
            match reader.read(&mut piece) {
                Ok(count) if count > 0 => {
                    out.extend_from_slice(piece.get(..count).unwrap_or_default());
                }
                _ => break,
            }
        }
    };
    match compression {
        "" => drain(&mut &stored[..]),
        "zstd" => {
            if let Ok(mut decoder) = zstd::stream::read::Decoder::new(stored) {
                drain(&mut decoder);
            }
        }
        "lz4" => drain(&mut lz4_flex::frame::FrameDecoder::new(stored)),
        _ => {}
    }
    out
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    const BOMB: usize = 64 << 20;
    const CLAIMED: u64 = 1 << 20;

    fn zstd_bomb() -> Vec<u8> {
        zstd::bulk::compress(&vec![0; BOMB], 1).unwrap()
    }

    fn lz4_bomb() -> Vec<u8> {
        let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
        encoder.write_all(&vec![0; BOMB]).unwrap();
        encoder.finish().unwrap()
    }

    /// A chunk may be small on disk, claim a size that is allowed, and unpack to far more.
    #[test]
    fn a_chunk_that_unpacks_to_more_than_it_claims_is_refused() {
        let path = Path::new("a.mcap");
        for (compression, stored) in [("zstd", zstd_bomb()), ("lz4", lz4_bomb())] {
            let mut out = Vec::new();
            let done = Unpacker::default().unpack(path, compression, &stored, CLAIMED, &mut out);
            assert!(done.is_err(), "{compression}");
            assert!(
                out.capacity() < BOMB / 4,
                "{compression}: {}",
                out.capacity()
            );
        }
    }

    #[test]
    fn a_chunk_that_was_cut_off_unpacks_to_no_more_than_the_limit() {
        for (compression, stored) in [("zstd", zstd_bomb()), ("lz4", lz4_bomb())] {
            let cut = &stored[..stored.len() - 1];
            let out = unpack_partial(compression, cut, CLAIMED);
            assert!(
                !out.is_empty() && size_u64(out.len()) < 2 * CLAIMED,
                "{compression}"
            );
        }
    }
}
