//! A set of interface definitions.

mod ament;
mod builtin;
mod concatenated;
mod lookup;
mod order;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use ament::AmentIndex;
pub use lookup::{DefinitionSource, FoundDefinition};

use crate::definition::{ActionDefinition, MessageDefinition, ServiceDefinition};
use crate::{Error, InterfaceKind, Result, Schema, TypeName};

/// Definitions of messages by type name, with the parts of services and actions among them.
///
/// ```
/// use timeloom_msg::Definitions;
///
/// let imu = Definitions::builtin().schema("sensor_msgs/msg/Imu")?;
/// assert_eq!(imu.root().fields()[0].name(), "header");
/// assert!(Definitions::builtin().schema("my_msgs/msg/Own").is_err());
/// # Ok::<(), timeloom_msg::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Definitions {
    messages: BTreeMap<TypeName, Arc<MessageDefinition>>,
}

impl Definitions {
    /// Adds a message, or replaces the one of the same name.
    pub fn insert(&mut self, message: MessageDefinition) {
        self.messages
            .insert(message.name.clone(), Arc::new(message));
    }

    /// Adds the messages of a service.
    pub(crate) fn insert_service(&mut self, service: &ServiceDefinition) {
        service
            .messages()
            .into_iter()
            .for_each(|message| self.insert(message));
    }

    /// Adds the messages of an action.
    pub(crate) fn insert_action(&mut self, action: &ActionDefinition) {
        action
            .messages()
            .into_iter()
            .for_each(|message| self.insert(message));
    }

    /// Adds all definitions of `other`; they replace those of the same name.
    pub fn extend(&mut self, other: &Self) {
        for (name, message) in &other.messages {
            self.messages.insert(name.clone(), Arc::clone(message));
        }
    }

    /// The definition of a type.
    pub fn get(&self, name: &TypeName) -> Option<&Arc<MessageDefinition>> {
        self.messages.get(name)
    }

    /// All definitions, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<MessageDefinition>> {
        self.messages.values()
    }

    /// The names of whole interfaces: messages, services and actions, without the parts that follow from them.
    pub fn interfaces(&self) -> impl Iterator<Item = &TypeName> {
        self.messages.keys().filter(|name| match name.kind() {
            InterfaceKind::Msg => true,
            InterfaceKind::Srv => self.get(&name.with_suffix("_Request")).is_some(),
            InterfaceKind::Action => self.get(&name.with_suffix("_Goal")).is_some(),
        })
    }

    /// The number of definitions.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Whether there is no definition.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Compiles the schema of a type, such as `sensor_msgs/msg/Imu`.
    ///
    /// # Errors
    /// When the type or one that it uses is not defined, contains itself, or is nested too deeply.
    pub fn schema(&self, name: &str) -> Result<Schema> {
        Schema::compile(self, &TypeName::parse(name)?)
    }

    pub(crate) fn messages_mut(&mut self) -> &mut BTreeMap<TypeName, Arc<MessageDefinition>> {
        &mut self.messages
    }

    pub(crate) fn require(
        &self,
        name: &TypeName,
        user: &TypeName,
    ) -> Result<&Arc<MessageDefinition>> {
        let missing = || Error::UnknownType {
            wanted: name.to_string(),
            user: user.to_string(),
        };
        self.get(name).ok_or_else(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_are_whole() {
        let names: Vec<String> = Definitions::builtin()
            .interfaces()
            .map(ToString::to_string)
            .collect();
        assert!(names.contains(&"std_srvs/srv/Trigger".to_owned()));
        assert!(names.contains(&"example_interfaces/action/Fibonacci".to_owned()));
        assert!(names.contains(&"std_msgs/msg/String".to_owned()));
        assert!(
            !names
                .iter()
                .any(|name| name.ends_with("_Request") || name.ends_with("_SendGoal"))
        );
    }
}
