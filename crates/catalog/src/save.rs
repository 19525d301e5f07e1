//! Changes of a catalogue, and how they reach its store beside other writers.

use std::collections::BTreeMap;

use crate::{Catalog, CatalogStore, Entry, Error, Result, Saved};

/// Attempts to save while other writers are first.
const TRIES: u32 = 20;

/// What a run changed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Changes {
    /// Bags that are new or were opened again.
    pub(crate) entries: BTreeMap<String, Entry>,
    /// Bags that are gone, with the identity that they had.
    pub(crate) removed: BTreeMap<String, String>,
}

impl Changes {
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.removed.is_empty()
    }

    /// Applies the changes. A bag that another writer entered anew in the meantime is not removed.
    fn apply(&self, catalog: &mut Catalog) {
        for (name, identity) in &self.removed {
            let known = catalog.entries.get(name);
            if known.is_some_and(|known| known.identity == *identity) {
                catalog.entries.remove(name);
            }
        }
        for (name, entry) in &self.entries {
            catalog.entries.insert(name.clone(), entry.clone());
        }
    }
}

/// A catalogue as it is in its store.
#[derive(Debug, Clone, Default)]
pub(crate) struct Loaded {
    pub(crate) catalog: Catalog,
    pub(crate) version: Option<String>,
    /// Why the table that is there cannot be used.
    pub(crate) damage: Option<String>,
    pub(crate) bytes: u64,
}

/// Loads a catalogue. A damaged one counts as empty; it is replaced by the next save.
pub(crate) fn load(store: &dyn CatalogStore) -> Result<Loaded> {
    let Some(stored) = store.load()? else {
        return Ok(Loaded::default());
    };
    let bytes = stored.bytes.len() as u64;
    let (catalog, damage) = match Catalog::from_bytes(stored.bytes) {
        Ok(catalog) => (catalog, None),
        Err(Error::Damaged { reason }) => (Catalog::default(), Some(reason)),
        Err(error) => return Err(error),
    };
    Ok(Loaded {
        catalog,
        version: Some(stored.version),
        damage,
        bytes,
    })
}

/// Saves changes; after a conflict they are applied to what the other writer saved. Returns the catalogue as it is now.
pub(crate) fn save(
    store: &dyn CatalogStore,
    mut loaded: Loaded,
    changes: &Changes,
) -> Result<Loaded> {
    for _ in 0..TRIES {
        changes.apply(&mut loaded.catalog);
        let bytes = loaded.catalog.to_bytes()?;
        let size = bytes.len() as u64;
        match store.save(bytes, loaded.version.as_deref())? {
            Saved::Done(version) => {
                tracing::debug!(bytes = size, "catalogue saved");
                return Ok(Loaded {
                    bytes: size,
                    damage: None,
                    // Where the store does not tell it, the next save finds out.
                    version: version.or(loaded.version),
                    catalog: loaded.catalog,
                });
            }
            Saved::Conflict => loaded = load(store)?,
        }
    }
    Err(Error::Contended { tries: TRIES })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use bytes::Bytes;

    use super::*;
    use crate::{Content, LocalStore, StoredCatalog};

    /// A store that counts how often it is asked.
    struct Counted {
        store: LocalStore,
        loads: Cell<u32>,
        saves: Cell<u32>,
    }

    impl CatalogStore for Counted {
        fn load(&self) -> Result<Option<StoredCatalog>> {
            self.loads.set(self.loads.get() + 1);
            self.store.load()
        }

        fn save(&self, bytes: Bytes, replaces: Option<&str>) -> Result<Saved> {
            self.saves.set(self.saves.get() + 1);
            self.store.save(bytes, replaces)
        }
    }

    #[test]
    fn saves_of_one_run_follow_each_other_without_loading() {
        let folder = tempfile::tempdir().unwrap();
        let store = Counted {
            store: LocalStore::new(folder.path()),
            loads: Cell::new(0),
            saves: Cell::new(0),
        };
        let mut loaded = load(&store).unwrap();
        for name in ["a", "b", "c"] {
            let mut changes = Changes::default();
            let entry = Entry {
                identity: name.to_owned(),
                is_settled: true,
                content: Content::Unreadable("empty".to_owned()),
            };
            changes.entries.insert(name.to_owned(), entry);
            loaded = save(&store, loaded, &changes).unwrap();
        }
        assert_eq!((store.loads.get(), store.saves.get()), (1, 3));
        let stored = load(&store.store).unwrap();
        assert_eq!(stored.catalog, loaded.catalog);
        assert_eq!(
            (stored.version, stored.bytes),
            (loaded.version, loaded.bytes)
        );
    }
}
