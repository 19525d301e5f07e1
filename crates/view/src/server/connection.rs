use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use timeloom_time::Duration;
use tungstenite::protocol::Role;
use tungstenite::{Message, WebSocket};

use super::Shared;
use super::incoming::Incoming;
use crate::http::{RequestHead, Response, switching_protocols};
use crate::outgoing::Outgoing;
use crate::peer::Peer;
use crate::protocol::{Subprotocol, frame_limits};
use crate::source::Demand;

/// Connections beyond the clients: page loads and refused requests.
const SPARE_CONNECTIONS: usize = 16;
/// Smaller messages are sent together.
const SMALL: usize = 16 * 1024;

impl Shared {
    /// Serves a connection on its own thread, until it ends.
    pub(super) fn serve(self: &Arc<Self>, mut stream: TcpStream) {
        // Messages are written as a whole; Nagle's algorithm would only delay them.
        drop(stream.set_nodelay(true));
        drop(stream.set_write_timeout(Some(real(self.options.write_timeout))));
        let most = self.options.most_clients + SPARE_CONNECTIONS;
        if self.connections.load(Ordering::Relaxed) > most {
            let busy = Response::text("503 Service Unavailable", "too many connections");
            drop(stream.write_all(&busy.encode("GET")));
            return;
        }
        let Some((head, rest)) = self.read_head(&mut stream) else {
            return;
        };
        match self.greet(&head) {
            Ok((key, subprotocol)) => {
                let answer = switching_protocols(&key, subprotocol);
                if stream.write_all(&answer).is_ok() {
                    self.converse(stream, rest, subprotocol);
                }
            }
            Err(response) => drop(stream.write_all(&response.encode(&head.method))),
        }
    }

    /// Reads the request head and the bytes after it; `None` on timeout or a malformed request.
    fn read_head(&self, stream: &mut TcpStream) -> Option<(RequestHead, Vec<u8>)> {
        let deadline = self.clock.now() + self.options.handshake_timeout;
        let mut data = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            match RequestHead::parse(&data) {
                Ok(Some((head, length))) => return Some((head, data.split_off(length))),
                Ok(None) => {}
                Err(error) => {
                    let response = Response::text("400 Bad Request", error);
                    drop(stream.write_all(&response.encode("GET")));
                    return None;
                }
            }
            let left = deadline - self.clock.now();
            if left <= Duration::ZERO {
                let response = Response::text("408 Request Timeout", "the request took too long");
                drop(stream.write_all(&response.encode("GET")));
                return None;
            }
            stream.set_read_timeout(Some(real(left))).ok()?;
            match stream.read(&mut buffer) {
                Ok(0) => return None,
                Ok(length) => data.extend(buffer.get(..length)?),
                Err(error) if is_timeout(&error) => {}
                Err(_) => return None,
            }
        }
    }

    /// Serves a WebSocket until either side closes it.
    fn converse(self: &Arc<Self>, stream: TcpStream, rest: Vec<u8>, subprotocol: Subprotocol) {
        drop(stream.set_read_timeout(None));
        let (Ok(for_peer), Ok(for_writer)) = (stream.try_clone(), stream.try_clone()) else {
            return;
        };
        let queue = self.options.send_queue_bytes;
        let peer = Arc::new(Peer::new(self.hub.number(), subprotocol, for_peer, queue));
        let written = Arc::clone(&peer);
        let writer = std::thread::Builder::new()
            .name(format!("view-send-{}", peer.id))
            .spawn(move || write(&written, for_writer));
        if writer.is_err() {
            return;
        }
        self.welcome(&peer);
        self.hub.join(&peer);
        if self.stop.is_set() {
            peer.hang_up();
        }
        self.listen(&peer, stream, rest);
        for channel in self.hub.leave(&peer) {
            self.source.demand(channel, Demand::Unwanted);
        }
        peer.queue.finish();
        // The writer sends the remaining messages, including the reply to a close, and ends.
        drop(writer.map(std::thread::JoinHandle::join));
    }

    fn listen(self: &Arc<Self>, peer: &Arc<Peer>, stream: TcpStream, rest: Vec<u8>) {
        let config = frame_limits(self.options.longest_message);
        let incoming = Incoming::new(stream, Arc::clone(peer));
        let mut socket = WebSocket::from_partially_read(incoming, rest, Role::Server, Some(config));
        loop {
            match socket.read() {
                Ok(Message::Text(text)) => self.hear_text(peer, &text),
                Ok(Message::Binary(data)) => self.hear_binary(peer, data),
                Ok(_) => {}
                Err(tungstenite::Error::Capacity(error)) => {
                    peer.send(Outgoing::close(1009, &error.to_string()));
                    return;
                }
                Err(_) => return,
            }
        }
    }
}

/// Writes queued messages until the end; disconnects a client that accepts no data for too long.
fn write(peer: &Peer, mut stream: TcpStream) {
    let mut buffer = Vec::with_capacity(SMALL);
    loop {
        let batch = peer.queue.take();
        if batch.is_empty() {
            break;
        }
        let sent = batch.iter().try_for_each(|item| {
            buffer.extend(item.head.as_bytes());
            if item.payload.len() < SMALL {
                buffer.extend(&item.payload);
                return Ok(());
            }
            stream.write_all(&buffer)?;
            buffer.clear();
            stream.write_all(&item.payload)
        });
        let sent = sent.and_then(|()| stream.write_all(&buffer));
        buffer.clear();
        if sent.is_err() {
            break;
        }
    }
    peer.hang_up();
}

fn is_timeout(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        std::io::ErrorKind::WouldBlock
            | std::io::ErrorKind::TimedOut
            | std::io::ErrorKind::Interrupted
    )
}

/// The operating system rejects a timeout of zero.
fn real(duration: Duration) -> std::time::Duration {
    let nanoseconds = u64::try_from(duration.nanos()).unwrap_or(0);
    std::time::Duration::from_nanos(nanoseconds.max(1_000))
}
