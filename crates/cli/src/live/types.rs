//! Type names to definitions, with the errors of the command line.

use std::sync::Arc;

use timeloom_msg::{Definitions, Schema, TypeName, TypeRequest, TypeResolver};
use timeloom_node::ServiceTypes;
use timeloom_wire::EndpointInfo;

use crate::decode::resolver;
use crate::failure::Failure;
use crate::live::Live;

/// Limit for nodes that are asked for a type, since one may not answer.
const MOST_ASKED: usize = 3;

/// Where definitions are looked for.
pub(crate) struct TypeFinder(TypeResolver);

impl TypeFinder {
    pub(crate) fn new() -> Self {
        Self(resolver())
    }

    /// The layout of what an endpoint sends; its node is asked when it is found nowhere else.
    ///
    /// The error names the reason.
    pub(crate) fn of_endpoint(
        &self,
        live: &Live,
        endpoint: &EndpointInfo,
    ) -> timeloom_node::Result<Schema> {
        let (participant, node) = (Arc::clone(live.participant()), live.shared_node());
        let finder = timeloom_node::TypeFinder::new(participant, node, self.0.clone());
        finder
            .find_blocking(endpoint)
            .map(|schema| Schema::clone(&schema))
    }

    /// A layout by its name alone: what is installed wins, as it is what the user builds with.
    pub(crate) fn by_name(&self, name: &str) -> anyhow::Result<Schema> {
        let parsed = TypeName::parse(name)?;
        let found = self.0.resolve(&TypeRequest::new(name));
        found.map_err(|_unknown| unknown(&parsed).into())
    }

    /// The layout of a type that is found nowhere here, from a node that has an endpoint of it; `unknown` says what
    /// was looked for in vain.
    pub(crate) fn of_others(
        &self,
        live: &Live,
        name: &str,
        unknown: anyhow::Error,
    ) -> anyhow::Result<Schema> {
        let name = TypeName::parse(name)?.to_string();
        let graph = live.settled();
        let announced = graph
            .endpoints()
            .filter(|endpoint| endpoint.type_name == name && endpoint.type_hash.is_some())
            .take(MOST_ASKED)
            .find_map(|endpoint| self.of_endpoint(live, endpoint).ok());
        announced.ok_or(unknown)
    }

    /// The layouts of a service, as far as they are known here.
    pub(crate) fn service(&self, name: &TypeName) -> anyhow::Result<ServiceTypes> {
        ServiceTypes::find(&name.to_string(), |part| self.by_name(part))
    }

    /// The layouts of a service that is found nowhere here, from a node that serves it.
    pub(crate) fn of_server(
        &self,
        live: &Live,
        server: &EndpointInfo,
    ) -> timeloom_node::Result<ServiceTypes> {
        ServiceTypes::of_schema(&self.of_endpoint(live, server)?)
    }
}

/// The name of a service type, as people write it.
pub(crate) fn service_type(name: &str) -> anyhow::Result<TypeName> {
    let parsed = TypeName::parse(name)?;
    if parsed.is_service() {
        return Ok(parsed);
    }
    let text = format!("{parsed} is not a service type");
    let hint = "service types have the form package/srv/Name";
    Err(Failure::usage(text).hint(hint).into())
}

fn unknown(name: &TypeName) -> Failure {
    let known: Vec<String> = Definitions::builtin()
        .interfaces()
        .map(ToString::to_string)
        .collect();
    let text = name.to_string();
    Failure::new(format!("no definition of {text}"))
        .suggest(&text, known.iter().map(String::as_str))
        .or_hint("`timeloom list interfaces` lists the built-in types; installed types are found through AMENT_PREFIX_PATH")
}
