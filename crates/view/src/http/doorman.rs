use std::fmt;

use super::host::{authority_of, host_of, is_address, is_local};

/// The pages of Foxglove and Lichtblick.
const KNOWN_PAGES: [&str; 4] = [
    "https://app.foxglove.dev",
    "https://studio.foxglove.dev",
    "https://lichtblick-suite.github.io",
    "https://suite.lichtblick.dev",
];

/// Decides who may come in: a browser lets every web page try.
///
/// Two things are looked at. The `Host` must be an address, this machine's own name, or one that was allowed;
/// otherwise a page could reach the server under a name of its own (DNS rebinding). And the `Origin`, if a browser
/// names one, must be of this machine, the page that the server itself served, a desktop program (`file://`),
/// Foxglove's or Lichtblick's, or allowed. `null` is nobody's name: every page can have it, by a frame in a sandbox.
#[derive(Clone, Debug, Default)]
pub struct Doorman {
    allowed: Vec<String>,
}

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The name under which the server was reached.
    Host(String),
    /// The page that asks.
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

impl Doorman {
    /// One that also lets pages of these origins in, such as `https://studio.example.org`; `*` is everybody.
    pub fn new(allowed: impl IntoIterator<Item = String>) -> Self {
        let allowed = allowed
            .into_iter()
            .map(|origin| origin.trim_end_matches('/').to_ascii_lowercase())
            .collect();
        Self { allowed }
    }

    /// Whether a request with these headers may come in.
    ///
    /// # Errors
    /// Who is refused.
    pub fn admit(&self, host: Option<&str>, origin: Option<&str>) -> Result<(), Refusal> {
        // Without a Host it is no browser, and no browser needs to be guarded against.
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
        Doorman::default().admit(Some(host), origin).is_ok()
    }

    #[test]
    fn programs_and_local_pages_come_in() {
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
    fn other_pages_stay_out() {
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
    fn a_name_that_could_be_anybodys_is_not_answered_to() {
        let rebound =
            Doorman::default().admit(Some("evil.example:8765"), Some("http://evil.example:8765"));
        assert_eq!(rebound, Err(Refusal::Host("evil.example:8765".into())));
        assert!(!admit("evil.example:8765", None));
    }

    #[test]
    fn the_page_of_an_address_reaches_its_own_server() {
        assert!(admit("192.168.1.5:8765", Some("http://192.168.1.5:8765")));
        assert!(!admit("192.168.1.5:8765", Some("http://192.168.1.6:8765")));
    }

    #[test]
    fn what_was_allowed_comes_in() {
        let doorman = Doorman::new(["http://Robot.local:8765/".into()]);
        let page = Some("http://robot.local:8765");
        assert_eq!(doorman.admit(Some("robot.local:8765"), page), Ok(()));
        assert_eq!(doorman.admit(Some("127.0.0.1:8765"), page), Ok(()));
        assert!(doorman.admit(Some("other.local"), None).is_err());
        let sandboxed = Doorman::new(["null".into()]);
        assert_eq!(sandboxed.admit(Some("localhost"), Some("null")), Ok(()));
        let all = Doorman::new(["*".into()]);
        assert_eq!(all.admit(Some("x"), Some("https://y")), Ok(()));
    }
}
