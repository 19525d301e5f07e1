use bytes::Bytes;
use timeloom_msg::{QosProfile, Value};
use timeloom_time::{Duration, TimeBase};
use timeloom_wire::{CallStopper, Caller, Node};

use super::service_types::ServiceTypes;
use crate::Result;

/// Calls a service with decoded requests and responses, by its definition alone.
///
/// Calls from several threads may overlap; each gets its own answer. Do not call from inside a receiver of the
/// same participant: the answer comes on the thread that would be blocked.
#[derive(Debug)]
pub struct Client {
    types: ServiceTypes,
    caller: Caller,
}

impl Client {
    /// A client of the service of that full name; `base` is the participant's time base.
    ///
    /// # Errors
    /// When the middleware refuses it.
    pub fn new(
        node: &dyn Node,
        service: &str,
        types: ServiceTypes,
        qos: QosProfile,
        base: &TimeBase,
    ) -> Result<Self> {
        let caller = Caller::new(node, &types.spec(service, qos), base)?;
        Ok(Self { types, caller })
    }

    /// The layouts of the service.
    pub fn types(&self) -> &ServiceTypes {
        &self.types
    }

    /// Blocks until a server exists or `timeout` of steady time has passed; true if one exists.
    pub fn wait_for_server(&self, timeout: Duration) -> bool {
        self.caller.wait_for_server(timeout)
    }

    /// A request with default values, to be filled.
    ///
    /// # Errors
    /// When the definition has invalid defaults.
    pub fn request(&self) -> Result<Value> {
        Ok(self.types.request.default_value()?)
    }

    /// Sends a request and blocks for its response, for `timeout` of steady time at most.
    ///
    /// # Errors
    /// When the request does not fit the definition, there is no response in time, the middleware fails, or the
    /// response cannot be decoded.
    pub fn call(&self, request: &Value, timeout: Duration) -> Result<Value> {
        self.call_encoded(self.types.request.encode(request)?.into(), timeout)
    }

    /// Like [`call`](Self::call), with a serialised request.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub fn call_encoded(&self, request: Bytes, timeout: Duration) -> Result<Value> {
        let response = self.caller.call(request, timeout)?;
        Ok(self.types.response.decode(&response)?)
    }

    /// A handle that ends calls from another thread.
    pub fn stopper(&self) -> CallStopper {
        self.caller.stopper()
    }
}
