//! Connections to stores, one per bucket or server.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use object_store::aws::AmazonS3Builder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::{ClientOptions, ObjectStore, RetryConfig};

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
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = known.get(&address.store) {
            return Ok(Arc::clone(store));
        }
        let store = make(address, options)?;
        known.insert(address.store.clone(), Arc::clone(&store));
        Ok(store)
    }
}

fn make(address: &ObjectAddress, options: &RemoteOptions) -> Result<Arc<dyn ObjectStore>> {
    let retry = RetryConfig {
        max_retries: options.max_retries,
        retry_timeout: options.retry_timeout,
        ..RetryConfig::default()
    };
    let failed = |error: object_store::Error| unusable(address, &error.to_string());
    // The client reads the certificates of the system when it is created, for which its cryptography must be installed.
    crate::runtime::start()?;
    Ok(match &address.store {
        Store::S3(bucket) => {
            check_aws(&address.uri)?;
            let builder = AmazonS3Builder::from_env().with_bucket_name(bucket);
            Arc::new(builder.with_retry(retry).build().map_err(failed)?)
        }
        Store::Google(bucket) => {
            check_google(&address.uri)?;
            let builder = GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket);
            Arc::new(builder.with_retry(retry).build().map_err(failed)?)
        }
        Store::Web(origin) => {
            let client = ClientOptions::new().with_allow_http(true);
            let builder = HttpBuilder::new()
                .with_url(origin)
                .with_client_options(client);
            Arc::new(builder.with_retry(retry).build().map_err(failed)?)
        }
    })
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
