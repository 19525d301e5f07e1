//! Connections to stores, one per bucket or server.

use std::collections::HashMap;
use std::error::Error as StdError;
use std::sync::{Arc, Mutex, PoisonError};

use object_store::aws::{AmazonS3, AmazonS3Builder, AmazonS3ConfigKey};
use object_store::gcp::{GoogleCloudStorage, GoogleCloudStorageBuilder};
use object_store::http::HttpBuilder;
use object_store::multipart::MultipartStore;
use object_store::{ClientConfigKey, ClientOptions, ObjectStore, RetryConfig};

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
            let builder = builder.with_retry(retry);
            let plain = origin.starts_with("http://");
            Arc::new(connect(address, plain, |key| {
                let builder = builder.clone();
                match key {
                    Some(key) => builder.with_config(key, "true").build(),
                    None => builder.build(),
                }
            })?)
        }
    })
}

fn s3(bucket: &str, address: &ObjectAddress, retry: RetryConfig) -> Result<AmazonS3> {
    check_aws(&address.uri)?;
    let builder = AmazonS3Builder::from_env().with_bucket_name(bucket);
    let builder = builder.with_retry(retry);
    let endpoint = builder.get_config_value(&AmazonS3ConfigKey::Endpoint);
    let plain = endpoint.is_some_and(|endpoint| endpoint.starts_with("http://"));
    connect(address, plain, |key| {
        let builder = builder.clone();
        match key {
            Some(key) => builder
                .with_config(AmazonS3ConfigKey::Client(key), "true")
                .build(),
            None => builder.build(),
        }
    })
}

fn google(bucket: &str, address: &ObjectAddress, retry: RetryConfig) -> Result<GoogleCloudStorage> {
    check_google(&address.uri)?;
    let builder = GoogleCloudStorageBuilder::from_env().with_bucket_name(bucket);
    let builder = builder.with_retry(retry);
    connect(address, false, |_| builder.clone().build())
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

/// Builds a client. It reads the CA certificates of the system, and a system may have none (containers, small roots):
/// for a server without TLS it is built again with the setting that it needs none, for others that is an error.
fn connect<T>(
    address: &ObjectAddress,
    plain: bool,
    build: impl Fn(Option<ClientConfigKey>) -> object_store::Result<T>,
) -> Result<T> {
    let built = match build(None) {
        Err(error) if lacks_certificates(&error) && plain => {
            build(Some(ClientConfigKey::NoSystemCertificates))
        }
        Err(error) if lacks_certificates(&error) => {
            let uri = address.uri.clone();
            return Err(Error::NoCertificates { uri });
        }
        built => built,
    };
    built.map_err(|error| unusable(address, &error.to_string()))
}

/// Whether a client could not be built because there are no CA certificates; the reason is the last of a chain.
fn lacks_certificates(error: &object_store::Error) -> bool {
    let mut reason: Option<&dyn StdError> = Some(error);
    while let Some(error) = reason {
        if error.to_string().contains("No CA certificates") {
            return true;
        }
        reason = error.source();
    }
    false
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

#[cfg(test)]
mod tests {
    use super::*;

    fn address(uri: &str) -> ObjectAddress {
        ObjectAddress::parse(std::path::Path::new(uri)).unwrap()
    }

    /// What the client says of a system without certificates, unless it is asked not to look for them.
    fn without_certificates(key: Option<ClientConfigKey>) -> object_store::Result<()> {
        if key.is_some() {
            return Ok(());
        }
        let source = std::io::Error::other("No CA certificates were loaded from the system");
        Err(object_store::Error::Generic {
            store: "HTTP",
            source: Box::new(object_store::Error::Generic {
                store: "builder error",
                source: source.into(),
            }),
        })
    }

    #[test]
    fn a_server_without_tls_needs_no_certificates() {
        connect(&address("http://h/x.mcap"), true, without_certificates).unwrap();
        let error = connect(&address("https://h/x.mcap"), false, without_certificates).unwrap_err();
        assert_eq!(
            error.to_string(),
            "https://h/x.mcap: this system has no CA certificates"
        );
    }
}
