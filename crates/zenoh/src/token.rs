//! Liveliness tokens: `rmw_zenoh` announces each node and endpoint in one key expression.

use timeloom_msg::name::TypeName;
use timeloom_msg::{QosProfile, TypeHash};
use timeloom_wire::{EndpointInfo, EndpointKind, Gid, NodeName};

use crate::qos_code;

/// The prefix of all tokens.
const SPACE: &str = "@ros2_lv";
/// Replaces the slashes of names, which would split the key.
const SLASH: char = '%';
/// The hash of a type in ROS distributions that have none.
pub(crate) const NO_HASH: &str = "TypeHashNotSupported";
/// ROS limits names to 255 characters; a much longer text is not a token.
const LONGEST: usize = 4096;

/// The content of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) domain: u32,
    /// The Zenoh session, by its id.
    pub(crate) session: String,
    pub(crate) node_id: u64,
    /// The number within the session; the node's own for a node.
    pub(crate) id: u64,
    pub(crate) enclave: String,
    pub(crate) node: NodeName,
    /// `None` for a node.
    pub(crate) end: Option<End>,
}

/// The endpoint of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) kind: EndpointKind,
    pub(crate) route: Route,
    pub(crate) qos: QosProfile,
}

/// The common properties of matching endpoints: the parts of the data's key expression.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Route {
    /// The ROS name of the topic or service.
    pub(crate) name: String,
    /// The type name of DDS.
    pub(crate) type_name: String,
    /// The hash as text, [`NO_HASH`] without.
    pub(crate) hash: String,
}

impl Route {
    pub(crate) fn new(name: &str, type_name: &TypeName, hash: Option<TypeHash>) -> Self {
        Self {
            name: name.into(),
            type_name: type_name.to_dds(),
            hash: hash.map_or_else(|| NO_HASH.into(), |hash| hash.to_string()),
        }
    }

    /// The key expression of the data.
    pub(crate) fn key(&self, domain: u32) -> String {
        let name = self.name.trim_matches('/');
        format!("{domain}/{name}/{}/{}", self.type_name, self.hash)
    }

    /// The key expression of data of any hash.
    pub(crate) fn any_hash(&self, domain: u32) -> String {
        let name = self.name.trim_matches('/');
        format!("{domain}/{name}/{}/*", self.type_name)
    }
}

/// The key expression of all tokens of a domain.
pub(crate) fn all_of(domain: u32) -> String {
    format!("{SPACE}/{domain}/**")
}

/// The identity of an endpoint, from its token.
pub(crate) fn gid_of(token: &str) -> Gid {
    Gid(twox_hash::XxHash3_128::oneshot(token.as_bytes()).to_le_bytes())
}

impl Token {
    /// The key expression.
    pub(crate) fn encode(&self) -> String {
        let kind = self.end.as_ref().map_or("NN", |end| code_of(end.kind));
        let mut text = format!(
            "{SPACE}/{}/{}/{}/{}/{kind}/{}/{}/{}",
            self.domain,
            self.session,
            self.node_id,
            self.id,
            mangle(&self.enclave),
            mangle(self.node.namespace()),
            self.node.name(),
        );
        if let Some(end) = &self.end {
            let Route {
                name,
                type_name,
                hash,
            } = &end.route;
            let qos = qos_code::encode(&end.qos);
            text.extend([
                "/",
                &mangle(name),
                "/",
                &mangle(type_name),
                "/",
                &mangle(hash),
                "/",
                &qos,
            ]);
        }
        text
    }

    /// Reads a key expression; parts that newer peers append are ignored.
    ///
    /// # Errors
    /// The reason as text.
    pub(crate) fn decode(text: &str) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err(format!("it has {} bytes, more than {LONGEST}", text.len()));
        }
        let parts: Vec<&str> = text.split('/').collect();
        let part = |at: usize, what: &str| {
            let part = parts.get(at).copied().filter(|part| !part.is_empty());
            part.ok_or_else(|| format!("it has no {what}"))
        };
        let number = |at: usize, what: &str| {
            part(at, what)?
                .parse::<u64>()
                .ok()
                .ok_or_else(|| format!("its {what} is no number"))
        };
        if part(0, "space")? != SPACE {
            return Err(format!("it is not in {SPACE}"));
        }
        let domain = u32::try_from(number(1, "domain")?).ok();
        let namespace = demangle(part(7, "namespace")?);
        let node = NodeName::new(&namespace, part(8, "node name")?);
        let kind = part(5, "kind")?;
        let end = match kind_of(kind) {
            None if kind == "NN" => None,
            None => return Err(format!("its kind is `{kind}`")),
            Some(kind) => Some(End {
                kind,
                route: Route {
                    name: demangle(part(9, "topic")?),
                    type_name: demangle(part(10, "type")?),
                    hash: demangle(part(11, "type hash")?),
                },
                qos: qos_code::decode(part(12, "QoS")?).ok_or("its QoS is malformed")?,
            }),
        };
        Ok(Self {
            domain: domain.ok_or("its domain is no domain")?,
            session: part(2, "session")?.into(),
            node_id: number(3, "node id")?,
            id: number(4, "id")?,
            enclave: demangle(part(6, "enclave")?),
            node: node.map_err(|error| error.to_string())?,
            end,
        })
    }

    /// The endpoint as the graph has it; `None` for a node.
    pub(crate) fn info(&self, gid: Gid) -> Option<EndpointInfo> {
        let End { kind, route, qos } = self.end.as_ref()?;
        let ros_type = TypeName::from_dds(&route.type_name).map(|name| name.to_string());
        Some(EndpointInfo {
            gid,
            kind: *kind,
            node: Some(self.node.clone()),
            topic: route.name.clone(),
            type_name: ros_type.unwrap_or_else(|_| route.type_name.clone()),
            type_hash: route.hash.parse().ok(),
            qos: *qos,
        })
    }
}

fn code_of(kind: EndpointKind) -> &'static str {
    match kind {
        EndpointKind::Publisher => "MP",
        EndpointKind::Subscription => "MS",
        EndpointKind::Server => "SS",
        EndpointKind::Client => "SC",
    }
}

fn kind_of(code: &str) -> Option<EndpointKind> {
    Some(match code {
        "MP" => EndpointKind::Publisher,
        "MS" => EndpointKind::Subscription,
        "SS" => EndpointKind::Server,
        "SC" => EndpointKind::Client,
        _ => return None,
    })
}

fn mangle(name: &str) -> String {
    name.replace('/', &SLASH.to_string())
}

fn demangle(name: &str) -> String {
    name.replace(SLASH, "/")
}

#[cfg(test)]
mod tests;
