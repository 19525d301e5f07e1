//! The server: sockets and threads.

mod announcer;
mod connection;
mod conversation;
mod greeting;
mod incoming;
mod pulse;

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use timeloom_time::{BaseThread, Clock, Event, Steady, System};

use self::announcer::Announcer;
use crate::error::{Error, Result};
use crate::http::AccessRules;
use crate::hub::Hub;
use crate::options::ViewOptions;
use crate::outgoing::Outgoing;
use crate::page::Page;
use crate::source::Source;
use crate::source_output::SourceOutput;

/// Close code "going away" of RFC 6455.
const GOING_AWAY: u16 = 1001;

/// A server that shows a source to browsers and to programs that speak the Foxglove protocol.
///
/// Dropping it ends all connections.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    threads: Vec<BaseThread<()>>,
}

/// State shared by all threads of a server.
struct Shared {
    options: ViewOptions,
    source: Arc<dyn Source>,
    hub: Arc<Hub>,
    access_rules: AccessRules,
    announcer: Announcer,
    page: Page,
    clock: Clock<Steady>,
    session_id: String,
    connections: AtomicUsize,
    stop: Event,
}

impl Server {
    /// Starts listening and shows the source.
    ///
    /// # Errors
    /// When the address is in use, the source cannot be attached, or a thread cannot be started.
    pub fn start(options: ViewOptions, source: Arc<dyn Source>) -> Result<Self> {
        let listen = |source| Error::Listen {
            address: options.address,
            source,
        };
        let listener = TcpListener::bind(options.address).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let base = options.time_base.clone();
        let shared = Arc::new(Shared {
            access_rules: AccessRules::new(options.allowed_origins.iter().cloned()),
            options,
            hub: Arc::new(Hub::default()),
            announcer: Announcer::new(source.playback()),
            page: Page::new(),
            clock: Clock::on(&base),
            session_id: Clock::<System>::on(&base).now().nanos().to_string(),
            connections: AtomicUsize::new(0),
            stop: Event::new(&base),
            source,
        });
        shared
            .source
            .attach(SourceOutput::new(Arc::clone(&shared.hub)))?;
        tracing::info!(%address, "listening");
        let mut server = Self {
            address,
            shared,
            threads: Vec::new(),
        };
        let accepting = Arc::clone(&server.shared);
        server.spawn("view-accept", move || accepting.accept(&listener))?;
        let pulse = Arc::clone(&server.shared);
        server.spawn("view-pulse", move || pulse.beat())?;
        Ok(server)
    }

    fn spawn(&mut self, name: &str, run: impl FnOnce() + Send + 'static) -> Result<()> {
        let spawned = self.shared.options.time_base.spawn(name, run);
        self.threads.push(spawned.map_err(|source| Error::Thread {
            name: name.to_owned(),
            source,
        })?);
        Ok(())
    }

    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL for a browser.
    pub fn url(&self) -> String {
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
        }
        format!("http://{address}")
    }

    /// Number of connected clients, including pages.
    pub fn clients(&self) -> usize {
        self.shared.hub.clients().len()
    }

    /// Number of messages dropped for slow clients.
    pub fn dropped(&self) -> u64 {
        self.shared.hub.dropped()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stop.set();
        for peer in self.shared.hub.clients() {
            peer.send(Outgoing::close(GOING_AWAY, "the server ends"));
            peer.queue.finish();
        }
        // The accepting thread blocks in the operating system; a connection wakes it.
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
        }
        drop(TcpStream::connect(address));
        for thread in self.threads.drain(..) {
            // A panicked thread needs no cleanup.
            drop(thread.join());
        }
    }
}

impl Shared {
    fn accept(self: &Arc<Self>, listener: &TcpListener) {
        let mut number = 0u64;
        for stream in listener.incoming() {
            if self.stop.is_set() {
                return;
            }
            let Ok(stream) = stream else {
                // Out of descriptors or memory: wait before trying again.
                self.stop.wait_for(timeloom_time::Duration::from_millis(50));
                continue;
            };
            number += 1;
            tracing::debug!(number, peer = ?stream.peer_addr().ok(), "connection");
            let guard = ConnectionGuard::new(self);
            let shared = Arc::clone(self);
            let run = move || {
                let _guard = guard;
                shared.serve(stream);
            };
            // Without a thread, the connection can only be closed.
            drop(
                std::thread::Builder::new()
                    .name(format!("view-{number}"))
                    .spawn(run),
            );
        }
    }
}

/// Counts a connection for as long as it lives.
struct ConnectionGuard(Arc<Shared>);

impl ConnectionGuard {
    fn new(shared: &Arc<Shared>) -> Self {
        shared.connections.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(shared))
    }
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}
