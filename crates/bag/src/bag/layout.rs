//! Where the files of a bag are.

use std::fs;
use std::path::{Path, PathBuf};

use super::namer::split_number;
use crate::compression::UnpackingReader;
use crate::mcap::McapReader;
use crate::metadata::{FileRecord, METADATA_FILE, read_metadata_file, safe_relative_path};
use crate::sqlite::SqliteReader;
use crate::{BagMetadata, Error, Result, StorageId, StorageReader};

/// One file of a bag.
#[derive(Debug, Clone)]
pub struct BagFile {
    /// Where it is.
    pub path: PathBuf,
    /// How it is stored.
    pub storage: StorageId,
    /// What the bag's metadata says about it.
    pub record: Option<FileRecord>,
}

/// A bag on disk before its files are opened.
#[derive(Debug, Clone)]
pub struct BagLayout {
    /// The directory, or the file.
    pub path: PathBuf,
    /// The content of `metadata.yaml`, if there is a readable one.
    pub metadata: Option<BagMetadata>,
    /// The files in the order of the recording.
    pub files: Vec<BagFile>,
    /// What is wrong, in words.
    pub damage: Vec<String>,
}

impl BagLayout {
    /// Finds the files of a bag: a directory with `metadata.yaml`, a directory of bag files, or one bag file.
    pub fn find(path: &Path) -> Result<Self> {
        let kind = fs::metadata(path).map_err(Error::io(path, "open"))?;
        if !kind.is_dir() {
            let storage = detect_storage(path)?;
            let file = BagFile {
                path: path.to_path_buf(),
                storage,
                record: None,
            };
            return Ok(Self {
                path: path.to_path_buf(),
                metadata: None,
                files: vec![file],
                damage: Vec::new(),
            });
        }
        let mut layout = Self {
            path: path.to_path_buf(),
            metadata: None,
            files: Vec::new(),
            damage: Vec::new(),
        };
        match read_metadata_file(path) {
            Ok(metadata) => layout.take_metadata(metadata)?,
            Err(error @ Error::UnsafePath { .. }) => return Err(error),
            Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                layout.damage.push(format!("{METADATA_FILE} is missing"));
            }
            Err(error) => layout.damage.push(format!("{METADATA_FILE}: {error}")),
        }
        if layout.files.is_empty()
            && layout
                .metadata
                .as_ref()
                .is_none_or(|metadata| metadata.message_count > 0)
        {
            layout.files = bag_files(path)?;
            if layout.files.is_empty() {
                let reason = "it holds neither metadata.yaml nor .mcap or .db3 files";
                return Err(Error::NotABag {
                    path: path.to_path_buf(),
                    reason,
                });
            }
        }
        Ok(layout)
    }

    fn take_metadata(&mut self, metadata: BagMetadata) -> Result<()> {
        for (index, name) in metadata.relative_file_paths.iter().enumerate() {
            let relative = safe_relative_path(name)?;
            // Before version 4 paths begin with the name of the bag's directory.
            let parent = self.path.parent().filter(|_| metadata.version < 4);
            let found = candidates(&self.path, parent, &relative)
                .into_iter()
                .find(|path| path.is_file());
            match found {
                Some(path) => {
                    let storage = detect_storage(&path)?;
                    self.files.push(BagFile {
                        path,
                        storage,
                        record: metadata.files.get(index).cloned(),
                    });
                }
                None => self.damage.push(format!("{name} is missing")),
            }
        }
        if metadata.is_unfinished() {
            // The recording went on after this was written: there may be files that it does not name.
            self.files = bag_files(&self.path)?;
            self.damage.clear();
        }
        self.metadata = Some(metadata);
        Ok(())
    }

    /// Size of everything in the bag's directory, or of the single file; as `ros2 bag info` counts it.
    pub fn size(&self) -> u64 {
        let size = |path: &Path| fs::metadata(path).map_or(0, |metadata| metadata.len());
        if !self.path.is_dir() {
            return size(&self.path);
        }
        let entries = fs::read_dir(&self.path)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path());
        // The shared memory of sqlite is no data: it comes and goes with whoever reads the bag.
        let is_data = |path: &PathBuf| {
            path.is_file()
                && path
                    .extension()
                    .is_none_or(|extension| extension != "db3-shm")
        };
        entries.filter(is_data).map(|path| size(&path)).sum()
    }
}

/// Where a file of the metadata may be: names with and without `.zstd` are both in use, and so are both roots.
fn candidates(bag: &Path, parent: Option<&Path>, relative: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    let base = relative.file_name().map(PathBuf::from);
    let roots = parent
        .map(|parent| parent.join(relative))
        .into_iter()
        .chain([bag.join(relative)])
        .chain(base.map(|base| bag.join(base)));
    for path in roots {
        let mut compressed = path.clone().into_os_string();
        compressed.push(".zstd");
        let plain = path
            .to_str()
            .and_then(|text| text.strip_suffix(".zstd"))
            .map(PathBuf::from);
        paths.extend([path, PathBuf::from(compressed)]);
        paths.extend(plain);
    }
    paths
}

/// A file that only takes up space in the directory of a bag while it is recorded, so that there is room for its end.
pub const RESERVED_FILE: &str = ".reserved_for_the_end";

/// The bag files of a directory without metadata, in the order of their numbers.
pub(crate) fn bag_files(directory: &Path) -> Result<Vec<BagFile>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).map_err(Error::io(directory, "list"))? {
        let path = entry.map_err(Error::io(directory, "list"))?.path();
        if let (true, Some(storage)) = (path.is_file(), StorageId::from_path(&path)) {
            files.push(BagFile {
                path,
                storage,
                record: None,
            });
        }
    }
    // A crash between packing a file and removing the original leaves both; they hold the same messages.
    let plain: Vec<PathBuf> = files.iter().map(|file| file.path.clone()).collect();
    files.retain(|file| {
        !plain.contains(&file.path.with_extension("")) || !is_compressed(&file.path)
    });
    files.sort_by_cached_key(|file| {
        let name = file
            .path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let stem = name.strip_suffix(".zstd").unwrap_or(&name);
        let stem = stem
            .rsplit_once('.')
            .map_or(stem, |(stem, _)| stem)
            .to_owned();
        (split_number(&stem), name)
    });
    Ok(files)
}

fn is_compressed(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "zstd")
}

/// The storage of a file: by its name, else by its first bytes.
fn detect_storage(path: &Path) -> Result<StorageId> {
    if let Some(storage) = StorageId::from_path(path) {
        return Ok(storage);
    }
    let mut head = [0u8; 16];
    let read = fs::File::open(path).and_then(|mut file| std::io::Read::read(&mut file, &mut head));
    let count = read.map_err(Error::io(path, "read"))?;
    match head.get(..count).unwrap_or_default() {
        [0x89, b'M', b'C', b'A', b'P', ..] => Ok(StorageId::Mcap),
        bytes if bytes.starts_with(b"SQLite format 3") => Ok(StorageId::Sqlite3),
        _ => Err(Error::NotABag {
            path: path.to_path_buf(),
            reason: "it is neither an MCAP file nor an sqlite3 database",
        }),
    }
}

/// Opens a file of a bag; its messages come unpacked. `unpack` says whether they are compressed one by one,
/// `None` asks the metadata inside the file.
pub fn open_file(file: &BagFile, unpack: Option<bool>) -> Result<Box<dyn StorageReader>> {
    let reader: Box<dyn StorageReader> = match file.storage {
        StorageId::Mcap => Box::new(McapReader::open(&file.path)?),
        StorageId::Sqlite3 => Box::new(SqliteReader::open(&file.path)?),
    };
    let embedded = || {
        reader
            .info()
            .metadata
            .as_ref()
            .is_some_and(BagMetadata::compresses_messages)
    };
    if unpack.unwrap_or_else(embedded) {
        return Ok(Box::new(UnpackingReader::new(reader, &file.path)));
    }
    Ok(reader)
}
