//! Where catalogues are kept: beside the bags, on this machine or on object storage.

use std::path::Path;

use timeloom_bag::place::is_address;
use timeloom_catalog::{CatalogStore, LocalStore};

use crate::failure::Failure;

/// The store of the catalogue of a folder.
pub(crate) fn store(folder: &Path) -> anyhow::Result<Box<dyn CatalogStore>> {
    if !is_address(folder) {
        return Ok(Box::new(LocalStore::new(folder)));
    }
    remote_store(folder)
}

#[cfg(feature = "remote")]
fn remote_store(folder: &Path) -> anyhow::Result<Box<dyn CatalogStore>> {
    use timeloom_remote::RemoteOptions;
    if let Some(path) = timeloom_remote::local_path(folder) {
        return Ok(Box::new(LocalStore::new(&path)));
    }
    let store = remote::RemoteStore::open(folder, &RemoteOptions::default());
    let store = store.map_err(timeloom_bag::Error::from)?;
    Ok(Box::new(store))
}

#[cfg(not(feature = "remote"))]
fn remote_store(folder: &Path) -> anyhow::Result<Box<dyn CatalogStore>> {
    let text = format!("{}: this binary reads files only", folder.display());
    let hint = "build one with `cargo install --locked --path crates/cli --features full`";
    Err(Failure::new(text).hint(hint).into())
}

/// Errors of a catalogue with what to do about them.
pub(crate) fn explained(error: timeloom_catalog::Error) -> anyhow::Error {
    use timeloom_catalog::Error;
    match error {
        Error::Bag(error) => error.into(),
        Error::IsABag { path } => {
            let text = format!("{} is a bag", path.display());
            let hint = "name the directory that holds the bags";
            Failure::usage(text).hint(hint).into()
        }
        error @ Error::Version { .. } => Failure::new(error.to_string())
            .hint("a later timeloom wrote it: update this one, or delete the file to build a new one")
            .into(),
        error @ Error::Contended { .. } => Failure::new(error.to_string())
            .hint("run the command again; give each robot a folder of its own, so that few write the same table")
            .into(),
        error => error.into(),
    }
}

#[cfg(feature = "remote")]
pub(crate) mod remote {
    //! A catalogue in a bucket.

    use std::path::Path;

    use bytes::Bytes;
    use timeloom_catalog::{CATALOG_FILE, CatalogStore, Error, Result, Saved, StoredCatalog};
    use timeloom_remote::{RemoteOptions, Replaced, VersionedObject};

    /// The table of a folder in a bucket; each save is conditional.
    pub(crate) struct RemoteStore(VersionedObject);

    impl RemoteStore {
        pub(crate) fn open(
            folder: &Path,
            options: &RemoteOptions,
        ) -> timeloom_remote::Result<Self> {
            VersionedObject::open(&folder.join(CATALOG_FILE), options).map(Self)
        }
    }

    impl CatalogStore for RemoteStore {
        fn load(&self) -> Result<Option<StoredCatalog>> {
            let loaded = self.0.load().map_err(timeloom_bag::Error::from)?;
            Ok(loaded.map(|(bytes, version)| StoredCatalog { bytes, version }))
        }

        fn save(&self, bytes: Bytes, replaces: Option<&str>) -> Result<Saved> {
            let replaced = self.0.replace(bytes, replaces);
            match replaced.map_err(|error| Error::Bag(error.into()))? {
                Replaced::Done(version) => Ok(Saved::Done(version)),
                Replaced::OtherVersion => Ok(Saved::Conflict),
            }
        }
    }
}
