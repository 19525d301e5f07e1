//! Options of a bag writer.

use std::borrow::Cow;
use std::path::Path;

use crate::bag::FileNaming;
use crate::compression::CompressionMode;
use crate::mcap::{CarryOver, McapOptions, McapWriter};
use crate::metadata::{
    NO_START_TIME, OLDEST_VERSION, ROSBAG2_VERSION, STATISTICS_VERSION, qos_text, version_of,
};
use crate::sqlite::{SqliteOptions, SqliteWriter};
use crate::{BagMetadata, Error, Result, StorageId, StorageWriter, TopicInfo};

/// The storage of a bag and its options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StorageOptions {
    /// MCAP files.
    Mcap(McapOptions),
    /// sqlite3 databases.
    Sqlite3(SqliteOptions),
}

impl StorageOptions {
    /// A storage with one of its presets; the empty preset is the default.
    pub fn preset(storage: StorageId, preset: &str) -> Result<Self> {
        match storage {
            StorageId::Mcap => McapOptions::preset(preset).map(Self::Mcap),
            StorageId::Sqlite3 => SqliteOptions::preset(preset).map(Self::Sqlite3),
        }
    }

    /// Applies a storage configuration file of rosbag2.
    pub fn apply_config_file(&mut self, path: &Path) -> Result<()> {
        match self {
            Self::Mcap(options) => options.apply_config_file(path),
            Self::Sqlite3(options) => options.apply_config_file(path),
        }
    }

    /// The storage.
    pub fn id(&self) -> StorageId {
        match self {
            Self::Mcap(_) => StorageId::Mcap,
            Self::Sqlite3(_) => StorageId::Sqlite3,
        }
    }

    /// Creates a file. Records carried over go into an MCAP file; no other storage can hold them.
    pub(crate) fn create(
        &self,
        path: &Path,
        metadata: &BagMetadata,
        carry_over: Option<&mut CarryOver>,
    ) -> Result<Box<dyn StorageWriter>> {
        Ok(match self {
            Self::Mcap(options) => {
                let options = options.clone();
                Box::new(McapWriter::create_with(
                    path,
                    options,
                    Some(metadata),
                    carry_over,
                )?)
            }
            Self::Sqlite3(options) => {
                Box::new(SqliteWriter::create(path, options.clone(), Some(metadata))?)
            }
        })
    }
}

/// Options of a bag writer. The default is one MCAP file without compression, and metadata that every reader accepts.
pub struct BagOptions {
    /// The storage.
    pub storage: StorageOptions,
    /// Compression of messages or files, beside that of the storage.
    pub compression: CompressionMode,
    /// Level of that compression; rosbag2 uses 1.
    pub compression_level: i32,
    /// A file is split when it has this size; 0 for never.
    pub max_file_size: u64,
    /// A file is split when it covers more than this; 0 for never.
    pub max_file_duration_ns: i64,
    /// The oldest file is deleted when there are more than this many; 0 keeps all.
    pub max_files: usize,
    /// Names of the files.
    pub naming: FileNaming,
    /// 4 to 10; every version holds the account. `None` is that of the distribution: see
    /// [`version_of`](crate::metadata::version_of).
    pub metadata_version: Option<u32>,
    /// The distribution in the metadata.
    pub ros_distro: String,
    /// The user's own keys for the metadata.
    pub custom_data: Vec<(String, String)>,
    /// Whether the messages come from a recording that was interrupted: see [`BagMetadata::is_interrupted`].
    pub interrupted: bool,
}

impl Default for BagOptions {
    fn default() -> Self {
        Self {
            storage: StorageOptions::Mcap(McapOptions::default()),
            compression: CompressionMode::None,
            compression_level: 1,
            max_file_size: 0,
            max_file_duration_ns: 0,
            max_files: 0,
            naming: FileNaming::Numbered,
            metadata_version: None,
            ros_distro: String::new(),
            custom_data: Vec::new(),
            interrupted: false,
        }
    }
}

impl BagOptions {
    pub(super) fn check(&self) -> Result<()> {
        let minimum = self.storage.id().min_split_size();
        if self.max_file_size > 0 && self.max_file_size < minimum {
            return Err(Error::Config {
                key: "max_file_size".into(),
                reason: format!(
                    "{} is below the minimum of {minimum} bytes of {}",
                    self.max_file_size,
                    self.storage.id().name()
                ),
            });
        }
        if self.max_files > 0 && self.max_file_size == 0 && self.max_file_duration_ns == 0 {
            return Err(Error::Config {
                key: "max_files".into(),
                reason: "it needs a size or a duration at which files are split".into(),
            });
        }
        let version = self.version();
        if !(OLDEST_VERSION..=STATISTICS_VERSION).contains(&version) {
            return Err(Error::Config {
                key: "metadata_version".into(),
                reason: format!("{version} is not one of 4 to 10"),
            });
        }
        Ok(())
    }

    /// The version of the metadata.
    fn version(&self) -> u32 {
        self.metadata_version
            .unwrap_or_else(|| version_of(&self.ros_distro))
    }

    /// The topic as readers of that version expect it: before 9, `QoS` policies are numbers.
    pub(super) fn topic<'t>(&self, topic: &'t TopicInfo) -> Cow<'t, TopicInfo> {
        if self.version() >= ROSBAG2_VERSION {
            return Cow::Borrowed(topic);
        }
        Cow::Owned(TopicInfo {
            offered_qos_profiles: qos_text::with_numbers(&topic.offered_qos_profiles),
            ..topic.clone()
        })
    }

    /// An empty database has about ten pages: small files need small ones.
    pub(super) fn fit_pages(&mut self) {
        const SMALL_FILE: u64 = 16 << 20;
        if let StorageOptions::Sqlite3(options) = &mut self.storage
            && (1..SMALL_FILE).contains(&self.max_file_size)
        {
            options.page_size = options.page_size.min(4096);
        }
    }

    /// The level of the compression of files, if they are compressed.
    pub(super) fn file_compression(&self) -> Option<i32> {
        (self.compression == CompressionMode::File).then_some(self.compression_level)
    }

    /// Metadata of a bag without files.
    pub(super) fn new_metadata(&self) -> BagMetadata {
        let compressed = self.compression != CompressionMode::None;
        let mut metadata = BagMetadata {
            version: self.version(),
            storage_identifier: self.storage.id().name().to_owned(),
            starting_time_ns: NO_START_TIME,
            compression_format: if compressed {
                "zstd".into()
            } else {
                String::new()
            },
            compression_mode: self.compression.metadata_name().to_owned(),
            custom_data: self.custom_data.clone(),
            ros_distro: self.ros_distro.clone(),
            ..BagMetadata::default()
        };
        if self.interrupted {
            metadata.set_interrupted();
        }
        metadata
    }
}
