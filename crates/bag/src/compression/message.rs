//! Messages that are compressed one by one.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::message::size_u64;
use crate::storage::{FileInfo, StorageReader};
use crate::{Error, Message, Query, Result, StatePart};

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

/// A reader that decompresses the messages of another one.
pub(crate) struct UnpackingReader {
    inner: Box<dyn StorageReader>,
    path: PathBuf,
    limit: u64,
    unpacked: Vec<u8>,
}

impl UnpackingReader {
    pub(crate) fn new(inner: Box<dyn StorageReader>, path: &Path) -> Self {
        Self {
            inner,
            path: path.to_path_buf(),
            limit: MAX_MESSAGE,
            unpacked: Vec::new(),
        }
    }
}

impl StorageReader for UnpackingReader {
    fn info(&self) -> &FileInfo {
        self.inner.info()
    }

    fn state_texts(&mut self, part: StatePart) -> Result<Vec<String>> {
        self.inner.state_texts(part)
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
        // Reads one byte more than is allowed: a bomb is detected, not unpacked.
        decoder
            .take(self.limit + 1)
            .read_to_end(&mut self.unpacked)
            .map_err(|e| broken(e.to_string()))?;
        let size = size_u64(self.unpacked.len());
        if size > self.limit {
            return Err(Error::TooLarge {
                path: self.path.clone(),
                what: "message",
                size,
                limit: self.limit,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BagOptions, BagWriter, TopicInfo};

    /// A bag with one compressed message.
    fn reader(packed: &[u8], limit: u64) -> (tempfile::TempDir, UnpackingReader) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("bag");
        let mut writer = BagWriter::create(&path, BagOptions::default()).unwrap();
        let topic = writer
            .add_topic(&TopicInfo::new("/a", "std_msgs/msg/String"))
            .unwrap();
        let message = Message {
            topic,
            log_time_ns: 1,
            publish_time_ns: 1,
            sequence: 1,
            data: packed,
        };
        writer.write(&[message], 1).into_result().unwrap();
        writer.finish().unwrap().1.into_result().unwrap();
        let file = path.join("bag_0.mcap");
        let inner = Box::new(crate::mcap::McapReader::open(&file).unwrap());
        let mut reader = UnpackingReader::new(inner, &file);
        reader.limit = limit;
        reader.start(&Query::default()).unwrap();
        (directory, reader)
    }

    #[test]
    fn a_bomb_is_refused_before_it_fills_the_memory() {
        let bomb = zstd::bulk::compress(&vec![0; 64 << 20], 1).unwrap();
        assert!(bomb.len() < 8 << 10, "{}", bomb.len());
        let (_directory, mut reader) = reader(&bomb, 1 << 20);
        let refused = reader.advance();
        assert!(
            matches!(refused, Err(Error::TooLarge { .. })),
            "{refused:?}"
        );
        assert!(reader.unpacked.capacity() <= 4 << 20);
    }

    #[test]
    fn a_message_that_fits_is_unpacked() {
        let packed = zstd::bulk::compress(&[7; 1000], 1).unwrap();
        let (_directory, mut reader) = reader(&packed, 1000);
        assert!(reader.advance().unwrap());
        assert_eq!(reader.message().unwrap().data, [7; 1000]);
    }
}
