use std::io::{self, ErrorKind, Write as _};
use std::net::{SocketAddr, TcpStream};

use timeloom_time::{CancelToken, Duration, Steady, Time, TimeBase};

use crate::arrival::Arrival;
use crate::error::{Error, Result};
use crate::host_stamps::HostStamps;
use crate::http::{Response, ResponseParser, request_text};
use crate::pfsdp::{Command, Reply};

/// Time that a read blocks before cancellation is checked.
const SLICE: Duration = Duration::from_millis(50);

/// A reply with the times of its request.
#[derive(Debug, Clone)]
pub struct StampedReply {
    /// Right before the request went out.
    pub sent: Time<Steady>,
    /// The reply.
    pub reply: Reply,
    /// Arrival of the first bytes of the answer.
    pub arrival: Arrival,
}

/// Asks a device, one command after the other, over a connection that stays open if the device lets it.
#[derive(Debug)]
pub struct Client {
    address: SocketAddr,
    timeout: Duration,
    stamps: HostStamps,
    connection: Option<TcpStream>,
    cancel: CancelToken,
}

impl Client {
    /// A client for the device at `address` that waits for each answer for `timeout`. Does not connect yet.
    pub fn new(
        address: SocketAddr,
        timeout: Duration,
        base: &TimeBase,
        cancel: &CancelToken,
    ) -> Self {
        Self {
            address,
            timeout,
            stamps: HostStamps::new(base),
            connection: None,
            cancel: cancel.clone(),
        }
    }

    /// Asks and waits for the answer; see [`call_stamped`](Self::call_stamped).
    ///
    /// # Errors
    ///
    /// As [`call_stamped`](Self::call_stamped).
    pub fn call(&mut self, command: &Command) -> Result<Reply> {
        Ok(self.call_stamped(command)?.reply)
    }

    /// Asks and waits for the answer. Blocks for the timeout at most, and ends early when the token is cancelled.
    ///
    /// # Errors
    ///
    /// [`Error::Network`], [`Error::Timeout`], [`Error::NoHttp`], [`Error::ReplyCut`] and [`Error::ReplyTooLarge`] of
    /// the connection, and the errors of [`Reply::read`].
    pub fn call_stamped(&mut self, command: &Command) -> Result<StampedReply> {
        let deadline = self.stamps.now().saturating_add(self.timeout);
        let kept = self.connection.take();
        let was_kept = kept.is_some();
        let mut answer = self.exchange(command, kept, deadline);
        // The device may have closed an idle connection just then.
        if was_kept && answer.as_ref().is_err_and(is_closed) {
            answer = self.exchange(command, None, deadline);
        }
        let (sent, response, arrival) = answer?;
        Ok(StampedReply {
            sent,
            reply: Reply::read(command, &response)?,
            arrival,
        })
    }

    fn exchange(
        &mut self,
        command: &Command,
        kept: Option<TcpStream>,
        deadline: Time<Steady>,
    ) -> Result<(Time<Steady>, Response, Arrival)> {
        let mut connection = match kept {
            Some(connection) => connection,
            None => self.connect(command, deadline)?,
        };
        let text = request_text(&self.address.to_string(), &command.target());
        let sent = self.stamps.now();
        let written = connection.write_all(text.as_bytes());
        written.map_err(|error| self.failed("cannot ask", error))?;
        let (response, arrival) = self.answer(&connection, command, deadline)?;
        if response.keep_alive {
            self.connection = Some(connection);
        }
        Ok((sent, response, arrival))
    }

    fn connect(&self, command: &Command, deadline: Time<Steady>) -> Result<TcpStream> {
        let left = deadline - self.stamps.now();
        let left = left.max(Duration::from_millis(1));
        let left = std::time::Duration::try_from(left).unwrap_or(std::time::Duration::MAX);
        let connection = TcpStream::connect_timeout(&self.address, left).map_err(|error| {
            if error.kind() == ErrorKind::TimedOut {
                self.timed_out(command)
            } else {
                self.failed("cannot connect to", error)
            }
        })?;
        let prepared = prepare(&connection);
        prepared.map_err(|error| self.failed("cannot connect to", error))?;
        HostStamps::enable(&connection);
        Ok(connection)
    }

    fn answer(
        &mut self,
        connection: &TcpStream,
        command: &Command,
        deadline: Time<Steady>,
    ) -> Result<(Response, Arrival)> {
        let mut parser = ResponseParser::new();
        let mut buffer = [0; 4096];
        let mut first = None;
        loop {
            let received = match self.stamps.receive(connection, &mut buffer) {
                Ok(received) => received,
                Err(error) if is_pause(&error) => {
                    if self.cancel.is_cancelled() || self.stamps.now() >= deadline {
                        return Err(self.timed_out(command));
                    }
                    continue;
                }
                Err(error) => return Err(self.failed("no answer from", error)),
            };
            let arrival = *first.get_or_insert(received.arrival);
            if received.length == 0 {
                return Ok((parser.end()?, arrival));
            }
            let bytes = buffer.get(..received.length).unwrap_or(&[]);
            if let Some(response) = parser.push(bytes)? {
                return Ok((response, arrival));
            }
            // One that trickles must not keep us for ever.
            if self.stamps.now() >= deadline {
                return Err(self.timed_out(command));
            }
        }
    }

    fn timed_out(&self, command: &Command) -> Error {
        Error::Timeout {
            command: command.to_string(),
            host: self.address.to_string(),
            millis: self.timeout.nanos() / 1_000_000,
        }
    }

    fn failed(&self, doing: &'static str, source: io::Error) -> Error {
        Error::Network {
            doing,
            host: self.address.to_string(),
            source,
        }
    }
}

fn prepare(connection: &TcpStream) -> io::Result<()> {
    connection.set_nodelay(true)?;
    let slice = std::time::Duration::try_from(SLICE).ok();
    connection.set_read_timeout(slice)?;
    connection.set_write_timeout(slice)
}

/// Whether a read only ended because nothing came for a slice of time, or because of a signal.
pub(crate) fn is_pause(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

/// Whether the other side had closed the connection before it answered anything.
fn is_closed(error: &Error) -> bool {
    match error {
        Error::Network { source, .. } => matches!(
            source.kind(),
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted
        ),
        Error::ReplyCut { received } => *received == 0,
        _ => false,
    }
}
