//! Type descriptions as messages: the reply of `~/get_type_description`.

use std::sync::Arc;

use super::{FieldDescription, FieldTypeDescription, IndividualTypeDescription, TypeDescription};
use crate::schema::{Element, StructType};
use crate::value::{Array, Struct, Value};
use crate::{Definitions, Error, Result};

/// The message that holds a description.
const TYPE: &str = "type_description_interfaces/msg/TypeDescription";

impl TypeDescription {
    /// The description as a value of `type_description_interfaces/msg/TypeDescription`.
    pub fn to_value(&self) -> Result<Value> {
        let schema = Definitions::builtin().schema(TYPE)?;
        let ty = schema.root();
        let individual = nested(ty, "type_description")?;
        let referenced = self
            .referenced_type_descriptions
            .iter()
            .map(|description| description.to_struct(&individual))
            .collect::<Result<_>>()?;
        let root = Value::Struct(self.type_description.to_struct(&individual)?);
        Ok(Value::Struct(Struct::new(
            Arc::clone(ty),
            vec![root, Value::Array(Array::Struct(referenced))],
        )))
    }

    /// Reads a value of `type_description_interfaces/msg/TypeDescription`.
    ///
    /// # Errors
    /// When the value is of another type.
    pub fn from_value(value: &Value) -> Result<Self> {
        let message = value.as_struct().ok_or_else(|| wrong("type_description"))?;
        let root = message
            .get("type_description")
            .and_then(Value::as_struct)
            .ok_or_else(|| wrong("type_description"))?;
        let referenced = structs(message, "referenced_type_descriptions")?;
        Ok(Self {
            type_description: IndividualTypeDescription::from_struct(root)?,
            referenced_type_descriptions: referenced
                .iter()
                .map(IndividualTypeDescription::from_struct)
                .collect::<Result<_>>()?,
        })
    }
}

impl IndividualTypeDescription {
    fn to_struct(&self, ty: &Arc<StructType>) -> Result<Struct> {
        let field_type = nested(ty, "fields")?;
        let type_type = nested(&field_type, "type")?;
        let fields = self.fields.iter().map(|field| {
            let ty = &field.ty;
            let description = vec![
                Value::from(ty.type_id),
                Value::from(ty.capacity),
                Value::from(ty.string_capacity),
                Value::from(ty.nested_type_name.as_str()),
            ];
            let values = vec![
                Value::from(field.name.as_str()),
                Value::Struct(Struct::new(Arc::clone(&type_type), description)),
                Value::from(field.default_value.as_str()),
            ];
            Struct::new(Arc::clone(&field_type), values)
        });
        let fields = Value::Array(Array::Struct(fields.collect()));
        Ok(Struct::new(
            Arc::clone(ty),
            vec![Value::from(self.type_name.as_str()), fields],
        ))
    }

    fn from_struct(message: &Struct) -> Result<Self> {
        let fields = structs(message, "fields")?
            .iter()
            .map(FieldDescription::from_struct)
            .collect::<Result<_>>()?;
        Ok(Self {
            type_name: text(message, "type_name")?,
            fields,
        })
    }
}

impl FieldDescription {
    fn from_struct(message: &Struct) -> Result<Self> {
        let ty = message
            .get("type")
            .and_then(Value::as_struct)
            .ok_or_else(|| wrong("type"))?;
        let number = |name| {
            ty.get(name)
                .and_then(Value::as_u64)
                .ok_or_else(|| wrong(name))
        };
        let type_id = u8::try_from(number("type_id")?)
            .ok()
            .ok_or_else(|| wrong("type_id"))?;
        Ok(Self {
            name: text(message, "name")?,
            ty: FieldTypeDescription {
                type_id,
                capacity: number("capacity")?,
                string_capacity: number("string_capacity")?,
                nested_type_name: text(ty, "nested_type_name")?,
            },
            default_value: text(message, "default_value")?,
        })
    }
}

fn nested(ty: &StructType, name: &str) -> Result<Arc<StructType>> {
    match ty.field(name).map(|(_, field)| &field.ty().element) {
        Some(Element::Struct(nested)) => Ok(Arc::clone(nested)),
        _ => Err(wrong(name)),
    }
}

fn structs<'a>(message: &'a Struct, name: &str) -> Result<&'a [Struct]> {
    match message.get(name) {
        Some(Value::Array(Array::Struct(items))) => Ok(items),
        _ => Err(wrong(name)),
    }
}

fn text(message: &Struct, name: &str) -> Result<String> {
    let found = message.get(name).and_then(Value::as_str);
    found.map(str::to_owned).ok_or_else(|| wrong(name))
}

fn wrong(path: &str) -> Error {
    let found = "another type".to_owned();
    Error::Mismatch {
        path: path.to_owned(),
        expected: TYPE.to_owned(),
        found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn through_the_message_and_back() {
        let description = Definitions::builtin()
            .schema("sensor_msgs/msg/Imu")
            .unwrap()
            .type_description()
            .unwrap();
        let value = description.to_value().unwrap();
        let schema = Definitions::builtin().schema(TYPE).unwrap();
        let payload = schema.encode(&value).unwrap();
        let back = TypeDescription::from_value(&schema.decode(&payload).unwrap()).unwrap();
        assert_eq!(back, description);
        assert_eq!(
            back.type_description.fields[1].ty.nested_type_name,
            "geometry_msgs/msg/Quaternion"
        );
        assert!(TypeDescription::from_value(&Value::Bool(true)).is_err());
    }

    #[test]
    fn definitions_come_back_with_the_same_hash() {
        let builtin = Definitions::builtin();
        for message in builtin.iter() {
            let description = TypeDescription::of(builtin, &message.name).unwrap();
            let again = crate::Schema::from_description(&description).unwrap();
            assert_eq!(
                again.type_hash().unwrap(),
                crate::TypeHash::of(&description),
                "{}",
                message.name
            );
        }
    }
}
