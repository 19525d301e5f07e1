//! Targets of uploads.

use std::path::Path;
use std::sync::Arc;

use object_store::ObjectStore;
use object_store::multipart::MultipartStore;
use object_store::path::Path as Key;

use crate::address::{Address, ObjectAddress};
use crate::stores::{Writable, open_writable};
use crate::{Error, RemoteOptions, Result};

/// A folder of a bucket that takes bags: `s3://bucket/folder`, `gs://bucket/folder`.
#[derive(Clone)]
pub struct UploadTarget {
    uri: String,
    prefix: Key,
    writable: Writable,
}

/// An object of a target.
#[derive(Clone)]
pub(super) struct TargetObject {
    pub(super) key: Key,
    pub(super) uri: String,
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) parts: Arc<dyn MultipartStore>,
}

impl UploadTarget {
    /// Reads an address; nothing is connected yet.
    ///
    /// # Errors
    /// When the address is not one of S3 or Google Cloud Storage, or there are no credentials.
    pub fn open(address: &str, options: &RemoteOptions) -> Result<Self> {
        let Address::Object(object) = Address::parse(Path::new(address))? else {
            return Err(Error::NotUploadable {
                uri: address.to_owned(),
            });
        };
        let ObjectAddress { key, uri, .. } = &object;
        Ok(Self {
            uri: uri.trim_end_matches('/').to_owned(),
            prefix: key.clone(),
            writable: open_writable(&object, options)?,
        })
    }

    /// The address, without secrets and without a slash at the end.
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// The object for a file of a bag; its name has no `..`.
    pub(super) fn object(&self, bag: &str, file: &str) -> TargetObject {
        let below = bag.split('/').chain(file.split('/'));
        let below: Vec<&str> = below.filter(|part| !part.is_empty()).collect();
        let key = below
            .iter()
            .fold(self.prefix.clone(), |key, part| key.join(*part));
        TargetObject {
            key,
            uri: format!("{}/{}", self.uri, below.join("/")),
            store: Arc::clone(&self.writable.store),
            parts: Arc::clone(&self.writable.parts),
        }
    }
}

impl std::fmt::Debug for UploadTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "UploadTarget({})", self.uri)
    }
}
