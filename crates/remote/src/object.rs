//! One file of a store, in the version that was found first.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use object_store::path::Path as Key;
use object_store::{GetOptions, GetRange, GetResult, ObjectMeta, ObjectStore, ObjectStoreExt as _};

use crate::runtime::Task;
use crate::{Error, Result};

/// Bytes that are fetched to open a file: the end of an MCAP file has its summary, and of a small file this is all.
const TAIL: u64 = 32 << 10;

/// A file whose size and version are known.
#[derive(Clone)]
pub(crate) struct Object {
    store: Arc<dyn ObjectStore>,
    key: Key,
    /// The address without secrets.
    pub(crate) uri: String,
    meta: ObjectMeta,
}

impl Object {
    /// Looks for a file; returns it with its last bytes.
    pub(crate) async fn find(
        store: Arc<dyn ObjectStore>,
        key: Key,
        uri: String,
    ) -> Result<(Self, Bytes)> {
        let options = GetOptions {
            range: Some(GetRange::Suffix(TAIL)),
            ..GetOptions::default()
        };
        let failed = |error: &object_store::Error| Error::from_store(&uri, error);
        let (meta, bytes) = match store.get_opts(&key, options).await {
            Ok(answer) => {
                let meta = answer.meta.clone();
                (meta, body(&uri, answer).await?)
            }
            // An empty file has no last bytes; only its size is needed.
            Err(error) if failed(&error).is_empty_range() => {
                let meta = store.head(&key).await.map_err(|error| failed(&error))?;
                (meta, Bytes::new())
            }
            Err(error) => return Err(failed(&error)),
        };
        tracing::debug!(uri, bytes = meta.size, "file found");
        let object = Self {
            store,
            key,
            uri,
            meta,
        };
        Ok((object, bytes))
    }

    pub(crate) fn size(&self) -> u64 {
        self.meta.size
    }

    /// Starts to fetch a part of the version that was found.
    pub(crate) fn fetch(&self, range: Range<u64>) -> Result<Task<Result<Bytes>>> {
        let object = self.clone();
        Task::start(async move { object.part(range).await })
    }

    async fn part(&self, range: Range<u64>) -> Result<Bytes> {
        tracing::debug!(uri = self.uri, ?range, "request");
        let options = GetOptions {
            range: Some(GetRange::Bounded(range)),
            if_match: self.strong_tag(),
            ..GetOptions::default()
        };
        let answer = self.store.get_opts(&self.key, options).await;
        let answer = answer.map_err(|error| match Error::from_store(&self.uri, &error) {
            gone @ Error::NotFound { .. } => self.changed(&gone.to_string()),
            shorter if shorter.is_empty_range() => self.changed("it is shorter now"),
            other => other,
        })?;
        // Not every server implements conditions.
        self.check(&answer.meta)?;
        body(&self.uri, answer).await
    }

    /// The tag for `If-Match`, which never matches a weak one.
    fn strong_tag(&self) -> Option<String> {
        let tag = self.meta.e_tag.clone();
        tag.filter(|tag| !tag.starts_with("W/"))
    }

    fn check(&self, now: &ObjectMeta) -> Result<()> {
        if now.size != self.meta.size {
            let (old, new) = (self.meta.size, now.size);
            return Err(self.changed(&format!("{old} bytes before, {new} now")));
        }
        if now.e_tag != self.meta.e_tag {
            return Err(self.changed("another ETag"));
        }
        if now.last_modified != self.meta.last_modified {
            return Err(self.changed("a later date"));
        }
        Ok(())
    }

    fn changed(&self, what: &str) -> Error {
        Error::Changed {
            uri: self.uri.clone(),
            what: what.to_owned(),
        }
    }
}

/// The complete bytes of an answer.
async fn body(uri: &str, answer: GetResult) -> Result<Bytes> {
    let range = answer.range.clone();
    let bytes = answer.bytes().await;
    let bytes = bytes.map_err(|error| Error::from_store(uri, &error))?;
    let (wanted, got) = (range.end - range.start, bytes.len() as u64);
    if got != wanted {
        return Err(Error::Short {
            uri: uri.to_owned(),
            offset: range.start,
            wanted,
            got,
        });
    }
    Ok(bytes)
}
