//! A type with everything that it uses, ready to read and write payloads.

mod parse;
mod structure;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use structure::{Element, SchemaField, SchemaType, StructType};

use crate::definition::{action_extras, service_extras};
use crate::{Definitions, InterfaceKind, Result, TypeDescription, TypeHash, TypeName};

/// A compiled type: decodes, encodes, describes and hashes itself.
///
/// ```
/// use timeloom_msg::Schema;
///
/// let schema = Schema::parse_ros2msg("demo/msg/Point", "float32 x\nfloat32 y\n")?;
/// let value = schema.decode(&[0, 1, 0, 0, 0, 0, 128, 63, 0, 0, 0, 64])?;
/// assert_eq!(value.to_json(), r#"{"x":1.0,"y":2.0}"#);
/// # Ok::<(), timeloom_msg::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Schema {
    root: Arc<StructType>,
    definitions: Definitions,
}

impl Schema {
    /// Compiles `name` from a set of definitions.
    ///
    /// # Errors
    /// When the type or one that it uses is not defined, contains itself, or is nested too deeply.
    pub fn compile(definitions: &Definitions, name: &TypeName) -> Result<Self> {
        let mut closure = Definitions::default();
        let mut known = BTreeMap::new();
        // Walks the graph once for all limits, so that the recursion of `StructType::compile` is bounded.
        for wanted in definitions.dependencies(name)?.iter().chain([name]) {
            closure.messages_mut().insert(
                wanted.clone(),
                Arc::clone(definitions.require(wanted, name)?),
            );
        }
        let root = StructType::compile(&closure, name, &mut known)?;
        Ok(Self {
            root,
            definitions: closure,
        })
    }

    /// The full type name.
    pub fn name(&self) -> &TypeName {
        self.root.name()
    }

    /// The layout of the message itself.
    pub fn root(&self) -> &Arc<StructType> {
        &self.root
    }

    /// The definitions of the type and of all that it uses.
    pub fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    /// The schema of a type that this one uses, or of a service whose request and response this one uses.
    ///
    /// From the events of a service, these are the service itself, its request and its response.
    ///
    /// # Errors
    /// When the definitions of this type do not include the other one.
    pub fn related(&self, name: &str) -> Result<Self> {
        let name = TypeName::parse(name)?;
        if self.definitions.get(&name).is_some() {
            return Self::compile(&self.definitions, &name);
        }
        Self::derive(&self.definitions, &name)
    }

    /// Compiles `name` from the definitions of a file, with the types that rosidl derives from services and actions.
    ///
    /// # Errors
    /// When a type that it uses is not defined.
    pub fn derive(definitions: &Definitions, name: &TypeName) -> Result<Self> {
        let interface = name.interface();
        let mut all = definitions.clone();
        let derived = match interface.kind() {
            InterfaceKind::Msg => Vec::new(),
            InterfaceKind::Srv => service_extras(&interface).to_vec(),
            InterfaceKind::Action => action_extras(&interface),
        };
        for message in derived {
            if all.get(&message.name).is_none() {
                all.insert(message);
            }
        }
        Self::from_text(name, &all)
    }

    /// The type description, as in the response of `~/get_type_description`.
    pub fn type_description(&self) -> Result<TypeDescription> {
        TypeDescription::of(&self.definitions, self.name())
    }

    /// The RIHS01 hash.
    pub fn type_hash(&self) -> Result<TypeHash> {
        Ok(TypeHash::of(&self.type_description()?))
    }

    /// The definition text that rosbag2 stores with encoding `ros2msg`.
    pub fn ros2msg(&self) -> Result<String> {
        self.definitions.ros2msg(self.name())
    }
}
