//! Options of MCAP files: rosbag2's presets and keys, and the limits that protect a reader.

use std::path::Path;

use super::output_file::WritePath;
use crate::yaml::{self, Node};
use crate::{Error, Result};

/// The size of a chunk unless the options set one.
const DEFAULT_CHUNK_SIZE: usize = 1 << 20;

/// Compression of chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum McapCompression {
    /// Chunks are stored as they are.
    #[default]
    None,
    /// Zstandard at this level; negative levels are faster.
    Zstd(i32),
    /// LZ4 frames.
    Lz4,
}

/// Options of an MCAP writer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the independent switches of rosbag2"
)]
pub struct McapOptions {
    /// A chunk is sealed when it would grow beyond this.
    ///
    /// The default of 1 MiB grows with the topics, 4 KiB each and at most 4 MiB: with few messages per topic and chunk
    /// the index would cost more than the messages.
    pub chunk_size: usize,
    /// A chunk is sealed when its first message is older than this, so that a crash costs no more.
    pub max_chunk_age_ns: i64,
    /// Compression of chunks.
    pub compression: McapCompression,
    /// Keep a chunk compressed even when it does not get smaller.
    pub force_compression: bool,
    /// Whether chunks carry a checksum.
    pub chunk_crc: bool,
    /// Whether the summary carries a checksum.
    pub summary_crc: bool,
    /// Whether messages are grouped in chunks.
    pub chunking: bool,
    /// Whether each chunk is followed by an index of its messages.
    pub message_index: bool,
    /// Whether the file ends with a summary.
    pub summary: bool,
    /// Threads that compress; 0 does everything on the calling thread.
    pub threads: usize,
    /// Chunks that may be between the caller and the file.
    pub chunks_in_flight: usize,
    /// Memory for the index of the chunks; chunks grow when a file would need more.
    pub index_memory: usize,
    /// How chunks of 256 KiB and more go to the disk.
    pub write_path: WritePath,
    /// The program that writes, in the header of the file.
    pub library: String,
}

impl Default for McapOptions {
    fn default() -> Self {
        Self {
            chunk_size: DEFAULT_CHUNK_SIZE,
            max_chunk_age_ns: 500_000_000,
            compression: McapCompression::None,
            force_compression: false,
            chunk_crc: true,
            summary_crc: true,
            chunking: true,
            message_index: true,
            summary: true,
            threads: 0,
            chunks_in_flight: 8,
            index_memory: 64 << 20,
            write_path: WritePath::Direct,
            library: concat!("timeloom ", env!("CARGO_PKG_VERSION")).into(),
        }
    }
}

impl McapOptions {
    /// The presets of rosbag2: `none`, `fastwrite`, `zstd_fast`, `zstd_small`.
    pub fn preset(name: &str) -> Result<Self> {
        let base = Self::default();
        match name {
            "" | "none" => Ok(base),
            "fastwrite" => Ok(Self {
                chunking: false,
                summary_crc: false,
                ..base
            }),
            "zstd_fast" => Ok(Self {
                compression: McapCompression::Zstd(-5),
                ..base
            }),
            "zstd_small" => Ok(Self {
                compression: McapCompression::Zstd(22),
                chunk_size: 4 << 20,
                ..base
            }),
            other => Err(Error::Unknown {
                kind: "mcap preset",
                name: other.to_owned(),
                known: "none, fastwrite, zstd_fast, zstd_small",
            }),
        }
    }

    /// The size of a chunk for a file with this many topics.
    pub(super) fn chunk_size_for(&self, topics: usize) -> usize {
        if self.chunk_size == DEFAULT_CHUNK_SIZE {
            topics
                .saturating_mul(4 << 10)
                .clamp(DEFAULT_CHUNK_SIZE, 4 << 20)
        } else {
            self.chunk_size
        }
    }

    /// Applies a storage configuration file of rosbag2: the keys of `McapWriterOptions`.
    pub fn apply_config_file(&mut self, path: &Path) -> Result<()> {
        let text = std::fs::read_to_string(path).map_err(Error::io(path, "read"))?;
        self.apply_config(&text)
    }

    /// Applies the text of such a file; unknown keys are errors, so that a typing mistake is not silent.
    pub fn apply_config(&mut self, text: &str) -> Result<()> {
        let document = yaml::parse(text)?;
        let Some(entries) = document.as_map() else {
            return Err(Error::Config {
                key: "storage config".into(),
                reason: "is not a map".into(),
            });
        };
        for (key, value) in entries {
            self.apply_key(key, value)?;
        }
        // The level names mean different numbers for each codec: applied when both are known.
        if let Some(level) = document.get("compressionLevel") {
            self.apply_level(level)?;
        }
        Ok(())
    }

    fn apply_key(&mut self, key: &str, value: &Node) -> Result<()> {
        match key {
            "noCRC" => {
                let off = flag(key, value)?;
                self.chunk_crc &= !off;
                self.summary_crc &= !off;
            }
            "noChunkCRC" => self.chunk_crc = !flag(key, value)?,
            "noSummaryCRC" => self.summary_crc = !flag(key, value)?,
            "noChunking" => self.chunking = !flag(key, value)?,
            "noMessageIndex" => self.message_index = !flag(key, value)?,
            "noSummary" => self.summary = !flag(key, value)?,
            "noDirectIO" => {
                self.write_path = if flag(key, value)? {
                    WritePath::PageCache
                } else {
                    WritePath::Direct
                };
            }
            "forceCompression" => self.force_compression = flag(key, value)?,
            "chunkSize" => self.chunk_size = chunk_size(value)?,
            "compression" => self.compression = compression(value)?,
            // These do not apply to the files of this crate, or are always the case.
            "compressionLevel" | "enableDataCRC" | "noAttachmentCRC" | "noAttachmentIndex"
            | "noMetadataIndex" | "noChunkIndex" | "noStatistics" | "noSummaryOffsets"
            | "noRepeatedSchemas" | "noRepeatedChannels" => {}
            other => {
                return Err(Error::Unknown {
                    kind: "mcap option",
                    name: other.to_owned(),
                    known: "noCRC, noChunkCRC, noSummaryCRC, noChunking, noMessageIndex, noSummary, chunkSize, compression, compressionLevel, forceCompression, noDirectIO",
                });
            }
        }
        Ok(())
    }

    fn apply_level(&mut self, value: &Node) -> Result<()> {
        let level = match value.as_str().unwrap_or_default() {
            "Fastest" => -5,
            "Fast" => -3,
            "Default" => 1,
            "Slow" => 5,
            "Slowest" => 22,
            other => {
                return Err(Error::Unknown {
                    kind: "compressionLevel",
                    name: other.to_owned(),
                    known: "Fastest, Fast, Default, Slow, Slowest",
                });
            }
        };
        if let McapCompression::Zstd(current) = &mut self.compression {
            *current = level;
        }
        Ok(())
    }
}

fn flag(key: &str, value: &Node) -> Result<bool> {
    match value.as_str() {
        Some("true" | "True" | "yes" | "on") => Ok(true),
        Some("false" | "False" | "no" | "off") => Ok(false),
        _ => Err(Error::Config {
            key: key.to_owned(),
            reason: "is neither true nor false".into(),
        }),
    }
}

fn chunk_size(value: &Node) -> Result<usize> {
    let size: Option<usize> = value.as_str().and_then(|text| text.parse().ok());
    size.filter(|size| (1..=1 << 30).contains(size))
        .ok_or_else(|| Error::Config {
            key: "chunkSize".into(),
            reason: "is not between 1 byte and 1 GiB".into(),
        })
}

fn compression(value: &Node) -> Result<McapCompression> {
    match value.as_str().unwrap_or_default() {
        "None" | "none" | "" => Ok(McapCompression::None),
        "Zstd" | "zstd" => Ok(McapCompression::Zstd(1)),
        "Lz4" | "lz4" => Ok(McapCompression::Lz4),
        other => Err(Error::Unknown {
            kind: "compression",
            name: other.to_owned(),
            known: "None, Zstd, Lz4",
        }),
    }
}

/// Bounds of a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct McapLimits {
    /// A chunk that claims more than this unpacked is refused.
    pub max_chunk_bytes: u64,
    /// Unpacked chunks that are kept at once when chunks overlap in time; beyond it they are read again.
    pub max_open_bytes: usize,
    /// Bytes of compressed chunks, stored and unpacked, that other threads unpack before their turn; 0 starts no threads.
    pub max_ahead_bytes: u64,
    /// Whether chunk checksums are checked.
    pub check_crc: bool,
}

impl Default for McapLimits {
    fn default() -> Self {
        Self {
            max_chunk_bytes: 1 << 30,
            max_open_bytes: 256 << 20,
            max_ahead_bytes: 64 << 20,
            check_crc: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_default_chunk_size_grows_with_the_topics() {
        let sizes = |options: &McapOptions| {
            [1, 256, 500, 5000].map(|topics| options.chunk_size_for(topics))
        };
        assert_eq!(
            sizes(&McapOptions::default()),
            [1 << 20, 1 << 20, 2_048_000, 4 << 20]
        );
        assert_eq!(
            sizes(&McapOptions {
                chunk_size: 786_432,
                ..McapOptions::default()
            }),
            [786_432; 4]
        );
    }

    #[test]
    fn presets_are_those_of_rosbag2() {
        assert!(!McapOptions::preset("fastwrite").unwrap().chunking);
        assert_eq!(
            McapOptions::preset("zstd_fast").unwrap().compression,
            McapCompression::Zstd(-5)
        );
        assert_eq!(
            McapOptions::preset("zstd_small").unwrap().chunk_size,
            4 << 20
        );
        assert!(McapOptions::preset("zstd").is_err());
    }

    #[test]
    fn the_sample_configuration_of_rosbag2_is_understood() {
        let mut options = McapOptions::default();
        options
            .apply_config("noCRC: false\nnoChunking: false\nnoMessageIndex: false\nnoSummary: false\nchunkSize: 786432\ncompression: \"Zstd\"\ncompressionLevel: \"Fast\"\nforceCompression: true")
            .unwrap();
        assert_eq!(
            (
                options.chunk_size,
                options.compression,
                options.force_compression
            ),
            (786_432, McapCompression::Zstd(-3), true)
        );
        options.apply_config("noDirectIO: true").unwrap();
        assert_eq!(options.write_path, WritePath::PageCache);
        assert!(options.apply_config("nocrc: true").is_err());
        assert!(options.apply_config("chunkSize: -1").is_err());
    }
}
