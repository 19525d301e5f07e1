//! Compression of whole files and of single messages, as in rosbag2.

mod file;
mod message;

pub use file::compress_file;
pub(crate) use message::{MessageCompressor, UnpackingReader};

use crate::{Error, Result};

/// Compression of messages or files, beside that of the storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CompressionMode {
    /// None.
    #[default]
    None,
    /// Each file when it is finished.
    File,
    /// Each message before it is written.
    Message,
}

impl CompressionMode {
    /// The mode of that name, in any case; the empty name is `none`.
    pub fn from_name(name: &str) -> Result<Self> {
        match name.to_ascii_lowercase().as_str() {
            "" | "none" => Ok(Self::None),
            "file" => Ok(Self::File),
            "message" => Ok(Self::Message),
            _ => Err(Error::Unknown {
                kind: "compression mode",
                name: name.to_owned(),
                known: "none, file, message",
            }),
        }
    }

    /// The name in the metadata.
    pub(crate) fn metadata_name(self) -> &'static str {
        match self {
            Self::None => "",
            Self::File => "FILE",
            Self::Message => "MESSAGE",
        }
    }
}
