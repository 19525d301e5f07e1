//! A folder of bags: those that are there now, and what its catalogues know of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use timeloom_bag::metadata::METADATA_FILE;
use timeloom_bag::place::{Listing, PlaceKind, is_address};
use timeloom_bag::{BagSummary, Place, StorageId};

use crate::{CATALOG_FILE, Catalog, Error, FoundBag, Result, discover};

/// The bags below a folder, as it was listed.
#[derive(Debug, Clone, Default)]
pub struct BagFolder {
    /// The folder.
    pub root: PathBuf,
    /// The bags, by name.
    pub bags: Vec<FoundBag>,
    /// Folders that could not be listed, with the reason.
    pub unlisted: Vec<String>,
    /// Names of the catalogues below the folder, that of the folder first.
    catalogs: Vec<String>,
}

impl BagFolder {
    /// The bags below a path; `None` when it is a bag itself, or holds no bags: then it is opened as a bag.
    pub fn find(place: &dyn Place, path: &Path) -> Option<Self> {
        let ends_as_folder = path.to_string_lossy().ends_with('/');
        let is_local = !is_address(path);
        if !is_local && StorageId::from_path(path).is_some() && !ends_as_folder {
            return None;
        }
        if is_local && place.kind(path).ok()? == PlaceKind::File {
            return None;
        }
        if !matches!(place.size(&path.join(METADATA_FILE)), Ok(None)) {
            return None;
        }
        let folder = Self::list(place, path).ok()?;
        let is_bag = folder.bags.iter().any(|bag| bag.name.is_empty());
        (!is_bag && !folder.bags.is_empty()).then_some(folder)
    }

    /// The bags below a folder; there may be none.
    ///
    /// # Errors
    /// When the folder cannot be listed.
    pub fn list(place: &dyn Place, root: &Path) -> Result<Self> {
        Ok(Self::from_listing(root, place.list_below(root)?))
    }

    pub(crate) fn from_listing(root: &Path, listing: Listing) -> Self {
        let names = listing.files.iter().map(|file| file.name.as_str());
        let is_catalog = |name: &&str| {
            name.rsplit('/')
                .next()
                .is_some_and(|last| last == CATALOG_FILE)
        };
        let mut catalogs: Vec<String> = names.filter(is_catalog).map(str::to_owned).collect();
        catalogs.sort_by_key(|name| (name.matches('/').count(), name.clone()));
        Self {
            root: root.to_path_buf(),
            bags: discover(&listing.files),
            unlisted: listing.unlisted,
            catalogs,
        }
    }

    /// The path or address of a bag.
    pub fn path_of(&self, bag: &FoundBag) -> PathBuf {
        self.root.join(&bag.name)
    }

    /// What the catalogues at and below the folder know of its bags, by name; bags that changed since, and bags that are
    /// new, are not in it. Each catalogue that cannot be used is reported to `unusable` and has no effect.
    pub fn known(
        &self,
        place: &dyn Place,
        unusable: &mut dyn FnMut(&Path, &Error),
    ) -> BTreeMap<String, Arc<BagSummary>> {
        let mut known = BTreeMap::new();
        for name in &self.catalogs {
            let folder = name.rsplit_once('/').map(|(folder, _)| folder);
            let wanted = self
                .bags
                .iter()
                .any(|bag| below(bag, folder).is_some() && !known.contains_key(&bag.name));
            if !wanted {
                continue;
            }
            let path = self.root.join(name);
            match load(place, &path) {
                Ok(catalog) => self.add_known(&catalog, folder, &mut known),
                Err(error) => unusable(&path, &error),
            }
        }
        known
    }

    fn add_known(
        &self,
        catalog: &Catalog,
        folder: Option<&str>,
        known: &mut BTreeMap<String, Arc<BagSummary>>,
    ) {
        for bag in &self.bags {
            let entry = below(bag, folder).and_then(|name| catalog.entries.get(name));
            if let Some(summary) = entry.and_then(|entry| entry.certain(bag)) {
                known
                    .entry(bag.name.clone())
                    .or_insert_with(|| Arc::clone(summary));
            }
        }
    }

    /// The catalogues of folders below this one.
    pub(crate) fn without_own_catalog(&self) -> Self {
        let below = |name: &&String| name.contains('/');
        Self {
            catalogs: self.catalogs.iter().filter(below).cloned().collect(),
            ..self.clone()
        }
    }
}

/// The name of a bag below a folder of the root; `None` when it is elsewhere.
fn below<'a>(bag: &'a FoundBag, folder: Option<&str>) -> Option<&'a str> {
    match folder {
        None => Some(&bag.name),
        Some(folder) => bag.name.strip_prefix(folder)?.strip_prefix('/'),
    }
}

/// Reads a catalogue from the place of the bags.
fn load(place: &dyn Place, path: &Path) -> Result<Catalog> {
    let mut source = place.open(path)?;
    let size = source.size();
    source.announce(&mut std::iter::once(0..size));
    let length = usize::try_from(size).map_err(|_too_large| Error::Damaged {
        reason: format!("{size} bytes do not fit into memory"),
    })?;
    let mut bytes = vec![0; length];
    source.read_at(0, &mut bytes)?;
    Catalog::from_bytes(Bytes::from(bytes))
}
