use std::sync::Arc;

use bytes::Bytes;
use timeloom_bag::TopicInfo;
use timeloom_msg::{QosProfile, Schema, Value};

use super::options::RequestSource;
use super::request_flow::RequestFlow;
use crate::{RosNode, ServiceTypes};

/// Calls a service again, by its recorded introspection events.
pub(super) struct Requests {
    flow: RequestFlow,
    event: Schema,
    request: Arc<Schema>,
    source: RequestSource,
    /// The service, as it is called.
    pub(super) service: String,
}

/// `service_msgs/msg/ServiceEventInfo`: a client sent a request.
const REQUEST_SENT: u64 = 0;
/// A server received one.
const REQUEST_RECEIVED: u64 = 1;

impl Requests {
    /// A client for the service whose events a topic holds, or the reason why there is none.
    pub(super) fn open(
        topic: &TopicInfo,
        event: Result<&Schema, &timeloom_msg::Error>,
        node: &RosNode,
        source: RequestSource,
    ) -> Result<Self, String> {
        let no = || format!("{} has no service events", topic.name);
        let name = topic.service_name().ok_or_else(no)?;
        let service = node
            .resolve_service(name)
            .map_err(|error| error.to_string())?;
        let event = event.map_err(ToString::to_string)?;
        let types = ServiceTypes::of_schema(event).map_err(|error| error.to_string())?;
        let spec = types.spec(&service, QosProfile::SERVICES);
        Ok(Self {
            flow: RequestFlow::open(node, &spec)?,
            event: event.clone(),
            request: types.request,
            source,
            service,
        })
    }

    /// Number of servers.
    pub(super) fn servers(&self) -> usize {
        self.flow.servers()
    }

    /// Blocks until all requests are sent, or `ends` returns true; returns the number of those that were not.
    pub(super) fn finish(&self, ends: impl Fn() -> bool) -> u64 {
        self.flow.finish(ends)
    }

    /// Calls the service if an event is a call; false if it is not, and the reason if the call failed.
    pub(super) fn send(&self, payload: &[u8]) -> Result<bool, String> {
        let event = self
            .event
            .decode(payload)
            .map_err(|error| error.to_string())?;
        let kind = event.get("info.event_type").and_then(|kind| kind.as_u64());
        let wanted = match self.source {
            RequestSource::Service => REQUEST_RECEIVED,
            RequestSource::Client => REQUEST_SENT,
        };
        if kind != Some(wanted) {
            return Ok(false);
        }
        let request: Value = event.get("request[0]").ok_or(
            "the request was not recorded: service introspection was set to metadata only",
        )?;
        if self.servers() == 0 {
            return Err("it has no server".to_owned());
        }
        let request = self
            .request
            .encode(&request)
            .map_err(|error| error.to_string())?;
        self.flow.send(Bytes::from(request))?;
        Ok(true)
    }
}
