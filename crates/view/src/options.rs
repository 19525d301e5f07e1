use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use timeloom_time::{Duration, TimeBase};

/// The address, access rules and limits of a server.
#[derive(Clone, Debug)]
pub struct ViewOptions {
    /// The address to listen on; default 127.0.0.1:8765, the port that Foxglove expects. Port 0 selects a free port.
    pub address: SocketAddr,
    /// Additional allowed origins; see [`AccessRules`](crate::http::AccessRules).
    pub allowed_origins: Vec<String>,
    /// Maximum number of clients.
    pub most_clients: usize,
    /// Maximum size of a client's message in bytes.
    pub longest_message: usize,
    /// Timeout for the handshake of a client.
    pub handshake_timeout: Duration,
    /// A client that accepts no data for this long is disconnected.
    pub write_timeout: Duration,
    /// Size of the send queue of a client in bytes; messages that do not fit are dropped and counted.
    pub send_queue_bytes: usize,
    /// The time base of the server.
    pub time_base: TimeBase,
}

impl Default for ViewOptions {
    fn default() -> Self {
        Self {
            address: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8765),
            allowed_origins: Vec::new(),
            most_clients: 32,
            longest_message: 4 * 1024 * 1024,
            handshake_timeout: Duration::from_secs(5),
            write_timeout: Duration::from_secs(20),
            send_queue_bytes: 32 * 1024 * 1024,
            time_base: TimeBase::machine(),
        }
    }
}
