use timeloom_bag::MessageDefinition;
use timeloom_msg::{Definitions, TypeHash};
use timeloom_wire::EndpointInfo;

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

/// The definitions that are built in, and nothing else.
#[derive(Clone, Copy, Debug, Default)]
pub struct BuiltinTypes;

impl TypeSource for BuiltinTypes {
    fn at_hand(&self, type_name: &str, hash: Option<&TypeHash>) -> Option<FoundType> {
        let schema = match hash {
            Some(hash) => Definitions::builtin_with_hash(type_name, hash).ok()??,
            None => Definitions::builtin().schema(type_name).ok()?,
        };
        Some(FoundType {
            definition: MessageDefinition {
                encoding: "ros2msg".into(),
                text: schema.ros2msg().ok()?,
            },
            hash: schema.type_hash().ok(),
        })
    }

    fn ask(&self, publisher: &EndpointInfo) -> Result<FoundType, String> {
        Err(format!("{} is not built in", publisher.type_name))
    }
}
