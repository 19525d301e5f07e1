//! What every request says of who sends it: the version, and the secret.

use tonic::codegen::http::{HeaderMap, HeaderName, HeaderValue, header::AUTHORIZATION};
use tonic::{Request, Status};

use super::secret::Secret;

/// The version of a process. Plans are only exchanged between equal ones.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");
const VERSION_HEADER: HeaderName = HeaderName::from_static("timeloom-version");
/// The query that a plan belongs to.
pub(super) const QUERY_HEADER: HeaderName = HeaderName::from_static("timeloom-query");

/// The version and the secret of a process.
#[derive(Debug, Clone)]
pub(super) struct Passport {
    pub(super) version: String,
    pub(super) secret: Option<Secret>,
}

impl Passport {
    /// The headers of each request.
    pub(super) fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if let Ok(version) = HeaderValue::from_str(&self.version) {
            headers.insert(VERSION_HEADER, version);
        }
        let secret = self.secret.as_ref().map(Secret::header);
        if let Some(Ok(mut secret)) = secret.map(|text| HeaderValue::from_str(&text)) {
            // It is not shown by anything that prints headers.
            secret.set_sensitive(true);
            headers.insert(AUTHORIZATION, secret);
        }
        headers
    }

    /// Refuses a request without the secret, or of another version.
    pub(super) fn check(&self, request: Request<()>) -> Result<Request<()>, Status> {
        let header = |name: &str| {
            request
                .metadata()
                .get(name)
                .map(|it| it.as_bytes().to_vec())
        };
        let given = header("authorization");
        let is_known = self.secret.as_ref().is_none_or(|secret| {
            let given = given.as_deref().unwrap_or_default();
            secret.matches(given)
        });
        if !is_known {
            return Err(Status::unauthenticated(match given {
                Some(_) => "the secret is not that of the worker",
                None => "the worker asks for a secret, and none was given",
            }));
        }
        let version = header(VERSION_HEADER.as_str()).unwrap_or_default();
        if version != self.version.as_bytes() {
            return Err(Status::failed_precondition(format!(
                "the worker runs timeloom {}, the asker timeloom {}",
                self.version,
                String::from_utf8_lossy(&version)
            )));
        }
        Ok(request)
    }
}

#[cfg(test)]
mod tests {
    use tonic::Code;
    use tonic::metadata::MetadataMap;

    use super::*;

    fn passport(version: &str, secret: Option<&str>) -> Passport {
        Passport {
            version: version.to_owned(),
            secret: secret.map(|text| Secret::new(text).unwrap()),
        }
    }

    fn refusal(worker: &Passport, asker: &Passport) -> Option<Code> {
        let mut request = Request::new(());
        *request.metadata_mut() = MetadataMap::from_headers(asker.headers());
        worker.check(request).err().map(|status| status.code())
    }

    #[test]
    fn only_equal_versions_with_the_secret_pass() {
        let worker = passport("1", Some("0123456789abcdef"));
        assert_eq!(refusal(&worker, &worker), None);
        let other = passport("2", Some("0123456789abcdef"));
        assert_eq!(refusal(&worker, &other), Some(Code::FailedPrecondition));
        for secret in [None, Some("fedcba9876543210")] {
            let asker = passport("1", secret);
            assert_eq!(refusal(&worker, &asker), Some(Code::Unauthenticated));
        }
        let open = passport("1", None);
        assert_eq!(refusal(&open, &worker), None);
        assert_eq!(refusal(&open, &other), Some(Code::FailedPrecondition));
    }
}
