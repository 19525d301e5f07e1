//! The catalogue at the target of an upload: each bag that is complete is entered.

use std::path::Path;
use std::sync::Arc;

use timeloom_bag::{Place as _, StorageId};
use timeloom_catalog::{CatalogStore as _, Indexer, Scope};
use timeloom_remote::{AfterUpload, RemoteOptions, RemotePlace};
use timeloom_time::Clock;

use super::CatalogPolicy;
use crate::catalogs::remote::RemoteStore;

/// Enters bags into the catalogue of a target.
pub(super) struct TargetCatalog {
    target: String,
    policy: CatalogPolicy,
}

impl TargetCatalog {
    pub(super) fn new(target: &str, policy: CatalogPolicy) -> Self {
        Self {
            target: target.trim_end_matches('/').to_owned(),
            policy,
        }
    }

    /// As the upload calls it after each bag; `None` when no catalogue is wanted.
    pub(super) fn after_upload(self) -> Option<AfterUpload> {
        if self.policy == CatalogPolicy::Never {
            return None;
        }
        Some(Arc::new(move |uri: &str| self.enter(uri)))
    }

    /// Enters a bag by its address; the error says why it could not.
    pub(super) fn enter(&self, uri: &str) -> Result<(), String> {
        // The upload waits for this: less patience than for the bags themselves.
        let options = RemoteOptions {
            max_retries: 3,
            retry_timeout: std::time::Duration::from_secs(20),
            ..RemoteOptions::default()
        };
        let folder = Path::new(&self.target);
        let store = RemoteStore::open(folder, &options).map_err(|error| error.to_string())?;
        if self.policy == CatalogPolicy::IfThere
            && store.load().map_err(|error| error.to_string())?.is_none()
        {
            return Ok(());
        }
        let name = uri.strip_prefix(&self.target).unwrap_or(uri);
        let name = name.trim_matches('/').to_owned();
        let place = RemotePlace::new(options);
        if needs_whole_files(&place, uri) {
            tracing::info!(uri, "left to `timeloom index`: it cannot be read in parts");
            return Ok(());
        }
        let scope = if StorageId::from_path(Path::new(&name)).is_some() {
            Scope::All
        } else {
            Scope::Bag(name)
        };
        let indexer = Indexer {
            place: Arc::new(place),
            root: folder,
            store: &store,
            clock: Clock::new(),
            threads: 1,
        };
        let report = indexer.update(&scope, &mut |_, _| {});
        let report = report.map_err(|error| error.to_string())?;
        match report.unreadable.first() {
            None => Ok(()),
            Some((bag, reason)) => Err(format!("{bag}: {reason}")),
        }
    }
}

/// Databases and compressed files would be fetched whole, right after they were sent.
fn needs_whole_files(place: &RemotePlace, uri: &str) -> bool {
    let is_whole = |name: &str| {
        let path = Path::new(name);
        let storage = StorageId::from_path(path);
        storage == Some(StorageId::Sqlite3)
            || (storage.is_some() && path.extension().is_some_and(|it| it == "zstd"))
    };
    let listed = place.list_below(Path::new(uri)).unwrap_or_default();
    is_whole(uri) || listed.files.iter().any(|file| is_whole(&file.name))
}
