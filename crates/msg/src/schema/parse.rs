//! Schemas from the texts that bags hold.

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
    /// Names the line and what was expected there, or the type that is missing.
    pub fn parse_ros2msg(name: &str, text: &str) -> Result<Self> {
        let name = TypeName::parse(name)?;
        Self::from_text(&name, &Definitions::parse_ros2msg(&name, text)?)
    }

    /// Compiles a schema with encoding `ros2idl`.
    pub fn parse_ros2idl(name: &str, text: &str) -> Result<Self> {
        let name = TypeName::parse(name)?;
        Self::from_text(&name, &Definitions::parse_ros2idl(&name, text)?)
    }

    /// Compiles what a bag stores for a type, whatever it says about the encoding.
    ///
    /// Real bags call the text of a service `unknown`; without any text the built-in definitions are asked.
    pub fn parse_stored(name: &str, encoding: &str, text: &str) -> Result<Self> {
        let looks_like_idl = || text.contains("module ") && text.contains("struct ");
        match encoding {
            "ros2idl" => Self::parse_ros2idl(name, text),
            "ros2msg" => Self::parse_ros2msg(name, text),
            _ if text.trim().is_empty() => Definitions::builtin().schema(name),
            _ if looks_like_idl() => Self::parse_ros2idl(name, text),
            _ => Self::parse_ros2msg(name, text),
        }
    }

    /// Compiles the types of a type description.
    pub fn from_description(description: &TypeDescription) -> Result<Self> {
        let name = TypeName::parse(&description.type_description.type_name)?;
        Self::compile(&description.to_definitions()?, &name)
    }

    fn from_text(name: &TypeName, own: &Definitions) -> Result<Self> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_texts_of_every_encoding() {
        let fields = |name, encoding, text| {
            Schema::parse_stored(name, encoding, text).map(|schema| schema.root().fields().len())
        };
        let idl = "module p { module msg { struct A { long x; }; }; };";
        assert_eq!(fields("p/msg/A", "ros2msg", ""), Ok(0));
        assert_eq!(fields("p/msg/A", "ros2msg", "int8 a\n"), Ok(1));
        assert_eq!(fields("p/msg/A", "ros2idl", idl), Ok(1));
        assert_eq!(fields("p/msg/A", "unknown", idl), Ok(1));
        assert_eq!(
            fields(
                "p/srv/S_Event",
                "unknown",
                "====\nSRV: p/srv/S\nint8 a\n---\n"
            ),
            Ok(3)
        );
        assert_eq!(fields("std_msgs/msg/Header", "", ""), Ok(2));
        assert!(fields("p/msg/A", "", "").is_err());
    }
}
