use std::io::{Read, Result, Write};
use std::net::TcpStream;
use std::sync::Arc;

use crate::outgoing::Outgoing;
use crate::peer::Peer;

/// The socket for the reading side. Replies of the WebSocket library go through the client's send queue, so that they
/// never interrupt a message.
pub(super) struct Incoming {
    stream: TcpStream,
    peer: Arc<Peer>,
}

impl Incoming {
    pub(super) fn new(stream: TcpStream, peer: Arc<Peer>) -> Self {
        Self { stream, peer }
    }
}

impl Read for Incoming {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.stream.read(buffer)
    }
}

impl Write for Incoming {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.peer.send(Outgoing::raw(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}
