//! The one error type of this crate.

/// An error of an address; every text names it. Secrets in an address (signatures, passwords) are left out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address is invalid.
    #[error("{uri}: {reason}")]
    BadAddress {
        /// The address.
        uri: String,
        /// The reason.
        reason: String,
    },
    /// The object does not exist.
    #[error("{uri}: not found (404)")]
    NotFound {
        /// The address.
        uri: String,
    },
    /// The server denies access.
    #[error("{uri}: access denied ({status})")]
    Denied {
        /// The address.
        uri: String,
        /// 401 or 403.
        status: u16,
    },
    /// There are no credentials, and the machine provides none.
    #[error("{uri}: no credentials for {service}")]
    NoCredentials {
        /// The address.
        uri: String,
        /// `S3` or `Google Cloud Storage`.
        service: &'static str,
    },
    /// The system has no CA certificates, so no server with TLS can be trusted.
    #[error("{uri}: this system has no CA certificates")]
    NoCertificates {
        /// The address.
        uri: String,
    },
    /// The server cannot list, so a folder without `metadata.yaml` cannot be read.
    #[error("{uri}: a web server cannot list its files")]
    NotListable {
        /// The address.
        uri: String,
    },
    /// The server answers a request for a part with the whole.
    #[error("{uri}: the server gives no parts of a file, only all of it")]
    NoRanges {
        /// The address.
        uri: String,
    },
    /// The file changed since it was opened.
    #[error("{uri}: the file changed while it was read ({what})")]
    Changed {
        /// The address.
        uri: String,
        /// The difference.
        what: String,
    },
    /// An answer has fewer bytes than requested.
    #[error("{uri}: {got} bytes came instead of {wanted} from byte {offset} on")]
    Short {
        /// The address.
        uri: String,
        /// First requested byte.
        offset: u64,
        /// Number of requested bytes.
        wanted: u64,
        /// Number of received bytes.
        got: u64,
    },
    /// The server answered with an error.
    #[error("{uri}: the server answered {status}: {reason}")]
    Status {
        /// The address.
        uri: String,
        /// The HTTP status.
        status: u16,
        /// The rest of the answer.
        reason: String,
    },
    /// There was no usable answer: the network, a name, a certificate, a timeout.
    #[error("{uri}: {reason}")]
    Unreachable {
        /// The address.
        uri: String,
        /// The reason.
        reason: String,
    },
    /// A copy of the file does not fit.
    #[error(
        "{uri}: a copy of {size} bytes does not fit into {directory}, where {free} bytes are free"
    )]
    NoSpace {
        /// The address.
        uri: String,
        /// Bytes of the file.
        size: u64,
        /// The directory of the copy.
        directory: String,
        /// Bytes that are free there.
        free: u64,
    },
    /// The copy of a file cannot be written.
    #[error("{uri}: cannot write a copy to {directory}: {reason}")]
    Copy {
        /// The address.
        uri: String,
        /// The directory of the copy.
        directory: String,
        /// The reason of the operating system.
        reason: String,
    },
    /// Bags are uploaded to S3 and Google Cloud Storage.
    #[error("{uri}: bags are uploaded to s3:// and gs:// only")]
    NotUploadable {
        /// The address.
        uri: String,
    },
    /// An object of that name has another content.
    #[error("{uri}: exists with another content ({there} bytes there, {here} bytes here)")]
    Exists {
        /// The address.
        uri: String,
        /// Its size there.
        there: u64,
        /// The size of the local file.
        here: u64,
    },
    /// The server has other bytes than were sent.
    #[error("{uri}: arrived damaged ({what})")]
    Damaged {
        /// The address.
        uri: String,
        /// How that was seen.
        what: String,
    },
    /// A local file cannot be read, written or deleted.
    #[error("cannot {action} {}: {reason}", path.display())]
    Local {
        /// The file.
        path: std::path::PathBuf,
        /// What was tried, as a verb.
        action: &'static str,
        /// The reason of the operating system.
        reason: String,
    },
    /// The local file changed while it was sent.
    #[error("{} changed while it was uploaded", path.display())]
    ChangedHere {
        /// The file.
        path: std::path::PathBuf,
    },
    /// The bag cannot be read.
    #[error("{reason}")]
    Bag {
        /// The error of `timeloom-bag`.
        reason: String,
    },
    /// The upload was stopped.
    #[error("the upload was stopped")]
    Stopped,
    /// The threads for requests could not be started.
    #[error("cannot start the threads for requests: {reason}")]
    Threads {
        /// The reason of the operating system.
        reason: String,
    },
}

/// Shorthand for this crate's results.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error of `object_store` as one of ours.
    pub(crate) fn from_store(uri: &str, error: &object_store::Error) -> Self {
        let uri = uri.to_owned();
        match error {
            object_store::Error::NotFound { .. } => Self::NotFound { uri },
            object_store::Error::PermissionDenied { .. } => Self::Denied { uri, status: 403 },
            object_store::Error::Unauthenticated { .. } => Self::Denied { uri, status: 401 },
            object_store::Error::Precondition { .. } => Self::Changed {
                uri,
                what: "the server refused the version that was opened, 412".into(),
            },
            object_store::Error::NotSupported { source }
            | object_store::Error::Generic { source, .. } => {
                Self::from_text(uri, &source.to_string())
            }
            other => Self::from_text(uri, &other.to_string()),
        }
    }

    /// `object_store` does not expose the status, but its texts have it.
    fn from_text(uri: String, text: &str) -> Self {
        // Such texts may end with the whole page of a server.
        let text = without_secrets(text.lines().next().unwrap_or_default());
        if text.contains("non-partial response") || text.starts_with("Range request not supported")
        {
            return Self::NoRanges { uri };
        }
        let status = text.split("status code: ").nth(1);
        let number = status.and_then(|rest| rest.get(..3)?.parse().ok());
        match (number, status) {
            (Some(status), Some(rest)) => Self::Status {
                uri,
                status,
                reason: rest
                    .get(3..)
                    .unwrap_or_default()
                    .trim()
                    .trim_end_matches(':')
                    .to_owned(),
            },
            _ => Self::Unreachable { uri, reason: text },
        }
    }

    /// Whether the file exists but cannot be read in parts.
    pub(crate) fn is_empty_range(&self) -> bool {
        matches!(self, Self::Status { status: 416, .. })
    }
}

impl From<Error> for timeloom_bag::Error {
    fn from(error: Error) -> Self {
        Self::Place {
            source: Box::new(error),
        }
    }
}

/// Removes everything behind the `?` of an address.
fn without_secrets(text: &str) -> String {
    let words = text.split(' ').map(|word| match word.split_once('?') {
        Some((address, _)) if address.contains("://") => address,
        _ => word,
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_found_in_a_text() {
        let text = "Error performing GET http://h/x?sig=1 in 3ms - Server returned non-2xx status code: 500 Internal Server Error: ";
        let error = Error::from_text("s3://b/x".into(), text);
        let expected = "s3://b/x: the server answered 500: Internal Server Error";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn signatures_are_removed_from_errors() {
        let text = "error sending request for url (https://h/x.mcap?X-Amz-Signature=abc) refused";
        let error = Error::from_text("https://h/x.mcap".into(), text);
        assert!(!error.to_string().contains("Signature"), "{error}");
    }
}
