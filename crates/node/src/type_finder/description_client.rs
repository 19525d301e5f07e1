use std::sync::{Arc, Mutex};

use bytes::Bytes;
use timeloom_msg::{QosProfile, Schema, TypeDescription, TypeHash, TypeName, TypeSource, Value};
use timeloom_time::Event;
use timeloom_wire::backend::lock;
use timeloom_wire::{NodeName, Reply, ReplyReceiver, ServiceClient};

use super::node_query::{NodeQuery, PATIENCE};
use crate::ros_node::{DESCRIBE, ServiceTypes};
use crate::{Error, Result};

/// A client of one node's `~/get_type_description`, for one query after the other.
pub(super) struct DescriptionClient<'a> {
    query: &'a NodeQuery<'a>,
    types: ServiceTypes,
    service: String,
    client: Box<dyn ServiceClient>,
    answer: Arc<Answer>,
}

impl<'a> DescriptionClient<'a> {
    /// Finds the service. Blocks until it exists, or the patience ends.
    pub(super) fn begin(query: &'a NodeQuery<'a>, peer: &NodeName) -> Result<Self> {
        let types = ServiceTypes::builtin(DESCRIBE)?;
        let service = format!("{}/get_type_description", peer.full());
        let spec = types.spec(&service, QosProfile::SERVICES);
        let answer = Arc::new(Answer {
            payload: Mutex::default(),
            wake: query.wake.clone(),
        });
        let client = query.node.client(&spec, Arc::clone(&answer) as _)?;
        if !query.wait(|| client.servers() > 0) {
            return Err(failed(format!("there is no service {service}")));
        }
        Ok(Self {
            query,
            types,
            service,
            client,
            answer,
        })
    }

    /// Queries a type and its sources. Blocks until the answer arrives, or the patience ends.
    pub(super) fn describe(&self, type_name: &str, hash: TypeHash) -> Result<Schema> {
        let mut request = self.types.request.default_value()?;
        request.set("type_name", type_name)?;
        request.set("type_hash", hash.to_string())?;
        request.set("include_type_sources", true)?;
        let request = self.types.request.encode(&request)?;
        // A late answer to an earlier query.
        self.answer.take();
        self.client.call(Bytes::from(request))?;
        if !self.query.wait(|| self.answer.is_there()) {
            return Err(timeloom_wire::Error::CallTimedOut {
                service: self.service.clone(),
                timeout: PATIENCE,
            }
            .into());
        }
        let reply = self.types.response.decode(&self.answer.take())?;
        read(&reply, type_name, hash)
    }
}

/// The receiver of the answer.
struct Answer {
    payload: Mutex<Option<Bytes>>,
    wake: Event,
}

impl Answer {
    fn is_there(&self) -> bool {
        lock(&self.payload).is_some()
    }

    fn take(&self) -> Bytes {
        lock(&self.payload).take().unwrap_or_default()
    }
}

impl ReplyReceiver for Answer {
    fn reply(&self, reply: Reply) {
        lock(&self.payload).get_or_insert(reply.payload);
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
    let description = TypeDescription::from_value(&description)?;
    // Nodes may omit the sources, and a source that does not match its description is ignored.
    let sources = reply.get("type_sources");
    let sources = sources.and_then(|sources| TypeSource::from_value(&sources).ok());
    let definitions = description.to_definitions_with(&sources.unwrap_or_default())?;
    let schema = Schema::compile(&definitions, &TypeName::parse(type_name)?)?;
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
