//! From the name of a type to its definition, in the words of the command line.

use timeloom_msg::{AmentIndex, Definitions, InterfaceKind, Schema, TypeName};
use timeloom_node::{LocalTypes, ServiceTypes};
use timeloom_wire::EndpointInfo;

use crate::environment::{AMENT_PREFIX_PATH, text};
use crate::failure::Failure;
use crate::live::Live;
use crate::suggestion::nearest;

/// How many nodes are asked for a type: one that does not answer takes its time.
const MOST_ASKED: usize = 3;

/// Where definitions are looked for.
pub(crate) struct TypeFinder(LocalTypes);

impl TypeFinder {
    pub(crate) fn new() -> Self {
        let installed = AmentIndex::from_prefix_path(&text(AMENT_PREFIX_PATH));
        Self(LocalTypes::new(installed))
    }

    /// The layout of what an endpoint sends; its node is asked when it is found nowhere else.
    ///
    /// The error says why there is none.
    pub(crate) fn of_endpoint(
        &self,
        live: &Live,
        endpoint: &EndpointInfo,
    ) -> timeloom_node::Result<Schema> {
        self.0.find(live.node(), &live.base(), endpoint)
    }

    /// A layout by its name alone: what is installed wins, as it is what the user builds with.
    pub(crate) fn by_name(&self, name: &str) -> anyhow::Result<Schema> {
        let parsed = TypeName::parse(name)?;
        let found = self.0.by_name(name);
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
        let told = graph
            .endpoints()
            .filter(|endpoint| endpoint.type_name == name && endpoint.type_hash.is_some())
            .filter(|endpoint| endpoint.node.is_some())
            .take(MOST_ASKED)
            .find_map(|endpoint| self.of_endpoint(live, endpoint).ok());
        told.ok_or(unknown)
    }

    /// The layouts of a service.
    pub(crate) fn service(&self, name: &str) -> anyhow::Result<ServiceTypes> {
        let parsed = TypeName::parse(name)?;
        if parsed.kind() != InterfaceKind::Srv {
            let text = format!("{parsed} is no service type");
            return Err(Failure::usage(text)
                .hint("a service type is spelt package/srv/Name")
                .into());
        }
        ServiceTypes::find(name, |part| self.by_name(part))
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
