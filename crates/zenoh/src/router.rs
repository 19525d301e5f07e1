//! The router through which peers find each other: somebody else's, or our own.

use std::net::{TcpStream, ToSocketAddrs as _};

use timeloom_time::{Clock, Duration, Steady};
use timeloom_wire::Result;
use zenoh::{Config, Session, Wait as _};

use crate::config;
use crate::notes::{NoteKind, Notes};
use crate::options::{Options, RouterUse};
use crate::session_call::call;
use crate::shared::{close, refused};

/// A Zenoh router in this process, there until dropped: what `rmw_zenohd` is for the peers of `rmw_zenoh`.
pub struct ZenohRouter {
    session: Session,
}

/// How long a look for a router may take.
const PATIENCE: std::time::Duration = std::time::Duration::from_millis(500);
/// Between two looks, as in `rmw_zenoh`.
const BETWEEN: Duration = Duration::from_secs(1);

impl ZenohRouter {
    /// A router that listens at the endpoint, such as `tcp/127.0.0.1:7447`; port 0 takes a free one.
    ///
    /// # Errors
    /// When Zenoh refuses the endpoint, for one because somebody else listens there.
    pub fn start(endpoint: &str) -> Result<Self> {
        Self::with(config::router(None, &[endpoint.to_owned()])?)
    }

    fn with(config: Config) -> Result<Self> {
        let listen = config.get_json("listen/endpoints").unwrap_or_default();
        let session = call(|| zenoh::open(config).wait())
            .map_err(|error| refused(format!("be a router at {listen}"), error))?;
        Ok(Self { session })
    }

    /// Where it listens.
    pub fn endpoints(&self) -> Vec<String> {
        let locators = call(|| self.session.info().locators().wait());
        locators.iter().map(ToString::to_string).collect()
    }

    /// Who it is.
    pub(crate) fn id(&self) -> zenoh::session::ZenohId {
        self.session.zid()
    }

    /// The router that the session needs and nobody is: `None` if there is one, if none is wanted, or if the session
    /// looks for one elsewhere.
    ///
    /// Blocks for as long as the looks take.
    ///
    /// # Errors
    /// When the configuration of the router is wrong.
    pub(crate) fn if_needed(
        options: &Options,
        session: &Config,
        notes: &Notes,
    ) -> Result<Option<Self>> {
        let RouterUse::OwnAfter { attempts } = options.router else {
            return Ok(None);
        };
        let endpoints = config::connects_to(session);
        let local: Vec<String> = endpoints
            .iter()
            .filter(|at| is_local(at))
            .cloned()
            .collect();
        if is_there(&endpoints, attempts) || local.is_empty() {
            return Ok(None);
        }
        let config = config::router(options.router_config.as_deref(), &local)?;
        match Self::with(config) {
            Ok(router) => Ok(Some(router)),
            Err(error) => {
                // Somebody else was faster, or the port is taken: the session goes on looking.
                notes.add(NoteKind::Warning, &error.to_string());
                Ok(None)
            }
        }
    }
}

impl Drop for ZenohRouter {
    fn drop(&mut self) {
        close(self.session.clone());
    }
}

impl std::fmt::Debug for ZenohRouter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ZenohRouter({})", self.endpoints().join(", "))
    }
}

/// Whether somebody listens at one of the endpoints, after so many looks.
fn is_there(endpoints: &[String], attempts: u32) -> bool {
    let clock = Clock::<Steady>::new();
    for attempt in 0..attempts.max(1) {
        if attempt > 0 {
            let _woke = clock.sleep_for(BETWEEN);
        }
        if endpoints.iter().any(|endpoint| answers(endpoint)) {
            return true;
        }
    }
    false
}

/// The host and port of a TCP endpoint, without its parameters.
fn address(endpoint: &str) -> Option<&str> {
    let address = endpoint.strip_prefix("tcp/")?;
    address.split(['?', '#']).next()
}

fn answers(endpoint: &str) -> bool {
    let found = address(endpoint).and_then(|address| address.to_socket_addrs().ok());
    found
        .into_iter()
        .flatten()
        .any(|address| TcpStream::connect_timeout(&address, PATIENCE).is_ok())
}

/// Whether a router at the endpoint would be on this machine.
fn is_local(endpoint: &str) -> bool {
    let host = address(endpoint).and_then(|address| address.rsplit_once(':'));
    host.is_some_and(|(host, _)| {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let is_loopback = |ip: std::net::IpAddr| ip.is_loopback();
        host == "localhost" || host.parse().is_ok_and(is_loopback)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_endpoints_are_those_of_this_machine() {
        for local in [
            "tcp/localhost:7447",
            "tcp/127.0.0.1:7447",
            "tcp/[::1]:7447#iface=lo",
        ] {
            assert!(is_local(local), "{local}");
        }
        for remote in [
            "tcp/robot:7447",
            "tcp/10.0.0.1:7447",
            "udp/localhost:7447",
            "nonsense",
            "tcp/",
        ] {
            assert!(!is_local(remote), "{remote}");
        }
    }

    #[test]
    fn a_router_elsewhere_is_not_replaced() {
        let options = Options {
            // Nothing is sent there: a look speaks TCP.
            overrides: vec![("connect/endpoints".into(), r#"["udp/robot:7447"]"#.into())],
            ..Options::default()
        };
        let config = config::session(&options).unwrap();
        let router = ZenohRouter::if_needed(&options, &config, &Notes::new(None));
        assert!(router.unwrap().is_none());
    }

    #[test]
    fn who_listens_is_found() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("tcp/{}", listener.local_addr().unwrap());
        assert!(is_there(std::slice::from_ref(&endpoint), 1));
        drop(listener);
        assert!(!is_there(
            &[endpoint, "tcp/".into(), "udp/127.0.0.1:1".into()],
            0
        ));
    }
}
