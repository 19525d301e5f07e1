//! Type descriptions, as in the response of `~/get_type_description`.

mod definition;
mod field_type;
mod json;
mod source;
mod value;

pub use field_type::FieldTypeDescription;
pub use source::TypeSource;

use crate::{Definitions, Result, TypeName};

/// One field of a described type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldDescription {
    /// The name.
    pub name: String,
    /// The type.
    pub ty: FieldTypeDescription,
    /// The default as text, empty if there is none; it is not part of the hash.
    pub default_value: String,
}

/// One described type, without those that it uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndividualTypeDescription {
    /// The full name, such as `std_msgs/msg/String`.
    pub type_name: String,
    /// The fields, in wire order.
    pub fields: Vec<FieldDescription>,
}

/// A type and every type that it uses, the content of `type_description_interfaces/msg/TypeDescription`.
///
/// ```
/// use timeloom_msg::{Definitions, TypeDescription, TypeHash, TypeName};
///
/// let name = TypeName::parse("std_msgs/msg/String")?;
/// let description = TypeDescription::of(Definitions::builtin(), &name)?;
/// assert!(TypeHash::of(&description).to_string().starts_with("RIHS01_"));
/// # Ok::<(), timeloom_msg::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeDescription {
    /// The type itself.
    pub type_description: IndividualTypeDescription,
    /// The types that it uses, sorted by name.
    pub referenced_type_descriptions: Vec<IndividualTypeDescription>,
}

impl TypeDescription {
    /// Describes a type.
    ///
    /// # Errors
    /// When the type, or one that it uses, is not defined.
    pub fn of(definitions: &Definitions, name: &TypeName) -> Result<Self> {
        let mut references = definitions.dependencies(name)?;
        references.sort();
        let describe = |wanted: &TypeName| {
            definitions
                .require(wanted, name)
                .map(|message| IndividualTypeDescription::of(message))
        };
        Ok(Self {
            type_description: describe(name)?,
            referenced_type_descriptions: references.iter().map(describe).collect::<Result<_>>()?,
        })
    }
}
