use bytes::Bytes;
use timeloom_time::{System, Time};

use crate::error::Result;
use crate::gid::Gid;

/// The identity of a call, for its reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RequestId {
    /// The client that called.
    pub client: Gid,
    /// The client's number of the call.
    pub sequence: i64,
    /// The encoding of replies that the client expects; only the transport that created it interprets it.
    pub dialect: u8,
}

/// A call of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Passed back with the reply.
    pub id: RequestId,
    /// The serialised request with its encapsulation header, without any header of the middleware.
    pub payload: Bytes,
    /// When it was sent, if known.
    pub source_time: Option<Time<System>>,
}

/// The answer to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The number that [`ServiceClient::call`] returned.
    pub sequence: i64,
    /// The serialised response with its encapsulation header.
    pub payload: Bytes,
}

/// Handles the calls of a service, on the transport's own thread; replies now or later, from any thread.
pub trait RequestHandler: Send + Sync {
    /// A call arrived at `server`.
    fn request(&self, request: Request, server: &dyn ServiceServer);
}

/// Receives the replies to our calls, on the transport's own thread.
pub trait ReplyReceiver: Send + Sync {
    /// A reply arrived.
    fn reply(&self, reply: Reply);
}

/// Answers a service; dropping it ends it.
pub trait ServiceServer: Send + Sync {
    /// Sends the serialised response (with its encapsulation header) to the client that called.
    ///
    /// # Errors
    /// When the client is gone or the middleware refuses it.
    fn reply(&self, id: &RequestId, payload: Bytes) -> Result<()>;
}

/// Calls a service; dropping it ends it.
pub trait ServiceClient: Send + Sync {
    /// Sends a serialised request (with its encapsulation header); returns the number that the reply will carry.
    ///
    /// # Errors
    /// When the middleware refuses it.
    fn call(&self, payload: Bytes) -> Result<i64>;

    /// Number of servers that are matched in both directions.
    fn servers(&self) -> usize;
}
