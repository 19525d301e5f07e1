use timeloom_bag::MessageDefinition;
use timeloom_msg::{Schema, TypeHash, TypeRequest, TypeResolver};
use timeloom_wire::EndpointInfo;

use crate::type_finder::TypeFinder;

/// The definition of a type, as a bag stores it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundType {
    /// Its text.
    pub definition: MessageDefinition,
    /// Its hash.
    pub hash: Option<TypeHash>,
}

/// The source of type definitions for a recorder.
pub trait TypeSource: Send + Sync {
    /// The definition, if it is known without asking a node; does not block for long.
    fn at_hand(&self, type_name: &str, hash: Option<&TypeHash>) -> Option<FoundType>;

    /// Asks the node of a publisher; may block for seconds, so it is called on a thread of its own.
    ///
    /// # Errors
    /// The reason why there is none.
    fn ask(&self, publisher: &EndpointInfo) -> Result<FoundType, String>;
}

impl FoundType {
    /// The definition of a schema; `None` if it has no text definition.
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

/// The built-in definitions only.
#[derive(Clone, Copy, Debug, Default)]
pub struct BuiltinTypes;

impl TypeSource for BuiltinTypes {
    fn at_hand(&self, type_name: &str, hash: Option<&TypeHash>) -> Option<FoundType> {
        let schema = TypeResolver::default().resolve(&TypeRequest {
            name: type_name,
            hash: hash.copied(),
            stored: None,
        });
        FoundType::of(&schema.ok()?)
    }

    fn ask(&self, publisher: &EndpointInfo) -> Result<FoundType, String> {
        Err(format!("{} is not built in", publisher.type_name))
    }
}

/// Built-in definitions, installed ones, or those that the publisher's node describes.
impl TypeSource for TypeFinder {
    fn at_hand(&self, type_name: &str, hash: Option<&TypeHash>) -> Option<FoundType> {
        FoundType::of(&Self::at_hand(self, type_name, hash.copied()).ok()?)
    }

    fn ask(&self, publisher: &EndpointInfo) -> Result<FoundType, String> {
        let schema = self
            .find_blocking(publisher)
            .map_err(|error| error.to_string())?;
        FoundType::of(&schema).ok_or_else(|| format!("{} has no text definition", schema.name()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use timeloom_bag::TopicInfo;
    use timeloom_msg::Definitions;

    /// Also events and feedback of actions, whose text is not that of a file.
    #[test]
    fn stored_definitions_read_back_with_the_same_hash() {
        let all = Definitions::builtin();
        for message in all.iter() {
            let name = message.name.to_string();
            let schema = all.schema(&name).unwrap();
            let found = FoundType::of(&schema).unwrap();
            let info = TopicInfo {
                definition: found.definition,
                ..TopicInfo::new("/x", &name)
            };
            if info.definition.text.trim().is_empty() {
                continue;
            }
            let read = info.schema(&TypeResolver::default()).unwrap();
            assert_eq!(read.type_hash().ok(), found.hash, "{name}");
        }
    }
}
