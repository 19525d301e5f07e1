use bytes::Bytes;
use timeloom_time::{System, Time};

use crate::error::Result;
use crate::gid::Gid;

/// Which call a reply belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RequestId {
    /// Who called.
    pub client: Gid,
    /// The caller's number of the call.
    pub sequence: i64,
    /// How the caller wants its answers encoded; the transport that made it knows.
    pub dialect: u8,
}

/// A call of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// To be given back with the reply.
    pub id: RequestId,
    /// The serialised request with its encapsulation header, without any header of the middleware.
    pub payload: Bytes,
    /// When it was sent, if known.
    pub source_time: Option<Time<System>>,
}

/// The answer to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The number that [`ServiceClient::call`] gave.
    pub sequence: i64,
    /// The serialised response with its encapsulation header.
    pub payload: Bytes,
}

/// Takes the calls of a service, on the transport's own thread; answers now or later, from any thread.
pub trait RequestHandler: Send + Sync {
    /// A call came. `server` is the server it came to.
    fn request(&self, request: Request, server: &dyn ServiceServer);
}

/// Takes the answers to our calls, on the transport's own thread.
pub trait ReplyReceiver: Send + Sync {
    /// An answer came.
    fn reply(&self, reply: Reply);
}

/// Answers a service; dropping it ends it.
pub trait ServiceServer: Send + Sync {
    /// Sends the serialised response (with its encapsulation header) to whoever called.
    ///
    /// # Errors
    /// When the caller is gone or the middleware refuses it.
    fn reply(&self, id: &RequestId, payload: Bytes) -> Result<()>;
}

/// Calls a service; dropping it ends it.
pub trait ServiceClient: Send + Sync {
    /// Sends a serialised request (with its encapsulation header); gives the number that the reply will carry.
    ///
    /// # Errors
    /// When the middleware refuses it.
    fn call(&self, payload: Bytes) -> Result<i64>;

    /// How many servers are there to answer, with both directions matched.
    fn servers(&self) -> usize;
}
