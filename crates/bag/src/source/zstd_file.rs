//! A file that rosbag2 compressed as a whole: decompressed while it is read, never to the disk.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use zstd::stream::read::Decoder;

use super::{Source, head};
use crate::message::size_u64;
use crate::place::LocalCopy;
use crate::{Error, Result};

/// Bytes behind the reading position that stay in memory, so that a step back does not start over.
const WINDOW: usize = 8 << 20;
/// Bytes that are unpacked at a time.
const STEP: usize = 256 << 10;
/// Bytes that hold at least the first block of a stream: a block is at most 128 KiB.
const PROBE: u64 = 132 << 10;

/// A zstd stream with random access.
///
/// A file that fits into the given memory is unpacked there once. A larger one is streamed: reading forward costs one
/// pass, a step back beyond the window starts a new pass.
pub(crate) struct ZstdSource {
    /// The name for messages; the bytes are in `copy`.
    path: PathBuf,
    copy: LocalCopy,
    size: u64,
    decoder: Option<Decoder<'static, BufReader<File>>>,
    /// Unpacked bytes from `window_start` on.
    window: Vec<u8>,
    window_start: u64,
    /// Everything is in the window.
    whole: bool,
    truncated: bool,
}

impl ZstdSource {
    /// Opens a stream that must begin with `magic`; other content is refused before it is unpacked.
    pub(crate) fn open(copy: LocalCopy, path: &Path, memory: u64, magic: &[u8]) -> Result<Self> {
        let mut source = Self::begin(copy, path, magic)?;
        source.load(memory)?;
        if !source.whole {
            // A first pass finds the true size; the size in the frame is not trusted.
            while source.step(WINDOW)? {}
            source.size = source.window_start + size_u64(source.window.len());
        }
        Ok(source)
    }

    /// Decompresses a whole stream, with a description of its damage; more than `limit` bytes are an error.
    pub(crate) fn read_whole(
        copy: LocalCopy,
        path: &Path,
        limit: u64,
        magic: &[u8],
    ) -> Result<(Vec<u8>, Option<String>)> {
        let mut source = Self::begin(copy, path, magic)?;
        source.load(limit)?;
        if !source.whole {
            let size = size_u64(source.window.len());
            return Err(Error::TooLarge {
                path: path.to_path_buf(),
                what: "compressed file",
                size,
                limit,
            });
        }
        let damage = source.damage();
        Ok((source.window, damage))
    }

    fn begin(copy: LocalCopy, path: &Path, magic: &[u8]) -> Result<Self> {
        let mut source = Self {
            path: path.to_path_buf(),
            copy,
            size: 0,
            decoder: None,
            window: Vec::new(),
            window_start: 0,
            whole: false,
            truncated: false,
        };
        source.restart()?;
        while source.window.len() < magic.len() && source.step(usize::MAX)? {}
        if !source.window.starts_with(magic) {
            let reason = "its decompressed content is not a bag file";
            return Err(Error::NotABag {
                path: path.to_path_buf(),
                reason,
            });
        }
        Ok(source)
    }

    /// Checks whether a file begins like a zstd stream.
    pub(crate) fn probe(source: &mut dyn Source) -> Result<()> {
        let bytes = head(source, PROBE)?;
        let mut first = [0u8; 1];
        Decoder::new(bytes.as_slice())
            .and_then(|mut decoder| decoder.read_exact(&mut first))
            .map_err(|e| Error::Compression {
                path: source.path().to_path_buf(),
                what: "zstd file",
                reason: e.to_string(),
            })
    }

    fn restart(&mut self) -> Result<()> {
        let file = File::open(self.copy.path()).map_err(Error::io(&self.path, "open"))?;
        let mut decoder = Decoder::new(file).map_err(|e| self.broken(&e))?;
        // The window of a frame is memory that the file requests: 128 MiB is the default limit of zstd.
        decoder.window_log_max(27).map_err(|e| self.broken(&e))?;
        self.decoder = Some(decoder);
        self.window.clear();
        self.window_start = 0;
        Ok(())
    }

    fn broken(&self, error: &std::io::Error) -> Error {
        Error::Compression {
            path: self.path.clone(),
            what: "zstd file",
            reason: error.to_string(),
        }
    }

    fn load(&mut self, memory: u64) -> Result<()> {
        while size_u64(self.window.len()) <= memory {
            if !self.step(usize::MAX)? {
                self.whole = true;
                self.size = size_u64(self.window.len());
                return Ok(());
            }
        }
        Ok(())
    }

    /// Decompresses the next part and drops data older than `keep` bytes; `false` at the end.
    fn step(&mut self, keep: usize) -> Result<bool> {
        let Some(decoder) = &mut self.decoder else {
            return Ok(false);
        };
        if self.window.len() > keep.saturating_mul(2) {
            let drop = self.window.len() - keep;
            self.window.drain(..drop);
            self.window_start += size_u64(drop);
        }
        let at = self.window.len();
        self.window.resize(at + STEP, 0);
        let read = decoder.read(&mut self.window[at..]);
        self.window
            .truncate(at + read.as_ref().map_or(0, |count| *count));
        match read {
            Ok(0) => {
                self.decoder = None;
                Ok(false)
            }
            Ok(_) => Ok(true),
            Err(error) if at == 0 && self.window_start == 0 => Err(self.broken(&error)),
            // A truncated or damaged stream: keep its output so far.
            Err(_) => {
                self.truncated = true;
                self.decoder = None;
                Ok(false)
            }
        }
    }
}

impl Source for ZstdSource {
    fn path(&self) -> &Path {
        &self.path
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn damage(&self) -> Option<String> {
        self.truncated
            .then(|| format!("the zstd stream is cut off after {} bytes", self.size))
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        let end = offset.saturating_add(size_u64(buffer.len()));
        if end > self.size {
            return Err(Error::Truncated {
                path: self.path.clone(),
                offset,
                needed: size_u64(buffer.len()),
                available: self.size.saturating_sub(offset),
            });
        }
        if offset < self.window_start {
            self.restart()?;
        }
        let keep = WINDOW.max(buffer.len());
        while self.window_start + size_u64(self.window.len()) < end {
            if !self.step(keep)? {
                return Err(Error::Compression {
                    path: self.path.clone(),
                    what: "zstd file",
                    reason: "ends earlier than before".into(),
                });
            }
        }
        let at = usize::try_from(offset - self.window_start).unwrap_or(usize::MAX);
        let bytes = self
            .window
            .get(at..)
            .and_then(|rest| rest.get(..buffer.len()));
        buffer.copy_from_slice(bytes.unwrap_or_default());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(bytes: &[u8]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), zstd::bulk::compress(bytes, 1).unwrap()).unwrap();
        file
    }

    fn copy(path: &Path) -> LocalCopy {
        LocalCopy::original(path)
    }

    fn open(path: &Path, memory: u64, magic: &[u8]) -> Result<ZstdSource> {
        ZstdSource::open(copy(path), path, memory, magic)
    }

    #[test]
    fn a_file_larger_than_the_memory_is_streamed_and_may_be_read_in_any_order() {
        let bytes: Vec<u8> = (0..40u32 << 20)
            .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8)
            .collect();
        let file = packed(&bytes);
        let mut source = open(file.path(), 1 << 20, &bytes[..8]).unwrap();
        assert_eq!(source.size(), size_u64(bytes.len()));
        for at in [39 << 20, 0, 20 << 20, 5 << 20, (40 << 20) - 10] {
            let mut buffer = [0u8; 10];
            source.read_at(size_u64(at), &mut buffer).unwrap();
            assert_eq!(buffer, bytes[at..at + 10]);
        }
        assert!(source.window.capacity() < 40 << 20);
        assert!(source.read_at(40 << 20, &mut [0]).is_err());
    }

    #[test]
    fn a_truncated_file_is_read_to_its_end_and_reported() {
        let bytes: Vec<u8> = (0..4u32 << 20)
            .map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8)
            .collect();
        let file = packed(&bytes);
        let length = file.as_file().metadata().unwrap().len();
        file.as_file().set_len(length / 2).unwrap();
        let source = open(file.path(), 1 << 30, &bytes[..8]).unwrap();
        assert!(source.damage().is_some() && source.size() > 1 << 20 && source.size() < 4 << 20);
    }

    #[test]
    fn garbage_is_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), b"not zstd at all").unwrap();
        assert!(matches!(
            open(file.path(), 1 << 20, b""),
            Err(Error::Compression { .. })
        ));
    }

    #[test]
    fn a_bomb_is_refused_before_it_fills_the_memory() {
        let file = packed(&vec![0u8; 8 << 20]);
        let wrong = open(file.path(), 1 << 30, b"SQLite");
        assert!(matches!(wrong, Err(Error::NotABag { .. })));
        let large = ZstdSource::read_whole(copy(file.path()), file.path(), 1 << 20, b"\0\0");
        assert!(matches!(large, Err(Error::TooLarge { size, .. }) if size < 2 << 20));
        assert_eq!(
            ZstdSource::read_whole(copy(file.path()), file.path(), 9 << 20, b"\0")
                .unwrap()
                .0
                .len(),
            8 << 20
        );
    }
}
