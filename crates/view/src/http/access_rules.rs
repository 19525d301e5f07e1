use std::fmt;

use super::host::{authority_of, host_of, is_address, is_local};

/// The pages of Foxglove and Lichtblick.
const KNOWN_PAGES: [&str; 4] = [
    "https://app.foxglove.dev",
    "https://studio.foxglove.dev",
    "https://lichtblick-suite.github.io",
    "https://suite.lichtblick.dev",
];

/// Decides which requests are accepted. Any web page in a browser can try to connect.
///
/// Two headers are checked. `Host` must be an address, a local name, or an allowed name; otherwise a page could reach
/// the server under its own name (DNS rebinding). `Origin`, which browsers send, must be local, the page of this
/// server, a desktop program (`file://`), Foxglove's or Lichtblick's, or allowed. `null` is not accepted by default:
/// any page can send it from a sandboxed frame.
#[derive(Clone, Debug, Default)]
pub struct AccessRules {
    allowed: Vec<String>,
}

/// The reason for refusing a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The host name in the request.
    Host(String),
    /// The origin of the page.
    Origin(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(host) => write!(
                f,
                "this server does not answer to the name '{host}'; use an address, or start it with --allow-origin http://{host}"
            ),
            Self::Origin(origin) => write!(
                f,
                "pages of {origin} may not connect; start the server with --allow-origin {origin}"
            ),
        }
    }
}

impl AccessRules {
    /// Rules that also allow these origins, such as `https://studio.example.org`; `*` allows all.
    pub fn new(allowed: impl IntoIterator<Item = String>) -> Self {
        let allowed = allowed
            .into_iter()
            .map(|origin| origin.trim_end_matches('/').to_ascii_lowercase())
            .collect();
        Self { allowed }
    }

    /// Checks the headers of a request.
    ///
    /// # Errors
    /// When the host or the origin is not allowed.
    pub fn admit(&self, host: Option<&str>, origin: Option<&str>) -> Result<(), Refusal> {
        // Browsers always send Host, and only browsers need these checks.
        let authority = host.unwrap_or("localhost");
        if !self.answers_to(authority) {
            return Err(Refusal::Host(authority.to_owned()));
        }
        match origin {
            Some(origin) if !self.trusts(origin, authority) => {
                Err(Refusal::Origin(origin.to_owned()))
            }
            _ => Ok(()),
        }
    }

    fn answers_to(&self, authority: &str) -> bool {
        let host = host_of(authority);
        let allowed = |origin: &String| {
            origin == "*"
                || authority_of(origin).is_some_and(|known| known.eq_ignore_ascii_case(authority))
        };
        is_local(host) || is_address(host) || self.allowed.iter().any(allowed)
    }

    fn trusts(&self, origin: &str, authority: &str) -> bool {
        let lower = origin.to_ascii_lowercase();
        if lower.starts_with("file://") || lower.starts_with("app://") {
            return true;
        }
        let listed = |known: &str| known == lower || known == "*";
        if KNOWN_PAGES.into_iter().any(listed) || self.allowed.iter().any(|known| listed(known)) {
            return true;
        }
        authority_of(&lower)
            .is_some_and(|page| is_local(host_of(page)) || page == authority.to_ascii_lowercase())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admit(host: &str, origin: Option<&str>) -> bool {
        AccessRules::default().admit(Some(host), origin).is_ok()
    }

    #[test]
    fn programs_and_local_pages_are_accepted() {
        for origin in [
            None,
            Some("file://"),
            Some("http://localhost:8080"),
            Some("http://127.0.0.1:8765"),
            Some("http://[::1]:8765"),
            Some("https://app.foxglove.dev"),
            Some("https://lichtblick-suite.github.io"),
        ] {
            assert!(admit("localhost:8765", origin), "{origin:?}");
        }
    }

    #[test]
    fn other_pages_are_refused() {
        for origin in [
            "null",
            "https://evil.example",
            "https://localhost.evil.example",
            "https://app.foxglove.dev.evil.example",
            "https://evil.example/app.foxglove.dev",
        ] {
            assert!(!admit("127.0.0.1:8765", Some(origin)), "{origin}");
        }
    }

    #[test]
    fn foreign_host_names_are_refused() {
        let rebound = AccessRules::default()
            .admit(Some("evil.example:8765"), Some("http://evil.example:8765"));
        assert_eq!(rebound, Err(Refusal::Host("evil.example:8765".into())));
        assert!(!admit("evil.example:8765", None));
    }

    #[test]
    fn a_page_served_by_address_may_connect() {
        assert!(admit("192.168.1.5:8765", Some("http://192.168.1.5:8765")));
        assert!(!admit("192.168.1.5:8765", Some("http://192.168.1.6:8765")));
    }

    #[test]
    fn allowed_origins_are_accepted() {
        let access_rules = AccessRules::new(["http://Robot.local:8765/".into()]);
        let page = Some("http://robot.local:8765");
        assert_eq!(access_rules.admit(Some("robot.local:8765"), page), Ok(()));
        assert_eq!(access_rules.admit(Some("127.0.0.1:8765"), page), Ok(()));
        assert!(access_rules.admit(Some("other.local"), None).is_err());
        let sandboxed = AccessRules::new(["null".into()]);
        assert_eq!(sandboxed.admit(Some("localhost"), Some("null")), Ok(()));
        let all = AccessRules::new(["*".into()]);
        assert_eq!(all.admit(Some("x"), Some("https://y")), Ok(()));
    }
}
