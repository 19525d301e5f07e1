use std::net::{Shutdown, TcpStream};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::channel::{Channel, ChannelId};
use crate::client_state::ClientState;
use crate::outgoing::Outgoing;
use crate::protocol::{self, Level, SchemaTable, Subprotocol};
use crate::send_queue::SendQueue;

/// A connected client: its send queue and the negotiated protocol.
pub(crate) struct Peer {
    pub(crate) id: u64,
    pub(crate) subprotocol: Subprotocol,
    pub(crate) queue: SendQueue,
    state: Mutex<ClientState>,
    schemas: Mutex<SchemaTable>,
    stream: TcpStream,
}

impl Peer {
    pub(crate) fn new(
        id: u64,
        subprotocol: Subprotocol,
        stream: TcpStream,
        queue_bytes: usize,
    ) -> Self {
        Self {
            id,
            subprotocol,
            queue: SendQueue::new(queue_bytes),
            state: Mutex::default(),
            schemas: Mutex::default(),
            stream,
        }
    }

    /// Queues a message; disconnects the client on overflow.
    pub(crate) fn send(&self, item: Outgoing) {
        if self.queue.push(item).is_err() {
            self.hang_up();
        }
    }

    pub(crate) fn send_text(&self, text: String) {
        self.send(Outgoing::text(text));
    }

    pub(crate) fn notify(&self, level: Level, text: &str) {
        self.send_text(protocol::status(level, text, None));
    }

    pub(crate) fn advertise(&self, channels: &[(ChannelId, &Channel)]) {
        if channels.is_empty() || !self.subprotocol.is_foxglove() {
            return;
        }
        let channels = channels.iter().copied();
        self.send_text(if self.subprotocol == Subprotocol::SdkV1_1 {
            lock(&self.schemas).advertise(channels)
        } else {
            protocol::advertise(channels)
        });
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, ClientState> {
        lock(&self.state)
    }

    /// Closes the connection; its threads notice and end.
    pub(crate) fn hang_up(&self) {
        self.queue.abandon();
        // It may be closed already.
        drop(self.stream.shutdown(Shutdown::Both));
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
