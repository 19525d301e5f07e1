//! From the name of a type to its definition: built in, installed, or told by the node that publishes it.

use bytes::Bytes;
use timeloom_msg::{
    AmentIndex, Definitions, QosProfile, Schema, TypeDescription, TypeHash, TypeName, Value,
};
use timeloom_time::Duration;
use timeloom_wire::{Caller, EndpointInfo, NodeName, ServiceSpec};

use crate::environment::{AMENT_PREFIX_PATH, text};
use crate::failure::Failure;
use crate::live::Live;
use crate::suggestion::nearest;

/// How long a node may take to describe a type.
const PATIENCE: Duration = Duration::from_secs(3);
const DESCRIBE: &str = "type_description_interfaces/srv/GetTypeDescription";

/// Where definitions are looked for.
pub(crate) struct TypeFinder {
    installed: AmentIndex,
}

impl TypeFinder {
    pub(crate) fn new() -> Self {
        Self {
            installed: AmentIndex::from_prefix_path(&text(AMENT_PREFIX_PATH)),
        }
    }

    /// The layout of what an endpoint sends; its node is asked when it is found nowhere else.
    ///
    /// The error says why there is none.
    pub(crate) fn of_endpoint(
        &self,
        live: &Live,
        endpoint: &EndpointInfo,
    ) -> Result<Schema, String> {
        let name = &endpoint.type_name;
        let here = match &endpoint.type_hash {
            Some(hash) => Definitions::builtin_with_hash(name, hash)
                .ok()
                .flatten()
                .or_else(|| self.installed(name, Some(hash))),
            None => self.by_name(name).ok(),
        };
        if let Some(schema) = here {
            return Ok(schema);
        }
        let Some(node) = &endpoint.node else {
            return Err(format!(
                "no definition of {name}, and no node to ask for it"
            ));
        };
        ask(live, node, endpoint).map_err(|error| {
            format!("no definition of {name}: not built in, not below AMENT_PREFIX_PATH, and {node} does not tell it: {error}")
        })
    }

    /// A layout by its name alone: what is installed wins, as it is what the user builds with.
    pub(crate) fn by_name(&self, name: &str) -> anyhow::Result<Schema> {
        let parsed = TypeName::parse(name)?;
        if let Some(schema) = self.installed(name, None) {
            return Ok(schema);
        }
        Definitions::builtin()
            .schema(name)
            .map_err(|_unknown| unknown(&parsed).into())
    }

    fn installed(&self, name: &str, hash: Option<&TypeHash>) -> Option<Schema> {
        if self.installed.is_empty() {
            return None;
        }
        let schema = Definitions::schema_from(&self.installed, name).ok()?;
        let agrees = hash.is_none_or(|hash| schema.type_hash().is_ok_and(|own| own == *hash));
        agrees.then_some(schema)
    }
}

fn unknown(name: &TypeName) -> Failure {
    let known: Vec<String> = Definitions::builtin()
        .interfaces()
        .map(ToString::to_string)
        .collect();
    let text = name.to_string();
    let hint = match nearest(&text, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean {near}?"),
        None => "`timeloom list interfaces` lists what is built in; AMENT_PREFIX_PATH brings what is installed".into(),
    };
    Failure::new(format!("no definition of {text}")).hint(hint)
}

/// The layouts of a service, and what the wire wants to know of it.
pub(crate) struct ServiceTypes {
    pub(crate) request: Schema,
    pub(crate) response: Schema,
    hash: Option<TypeHash>,
}

impl ServiceTypes {
    pub(crate) fn find(finder: &TypeFinder, type_name: &str) -> anyhow::Result<Self> {
        let name = TypeName::parse(type_name)?;
        if name.kind() != timeloom_msg::InterfaceKind::Srv {
            let text = format!("{name} is no service type");
            return Err(Failure::usage(text)
                .hint("a service type is spelt package/srv/Name")
                .into());
        }
        let whole = finder.by_name(type_name)?;
        Ok(Self {
            request: finder.by_name(&format!("{name}_Request"))?,
            response: finder.by_name(&format!("{name}_Response"))?,
            hash: whole.type_hash().ok(),
        })
    }

    pub(crate) fn spec(&self, service: &str, type_name: &str) -> anyhow::Result<ServiceSpec> {
        Ok(ServiceSpec {
            name: service.to_owned(),
            type_name: TypeName::parse(type_name)?,
            type_hash: self.hash,
            request_hash: self.request.type_hash().ok(),
            response_hash: self.response.type_hash().ok(),
            qos: QosProfile::SERVICES,
        })
    }
}

/// Asks a node for the description of a type, with `~/get_type_description`.
fn ask(live: &Live, node: &NodeName, endpoint: &EndpointInfo) -> anyhow::Result<Schema> {
    let hash = endpoint
        .type_hash
        .ok_or_else(|| Failure::new("the hash of the type is not known"))?;
    let types = ServiceTypes::find(&TypeFinder::new(), DESCRIBE)?;
    let spec = types.spec(&format!("{}/get_type_description", node.full()), DESCRIBE)?;
    let caller = Caller::new(live.node(), &spec, &live.base())?;
    if !caller.wait_for_server(PATIENCE) {
        return Err(Failure::new(format!("there is no service {}", spec.name)).into());
    }
    let mut request = types.request.default_value()?;
    request.set(
        "type_name",
        Value::String(endpoint.type_name.as_str().into()),
    )?;
    request.set("type_hash", Value::String(hash.to_string().into()))?;
    let reply = caller.call(Bytes::from(types.request.encode(&request)?), PATIENCE)?;
    let reply = types.response.decode(&reply)?;
    if reply.get("successful") != Some(Value::Bool(true)) {
        let reason = reply.get("failure_reason");
        let reason = reason
            .as_ref()
            .and_then(Value::as_str)
            .unwrap_or("no reason given")
            .to_owned();
        return Err(Failure::new(reason).into());
    }
    let description = reply
        .get("type_description")
        .ok_or_else(|| Failure::new("the reply has no description"))?;
    let definitions = TypeDescription::from_value(&description)?.to_definitions()?;
    let schema = definitions.schema(&endpoint.type_name)?;
    // A wrong layout would give wrong values.
    if schema.type_hash()? != hash {
        return Err(Failure::new("its description has another hash than the publisher").into());
    }
    Ok(schema)
}
