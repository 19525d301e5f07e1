//! Random access to the bytes of a file, plain or compressed.

mod zstd_file;

pub(crate) use zstd_file::ZstdSource;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::{Error, Result};

/// Bytes that can be read at any place.
pub(crate) trait Source: Send {
    /// The file that the bytes come from.
    fn path(&self) -> &Path;

    /// How many bytes there are.
    fn size(&self) -> u64;

    /// Fills `buffer` from `offset`; an error when there are fewer bytes.
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<()>;

    /// An error when there are fewer bytes than that; asked before memory is taken for them.
    fn check_range(&self, offset: u64, length: u64) -> Result<()> {
        if offset.saturating_add(length) <= self.size() {
            return Ok(());
        }
        Err(Error::Truncated {
            path: self.path().to_path_buf(),
            offset,
            needed: length,
            available: self.size().saturating_sub(offset),
        })
    }

    /// What is wrong with the way the bytes are stored, in words.
    fn damage(&self) -> Option<String> {
        None
    }
}

/// A plain file.
pub(crate) struct FileSource {
    file: File,
    path: PathBuf,
    size: u64,
}

impl FileSource {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(Error::io(path, "open"))?;
        let metadata = file.metadata().map_err(Error::io(path, "inspect"))?;
        if metadata.is_dir() {
            return Err(Error::NotABag {
                path: path.to_path_buf(),
                reason: "it is a directory, not a file",
            });
        }
        Ok(Self {
            file,
            path: path.to_path_buf(),
            size: metadata.len(),
        })
    }
}

impl Source for FileSource {
    fn path(&self) -> &Path {
        &self.path
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<()> {
        read_exact_at(&mut self.file, offset, buffer).map_err(Error::io(&self.path, "read"))
    }
}

#[cfg(unix)]
fn read_exact_at(file: &mut File, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

#[cfg(not(unix))]
fn read_exact_at(file: &mut File, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(buffer)
}

/// Opens a bag file, compressed (`.zstd`) or not; a compressed one must begin with `magic`.
pub(crate) fn open_source(path: &Path, memory: u64, magic: &[u8]) -> Result<Box<dyn Source>> {
    if path
        .extension()
        .is_some_and(|extension| extension == "zstd")
    {
        return Ok(Box::new(ZstdSource::open(path, memory, magic)?));
    }
    Ok(Box::new(FileSource::open(path)?))
}
