//! The layout of one message.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::definition::{ArrayShape, BaseType, Field, Literal, Primitive};
use crate::{Definitions, Error, Result, TypeName};

/// Most fields of a message when all nested messages are written out; the largest real ones have a few hundred.
const MAX_FLAT_FIELDS: u64 = 1 << 18;

/// The layout of a message: its fields with the layouts of nested messages.
#[derive(Debug, PartialEq)]
pub struct StructType {
    name: TypeName,
    fields: Vec<SchemaField>,
    min_size: u64,
    flat_fields: u64,
    has_wstring: bool,
}

/// A field in a layout.
#[derive(Debug, PartialEq)]
pub struct SchemaField {
    name: String,
    ty: SchemaType,
    default: Option<Literal>,
}

/// The type of a field in a layout.
#[derive(Debug, Clone, PartialEq)]
pub struct SchemaType {
    /// The type of one element.
    pub element: Element,
    /// Number of elements.
    pub shape: ArrayShape,
}

/// The type of one element in a layout.
#[derive(Debug, Clone, PartialEq)]
pub enum Element {
    /// A type of fixed size.
    Primitive(Primitive),
    /// A string, with its bound.
    String(Option<u32>),
    /// A wide string, with its bound.
    WString(Option<u32>),
    /// A nested message.
    Struct(Arc<StructType>),
}

impl StructType {
    pub(super) fn compile(
        definitions: &Definitions,
        name: &TypeName,
        known: &mut BTreeMap<TypeName, Arc<Self>>,
    ) -> Result<Arc<Self>> {
        if let Some(done) = known.get(name) {
            return Ok(Arc::clone(done));
        }
        let message = definitions.require(name, name)?;
        let fields = message
            .fields
            .iter()
            .map(|field| SchemaField::compile(definitions, field, known))
            .collect::<Result<Vec<_>>>()?;
        let sum = fields
            .iter()
            .fold(0_u64, |sum, field| sum.saturating_add(field.ty.min_size()));
        let flat_fields = fields.iter().fold(0_u64, |sum, field| {
            sum.saturating_add(field.ty.flat_fields())
        });
        if flat_fields > MAX_FLAT_FIELDS {
            let (name, what) = (
                name.to_string(),
                "number of fields with those of nested messages",
            );
            return Err(Error::Limit {
                name,
                what,
                actual: flat_fields,
                limit: MAX_FLAT_FIELDS,
            });
        }
        let compiled = Arc::new(Self {
            name: name.clone(),
            flat_fields,
            // An empty message is one byte on the wire.
            min_size: sum.max(1),
            has_wstring: fields.iter().any(|field| field.ty.has_wstring()),
            fields,
        });
        known.insert(name.clone(), Arc::clone(&compiled));
        Ok(compiled)
    }

    /// The full type name.
    pub fn name(&self) -> &TypeName {
        &self.name
    }

    /// The fields, in wire order.
    pub fn fields(&self) -> &[SchemaField] {
        &self.fields
    }

    /// The position and the field with a name.
    pub fn field(&self, name: &str) -> Option<(usize, &SchemaField)> {
        self.fields
            .iter()
            .enumerate()
            .find(|(_, field)| field.name == name)
    }

    /// The least number of bytes of a message of this type, alignment not counted.
    pub fn min_size(&self) -> u64 {
        self.min_size
    }

    /// Whether a wide string is in it, whose layout differs between middlewares.
    pub fn has_wstring(&self) -> bool {
        self.has_wstring
    }

    /// Whether it is `builtin_interfaces/msg/Time`, also by its layout: a bag may define anything under that name.
    pub fn is_time(&self) -> bool {
        self.is_seconds("builtin_interfaces/msg/Time")
    }

    /// Whether it is `builtin_interfaces/msg/Duration`, also by its layout.
    pub fn is_duration(&self) -> bool {
        self.is_seconds("builtin_interfaces/msg/Duration")
    }

    /// Whether it has a name and is `int32 sec` and `uint32 nanosec`.
    fn is_seconds(&self, name: &str) -> bool {
        let is = |field: &SchemaField, name: &str, primitive| {
            field.name == name
                && field.ty.shape == ArrayShape::Single
                && field.ty.element == Element::Primitive(primitive)
        };
        match self.fields.as_slice() {
            [sec, nanosec] => {
                is(sec, "sec", Primitive::Int32)
                    && is(nanosec, "nanosec", Primitive::Uint32)
                    && self.name.to_string() == name
            }
            _ => false,
        }
    }
}

impl SchemaField {
    fn compile(
        definitions: &Definitions,
        field: &Field,
        known: &mut BTreeMap<TypeName, Arc<StructType>>,
    ) -> Result<Self> {
        let element = match &field.ty.base {
            BaseType::Primitive(primitive) => Element::Primitive(*primitive),
            BaseType::String(bound) => Element::String(*bound),
            BaseType::WString(bound) => Element::WString(*bound),
            BaseType::Message(name) => {
                Element::Struct(StructType::compile(definitions, name, known)?)
            }
        };
        let ty = SchemaType {
            element,
            shape: field.ty.shape,
        };
        Ok(Self {
            name: field.name.clone(),
            ty,
            default: field.default.clone(),
        })
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The type.
    pub fn ty(&self) -> &SchemaType {
        &self.ty
    }

    /// The default value, when the definition has one.
    pub fn default(&self) -> Option<&Literal> {
        self.default.as_ref()
    }
}

impl SchemaType {
    fn min_size(&self) -> u64 {
        match self.shape {
            ArrayShape::Single => self.element.min_size(),
            ArrayShape::Fixed(n) => self.element.min_size().saturating_mul(u64::from(n)),
            ArrayShape::Bounded(_) | ArrayShape::Unbounded => 4,
        }
    }

    fn flat_fields(&self) -> u64 {
        match &self.element {
            Element::Struct(ty) => ty.flat_fields.saturating_add(1),
            _ => 1,
        }
    }

    pub(crate) fn has_wstring(&self) -> bool {
        match &self.element {
            Element::WString(_) => true,
            Element::Struct(ty) => ty.has_wstring,
            Element::Primitive(_) | Element::String(_) => false,
        }
    }
}

impl Element {
    /// The least number of bytes of one element, alignment not counted.
    pub(crate) fn min_size(&self) -> u64 {
        match self {
            Self::Primitive(primitive) => primitive.size() as u64,
            Self::String(_) | Self::WString(_) => 4,
            Self::Struct(ty) => ty.min_size,
        }
    }

    /// The type as an error names it.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Primitive(primitive) => primitive.name().to_owned(),
            Self::String(None) => "string".to_owned(),
            Self::String(Some(bound)) => format!("string<={bound}"),
            Self::WString(None) => "wstring".to_owned(),
            Self::WString(Some(bound)) => format!("wstring<={bound}"),
            Self::Struct(ty) => ty.name.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use crate::Schema;

    #[test]
    fn messages_that_explode_are_refused() {
        let mut text = "T0 a\nT0 b\n".to_owned();
        for i in 0..25 {
            writeln!(text, "===\nMSG: p/T{i}\nT{0} a\nT{0} b", i + 1).unwrap();
        }
        text += "===\nMSG: p/T25\nuint8 x\n";
        let error = Schema::parse_ros2msg("p/msg/A", &text)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("number of fields with those of nested messages"),
            "{error}"
        );
    }
}
