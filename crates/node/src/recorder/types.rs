use timeloom_bag::MessageDefinition;
use timeloom_msg::{Definitions, QosProfile, Schema, TypeHash};
use timeloom_wire::{EndpointInfo, EndpointKind, Gid};

use crate::type_finder::TypeFinder;

/// The definition of a type, as a bag keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundType {
    /// Its text.
    pub definition: MessageDefinition,
    /// Its hash.
    pub hash: Option<TypeHash>,
}

/// Where the recorder asks for definitions.
pub trait TypeSource: Send + Sync {
    /// The definition if it is at hand; never blocks for long.
    fn at_hand(&self, type_name: &str, hash: Option<&TypeHash>) -> Option<FoundType>;

    /// Asks whoever publishes it; may block for seconds, so it is called on a thread of its own.
    ///
    /// # Errors
    /// Why there is none, in words.
    fn ask(&self, publisher: &EndpointInfo) -> Result<FoundType, String>;
}

impl FoundType {
    /// What a bag keeps of a layout; none if it cannot be written down.
    fn of(schema: &Schema) -> Option<Self> {
        Some(Self {
            definition: MessageDefinition {
                encoding: "ros2msg".into(),
                text: schema.ros2msg().ok()?,
            },
            hash: schema.type_hash().ok(),
        })
    }
}

/// The definitions that are built in, and nothing else.
#[derive(Clone, Copy, Debug, Default)]
pub struct BuiltinTypes;

impl TypeSource for BuiltinTypes {
    fn at_hand(&self, type_name: &str, hash: Option<&TypeHash>) -> Option<FoundType> {
        let schema = match hash {
            Some(hash) => Definitions::builtin_with_hash(type_name, hash).ok()??,
            None => Definitions::builtin().schema(type_name).ok()?,
        };
        FoundType::of(&schema)
    }

    fn ask(&self, publisher: &EndpointInfo) -> Result<FoundType, String> {
        Err(format!("{} is not built in", publisher.type_name))
    }
}

/// Built in, installed, or told by the node that publishes.
impl TypeSource for TypeFinder {
    fn at_hand(&self, type_name: &str, hash: Option<&TypeHash>) -> Option<FoundType> {
        let endpoint = EndpointInfo {
            gid: Gid::UNKNOWN,
            kind: EndpointKind::Publisher,
            node: None,
            topic: String::new(),
            type_name: type_name.to_owned(),
            type_hash: hash.copied(),
            qos: QosProfile::DEFAULT,
        };
        FoundType::of(&self.local().of_endpoint(&endpoint)?)
    }

    fn ask(&self, publisher: &EndpointInfo) -> Result<FoundType, String> {
        let schema = self
            .find_blocking(publisher)
            .map_err(|error| error.to_string())?;
        FoundType::of(&schema).ok_or_else(|| {
            format!(
                "the layout of {} has no text that a bag can hold",
                schema.name()
            )
        })
    }
}
