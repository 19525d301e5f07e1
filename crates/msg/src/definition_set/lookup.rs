//! Sources of definitions, independent of their storage.

use std::collections::BTreeSet;

use super::Definitions;
use super::order::MAX_DEPTH;
use crate::definition::{ActionDefinition, MessageDefinition, ServiceDefinition};
use crate::{InterfaceKind, Result, Schema, TypeName, idl};

/// A definition text and the language that it is written in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundDefinition {
    /// The text of a `.msg`, `.srv` or `.action` file.
    Ros(String),
    /// The text of a `.idl` file.
    Idl(String),
}

/// A source of interface definitions.
pub trait DefinitionSource {
    /// The text of the file that defines `name`: a message, a whole service or a whole action.
    ///
    /// # Errors
    /// Only when the definition exists but cannot be read; `None` means that there is none.
    fn find(&self, name: &TypeName) -> Result<Option<FoundDefinition>>;
}

impl Definitions {
    /// Adds `name` and all types that it uses from `source`, unless it is known already; returns whether it is known
    /// now.
    ///
    /// # Errors
    /// When a text cannot be read or parsed.
    pub fn load(&mut self, source: &dyn DefinitionSource, name: &TypeName) -> Result<bool> {
        let mut open = vec![(name.clone(), 0)];
        let mut asked = BTreeSet::new();
        while let Some((wanted, depth)) = open.pop() {
            if !asked.insert(wanted.clone()) || depth > MAX_DEPTH {
                continue;
            }
            if self.get(&wanted).is_none() {
                self.load_file(source, &wanted)?;
            }
            if let Some(message) = self.get(&wanted) {
                open.extend(
                    message
                        .references()
                        .map(|reference| (reference.clone(), depth + 1)),
                );
            }
        }
        Ok(self.get(name).is_some())
    }

    /// Compiles the schema of `name` with definitions of `source` first, and the built-in ones for missing types.
    pub fn schema_from(source: &dyn DefinitionSource, name: &str) -> Result<Schema> {
        let name = TypeName::parse(name)?;
        let mut own = Self::default();
        own.load(source, &name)?;
        let mut all = Self::builtin().clone();
        all.extend(&own);
        Schema::compile(&all, &name)
    }

    fn load_file(&mut self, source: &dyn DefinitionSource, wanted: &TypeName) -> Result<()> {
        let file = wanted.interface();
        match (source.find(&file)?, file.kind()) {
            (None, _) => {}
            (Some(FoundDefinition::Idl(text)), _) => {
                idl::parse(&file, &text, 1)?
                    .into_iter()
                    .for_each(|message| self.insert(message));
            }
            (Some(FoundDefinition::Ros(text)), InterfaceKind::Msg) => {
                self.insert(MessageDefinition::parse(&file, &text)?);
            }
            (Some(FoundDefinition::Ros(text)), InterfaceKind::Srv) => {
                self.insert_service(&ServiceDefinition::parse(&file, &text)?);
            }
            (Some(FoundDefinition::Ros(text)), InterfaceKind::Action) => {
                self.insert_action(&ActionDefinition::parse(&file, &text)?);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Texts(&'static [(&'static str, &'static str)]);

    impl DefinitionSource for Texts {
        fn find(&self, name: &TypeName) -> Result<Option<FoundDefinition>> {
            let name = name.to_string();
            let found = self.0.iter().find(|(known, _)| *known == name);
            Ok(found.map(|(_, text)| FoundDefinition::Ros((*text).to_owned())))
        }
    }

    #[test]
    fn a_message_is_loaded_with_all_types_that_it_uses() {
        let source = Texts(&[
            ("p/msg/A", "B b\nstd_msgs/Header h\n"),
            ("p/msg/B", "int8 x\n"),
        ]);
        let schema = Definitions::schema_from(&source, "p/msg/A").unwrap();
        assert_eq!(schema.name().to_string(), "p/msg/A");
        assert!(Definitions::schema_from(&source, "p/msg/Missing").is_err());
    }

    #[test]
    fn parts_of_services_are_found_by_the_service() {
        let source = Texts(&[("p/srv/S", "int8 a\n---\nint8 b\n")]);
        assert!(Definitions::schema_from(&source, "p/srv/S_Event").is_ok());
        assert!(Definitions::schema_from(&source, "p/srv/S_Request").is_ok());
    }

    #[test]
    fn types_that_contain_themselves_end() {
        let source = Texts(&[("p/msg/A", "A a\n")]);
        assert_eq!(
            Definitions::schema_from(&source, "p/msg/A")
                .unwrap_err()
                .to_string(),
            "p/msg/A contains itself"
        );
    }
}
