//! All objects below an address.

use std::path::Path;

use object_store::{ObjectMeta, ObjectStore};
use timeloom_bag::place::{ListedFile, Listing};

use crate::address::{ObjectAddress, Store};
use crate::runtime::Task;
use crate::{Error, RemotePlace, Result};

impl RemotePlace {
    /// One request for each thousand objects.
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
        let (key, uri) = (address.key.clone(), address.uri.clone());
        let files = Task::start(async move {
            let mut files = Vec::new();
            let mut objects = store.list(Some(&key));
            while let Some(object) =
                std::future::poll_fn(|context| objects.as_mut().poll_next(context)).await
            {
                let object = object.map_err(|error| Error::from_store(&uri, &error))?;
                let below = object.location.as_ref().get(key.as_ref().len()..);
                let name = below.unwrap_or_default().trim_start_matches('/');
                files.push(listed(name.to_owned(), &object));
            }
            Ok(files)
        })?
        .wait()??;
        Ok(Listing {
            files,
            unlisted: Vec::new(),
        })
    }
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
