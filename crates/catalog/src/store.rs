//! Where the table of a catalogue is kept.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use sha2::{Digest as _, Sha256};

use crate::hex::hex;
use crate::{CATALOG_FILE, Error, Result};

/// The bytes of a table, and the version that they are.
#[derive(Debug, Clone)]
pub struct StoredCatalog {
    /// The table.
    pub bytes: Bytes,
    /// What tells this version from others, in the words of the store.
    pub version: String,
}

/// The outcome of a save.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Saved {
    /// The table is there, as this version if the store tells it.
    Done(Option<String>),
    /// Another writer was first; nothing was changed.
    Conflict,
}

/// Keeps the table of one folder. A save replaces all of it or nothing, and only the version that was loaded.
pub trait CatalogStore {
    /// The table; `None` when there is none.
    ///
    /// # Errors
    /// When it cannot be read.
    fn load(&self) -> Result<Option<StoredCatalog>>;

    /// Replaces the version that was loaded; `None` for a table that did not exist.
    ///
    /// # Errors
    /// When it cannot be written.
    fn save(&self, bytes: Bytes, replaces: Option<&str>) -> Result<Saved>;
}

/// A table in a folder of this machine.
///
/// It is written beside the old one and renamed. Writers take turns by a lock on the folder.
#[derive(Debug, Clone)]
pub struct LocalStore {
    folder: PathBuf,
}

/// Names of tables that are being written.
const PREFIX: &str = ".timeloom_catalog.";
const SUFFIX: &str = ".tmp";

impl LocalStore {
    /// The table of a folder.
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_path_buf(),
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.join(CATALOG_FILE)
    }

    /// Removes what writers left that were killed; the lock is held, so that none is at work.
    fn remove_leftovers(&self) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with(PREFIX) && name.ends_with(SUFFIX) {
                // It costs space, and nothing else.
                let _removed = fs::remove_file(entry.path());
            }
        }
    }
}

impl CatalogStore for LocalStore {
    fn load(&self) -> Result<Option<StoredCatalog>> {
        let path = self.path();
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(StoredCatalog {
                version: version(&bytes),
                bytes: bytes.into(),
            })),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed(&path, "read")(error)),
        }
    }

    fn save(&self, bytes: Bytes, replaces: Option<&str>) -> Result<Saved> {
        let folder = File::open(&self.folder).map_err(failed(&self.folder, "open"))?;
        // Where a file system has no locks, the comparison alone has to do.
        let is_locked = folder.lock().is_ok();
        if self.load()?.map(|there| there.version).as_deref() != replaces {
            return Ok(Saved::Conflict);
        }
        if is_locked {
            self.remove_leftovers();
        }
        let saved = version(&bytes);
        let name = format!("{PREFIX}{}{SUFFIX}", std::process::id());
        let temporary = self.folder.join(name);
        let written = File::create(&temporary).and_then(|mut file| {
            file.write_all(&bytes)?;
            file.sync_data()
        });
        let renamed = written.and_then(|()| fs::rename(&temporary, self.path()));
        if let Err(error) = renamed {
            // The failure is reported; the leftover costs space only.
            let _removed = fs::remove_file(&temporary);
            return Err(failed(&self.path(), "write")(error));
        }
        // The new name survives a power cut, or the old table does.
        let _synced = folder.sync_data();
        Ok(Saved::Done(Some(saved)))
    }
}

/// A hash of the content: a file system may give the number and the time of a removed file to the next one.
fn version(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn failed(path: &Path, action: &'static str) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.to_path_buf();
    move |source| Error::Io {
        path,
        action,
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn save(store: &LocalStore, text: &'static str, replaces: Option<&str>) -> Saved {
        store
            .save(Bytes::from_static(text.as_bytes()), replaces)
            .unwrap()
    }

    #[test]
    fn only_the_version_that_was_loaded_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let store = LocalStore::new(folder.path());
        assert!(store.load().unwrap().is_none());
        let one = save(&store, "one", None);
        assert_eq!(save(&store, "other", None), Saved::Conflict);
        let loaded = store.load().unwrap().unwrap();
        assert_eq!(loaded.bytes, "one");
        assert_eq!(one, Saved::Done(Some(loaded.version.clone())));
        let longer = save(&store, "longer", Some(&loaded.version));
        assert!(matches!(longer, Saved::Done(_)), "{longer:?}");
        assert_eq!(save(&store, "late", Some(&loaded.version)), Saved::Conflict);
        assert_eq!(store.load().unwrap().unwrap().bytes, "longer");
    }

    #[test]
    fn a_writer_that_was_killed_leaves_the_old_table_and_its_leftover_goes() {
        let folder = tempfile::tempdir().unwrap();
        let store = LocalStore::new(folder.path());
        save(&store, "one", None);
        let leftover = folder.path().join(".timeloom_catalog.7.tmp");
        fs::write(&leftover, "ha").unwrap();
        let loaded = store.load().unwrap().unwrap();
        assert_eq!(loaded.bytes, "one");
        save(&store, "two", Some(&loaded.version));
        assert!(!leftover.exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn writers_at_the_same_time_lose_no_update() {
        let folder = tempfile::tempdir().unwrap();
        let store = LocalStore::new(folder.path());
        save(&store, "0", None);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut left = 25;
                    while left > 0 {
                        let loaded = store.load().unwrap().unwrap();
                        let number: u64 =
                            std::str::from_utf8(&loaded.bytes).unwrap().parse().unwrap();
                        let next = format!("{}", number + 1);
                        match store.save(next.into(), Some(&loaded.version)).unwrap() {
                            Saved::Done(_) => left -= 1,
                            Saved::Conflict => {}
                        }
                    }
                });
            }
        });
        assert_eq!(store.load().unwrap().unwrap().bytes, "100");
    }
}
