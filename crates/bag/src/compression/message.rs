//! Messages that are compressed one by one.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::message::size_u64;
use crate::storage::{FileInfo, StorageReader};
use crate::{Error, Message, Query, Result};

/// A message that unpacks to more than this is refused.
const MAX_MESSAGE: u64 = 1 << 30;

/// Compresses messages one by one.
pub(crate) struct MessageCompressor {
    zstd: zstd::bulk::Compressor<'static>,
    path: PathBuf,
}

impl MessageCompressor {
    /// A compressor for the bag at `path`.
    pub(crate) fn new(path: &Path, level: i32) -> Result<Self> {
        let zstd = zstd::bulk::Compressor::new(level).map_err(|e| failed(path, &e))?;
        Ok(Self {
            zstd,
            path: path.to_path_buf(),
        })
    }

    /// Compresses one message.
    pub(crate) fn compress(&mut self, data: &[u8]) -> Result<Vec<u8>> {
        self.zstd.compress(data).map_err(|e| failed(&self.path, &e))
    }
}

fn failed(path: &Path, error: &std::io::Error) -> Error {
    Error::Compression {
        path: path.to_path_buf(),
        what: "message",
        reason: error.to_string(),
    }
}

/// A reader that unpacks the messages of another one.
pub(crate) struct UnpackingReader {
    inner: Box<dyn StorageReader>,
    path: PathBuf,
    unpacked: Vec<u8>,
}

impl UnpackingReader {
    pub(crate) fn new(inner: Box<dyn StorageReader>, path: &Path) -> Self {
        Self {
            inner,
            path: path.to_path_buf(),
            unpacked: Vec::new(),
        }
    }
}

impl StorageReader for UnpackingReader {
    fn info(&self) -> &FileInfo {
        self.inner.info()
    }

    fn start(&mut self, query: &Query) -> Result<()> {
        self.inner.start(query)
    }

    fn advance(&mut self) -> Result<bool> {
        self.unpacked.clear();
        if !self.inner.advance()? {
            return Ok(false);
        }
        let Some(message) = self.inner.message() else {
            return Ok(false);
        };
        let broken = |reason: String| Error::Compression {
            path: self.path.clone(),
            what: "message",
            reason,
        };
        let decoder =
            zstd::stream::read::Decoder::new(message.data).map_err(|e| broken(e.to_string()))?;
        // Read one byte more than is allowed: a bomb is noticed, not unpacked.
        decoder
            .take(MAX_MESSAGE + 1)
            .read_to_end(&mut self.unpacked)
            .map_err(|e| broken(e.to_string()))?;
        let size = size_u64(self.unpacked.len());
        if size > MAX_MESSAGE {
            return Err(Error::TooLarge {
                path: self.path.clone(),
                what: "message",
                size,
                limit: MAX_MESSAGE,
            });
        }
        Ok(true)
    }

    fn message(&self) -> Option<Message<'_>> {
        let message = self.inner.message()?;
        Some(Message {
            data: &self.unpacked,
            ..message
        })
    }
}
