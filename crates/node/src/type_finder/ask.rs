//! One question to one node: `~/get_type_description`.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use timeloom_msg::{QosProfile, Schema, TypeDescription, TypeHash, Value};
use timeloom_time::{Clock, Duration, Event, Steady, TimeBase};
use timeloom_wire::{EndpointInfo, Node, NodeName, Reply, ReplyReceiver};

use crate::ros_node::{DESCRIBE, ServiceTypes};
use crate::{Error, Result};

/// How long a node may take to be found, and then to answer.
const PATIENCE: Duration = Duration::from_secs(3);
/// How often a wait for a server looks again: clients are not told when servers come.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Why there is no definition.
#[derive(Clone, Debug)]
pub(super) enum Missing {
    /// There is nobody to ask.
    NoNode,
    /// The node does not tell it, for this reason.
    NotTold(String),
}

impl Missing {
    pub(super) fn into_error(self, endpoint: &EndpointInfo) -> Error {
        let type_name = endpoint.type_name.clone();
        match (self, &endpoint.node) {
            (Self::NotTold(reason), Some(node)) => Error::NotTold {
                type_name,
                node: node.full(),
                reason,
            },
            _ => Error::NobodyToAsk { type_name },
        }
    }
}

/// Who asks, and what wakes it: the answer, or whoever wants it to end.
pub(super) struct Ask<'a> {
    node: &'a dyn Node,
    clock: Clock<Steady>,
    wake: &'a Event,
}

impl<'a> Ask<'a> {
    pub(super) fn new(node: &'a dyn Node, base: &TimeBase, wake: &'a Event) -> Self {
        Self {
            node,
            clock: Clock::on(base),
            wake,
        }
    }

    /// Asks the endpoint's node. Ends early once `stopped` is true and the event is set.
    pub(super) fn of(
        &self,
        endpoint: &EndpointInfo,
        stopped: &dyn Fn() -> bool,
    ) -> std::result::Result<Schema, Missing> {
        let peer = endpoint.node.as_ref().ok_or(Missing::NoNode)?;
        let told = |reason: &str| Missing::NotTold(reason.to_owned());
        let hash = endpoint
            .type_hash
            .ok_or_else(|| told("the hash of the type is not known"))?;
        self.ask(peer, &endpoint.type_name, hash, stopped)
            .map_err(|error| Missing::NotTold(error.to_string()))
    }

    fn ask(
        &self,
        peer: &NodeName,
        type_name: &str,
        hash: TypeHash,
        stopped: &dyn Fn() -> bool,
    ) -> Result<Schema> {
        let types = ServiceTypes::builtin(DESCRIBE)?;
        let service = format!("{}/get_type_description", peer.full());
        let spec = types.spec(&service, QosProfile::SERVICES);
        let answer = Arc::new(Answer {
            payload: Mutex::default(),
            wake: self.wake.clone(),
        });
        let client = self.node.client(&spec, Arc::clone(&answer) as _)?;
        if !self.wait(|| client.servers() > 0, stopped) {
            return Err(failed(format!("there is no service {service}")));
        }
        let mut request = types.request.default_value()?;
        request.set("type_name", type_name)?;
        request.set("type_hash", hash.to_string())?;
        client.call(Bytes::from(types.request.encode(&request)?))?;
        if !self.wait(|| answer.is_there(), stopped) {
            return Err(timeloom_wire::Error::CallTimedOut {
                service,
                timeout: PATIENCE,
            }
            .into());
        }
        let reply = types.response.decode(&answer.take())?;
        read(&reply, type_name, hash)
    }

    /// Waits until it is so; false if it is not within our patience.
    fn wait(&self, mut so: impl FnMut() -> bool, stopped: &dyn Fn() -> bool) -> bool {
        let until = self.clock.now().saturating_add(PATIENCE);
        loop {
            if so() {
                return true;
            }
            if stopped() || self.clock.now() >= until {
                return false;
            }
            // Taken back, or an answer to the question before would keep us spinning.
            if self.wake.wait_for(LOOK_AGAIN) {
                self.wake.clear();
            }
        }
    }
}

/// Where the answer arrives.
struct Answer {
    payload: Mutex<Option<Bytes>>,
    wake: Event,
}

impl Answer {
    fn is_there(&self) -> bool {
        let payload = self.payload.lock();
        payload.unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn take(&self) -> Bytes {
        let payload = self.payload.lock();
        let payload = payload.unwrap_or_else(PoisonError::into_inner).take();
        payload.unwrap_or_default()
    }
}

impl ReplyReceiver for Answer {
    fn reply(&self, reply: Reply) {
        let payload = self.payload.lock();
        let mut payload = payload.unwrap_or_else(PoisonError::into_inner);
        payload.get_or_insert(reply.payload);
        drop(payload);
        self.wake.set();
    }
}

fn read(reply: &Value, type_name: &str, hash: TypeHash) -> Result<Schema> {
    if reply.get("successful") != Some(Value::Bool(true)) {
        let reason = reply.get("failure_reason");
        let reason = reason.as_ref().and_then(Value::as_str);
        return Err(failed(reason.unwrap_or("no reason given").to_owned()));
    }
    let description = reply
        .get("type_description")
        .ok_or_else(|| failed("the reply has no description".into()))?;
    let definitions = TypeDescription::from_value(&description)?.to_definitions()?;
    let schema = definitions.schema(type_name)?;
    // A wrong layout would give wrong values.
    if schema.type_hash()? != hash {
        let text = "its description has another hash than the publisher";
        return Err(failed(text.into()));
    }
    Ok(schema)
}

fn failed(reason: String) -> Error {
    Error::Failed { reason }
}
