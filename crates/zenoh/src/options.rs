use std::fmt;

use timeloom_wire::environment::{Environment, RouterCheck};

use timeloom_wire::backend::Reporter;

/// Discovery of the router through which the peers of `rmw_zenoh` discover each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RouterUse {
    /// Look for one, once per second, and become one if there is none.
    OwnAfter {
        /// The number of attempts; at least one.
        attempts: u32,
    },
    /// Never become one: continue at once, and connect to one when it appears.
    NotNeeded,
}

/// The options of a participant.
#[derive(Clone)]
pub struct Options {
    /// The ROS domain.
    pub domain: u32,
    /// The security enclave, `/` without security.
    pub enclave: String,
    /// Discovery of the router.
    pub router: RouterUse,
    /// The file with the session's configuration; by default that of `rmw_zenoh`.
    pub session_config: Option<String>,
    /// The file with the configuration of a router of our own; without, it listens where the session looks for one.
    pub router_config: Option<String>,
    /// Keys of the session's configuration with their JSON5 values, in order; they win over the file.
    pub overrides: Vec<(String, String)>,
    /// Called with warnings and malformed data; they are counted in any case
    /// ([`ZenohParticipant::notes`](crate::ZenohParticipant::notes)).
    pub reporter: Option<Reporter>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            domain: 0,
            enclave: "/".into(),
            router: RouterUse::OwnAfter { attempts: 1 },
            session_config: None,
            router_config: None,
            overrides: Vec::new(),
            reporter: None,
        }
    }
}

impl Options {
    /// From the environment.
    ///
    /// `ZENOH_ROUTER_CHECK_ATTEMPTS` is the number of attempts before becoming a router. Where `rmw_zenoh` waits forever
    /// for a router, we do not wait: we connect to it when it appears.
    pub fn from_environment(environment: &Environment) -> Self {
        let zenoh = &environment.zenoh;
        Self {
            domain: environment.domain,
            router: match zenoh.router_check {
                RouterCheck::Attempts(attempts) => RouterUse::OwnAfter { attempts },
                RouterCheck::Wait | RouterCheck::Skip => RouterUse::NotNeeded,
            },
            session_config: zenoh.session_config.clone(),
            router_config: zenoh.router_config.clone(),
            overrides: zenoh.overrides.clone(),
            ..Self::default()
        }
    }

    /// The same on 127.0.0.1 only: listens there, looks for the router of `endpoint` (such as `tcp/127.0.0.1:7447`)
    /// only, no multicast, no configuration files.
    #[must_use]
    pub fn only_at(mut self, endpoint: &str) -> Self {
        self.session_config = None;
        self.router_config = None;
        let pair = |key: &str, value: String| (key.to_owned(), value);
        self.overrides = vec![
            pair("mode", r#""peer""#.into()),
            pair("connect/endpoints", format!("[{endpoint:?}]")),
            pair("listen/endpoints", r#"["tcp/127.0.0.1:0"]"#.into()),
            pair("scouting/multicast/enabled", "false".into()),
        ];
        self
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("domain", &self.domain)
            .field("enclave", &self.enclave)
            .field("router", &self.router)
            .field("session_config", &self.session_config)
            .field("router_config", &self.router_config)
            .field("overrides", &self.overrides)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Options {
        let environment = Environment::read(&|name| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| (*value).to_owned())
        });
        Options::from_environment(&environment.unwrap())
    }

    #[test]
    fn variables_of_rmw_zenoh() {
        let options = read(&[
            ("RMW_IMPLEMENTATION", "rmw_zenoh_cpp"),
            ("ROS_DOMAIN_ID", "7"),
            ("ZENOH_SESSION_CONFIG_URI", "/etc/session.json5"),
            ("ZENOH_ROUTER_CONFIG_URI", "/etc/router.json5"),
            ("ZENOH_CONFIG_OVERRIDE", "mode=\"client\";scouting/delay=1"),
            ("ZENOH_ROUTER_CHECK_ATTEMPTS", "3"),
        ]);
        assert_eq!(options.domain, 7);
        assert_eq!(options.router, RouterUse::OwnAfter { attempts: 3 });
        assert_eq!(
            options.session_config.as_deref(),
            Some("/etc/session.json5")
        );
        assert_eq!(options.router_config.as_deref(), Some("/etc/router.json5"));
        assert_eq!(options.overrides.len(), 2);
        assert_eq!(read(&[]).router, RouterUse::OwnAfter { attempts: 1 });
        for none in ["0", "-1"] {
            let none = read(&[("ZENOH_ROUTER_CHECK_ATTEMPTS", none)]);
            assert_eq!(none.router, RouterUse::NotNeeded);
        }
    }
}
