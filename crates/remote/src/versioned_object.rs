//! A small object that several writers replace, each only the version that it has read.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use object_store::path::Path as Key;
use object_store::{
    ObjectStore, ObjectStoreExt as _, PutMode, PutOptions, PutPayload, PutResult, UpdateVersion,
};

use crate::address::Address;
use crate::runtime::Task;
use crate::stores::open_writable;
use crate::{Error, RemoteOptions, Result};

/// An object in a bucket.
#[derive(Clone)]
pub struct VersionedObject {
    uri: String,
    key: Key,
    store: Arc<dyn ObjectStore>,
}

/// Whether an object was replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Replaced {
    /// The new bytes are there, as this version if the store tells it.
    Done(Option<String>),
    /// There is another version than the given one; nothing was changed.
    OtherVersion,
}

impl VersionedObject {
    /// Reads an address; nothing is connected yet.
    ///
    /// # Errors
    /// When the address is not one of S3 or Google Cloud Storage, or there are no credentials.
    pub fn open(address: &Path, options: &RemoteOptions) -> Result<Self> {
        let Address::Object(object) = Address::parse(address)? else {
            return Err(Error::NotUploadable {
                uri: address.display().to_string(),
            });
        };
        Ok(Self {
            store: open_writable(&object, options)?.store,
            uri: object.uri,
            key: object.key,
        })
    }

    /// The bytes and their version; `None` when there is no such object. Blocks.
    ///
    /// # Errors
    /// When the store does not answer or refuses.
    pub fn load(&self) -> Result<Option<(Bytes, String)>> {
        let (store, key, uri) = (Arc::clone(&self.store), self.key.clone(), self.uri.clone());
        let loaded = Task::start(async move {
            let failed = |error: &object_store::Error| Error::from_store(&uri, error);
            let answer = store.get(&key).await.map_err(|error| failed(&error))?;
            let version = UpdateVersion {
                e_tag: answer.meta.e_tag.clone(),
                version: answer.meta.version.clone(),
            };
            let bytes = answer.bytes().await.map_err(|error| failed(&error))?;
            Ok((bytes, text(&version)))
        })?
        .wait()?;
        match loaded {
            Ok(loaded) => Ok(Some(loaded)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Replaces the version that was loaded; `None` creates the object. Blocks.
    ///
    /// A store that has no conditions is written to without one.
    ///
    /// # Errors
    /// When the store does not answer or refuses.
    pub fn replace(&self, bytes: Bytes, version: Option<&str>) -> Result<Replaced> {
        let mode = match version {
            None => PutMode::Create,
            Some(text) => PutMode::Update(parsed(text)),
        };
        match self.put(bytes.clone(), mode)? {
            Err(
                object_store::Error::AlreadyExists { .. }
                | object_store::Error::Precondition { .. }
                | object_store::Error::NotModified { .. }
                | object_store::Error::NotFound { .. },
            ) => Ok(Replaced::OtherVersion),
            Err(error) if has_no_conditions(&error) => {
                let put = self.put(bytes, PutMode::Overwrite)?;
                self.done(put)
            }
            put => self.done(put),
        }
    }

    fn done(&self, put: object_store::Result<PutResult>) -> Result<Replaced> {
        let told = |put: &PutResult| put.e_tag.is_some() || put.version.is_some();
        put.map(|put| Replaced::Done(told(&put).then(|| text(&put.into()))))
            .map_err(|error| Error::from_store(&self.uri, &error))
    }

    fn put(&self, bytes: Bytes, mode: PutMode) -> Result<object_store::Result<PutResult>> {
        let (store, key) = (Arc::clone(&self.store), self.key.clone());
        let options = PutOptions {
            mode,
            ..PutOptions::default()
        };
        Task::start(async move { store.put_opts(&key, PutPayload::from(bytes), options).await })?
            .wait()
    }
}

/// The two parts of a version; neither has a line break.
fn text(version: &UpdateVersion) -> String {
    let part = |part: &Option<String>| part.clone().unwrap_or_default();
    format!("{}\n{}", part(&version.e_tag), part(&version.version))
}

fn parsed(text: &str) -> UpdateVersion {
    let part = |part: &str| (!part.is_empty()).then(|| part.to_owned());
    let (e_tag, version) = text.split_once('\n').unwrap_or((text, ""));
    UpdateVersion {
        e_tag: part(e_tag),
        version: part(version),
    }
}

fn has_no_conditions(error: &object_store::Error) -> bool {
    matches!(
        error,
        object_store::Error::NotImplemented { .. } | object_store::Error::NotSupported { .. }
    ) || error.to_string().contains("NotImplemented")
}

impl std::fmt::Debug for VersionedObject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "VersionedObject({})", self.uri)
    }
}

#[cfg(test)]
mod tests {
    use object_store::memory::InMemory;

    use super::*;

    #[test]
    fn the_version_of_a_replaced_object_is_the_one_to_replace_next() {
        let object = VersionedObject {
            uri: "s3://robots/table".to_owned(),
            key: Key::from("table"),
            store: Arc::new(InMemory::new()),
        };
        let replace = |text: &'static str, version: Option<&str>| {
            let replaced = object.replace(Bytes::from_static(text.as_bytes()), version);
            match replaced.unwrap() {
                Replaced::Done(version) => version,
                Replaced::OtherVersion => None,
            }
        };
        let first = replace("one", None).unwrap();
        assert_eq!(object.load().unwrap().unwrap().1, first);
        let second = replace("two", Some(&first)).unwrap();
        assert_ne!(first, second);
        assert_eq!(replace("late", Some(&first)), None);
        assert!(replace("three", Some(&second)).is_some());
        assert_eq!(object.load().unwrap().unwrap().0, "three");
    }
}
