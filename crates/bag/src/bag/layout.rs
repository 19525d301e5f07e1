//! The files of a bag.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::namer::split_number;
use crate::compression::UnpackingReader;
use crate::mcap::McapReader;
use crate::metadata::{
    FileRecord, KnownMetadata, METADATA_FILE, read_metadata, safe_relative_path,
};
use crate::place::{LocalPlace, Place, PlaceEntry, PlaceKind};
use crate::source::{head, is_compressed};
use crate::sqlite::SqliteReader;
use crate::{BagMetadata, Error, Result, StorageId, StorageReader};

/// One file of a bag.
#[derive(Debug, Clone)]
pub struct BagFile {
    /// Its path.
    pub path: PathBuf,
    /// Its storage.
    pub storage: StorageId,
    /// Its record in the metadata of the bag.
    pub record: Option<FileRecord>,
}

/// A bag before its files are opened.
#[derive(Debug, Clone)]
pub struct BagLayout {
    /// The directory, or the file.
    pub path: PathBuf,
    /// The content of `metadata.yaml`, if there is a readable one.
    pub metadata: Option<Arc<BagMetadata>>,
    /// The files in the order of the recording.
    pub files: Vec<BagFile>,
    /// Descriptions of damage.
    pub damage: Vec<String>,
    size: u64,
    /// The text of the metadata; see [`KnownMetadata`].
    text: Option<String>,
}

impl BagLayout {
    /// Finds the files of a bag: a directory with `metadata.yaml`, a directory of bag files, or one bag file.
    pub fn find(path: &Path) -> Result<Self> {
        Self::find_in(&LocalPlace, path)
    }

    /// Like [`find`](Self::find), in any [`Place`].
    pub fn find_in(place: &dyn Place, path: &Path) -> Result<Self> {
        let mut layout = Self {
            path: path.to_path_buf(),
            metadata: None,
            files: Vec::new(),
            damage: Vec::new(),
            size: 0,
            text: None,
        };
        if place.kind(path)? == PlaceKind::File {
            layout.files.push(BagFile {
                path: path.to_path_buf(),
                storage: detect_storage(place, path)?,
                record: None,
            });
            layout.size = place.size(path)?.unwrap_or(0);
            return Ok(layout);
        }
        match find_metadata(place, path) {
            Ok(Some((metadata, text))) => {
                layout.text = text;
                layout.take_metadata(place, metadata)?;
            }
            Ok(None) => layout.damage.push(format!("{METADATA_FILE} is missing")),
            Err(error @ (Error::UnsafePath { .. } | Error::Place { .. })) => return Err(error),
            Err(error) => layout.damage.push(format!("{METADATA_FILE}: {error}")),
        }
        if layout.files.is_empty()
            && layout
                .metadata
                .as_ref()
                .is_none_or(|metadata| metadata.message_count > 0)
        {
            layout.files = bag_files(place, path)?;
            if layout.files.is_empty() {
                let reason = "it holds neither metadata.yaml nor .mcap or .db3 files";
                return Err(Error::NotABag {
                    path: path.to_path_buf(),
                    reason,
                });
            }
        }
        layout.size = layout.count_bytes(place);
        Ok(layout)
    }

    fn take_metadata(&mut self, place: &dyn Place, metadata: BagMetadata) -> Result<()> {
        let named = metadata.relative_file_paths.iter();
        let named = named.map(|name| Ok(self.path.join(safe_relative_path(name)?)));
        place.expect(&named.collect::<Result<Vec<_>>>()?);
        for (index, name) in metadata.relative_file_paths.iter().enumerate() {
            let relative = safe_relative_path(name)?;
            // Before version 4 paths begin with the name of the bag's directory.
            let parent = self.path.parent().filter(|_| metadata.version < 4);
            let mut found = None;
            for path in candidates(&self.path, parent, &relative) {
                if place.size(&path)?.is_some() {
                    found = Some(path);
                    break;
                }
            }
            match found {
                Some(path) => {
                    let storage = detect_storage(place, &path)?;
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
            // The recording continued after this was written: there may be files that it does not name.
            self.files = bag_files(place, &self.path)?;
            self.damage.clear();
        }
        self.metadata = Some(Arc::new(metadata));
        Ok(())
    }

    /// The metadata for files that embed the same.
    pub(super) fn known(&self) -> Option<KnownMetadata<'_>> {
        Some(KnownMetadata {
            text: self.text.as_deref()?,
            metadata: self.metadata.as_ref()?,
        })
    }

    /// Releases the text of the metadata, once the files were opened.
    pub(super) fn forget_text(&mut self) {
        self.text = None;
    }

    /// Size of everything in the bag's directory, or of the single file; as `ros2 bag info` counts it.
    pub fn size(&self) -> u64 {
        self.size
    }

    fn count_bytes(&self, place: &dyn Place) -> u64 {
        if let Ok(entries) = place.list(&self.path) {
            return entries.iter().map(|entry| entry.size).sum();
        }
        // Where nothing can be listed, the known files count.
        let known = self.files.iter().map(|file| file.path.clone());
        known
            .chain([self.path.join(METADATA_FILE)])
            .filter_map(|path| place.size(&path).ok().flatten())
            .sum()
    }
}

/// The metadata of a bag's directory; `None` when there is none.
fn find_metadata(place: &dyn Place, bag: &Path) -> Result<Option<(BagMetadata, Option<String>)>> {
    let path = bag.join(METADATA_FILE);
    if place.size(&path)?.is_none() {
        return Ok(None);
    }
    read_metadata(place.open(&path)?.as_mut()).map(Some)
}

/// Candidate paths of a file in the metadata: names with and without `.zstd` are both in use, and so are both roots.
pub(super) fn candidates(bag: &Path, parent: Option<&Path>, relative: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    let base = relative.file_name().map(PathBuf::from);
    // Never a file of another bag: a bag that names one does not open it.
    let roots = parent
        .map(|parent| parent.join(relative))
        .filter(|path| path.starts_with(bag))
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

/// A file that reserves space in the directory of a bag while it is recorded, so that there is room for the end.
pub const RESERVED_FILE: &str = ".reserved_for_the_end";

/// The bag files of a directory without metadata, in the order of their numbers.
pub(crate) fn bag_files(place: &dyn Place, directory: &Path) -> Result<Vec<BagFile>> {
    let mut files = Vec::new();
    for PlaceEntry { path, .. } in place.list(directory)? {
        if let Some(storage) = StorageId::from_path(&path) {
            files.push(BagFile {
                path,
                storage,
                record: None,
            });
        }
    }
    // A crash between compressing a file and removing the original leaves both; they hold the same messages.
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

/// The storage of a file: by its name, else by its first bytes.
fn detect_storage(place: &dyn Place, path: &Path) -> Result<StorageId> {
    if let Some(storage) = StorageId::from_path(path) {
        return Ok(storage);
    }
    match head(place.open(path)?.as_mut(), 16)?.as_slice() {
        [0x89, b'M', b'C', b'A', b'P', ..] => Ok(StorageId::Mcap),
        bytes if bytes.starts_with(b"SQLite format 3") => Ok(StorageId::Sqlite3),
        _ => Err(Error::NotABag {
            path: path.to_path_buf(),
            reason: "it is neither an MCAP file nor an sqlite3 database",
        }),
    }
}

/// Opens a file of a bag; its messages are decompressed. `unpack` is whether they are compressed one by one; `None`
/// takes it from the metadata inside the file.
pub fn open_file(file: &BagFile, unpack: Option<bool>) -> Result<Box<dyn StorageReader>> {
    open_file_in(&LocalPlace, file, unpack)
}

/// Like [`open_file`], in any [`Place`].
pub fn open_file_in(
    place: &dyn Place,
    file: &BagFile,
    unpack: Option<bool>,
) -> Result<Box<dyn StorageReader>> {
    let (reader, _unpack) = open_described(place, file, unpack, None)?;
    Ok(reader)
}

/// Like [`open_file_in`], with the metadata of the bag; also returns whether messages are compressed one by one.
pub(super) fn open_described(
    place: &dyn Place,
    file: &BagFile,
    unpack: Option<bool>,
    known: Option<KnownMetadata<'_>>,
) -> Result<(Box<dyn StorageReader>, bool)> {
    let reader: Box<dyn StorageReader> = match file.storage {
        StorageId::Mcap => Box::new(McapReader::open_described(place, &file.path, known)?),
        StorageId::Sqlite3 => Box::new(SqliteReader::open_described(place, &file.path, known)?),
    };
    let embedded = || reader.info().metadata.as_deref();
    let unpack = unpack.unwrap_or_else(|| embedded().is_some_and(BagMetadata::compresses_messages));
    Ok((unpacking(reader, file, unpack), unpack))
}

/// Opens a file only for its messages and the state of the robot, where that is cheaper: the rest is known from the first
/// time that it was opened.
pub(super) fn open_again(
    place: &dyn Place,
    file: &BagFile,
    unpack: bool,
) -> Result<Box<dyn StorageReader>> {
    let reader: Box<dyn StorageReader> = match file.storage {
        StorageId::Mcap => Box::new(McapReader::open_index(place, &file.path)?),
        StorageId::Sqlite3 => Box::new(SqliteReader::open_in(place, &file.path)?),
    };
    Ok(unpacking(reader, file, unpack))
}

fn unpacking(
    reader: Box<dyn StorageReader>,
    file: &BagFile,
    unpack: bool,
) -> Box<dyn StorageReader> {
    if unpack {
        return Box::new(UnpackingReader::new(reader, &file.path));
    }
    reader
}
