//! The remote place for `timeloom-bag`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use object_store::ObjectStore;
use timeloom_bag::metadata::METADATA_FILE;
use timeloom_bag::place::{Listing, LocalCopy, LocalPlace, Place, PlaceEntry, PlaceKind};
use timeloom_bag::{FileSource, Source, StorageId};

use crate::address::{Address, ObjectAddress, Store};
use crate::block_cache::BlockCache;
use crate::download::Download;
use crate::object::Object;
use crate::object_source::ObjectSource;
use crate::runtime::Task;
use crate::stores::Stores;
use crate::{Error, FetchReason, RemoteOptions, Result};

/// Addresses (`s3://`, `gs://`, `http://`, `https://`, `file://`) and paths of this machine, with the default options.
pub fn open() -> Arc<dyn Place> {
    Arc::new(RemotePlace::new(RemoteOptions::default()))
}

/// Files at addresses, and those of this machine at plain paths.
///
/// A file keeps the version that was found first, for as long as the place lives. Copies of files that cannot be read
/// in parts are kept as long, and then removed.
pub struct RemotePlace {
    options: RemoteOptions,
    stores: Stores,
    cache: Arc<BlockCache>,
    /// Every file gets its own number in the cache, even when two threads find it at once.
    numbers: AtomicU64,
    found: Mutex<HashMap<PathBuf, Found>>,
    copies: Mutex<HashMap<PathBuf, LocalCopy>>,
}

/// A search in progress.
type Search = Task<Result<(Object, Bytes)>>;

/// Number of files that are searched for at once.
const AT_ONCE: usize = 16;
/// Bytes of the beginning that are fetched with them.
const BEGINNING: u64 = 16 << 10;

/// The state of a path.
#[derive(Clone)]
enum Found {
    /// There is nothing.
    Nothing,
    /// A file, with its number in the cache.
    Object(Arc<Object>, u64),
    /// A file of a server without ranges, hence a copy.
    Whole(LocalCopy),
}

impl RemotePlace {
    /// Connects with the first call.
    pub fn new(options: RemoteOptions) -> Self {
        Self {
            cache: Arc::new(BlockCache::new(options.cache_bytes)),
            options,
            stores: Stores::default(),
            numbers: AtomicU64::new(0),
            found: Mutex::default(),
            copies: Mutex::default(),
        }
    }

    pub(crate) fn store_of(&self, address: &ObjectAddress) -> Result<Arc<dyn ObjectStore>> {
        self.stores.get(address, &self.options)
    }

    fn find(&self, path: &Path, address: &ObjectAddress) -> Result<Found> {
        let known = lock(&self.found).get(path).cloned();
        if let Some(found) = known {
            return Ok(found);
        }
        let answer = self.ask(address)?.wait()?;
        self.take(path, address, answer)
    }

    /// Starts to look for a file.
    fn ask(&self, address: &ObjectAddress) -> Result<Search> {
        let store = self.stores.get(address, &self.options)?;
        let (key, uri) = (address.key.clone(), address.uri.clone());
        Task::start(Object::find(store, key, uri))
    }

    /// Stores the result of a search.
    fn take(
        &self,
        path: &Path,
        address: &ObjectAddress,
        answer: Result<(Object, Bytes)>,
    ) -> Result<Found> {
        let found = match answer {
            Ok((object, tail)) => {
                let file = self.numbers.fetch_add(1, Ordering::Relaxed);
                let at = object.size() - tail.len() as u64;
                self.cache.put(file, at, &tail);
                Found::Object(Arc::new(object), file)
            }
            Err(Error::NotFound { .. }) => Found::Nothing,
            Err(Error::NoRanges { .. }) => {
                let download = Download::new(&address.uri, &self.options, FetchReason::NoRanges);
                let store = self.stores.get(address, &self.options)?;
                Found::Whole(download.in_one(store, address.key.clone())?)
            }
            Err(error) => return Err(error),
        };
        lock(&self.found).insert(path.to_path_buf(), found.clone());
        Ok(found)
    }

    /// Searches for several files at once. A failed search is repeated when the file is needed, and reported then.
    fn find_all(&self, paths: &[PathBuf]) {
        let mut searches = Vec::new();
        for path in paths {
            let known = lock(&self.found).contains_key(path);
            let address = Address::parse(path);
            if let (false, Ok(Address::Object(address))) = (known, address) {
                let search = self.ask(&address);
                searches.push((path, address, search));
            }
        }
        let mut beginnings = Vec::new();
        for (path, address, search) in searches {
            let Ok(answer @ Ok(_)) = search.and_then(Task::wait) else {
                continue;
            };
            let found = self.take(path, &address, answer);
            if let Ok(Found::Object(object, file)) = found
                && reads_its_beginning(path, &object)
            {
                beginnings.push((file, object.fetch(0..BEGINNING)));
            }
        }
        for (file, search) in beginnings {
            if let Ok(Ok(bytes)) = search.and_then(Task::wait) {
                self.cache.put(file, 0, &bytes);
            }
        }
    }

    /// Files below an address, directly.
    fn list_objects(&self, folder: &Path, address: &ObjectAddress) -> Result<Vec<PlaceEntry>> {
        if let Store::Web(_) = address.store {
            return Err(Error::NotListable {
                uri: address.uri.clone(),
            });
        }
        let store = self.stores.get(address, &self.options)?;
        let (key, uri) = (address.key.clone(), address.uri.clone());
        let listed = Task::start(async move {
            let listed = store.list_with_delimiter(Some(&key)).await;
            listed.map_err(|error| Error::from_store(&uri, &error))
        })?
        .wait()??;
        let named = listed.objects.into_iter().filter_map(|object| {
            Some(PlaceEntry {
                path: folder.join(object.location.filename()?),
                size: object.size,
            })
        });
        Ok(named.collect())
    }

    /// A name is not conclusive: a folder has `metadata.yaml` or any other object below it.
    fn object_kind(&self, path: &Path, address: &ObjectAddress) -> Result<PlaceKind> {
        if address.is_file || (StorageId::from_path(path).is_some() && !address.is_folder) {
            return match self.find(path, address)? {
                Found::Nothing => Err(missing(address)),
                Found::Object(..) | Found::Whole(_) => Ok(PlaceKind::File),
            };
        }
        let metadata = path.join(METADATA_FILE);
        let below = match Address::parse(&metadata)? {
            Address::Object(below) => self.find(&metadata, &below),
            Address::Local(_) => Ok(Found::Nothing),
        };
        if matches!(below, Ok(Found::Object(..) | Found::Whole(_))) {
            return Ok(PlaceKind::Folder);
        }
        let listed = self.list_objects(path, address);
        if address.is_folder || listed.as_ref().is_ok_and(|listed| !listed.is_empty()) {
            listed?;
            return Ok(PlaceKind::Folder);
        }
        match self.find(path, address)? {
            Found::Nothing => {
                // Without permission to list, absence cannot be concluded.
                below?;
                Err(missing(address))
            }
            Found::Object(..) | Found::Whole(_) => Ok(PlaceKind::File),
        }
    }
}

/// The reader of MCAP files reads their first bytes, too; the end alone has them if it is the whole file.
fn reads_its_beginning(path: &Path, object: &Object) -> bool {
    path.extension()
        .is_some_and(|extension| extension == "mcap")
        && object.size() > 4 * BEGINNING
}

fn missing(address: &ObjectAddress) -> Error {
    Error::NotFound {
        uri: address.uri.clone(),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Place for RemotePlace {
    fn kind(&self, path: &Path) -> timeloom_bag::Result<PlaceKind> {
        match Address::parse(path)? {
            Address::Local(path) => LocalPlace.kind(&path),
            Address::Object(address) => Ok(self.object_kind(path, &address)?),
        }
    }

    fn size(&self, path: &Path) -> timeloom_bag::Result<Option<u64>> {
        match Address::parse(path)? {
            Address::Local(path) => LocalPlace.size(&path),
            Address::Object(address) => match self.find(path, &address)? {
                Found::Nothing => Ok(None),
                Found::Object(object, _) => Ok(Some(object.size())),
                Found::Whole(copy) => LocalPlace.size(copy.path()),
            },
        }
    }

    fn expect(&self, paths: &[PathBuf]) {
        // A single file gains nothing.
        for some in paths.chunks(AT_ONCE).filter(|some| some.len() > 1) {
            self.find_all(some);
        }
    }

    fn list(&self, folder: &Path) -> timeloom_bag::Result<Vec<PlaceEntry>> {
        match Address::parse(folder)? {
            Address::Local(folder) => LocalPlace.list(&folder),
            Address::Object(address) => Ok(self.list_objects(folder, &address)?),
        }
    }

    fn list_below(&self, folder: &Path) -> timeloom_bag::Result<Listing> {
        match Address::parse(folder)? {
            Address::Local(folder) => LocalPlace.list_below(&folder),
            Address::Object(address) => Ok(self.list_objects_below(folder, &address)?),
        }
    }

    fn open(&self, path: &Path) -> timeloom_bag::Result<Box<dyn Source>> {
        let address = match Address::parse(path)? {
            Address::Local(path) => return LocalPlace.open(&path),
            Address::Object(address) => address,
        };
        match self.find(path, &address)? {
            Found::Nothing => Err(missing(&address).into()),
            Found::Object(object, file) => Ok(Box::new(ObjectSource::new(
                path,
                object,
                file,
                Arc::clone(&self.cache),
            ))),
            Found::Whole(copy) => Ok(Box::new(FileSource::open(copy.path())?.named(path))),
        }
    }

    fn at_hand(&self, path: &Path) -> Option<LocalCopy> {
        match Address::parse(path).ok()? {
            Address::Local(path) => Some(LocalCopy::original(&path)),
            Address::Object(_) => match lock(&self.found).get(path)? {
                Found::Whole(copy) => Some(copy.clone()),
                Found::Nothing | Found::Object(..) => lock(&self.copies).get(path).cloned(),
            },
        }
    }

    fn local_copy(&self, path: &Path) -> timeloom_bag::Result<LocalCopy> {
        let address = match Address::parse(path)? {
            Address::Local(path) => return LocalPlace.local_copy(&path),
            Address::Object(address) => address,
        };
        if let Some(copy) = self.at_hand(path) {
            return Ok(copy);
        }
        let (object, file) = match self.find(path, &address)? {
            Found::Nothing => return Err(missing(&address).into()),
            Found::Whole(copy) => return Ok(copy),
            Found::Object(object, file) => (object, file),
        };
        let reason = FetchReason::NotReadableInParts;
        let download = Download::new(&address.uri, &self.options, reason);
        let source = ObjectSource::new(path, object, file, Arc::clone(&self.cache));
        let copy = download.in_parts(source)?;
        lock(&self.copies).insert(path.to_path_buf(), copy.clone());
        Ok(copy)
    }
}
