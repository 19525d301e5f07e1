//! The folders of this machine.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::{LocalCopy, Place, PlaceEntry, PlaceKind};
use crate::source::FileSource;
use crate::{Error, Result, Source};

/// The file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalPlace;

impl Place for LocalPlace {
    fn kind(&self, path: &Path) -> Result<PlaceKind> {
        let kind = fs::metadata(path).map_err(Error::io(path, "open"))?;
        Ok(if kind.is_dir() {
            PlaceKind::Folder
        } else {
            PlaceKind::File
        })
    }

    fn size(&self, path: &Path) -> Result<Option<u64>> {
        match fs::metadata(path) {
            Ok(metadata) => Ok(metadata.is_file().then_some(metadata.len())),
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                Ok(None)
            }
            Err(error) => Err(Error::io(path, "inspect")(error)),
        }
    }

    fn list(&self, folder: &Path) -> Result<Vec<PlaceEntry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(folder).map_err(Error::io(folder, "list"))? {
            let path = entry.map_err(Error::io(folder, "list"))?.path();
            // A file that vanished meanwhile is skipped.
            if let Ok(Some(size)) = self.size(&path) {
                entries.push(PlaceEntry { path, size });
            }
        }
        Ok(entries)
    }

    fn open(&self, path: &Path) -> Result<Box<dyn Source>> {
        Ok(Box::new(FileSource::open(path)?))
    }

    fn at_hand(&self, path: &Path) -> Option<LocalCopy> {
        Some(LocalCopy::original(path))
    }

    fn local_copy(&self, path: &Path) -> Result<LocalCopy> {
        Ok(LocalCopy::original(path))
    }
}
