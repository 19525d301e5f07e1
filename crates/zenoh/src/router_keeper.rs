//! Ensures that there is a router through which peers discover each other: another process's, or our own.

use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;

use timeloom_time::{Clock, Duration, Event, Steady, TimeBase};
use timeloom_wire::Result;
use zenoh::config::WhatAmI;
use zenoh::sample::SampleKind;
use zenoh::session::TransportEventsListener;
use zenoh::{Config, Session, Wait as _};

use crate::config;
use crate::options::{Options, RouterUse};
use crate::router::ZenohRouter;
use crate::session_call::{call, callback};
use timeloom_wire::backend::lock;
use timeloom_wire::backend::{NoteKind, Notes};

/// Starts a router when the session finds none, at the start and when the last one has left.
pub(crate) struct RouterKeeper {
    /// The endpoints at which the session looks for a router.
    endpoints: Vec<String>,
    config: Config,
    notes: Arc<Notes>,
    /// Whether there was another router at the start.
    found: bool,
    own: Mutex<Option<ZenohRouter>>,
    /// Set at the participant's end.
    ended: Event,
}

/// The longest duration of one check for a router.
const PATIENCE: std::time::Duration = std::time::Duration::from_millis(500);
/// Time between two checks, as in `rmw_zenoh`.
const BETWEEN: Duration = Duration::from_secs(1);
/// A router that is restarted within this time gets its port back.
const GRACE: Duration = Duration::from_secs(3);

impl RouterKeeper {
    /// Looks for a router, and becomes one if there is none; `None` if no router is wanted, or if the session looks for
    /// one elsewhere than on this machine.
    ///
    /// Blocks during the checks.
    ///
    /// # Errors
    /// When the configuration of the router is wrong.
    pub(crate) fn start(
        options: &Options,
        session: &Config,
        notes: &Arc<Notes>,
    ) -> Result<Option<Arc<Self>>> {
        let RouterUse::OwnAfter { attempts } = options.router else {
            return Ok(None);
        };
        let endpoints = config::connects_to(session);
        let local: Vec<String> = endpoints
            .iter()
            .filter(|at| is_local(at))
            .cloned()
            .collect();
        if local.is_empty() {
            return Ok(None);
        }
        let keeper = Self {
            config: config::router(options.router_config.as_deref(), &local)?,
            found: is_there(&endpoints, attempts),
            endpoints,
            notes: Arc::clone(notes),
            own: Mutex::default(),
            ended: Event::new(&TimeBase::machine()),
        };
        if !keeper.found {
            keeper.become_router();
        }
        Ok(Some(Arc::new(keeper)))
    }

    /// Takes over from a router that disappears from now on, while the listener lives.
    pub(crate) fn watch(
        self: &Arc<Self>,
        session: &Session,
    ) -> zenoh::Result<TransportEventsListener<()>> {
        let keeper = Arc::downgrade(self);
        let info = session.info();
        let listener = info.transport_events_listener().callback(move |event| {
            callback(|| {
                let gone = event.kind() == SampleKind::Delete;
                if gone
                    && event.transport().whatami() == WhatAmI::Router
                    && let Some(keeper) = keeper.upgrade()
                {
                    keeper.take_over();
                }
            });
        });
        let listener = call(|| listener.wait())?;
        if self.found && call(|| info.routers_zid().wait()).next().is_none() {
            // It may have left before the watch started.
            Arc::clone(self).take_over();
        }
        Ok(listener)
    }

    /// Calls `ask` with our own router, if we are one.
    pub(crate) fn own<T>(&self, ask: impl FnOnce(&ZenohRouter) -> T) -> Option<T> {
        self.lock().as_ref().map(ask)
    }

    /// Stops our router and does not start another.
    pub(crate) fn end(&self) {
        self.ended.set();
        let own = self.lock().take();
        drop(own);
    }

    /// Becomes the router unless another one returns; this is rare and waits, so it has a thread of its own.
    fn take_over(self: Arc<Self>) {
        // If no thread can be started, this process does not take over.
        thread::Builder::new()
            .name("zenoh router".into())
            .spawn(move || {
                if !self.ended.wait_for(GRACE) && !is_there(&self.endpoints, 1) {
                    self.become_router();
                }
            })
            .ok();
    }

    fn become_router(&self) {
        let mut own = self.lock();
        if own.is_some() || self.ended.is_set() {
            return;
        }
        match ZenohRouter::with(self.config.clone()) {
            Ok(router) => *own = Some(router),
            // Another process may have been faster. If not, the port is taken, and the session keeps looking.
            Err(_) if is_there(&self.endpoints, 1) => {}
            Err(error) => self.notes.add(NoteKind::Warning, &error.to_string()),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<ZenohRouter>> {
        lock(&self.own)
    }
}

/// Whether a process listens at one of the endpoints, within that many attempts.
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
            // Nothing is sent there: a check uses TCP.
            overrides: vec![("connect/endpoints".into(), r#"["udp/robot:7447"]"#.into())],
            ..Options::default()
        };
        let config = config::session(&options).unwrap();
        let keeper = RouterKeeper::start(&options, &config, &Arc::new(Notes::new(None)));
        assert!(keeper.unwrap().is_none());
    }

    #[test]
    fn a_listening_process_is_found() {
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
