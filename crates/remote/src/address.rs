//! Addresses in the syntax of users.

use std::path::{Path, PathBuf};

use object_store::path::Path as Key;
use timeloom_bag::place::is_address;
use url::Url;

use crate::{Error, Result};

/// The reason for keys that `object_store` does not accept.
const UNUSABLE: &str = "a part of the path is empty, `.`, `..` or not UTF-8";

/// The store of an address.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Store {
    /// A bucket of S3 or of a compatible store.
    S3(String),
    /// A bucket of Google Cloud Storage.
    Google(String),
    /// A web server: scheme, host and port, and the query of every request.
    Web(String),
}

/// The target of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    /// A file of this machine.
    Local(PathBuf),
    /// An object of a store.
    Object(ObjectAddress),
}

/// An object, or a folder of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ObjectAddress {
    pub(crate) store: Store,
    pub(crate) key: Key,
    /// The address without secrets.
    pub(crate) uri: String,
    /// Whether it can only be a file: an address with a query has no names below it.
    pub(crate) is_file: bool,
    /// Whether it can only be a folder: it ends with `/`.
    pub(crate) is_folder: bool,
}

impl Address {
    pub(crate) fn parse(path: &Path) -> Result<Self> {
        if !is_address(path) {
            return Ok(Self::Local(path.to_path_buf()));
        }
        let text = path.to_string_lossy();
        let (scheme, rest) = text.split_once("://").unwrap_or_default();
        let bad = |reason: &str| Error::BadAddress {
            uri: public(&text),
            reason: reason.to_owned(),
        };
        match scheme.to_ascii_lowercase().as_str() {
            "file" => {
                let url = Url::parse(&text).map_err(|e| bad(&e.to_string()))?;
                let path = url.to_file_path();
                path.map(Self::Local)
                    .map_err(|()| bad("it is not a path of this machine"))
            }
            "s3" | "s3a" => bucket(rest, &text, Store::S3),
            "gs" => bucket(rest, &text, Store::Google),
            "http" | "https" => web(&text),
            other => Err(bad(&format!(
                "{other}:// is not known (known: s3, gs, http, https, file)"
            ))),
        }
    }
}

/// The path of this machine that a path or a `file://` address means; `None` for other addresses.
pub fn local_path(path: &Path) -> Option<PathBuf> {
    match Address::parse(path) {
        Ok(Address::Local(path)) => Some(path),
        _ => None,
    }
}

/// Keys of buckets are literal, as in the tools of the clouds.
fn bucket(rest: &str, text: &str, store: fn(String) -> Store) -> Result<Address> {
    let bad = |reason: String| Error::BadAddress {
        uri: text.to_owned(),
        reason,
    };
    let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
    if bucket.is_empty() {
        return Err(bad("the name of the bucket is missing".into()));
    }
    Ok(Address::Object(ObjectAddress {
        store: store(bucket.to_owned()),
        key: Key::parse(key).map_err(|_detail| bad(UNUSABLE.into()))?,
        uri: text.to_owned(),
        is_file: false,
        is_folder: key.is_empty() || key.ends_with('/'),
    }))
}

fn web(text: &str) -> Result<Address> {
    let bad = |reason: String| Error::BadAddress {
        uri: public(text),
        reason,
    };
    let url = Url::parse(text).map_err(|e| bad(e.to_string()))?;
    let key = Key::from_url_path(url.path()).map_err(|_detail| bad(UNUSABLE.into()))?;
    let mut origin = url.clone();
    origin.set_path("");
    origin.set_fragment(None);
    Ok(Address::Object(ObjectAddress {
        store: Store::Web(origin.to_string()),
        key,
        uri: public(text),
        is_file: url.query().is_some(),
        is_folder: url.path().ends_with('/'),
    }))
}

/// An address without its secrets.
fn public(text: &str) -> String {
    let text = text.split(['?', '#']).next().unwrap_or_default();
    match text.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest
                .split_once('/')
                .map_or((rest, None), |(host, path)| (host, Some(path)));
            let host = host.rsplit('@').next().unwrap_or(host);
            let path = path.map(|path| format!("/{path}")).unwrap_or_default();
            format!("{scheme}://{host}{path}")
        }
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(text: &str) -> ObjectAddress {
        match Address::parse(Path::new(text)) {
            Ok(Address::Object(object)) => object,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn addresses_and_paths_are_distinguished() {
        for path in ["bag", "./s3/bag", "/a:/b", "1s3://x", "a b://c"] {
            assert!(!is_address(Path::new(path)), "{path}");
        }
        for path in ["s3://b/k", "gs://b", "https://h/x.mcap", "file:///x"] {
            assert!(is_address(Path::new(path)), "{path}");
        }
        let local = Address::parse(Path::new("file:///data/my%20bag")).unwrap();
        assert_eq!(local, Address::Local("/data/my bag".into()));
    }

    #[test]
    fn keys_of_buckets_are_literal_and_those_of_web_servers_are_not() {
        assert_eq!(object("s3://b/a%20b/c d").key.as_ref(), "a%20b/c d");
        assert_eq!(object("https://h/a%20b/c").key.as_ref(), "a b/c");
        assert_eq!(object("s3://b").store, Store::S3("b".into()));
        assert!(object("s3://b/bag/").is_folder && object("gs://b").is_folder);
    }

    #[test]
    fn secrets_are_not_shown() {
        let signed = object("https://me:word@host:8/x.mcap?X-Amz-Signature=abc");
        assert_eq!(signed.uri, "https://host:8/x.mcap");
        assert!(signed.is_file);
        assert!(
            matches!(&signed.store, Store::Web(origin) if origin.ends_with("?X-Amz-Signature=abc"))
        );
    }

    #[test]
    fn invalid_addresses_are_refused() {
        for text in [
            "ftp://h/x",
            "s3://",
            "s3:///x",
            "s3://b/a//b",
            "s3://b/../x",
            "http://",
        ] {
            let result = Address::parse(Path::new(text));
            assert!(
                matches!(result, Err(Error::BadAddress { .. })),
                "{text}: {result:?}"
            );
        }
    }
}
