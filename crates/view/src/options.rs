use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use timeloom_time::{Duration, TimeBase};

/// The address, access rules and limits of a server.
#[derive(Clone, Debug)]
pub struct ViewOptions {
    /// Where to listen; 127.0.0.1:8765, the port that Foxglove expects. Port 0 is any free one.
    pub address: SocketAddr,
    /// Origins of pages that may connect besides the usual ones; see [`Doorman`](crate::http::Doorman).
    pub allowed_origins: Vec<String>,
    /// How many clients there may be.
    pub most_clients: usize,
    /// The longest message of a client, in bytes.
    pub longest_message: usize,
    /// How long a client may take for its handshake.
    pub handshake_timeout: Duration,
    /// How long a client may take nothing at all before it is cut off.
    pub write_timeout: Duration,
    /// How many bytes may wait for a client; what does not fit is left out and counted.
    pub send_queue_bytes: usize,
    /// The time that the server goes by.
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
