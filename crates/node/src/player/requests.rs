use bytes::Bytes;
use timeloom_bag::TopicInfo;
use timeloom_msg::{Definitions, QosProfile, Schema, TypeHash, TypeName, Value};
use timeloom_wire::ServiceSpec;

use super::options::RequestSource;
use super::request_flow::RequestFlow;
use crate::RosNode;

/// Calls a service again, by the introspection events that were recorded of it.
pub(super) struct Requests {
    flow: RequestFlow,
    event: Schema,
    request: Schema,
    source: RequestSource,
    /// The service, as it is called.
    pub(super) service: String,
}

/// `service_msgs/msg/ServiceEventInfo`: a client sent a request.
const REQUEST_SENT: u64 = 0;
/// A server received one.
const REQUEST_RECEIVED: u64 = 1;

impl Requests {
    /// A client for the service whose events a topic holds; the reason if there can be none.
    pub(super) fn open(
        topic: &TopicInfo,
        node: &RosNode,
        source: RequestSource,
    ) -> Result<Self, String> {
        let no = || format!("{} has no service events", topic.name);
        let (name, type_name) = topic
            .service_name()
            .zip(topic.service_type())
            .ok_or_else(no)?;
        let service = node
            .resolve_service(name)
            .map_err(|error| error.to_string())?;
        let (definitions, event) = definitions(topic)?;
        let part = |name: &str| {
            let schema = definitions.schema(name);
            schema.map_err(|error| error.to_string())
        };
        let request = part(&format!("{type_name}_Request"))?;
        let response = part(&format!("{type_name}_Response"))?;
        let hash = |schema: &Schema| -> Option<TypeHash> { schema.type_hash().ok() };
        let spec = ServiceSpec {
            name: service.clone(),
            type_name: TypeName::parse(type_name).map_err(|error| error.to_string())?,
            // Some bags hold the parts only.
            type_hash: part(type_name).ok().as_ref().and_then(hash),
            request_hash: hash(&request),
            response_hash: hash(&response),
            qos: QosProfile::SERVICES,
        };
        Ok(Self {
            flow: RequestFlow::open(node, &spec)?,
            event,
            request,
            source,
            service,
        })
    }

    /// How many servers could answer.
    pub(super) fn servers(&self) -> usize {
        self.flow.servers()
    }

    /// Blocks until all requests are sent, or `ends` says so; gives how many were not.
    pub(super) fn finish(&self, ends: impl Fn() -> bool) -> u64 {
        self.flow.finish(ends)
    }

    /// Calls the service if an event is a call; false if it is none, the reason if it could not be done.
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
        let request: Value = event
            .get("request[0]")
            .ok_or("what it asked was not recorded: introspection was of metadata only")?;
        if self.servers() == 0 {
            return Err("nobody answers it".to_owned());
        }
        let request = self
            .request
            .encode(&request)
            .map_err(|error| error.to_string())?;
        self.flow.send(Bytes::from(request))?;
        Ok(true)
    }
}

/// The definitions of a service with the layout of its events: from the bag, or built in.
fn definitions(topic: &TopicInfo) -> Result<(Definitions, Schema), String> {
    let name = TypeName::parse(&topic.type_name).map_err(|error| error.to_string())?;
    let text = &topic.definition.text;
    let recorded = match topic.definition.encoding.as_str() {
        "ros2msg" if !text.is_empty() => Definitions::parse_ros2msg(&name, text).ok(),
        "ros2idl" if !text.is_empty() => Definitions::parse_ros2idl(&name, text).ok(),
        _ => None,
    };
    let known = recorded.into_iter().find_map(|definitions| {
        let event = definitions.schema(&topic.type_name).ok()?;
        Some((definitions, event))
    });
    if let Some(known) = known {
        return Ok(known);
    }
    let builtin = Definitions::builtin();
    let event = builtin.schema(&topic.type_name);
    let event = event.map_err(|error| format!("its type is not known: {error}"))?;
    Ok((builtin.clone(), event))
}
