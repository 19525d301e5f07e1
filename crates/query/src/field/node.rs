//! A field of a message type as a column, with the fields of nested messages below it.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, StructArray};
use datafusion::arrow::datatypes::{DataType, Field, Fields};
use datafusion::error::Result;
use timeloom_msg::definition::ArrayShape;
use timeloom_msg::schema::{Schema, SchemaType};
use timeloom_msg::{Error, Value};

use super::kind::{Kind, data_type};
use super::leaf::Leaf;
use super::value_builder::ValueBuilder;

/// More bytes than this in one message do not fit the offsets of an Arrow array.
const LARGEST_PAYLOAD: usize = i32::MAX as usize;

/// A payload that is being read, field by field.
pub(crate) struct Payload<'a> {
    pub(super) data: &'a [u8],
    schema: &'a Schema,
    decoded: Option<Value>,
}

impl<'a> Payload<'a> {
    /// A payload of this type.
    ///
    /// # Errors
    /// When it is too large for a column.
    pub(crate) fn new(schema: &'a Schema, data: &'a [u8]) -> Result<Self, Error> {
        if data.len() > LARGEST_PAYLOAD {
            return Err(Error::Limit {
                name: schema.name().to_string(),
                what: "size of the payload",
                actual: data.len() as u64,
                limit: LARGEST_PAYLOAD as u64,
            });
        }
        Ok(Self {
            data,
            schema,
            decoded: None,
        })
    }

    /// The whole message, decoded at most once.
    pub(super) fn decoded(&mut self) -> Result<&Value, Error> {
        let value = match self.decoded.take() {
            Some(value) => value,
            None => self.schema.decode(self.data)?,
        };
        Ok(self.decoded.insert(value))
    }
}

/// A column of a topic's table.
#[derive(Debug, Clone)]
pub(crate) enum FieldNode {
    /// One value per message.
    Leaf(Arc<LeafColumn>),
    /// A nested message.
    Struct(Arc<StructColumn>),
}

#[derive(Debug)]
pub(crate) struct LeafColumn {
    leaf: Leaf,
    data_type: DataType,
}

#[derive(Debug)]
pub(crate) struct StructColumn {
    fields: Fields,
    children: Vec<FieldNode>,
}

impl FieldNode {
    /// The columns of a type: each field that holds something, by name.
    pub(crate) fn columns(schema: &Schema) -> Vec<(String, Self)> {
        let fields = schema.root().fields().iter();
        fields
            .filter_map(|field| {
                let node = Self::new(schema, field.name(), field.ty())?;
                Some((field.name().to_owned(), node))
            })
            .collect()
    }

    fn new(schema: &Schema, path: &str, ty: &SchemaType) -> Option<Self> {
        if let (Kind::Struct(inner), ArrayShape::Single) = (Kind::of(&ty.element), ty.shape) {
            let mut fields = Vec::new();
            let mut children = Vec::new();
            for field in inner.fields() {
                let path = format!("{path}.{}", field.name());
                if let Some(child) = Self::new(schema, &path, field.ty()) {
                    fields.push(Field::new(field.name(), child.data_type(), true));
                    children.push(child);
                }
            }
            let fields = Fields::from(fields);
            let column = StructColumn { fields, children };
            return (!column.children.is_empty()).then(|| Self::Struct(Arc::new(column)));
        }
        Some(Self::Leaf(Arc::new(LeafColumn {
            leaf: Leaf::new(schema, path, ty),
            data_type: data_type(ty)?,
        })))
    }

    pub(crate) fn data_type(&self) -> DataType {
        match self {
            Self::Leaf(column) => column.data_type.clone(),
            Self::Struct(column) => DataType::Struct(column.fields.clone()),
        }
    }

    /// The column of a field of the nested message.
    pub(crate) fn child(&self, name: &str) -> Option<&Self> {
        let Self::Struct(column) = self else {
            return None;
        };
        let (index, _) = column.fields.find(name)?;
        column.children.get(index)
    }

    /// How many values are read from each message.
    pub(crate) fn leaves(&self) -> u64 {
        match self {
            Self::Leaf(_) => 1,
            Self::Struct(column) => column.children.iter().map(Self::leaves).sum(),
        }
    }

    pub(crate) fn builder(&self) -> Option<FieldBuilder> {
        Some(match self {
            Self::Leaf(column) => FieldBuilder::Leaf {
                builder: ValueBuilder::new(&column.leaf.ty)?,
                column: Arc::clone(column),
            },
            Self::Struct(column) => FieldBuilder::Struct {
                children: column
                    .children
                    .iter()
                    .map(Self::builder)
                    .collect::<Option<_>>()?,
                column: Arc::clone(column),
                rows: 0,
            },
        })
    }
}

/// Collects the values of a column.
pub(crate) enum FieldBuilder {
    Leaf {
        column: Arc<LeafColumn>,
        builder: ValueBuilder,
    },
    Struct {
        column: Arc<StructColumn>,
        children: Vec<Self>,
        rows: usize,
    },
}

impl FieldBuilder {
    /// Adds the value of a message; a value that cannot be read is null, and the error is the first of them.
    pub(crate) fn append(&mut self, payload: &mut Payload<'_>) -> Result<(), Error> {
        match self {
            Self::Leaf { column, builder } => column.leaf.append(payload, builder),
            Self::Struct { children, rows, .. } => {
                *rows += 1;
                let mut first = Ok(());
                for child in children {
                    first = first.and(child.append(payload));
                }
                first
            }
        }
    }

    pub(crate) fn append_null(&mut self) {
        match self {
            Self::Leaf { builder, .. } => builder.append_null(),
            Self::Struct { children, rows, .. } => {
                *rows += 1;
                children.iter_mut().for_each(Self::append_null);
            }
        }
    }

    pub(crate) fn finish(&mut self) -> Result<ArrayRef> {
        match self {
            Self::Leaf { builder, .. } => builder.finish(),
            Self::Struct {
                column,
                children,
                rows,
            } => {
                let arrays = children
                    .iter_mut()
                    .map(Self::finish)
                    .collect::<Result<Vec<_>>>()?;
                let rows = std::mem::take(rows);
                let fields = column.fields.clone();
                let array = StructArray::try_new_with_length(fields, arrays, None, rows)?;
                Ok(Arc::new(array))
            }
        }
    }
}
