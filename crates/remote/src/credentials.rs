//! Checks whether there are credentials.

use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

use crate::{Error, Result};

/// The metadata server of cloud machines.
const INSTANCE: SocketAddr = SocketAddr::new(
    std::net::IpAddr::V4(std::net::Ipv4Addr::new(169, 254, 169, 254)),
    80,
);
/// Inside a cloud the metadata server answers at once; elsewhere there is none.
const PATIENCE: Duration = Duration::from_millis(700);

const AWS: [&str; 6] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_SKIP_SIGNATURE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
    "AWS_METADATA_ENDPOINT",
];

const GOOGLE: [&str; 7] = [
    "GOOGLE_SERVICE_ACCOUNT",
    "GOOGLE_SERVICE_ACCOUNT_PATH",
    "GOOGLE_SERVICE_ACCOUNT_KEY",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_SKIP_SIGNATURE",
    "SERVICE_ACCOUNT",
    "GOOGLE_BASE_URL",
];

/// `object_store` would query the metadata server for minutes on a machine outside of a cloud.
pub(crate) fn check_aws(uri: &str) -> Result<()> {
    check(uri, "S3", given(&AWS))
}

pub(crate) fn check_google(uri: &str) -> Result<()> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let file = home.map(|home| home.join(".config/gcloud/application_default_credentials.json"));
    let has_file = file.is_some_and(|file| file.is_file());
    check(uri, "Google Cloud Storage", given(&GOOGLE) || has_file)
}

fn given(names: &[&str]) -> bool {
    let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    names.iter().any(is_set)
}

fn check(uri: &str, service: &'static str, given: bool) -> Result<()> {
    if given || TcpStream::connect_timeout(&INSTANCE, PATIENCE).is_ok() {
        return Ok(());
    }
    Err(Error::NoCredentials {
        uri: uri.to_owned(),
        service,
    })
}
