//! All objects below an address, in the order of their names.

use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use futures_core::Stream;
use object_store::path::Path as Key;
use object_store::{ObjectMeta, ObjectStore, Result as StoreResult};
use timeloom_bag::place::{ListedFile, Listing};

use crate::address::{ObjectAddress, Store};
use crate::runtime::Task;
use crate::{Error, RemotePlace, Result};

/// Objects after which a listing goes on in several parts: a store gives a thousand for each request, one after the
/// other.
const FIRST: usize = 4_000;
/// Parts that are listed at the same time.
const PARTS: usize = 16;

impl RemotePlace {
    /// One request for each thousand objects, and a few more where there are many.
    pub(crate) fn list_objects_below(
        &self,
        folder: &Path,
        address: &ObjectAddress,
    ) -> Result<Listing> {
        if let Store::Web(_) = address.store {
            return Err(Error::NotListable {
                uri: address.uri.clone(),
            });
        }
        tracing::debug!(folder = %folder.display(), "list all objects");
        let store = self.store_of(address)?;
        let objects = list_all(&store, &address.key, FIRST)?;
        let objects = objects.map_err(|error| Error::from_store(&address.uri, &error))?;
        let files = objects.iter().map(|object| {
            let below = object.location.as_ref().get(address.key.as_ref().len()..);
            let name = below.unwrap_or_default().trim_start_matches('/');
            listed(name.to_owned(), object)
        });
        Ok(Listing {
            files: files.collect(),
            unlisted: Vec::new(),
        })
    }
}

/// All objects below a key. The first ones are listed one page after the other, the rest in parts.
fn list_all(
    store: &Arc<dyn ObjectStore>,
    key: &Key,
    first: usize,
) -> Result<StoreResult<Vec<ObjectMeta>>> {
    let begin = Task::start(list_part(
        Arc::clone(store),
        key.clone(),
        Part::first(first),
    ))?;
    let (mut all, end) = match begin.wait()? {
        Ok(listed) => listed,
        Err(error) => return Ok(Err(error)),
    };
    let (End::More, Some(last)) = (end, all.last()) else {
        return Ok(Ok(all));
    };
    let last = last.location.clone();
    let folders = Task::start(folders(Arc::clone(store), key.clone()))?.wait()?;
    let folders = match folders {
        Ok(folders) => folders,
        Err(error) => return Ok(Err(error)),
    };
    let parts = divide(last, &folders).into_iter();
    let parts = parts.map(|part| Task::start(list_part(Arc::clone(store), key.clone(), part)));
    for part in parts.collect::<Result<Vec<_>>>()? {
        match part.wait()? {
            Ok((objects, _)) => all.extend(objects),
            Err(error) => return Ok(Err(error)),
        }
    }
    Ok(Ok(all))
}

/// A part of the names.
#[derive(Debug, PartialEq, Eq)]
struct Part {
    /// All names are behind this one.
    after: Option<Key>,
    /// The last name that may be in it.
    until: Option<Key>,
    /// Objects after which to end.
    at_most: usize,
}

impl Part {
    fn first(at_most: usize) -> Self {
        Self {
            after: None,
            until: None,
            at_most,
        }
    }
}

/// Whether objects remain.
#[derive(Debug, PartialEq, Eq)]
enum End {
    All,
    More,
}

/// Divides the names behind one of them at folders.
fn divide(last: Key, folders: &[Key]) -> Vec<Part> {
    let later: Vec<&Key> = folders.iter().filter(|folder| **folder > last).collect();
    let step = later.len().div_ceil(PARTS).max(1);
    // The first folder of a part is where it begins, and the part before it ends.
    let starts = later.iter().step_by(step).skip(1).map(|key| (*key).clone());
    let starts: Vec<Key> = std::iter::once(last).chain(starts).collect();
    let ends = starts.iter().skip(1).cloned().map(Some).chain([None]);
    let parts = starts.iter().cloned().zip(ends);
    parts
        .map(|(after, until)| Part {
            after: Some(after),
            until,
            at_most: usize::MAX,
        })
        .collect()
}

/// The objects of a part. Objects that do not come in the order of their names are all listed, whatever the limit:
/// only names in order can be divided.
async fn list_part(
    store: Arc<dyn ObjectStore>,
    key: Key,
    part: Part,
) -> StoreResult<(Vec<ObjectMeta>, End)> {
    let mut objects = match &part.after {
        Some(after) => store.list_with_offset(Some(&key), after),
        None => store.list(Some(&key)),
    };
    let (mut found, mut in_order) = (Vec::<ObjectMeta>::new(), true);
    while let Some(object) = next(&mut objects).await {
        let object = object?;
        if part
            .until
            .as_ref()
            .is_some_and(|until| object.location > *until)
        {
            break;
        }
        in_order &= found
            .last()
            .is_none_or(|last| last.location < object.location);
        found.push(object);
        if in_order && found.len() >= part.at_most {
            return Ok((found, End::More));
        }
    }
    Ok((found, End::All))
}

/// Folders to divide the names at: those below the key, or below the only one of them.
async fn folders(store: Arc<dyn ObjectStore>, mut key: Key) -> StoreResult<Vec<Key>> {
    loop {
        let mut folders = store.list_with_delimiter(Some(&key)).await?.common_prefixes;
        if let [only] = folders.as_slice() {
            key = only.clone();
        } else {
            folders.sort();
            return Ok(folders);
        }
    }
}

async fn next<T>(stream: &mut Pin<Box<dyn Stream<Item = T> + Send>>) -> Option<T> {
    std::future::poll_fn(|context| stream.as_mut().poll_next(context)).await
}

/// A store without `ETag` has the date of the object, to the second.
fn listed(name: String, object: &ObjectMeta) -> ListedFile {
    let modified = object.last_modified.timestamp_nanos_opt();
    let tag = object.e_tag.as_deref().filter(|tag| !tag.is_empty());
    ListedFile {
        name,
        size: object.size,
        version: match tag {
            Some(tag) => tag.to_owned(),
            None => modified.unwrap_or_default().to_string(),
        },
        changed_ns: if tag.is_some() { None } else { modified },
    }
}

#[cfg(test)]
mod tests {
    use object_store::ObjectStoreExt as _;
    use object_store::memory::InMemory;

    use super::*;

    /// The names that a listing has, and those that one request after the other has.
    fn both(names: &[String], first: usize) -> (Vec<String>, Vec<String>) {
        let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        for name in names {
            let (store, key) = (Arc::clone(&store), Key::from(name.as_str()));
            let put = Task::start(async move { store.put(&key, "x".into()).await.map(drop) });
            put.unwrap().wait().unwrap().unwrap();
        }
        let listed = |first| {
            let listed = list_all(&store, &Key::from("robots"), first)
                .unwrap()
                .unwrap();
            let names = listed.iter().map(|object| object.location.to_string());
            names.collect::<Vec<_>>()
        };
        (listed(first), listed(usize::MAX))
    }

    #[test]
    fn a_listing_in_parts_is_that_of_one_request_after_the_other() {
        let mut names = vec!["other/a".to_owned(), "robots2/a".to_owned()];
        for robot in 0..40 {
            for run in 0..5 {
                names.push(format!("robots/r{robot}/run_{run}/run_{run}_0.mcap"));
                names.push(format!("robots/r{robot}-x/run_{run}.mcap"));
            }
            names.push(format!("robots/r{robot}.mcap"));
        }
        for first in [1, 2, 7, 100, 300, 1_000] {
            let (parts, all) = both(&names, first);
            assert_eq!(parts, all, "after {first}");
            assert_eq!(parts.len(), 440);
        }
    }

    #[test]
    fn one_folder_and_none_are_listed_too() {
        let below: Vec<String> = (0..50).map(|run| format!("robots/r1/run_{run}")).collect();
        let flat: Vec<String> = (0..50).map(|run| format!("robots/run_{run}")).collect();
        for names in [below, flat] {
            let (parts, all) = both(&names, 3);
            assert_eq!(parts, all);
            assert_eq!(parts.len(), 50);
        }
    }

    #[test]
    fn parts_are_as_many_as_may_run_and_follow_each_other() {
        let folders: Vec<Key> = (0..1_000)
            .map(|it| Key::from(format!("r/{it:04}")))
            .collect();
        let parts = divide(Key::from("r/0099/z"), &folders);
        assert_eq!(parts.len(), PARTS);
        for (part, next) in parts.iter().zip(parts.iter().skip(1)) {
            assert_eq!(part.until, next.after);
            assert!(part.after < part.until);
        }
        assert_eq!(parts.last().unwrap().until, None);
    }
}
