//! Random access to the bytes of a file, plain or compressed.

mod zstd_file;

pub(crate) use zstd_file::ZstdSource;

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::{Error, Place, Result};

/// Bytes that can be read at any offset.
pub trait Source: Send {
    /// The file of the bytes, for messages.
    fn path(&self) -> &Path;

    /// The local file that has these bytes at the same offsets; `None` if there is none, or under another name.
    fn file(&self) -> Option<&Path> {
        None
    }

    /// Size in bytes.
    fn size(&self) -> u64;

    /// Fills `buffer` from `offset`; an error when there are fewer bytes.
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<()>;

    /// Announces the ranges that will most likely be read next, in this order; replaces the previous announcement.
    ///
    /// A source that has to wait for its bytes fetches ahead; others may ignore it. Nothing is fetched before the first
    /// of them is read.
    fn announce(&mut self, _stretches: &mut dyn Iterator<Item = Range<u64>>) {}

    /// An error when there are fewer bytes; checked before memory is allocated for them.
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

    /// Descriptions of damage of the stored bytes.
    fn damage(&self) -> Option<String> {
        None
    }
}

/// A plain file of this machine.
pub struct FileSource {
    file: File,
    path: PathBuf,
    size: u64,
    /// Whether `path` is where the bytes are.
    is_at_path: bool,
}

impl FileSource {
    /// Opens a file.
    pub fn open(path: &Path) -> Result<Self> {
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
            is_at_path: true,
        })
    }

    /// The same bytes under the name of the original file.
    #[must_use]
    pub fn named(mut self, name: &Path) -> Self {
        self.is_at_path &= self.path == name;
        self.path = name.to_path_buf();
        self
    }
}

impl Source for FileSource {
    fn path(&self) -> &Path {
        &self.path
    }

    fn file(&self) -> Option<&Path> {
        self.is_at_path.then_some(&self.path)
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
///
/// Returns it with the stored size, which for a compressed file is not the size of its bytes.
pub(crate) fn open_source(
    place: &dyn Place,
    path: &Path,
    memory: u64,
    magic: &[u8],
) -> Result<(Box<dyn Source>, u64)> {
    if is_compressed(path) {
        let copy = place.local_copy(path)?;
        let stored = std::fs::metadata(copy.path()).map_err(Error::io(path, "inspect"))?;
        let source = ZstdSource::open(copy, path, memory, magic)?;
        return Ok((Box::new(source), stored.len()));
    }
    let source = place.open(path)?;
    let size = source.size();
    Ok((source, size))
}

/// Whether a file is compressed as a whole, by its name.
pub(crate) fn is_compressed(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "zstd")
}

/// The first bytes of a source, up to `count`.
pub(crate) fn head(source: &mut dyn Source, count: u64) -> Result<Vec<u8>> {
    let count = usize::try_from(source.size().min(count)).unwrap_or(usize::MAX);
    let mut bytes = vec![0; count];
    source.read_at(0, &mut bytes)?;
    Ok(bytes)
}
