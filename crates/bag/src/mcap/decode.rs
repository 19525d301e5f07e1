//! Decompression of chunks within bounds.

use std::io::Read;

use crate::message::size_u64;
use crate::source::Source;
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
        source: &dyn Source,
        compression: &str,
        stored: &[u8],
        size: u64,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        out.clear();
        let broken = |reason: String| Error::Compression {
            path: source.path().to_path_buf(),
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
                out.reserve(size);
                zstd.decompress_to_buffer(stored, out)
                    .map_err(|e| broken(e.to_string()))?;
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
    use crate::source::FileSource;

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
        let file = tempfile::NamedTempFile::new().unwrap();
        let source = FileSource::open(file.path()).unwrap();
        for (compression, stored) in [("zstd", zstd_bomb()), ("lz4", lz4_bomb())] {
            let mut out = Vec::new();
            let done = Unpacker::default().unpack(&source, compression, &stored, CLAIMED, &mut out);
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
