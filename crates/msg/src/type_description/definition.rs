//! From definitions to descriptions and back.

use super::{FieldDescription, FieldTypeDescription, IndividualTypeDescription, TypeDescription};
use crate::definition::{Field, Literal, MessageDefinition};
use crate::{Definitions, Error, Result, TypeName};

/// The field of a message without fields.
const PLACEHOLDER: &str = "structure_needs_at_least_one_member";
/// The number of `uint8`.
const UINT8: u8 = 3;

impl IndividualTypeDescription {
    /// Describes one message.
    pub fn of(message: &MessageDefinition) -> Self {
        let mut fields: Vec<_> = message.fields.iter().map(FieldDescription::of).collect();
        if fields.is_empty() {
            fields.push(FieldDescription {
                name: PLACEHOLDER.to_owned(),
                ty: FieldTypeDescription {
                    type_id: UINT8,
                    capacity: 0,
                    string_capacity: 0,
                    nested_type_name: String::new(),
                },
                default_value: String::new(),
            });
        }
        Self {
            type_name: message.name.to_string(),
            fields,
        }
    }

    /// The described message. Descriptions have no constants, and defaults only as text: both are left out.
    pub(crate) fn to_definition(&self) -> Result<MessageDefinition> {
        let name = TypeName::parse(&self.type_name)?;
        let only_placeholder = matches!(self.fields.as_slice(), [only] if only.name == PLACEHOLDER);
        let described = if only_placeholder {
            &[]
        } else {
            self.fields.as_slice()
        };
        let field = |field: &FieldDescription| {
            if !crate::name::is_identifier(&field.name) {
                return Err(Error::Name {
                    what: "field name",
                    name: field.name.clone(),
                    reason: "not an identifier",
                });
            }
            Ok(Field::new(
                &field.name,
                field.ty.to_field_type(&field.name)?,
            ))
        };
        let fields = described.iter().map(field).collect::<Result<_>>()?;
        Ok(MessageDefinition::new(name, fields, Vec::new()))
    }
}

impl FieldDescription {
    fn of(field: &Field) -> Self {
        let default_value = match &field.default {
            None => String::new(),
            Some(Literal::Text(text)) => text.clone(),
            Some(Literal::Bool(value)) => (if *value { "True" } else { "False" }).to_owned(),
            Some(other) => other.to_string(),
        };
        Self {
            name: field.name.clone(),
            ty: FieldTypeDescription::of(&field.ty),
            default_value,
        }
    }
}

impl TypeDescription {
    /// The definitions of all described types.
    ///
    /// # Errors
    /// When a name is not valid or a type is not supported.
    pub fn to_definitions(&self) -> Result<Definitions> {
        let mut all = Definitions::default();
        for ty in self
            .referenced_type_descriptions
            .iter()
            .chain([&self.type_description])
        {
            all.insert(ty.to_definition()?);
        }
        Ok(all)
    }
}
