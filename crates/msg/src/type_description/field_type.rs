//! The numbers of field types.

use crate::definition::{ArrayShape, BaseType, FieldType, Primitive};
use crate::{Error, Result, TypeName};

/// Added to the number of the element for `T[n]`, `T[<=n]` and `T[]`.
const ARRAY: u8 = 48;
const BOUNDED_SEQUENCE: u8 = 96;
const UNBOUNDED_SEQUENCE: u8 = 144;

const NESTED: u8 = 1;
const STRING: u8 = 17;
const WSTRING: u8 = 18;
const BOUNDED_STRING: u8 = 21;
const BOUNDED_WSTRING: u8 = 22;

/// The numbers of the primitives. `char` of a `.msg` file is `uint8`, so it comes after it and is never read back.
const PRIMITIVES: [(u8, Primitive); 14] = [
    (2, Primitive::Int8),
    (3, Primitive::Uint8),
    (4, Primitive::Int16),
    (5, Primitive::Uint16),
    (6, Primitive::Int32),
    (7, Primitive::Uint32),
    (8, Primitive::Int64),
    (9, Primitive::Uint64),
    (10, Primitive::Float32),
    (11, Primitive::Float64),
    (13, Primitive::IdlChar),
    (15, Primitive::Bool),
    (16, Primitive::Byte),
    (3, Primitive::Char),
];

/// The type of a described field, the content of `type_description_interfaces/msg/FieldType`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldTypeDescription {
    /// The number of the type.
    pub type_id: u8,
    /// The size of an array, or the bound of a sequence.
    pub capacity: u64,
    /// The bound of a string.
    pub string_capacity: u64,
    /// The name of a nested message.
    pub nested_type_name: String,
}

impl FieldTypeDescription {
    /// Describes the type of a field.
    pub fn of(ty: &FieldType) -> Self {
        let (element, string_capacity, nested_type_name) = match &ty.base {
            BaseType::Primitive(primitive) => (primitive_id(*primitive), 0, String::new()),
            BaseType::String(None) => (STRING, 0, String::new()),
            BaseType::String(Some(bound)) => (BOUNDED_STRING, u64::from(*bound), String::new()),
            BaseType::WString(None) => (WSTRING, 0, String::new()),
            BaseType::WString(Some(bound)) => (BOUNDED_WSTRING, u64::from(*bound), String::new()),
            BaseType::Message(name) => (NESTED, 0, name.to_string()),
        };
        let (offset, capacity) = match ty.shape {
            ArrayShape::Single => (0, 0),
            ArrayShape::Fixed(n) => (ARRAY, u64::from(n)),
            ArrayShape::Bounded(n) => (BOUNDED_SEQUENCE, u64::from(n)),
            ArrayShape::Unbounded => (UNBOUNDED_SEQUENCE, 0),
        };
        Self {
            type_id: element + offset,
            capacity,
            string_capacity,
            nested_type_name,
        }
    }

    /// The type that is described; `field` names it in errors.
    ///
    /// # Errors
    /// When the number is unknown or not supported, or a size does not fit it.
    pub(crate) fn to_field_type(&self, field: &str) -> Result<FieldType> {
        let wrong = |expected: &str, found: u64| Error::Mismatch {
            path: field.to_owned(),
            expected: expected.to_owned(),
            found: found.to_string(),
        };
        let size = |n: u64| {
            u32::try_from(n)
                .ok()
                .filter(|n| *n > 0)
                .ok_or_else(|| wrong("a size from 1 to 4294967295", n))
        };
        let (element, shape) = match self.type_id {
            id if id > UNBOUNDED_SEQUENCE => (id - UNBOUNDED_SEQUENCE, ArrayShape::Unbounded),
            id if id > BOUNDED_SEQUENCE => (
                id - BOUNDED_SEQUENCE,
                ArrayShape::Bounded(size(self.capacity)?),
            ),
            id if id > ARRAY => (id - ARRAY, ArrayShape::Fixed(size(self.capacity)?)),
            id => (id, ArrayShape::Single),
        };
        let base = match element {
            NESTED => BaseType::Message(TypeName::parse(&self.nested_type_name)?),
            STRING => BaseType::String(None),
            WSTRING => BaseType::WString(None),
            BOUNDED_STRING => BaseType::String(Some(size(self.string_capacity)?)),
            BOUNDED_WSTRING => BaseType::WString(Some(size(self.string_capacity)?)),
            other => {
                let known = PRIMITIVES.iter().find(|(id, _)| *id == other);
                let (_, primitive) =
                    known.ok_or_else(|| wrong("a known type id", u64::from(self.type_id)))?;
                BaseType::Primitive(*primitive)
            }
        };
        Ok(FieldType { base, shape })
    }
}

fn primitive_id(primitive: Primitive) -> u8 {
    let known = PRIMITIVES.iter().find(|(_, p)| *p == primitive);
    known.map_or(0, |(id, _)| *id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_the_real_definitions() {
        let id = |base, shape| FieldTypeDescription::of(&FieldType { base, shape }).type_id;
        assert_eq!(id(BaseType::String(None), ArrayShape::Single), 17);
        assert_eq!(
            id(BaseType::Primitive(Primitive::Char), ArrayShape::Fixed(16)),
            51
        );
        assert_eq!(id(BaseType::String(Some(5)), ArrayShape::Bounded(2)), 117);
        assert_eq!(
            id(BaseType::Primitive(Primitive::Byte), ArrayShape::Unbounded),
            160
        );
    }

    #[test]
    fn every_type_comes_back() {
        let shapes = [
            ArrayShape::Single,
            ArrayShape::Fixed(3),
            ArrayShape::Bounded(4),
            ArrayShape::Unbounded,
        ];
        let message = BaseType::Message(TypeName::parse("p/msg/T").unwrap());
        let strings = [
            BaseType::String(None),
            BaseType::String(Some(5)),
            BaseType::WString(None),
            BaseType::WString(Some(6)),
            message,
        ];
        let primitives = PRIMITIVES
            .iter()
            .filter(|(_, p)| *p != Primitive::Char)
            .map(|(_, p)| BaseType::Primitive(*p));
        for base in primitives.chain(strings) {
            for shape in shapes {
                let ty = FieldType {
                    base: base.clone(),
                    shape,
                };
                assert_eq!(
                    FieldTypeDescription::of(&ty).to_field_type("f").unwrap(),
                    ty
                );
            }
        }
    }

    #[test]
    fn unknown_numbers_are_errors() {
        for type_id in [0, 12, 14, 19, 23, 48, 96, 144, 200, 255] {
            let ty = FieldTypeDescription {
                type_id,
                capacity: 1,
                string_capacity: 1,
                nested_type_name: String::new(),
            };
            assert!(ty.to_field_type("f").is_err(), "{type_id}");
        }
    }
}
