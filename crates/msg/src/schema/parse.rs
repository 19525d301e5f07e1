//! Schemas from the texts in bags.

use super::Schema;
use crate::{Definitions, Result, TypeDescription, TypeName};

/// The packages that rosidl adds to every service and action; their text is not always stored.
const IMPLICIT: [&str; 4] = [
    "action_msgs",
    "builtin_interfaces",
    "service_msgs",
    "unique_identifier_msgs",
];

impl Schema {
    /// Compiles a schema with encoding `ros2msg`, as MCAP and sqlite3 bags hold it.
    ///
    /// # Errors
    /// Names the line and the expected token, or the type that is missing.
    pub fn parse_ros2msg(name: &str, text: &str) -> Result<Self> {
        let name = TypeName::parse(name)?;
        Self::from_text(&name, &Definitions::parse_ros2msg(&name, text)?)
    }

    /// Compiles a schema with encoding `ros2idl`.
    pub fn parse_ros2idl(name: &str, text: &str) -> Result<Self> {
        let name = TypeName::parse(name)?;
        Self::from_text(&name, &Definitions::parse_ros2idl(&name, text)?)
    }

    /// Compiles the types of a type description.
    pub fn from_description(description: &TypeDescription) -> Result<Self> {
        let name = TypeName::parse(&description.type_description.type_name)?;
        Self::compile(&description.to_definitions()?, &name)
    }

    /// Compiles definitions that were read from a text, with the packages that rosidl adds.
    pub(crate) fn from_text(name: &TypeName, own: &Definitions) -> Result<Self> {
        let mut all = Definitions::default();
        for message in Definitions::builtin()
            .iter()
            .filter(|m| IMPLICIT.contains(&m.name.package()))
        {
            all.messages_mut()
                .insert(message.name.clone(), message.clone());
        }
        all.extend(own);
        Self::compile(&all, name)
    }
}
