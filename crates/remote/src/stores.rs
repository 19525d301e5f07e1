//! Connections to stores, one per bucket or server.

use std::collections::HashMap;
use std::sync::Arc;

use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::gcp::{GoogleCloudStorage, GoogleCloudStorageBuilder};
use object_store::http::HttpBuilder;
use object_store::multipart::MultipartStore;
use object_store::{ClientOptions, ObjectStore, RetryConfig};
use timeloom_time::sync::{Mutex, lock};

use crate::address::{ObjectAddress, Store};
use crate::credentials::{check_aws, check_google};
use crate::{Error, RemoteOptions, Result};

/// The stores that were used so far.
#[derive(Default)]
pub(crate) struct Stores {
    known: Mutex<HashMap<Store, Arc<dyn ObjectStore>>>,
}

impl Stores {
    /// The store of an address; created from the environment if it is new.
    pub(crate) fn get(
        &self,
        address: &ObjectAddress,
        options: &RemoteOptions,
    ) -> Result<Arc<dyn ObjectStore>> {
        let mut known = lock(&self.known);
        if let Some(store) = known.get(&address.store) {
            return Ok(Arc::clone(store));
        }
        let store = make(address, options)?;
        known.insert(address.store.clone(), Arc::clone(&store));
        Ok(store)
    }
}

fn make(address: &ObjectAddress, options: &RemoteOptions) -> Result<Arc<dyn ObjectStore>> {
    let retry = retry(options);
    // The client reads the certificates of the system when it is created, for which its cryptography must be installed.
    crate::runtime::start()?;
    Ok(match &address.store {
        Store::S3(bucket) => Arc::new(s3(bucket, address, retry)?),
        Store::Google(bucket) => Arc::new(google(bucket, address, retry)?),
        Store::Web(origin) => {
            let client = ClientOptions::new().with_allow_http(true);
            let builder = HttpBuilder::new()
                .with_url(origin)
                .with_client_options(client);
            let built = builder.with_retry(retry).build();
            Arc::new(built.map_err(|error| unusable(address, &error.to_string()))?)
        }
    })
}

fn s3(bucket: &str, address: &ObjectAddress, retry: RetryConfig) -> Result<AmazonS3> {
    check_aws(&address.uri)?;
    let builder = AmazonS3Builder::from_env().with_bucket_name(bucket);
    let built = builder.with_retry(retry).build();
    built.map_err(|error| unusable(address, &error.to_string()))
}

fn google(bucket: &str, address: &ObjectAddress, retry: RetryConfig) -> Result<GoogleCloudStorage> {
    check_google(&address.uri)?;
    let builder = GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket);
    let built = builder.with_retry(retry).build();
    built.map_err(|error| unusable(address, &error.to_string()))
}

/// A store that takes objects, also in parts.
#[derive(Clone)]
pub(crate) struct Writable {
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) parts: Arc<dyn MultipartStore>,
}

/// The store of an address for writing; web servers take nothing.
pub(crate) fn open_writable(address: &ObjectAddress, options: &RemoteOptions) -> Result<Writable> {
    crate::runtime::start()?;
    let retry = retry(options);
    match &address.store {
        Store::S3(bucket) => {
            let store = Arc::new(s3(bucket, address, retry)?);
            Ok(Writable {
                store: Arc::clone(&store) as Arc<dyn ObjectStore>,
                parts: store,
            })
        }
        Store::Google(bucket) => {
            let store = Arc::new(google(bucket, address, retry)?);
            Ok(Writable {
                store: Arc::clone(&store) as Arc<dyn ObjectStore>,
                parts: store,
            })
        }
        Store::Web(_) => Err(Error::NotUploadable {
            uri: address.uri.clone(),
        }),
    }
}

fn retry(options: &RemoteOptions) -> RetryConfig {
    RetryConfig {
        max_retries: options.max_retries,
        retry_timeout: options.retry_timeout,
        ..RetryConfig::default()
    }
}

/// Half of a pair of keys is the same as none.
fn unusable(address: &ObjectAddress, reason: &str) -> Error {
    let uri = address.uri.clone();
    if reason.contains("Missing AccessKeyId") || reason.contains("Missing SecretAccessKey") {
        return Error::NoCredentials { uri, service: "S3" };
    }
    Error::BadAddress {
        uri,
        reason: reason.to_owned(),
    }
}
