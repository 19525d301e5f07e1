//! A column of a table whose rows are messages.

use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};

use crate::field::{FieldNode, time_type};

/// A column: its name, and where its values come from.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) source: Source,
}

/// The source of the values of a column.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    /// The bag's name.
    Bag,
    /// The topic's name.
    Topic,
    /// The topic's type.
    Type,
    LogTime,
    PublishTime,
    Sequence,
    /// Bytes of the payload.
    Size,
    /// The payload, for types that are not known.
    Data,
    /// A field of the message.
    Field(FieldNode),
}

impl Column {
    pub(crate) fn new(name: &str, source: Source) -> Self {
        let name = name.to_owned();
        Self { name, source }
    }

    pub(crate) fn field(&self) -> Field {
        let is_field = matches!(self.source, Source::Field(_) | Source::Sequence);
        Field::new(&self.name, self.source.data_type(), is_field)
    }

    /// The schema of a list of columns.
    pub(crate) fn schema(columns: &[Self]) -> SchemaRef {
        let fields: Vec<Field> = columns.iter().map(Self::field).collect();
        SchemaRef::new(Schema::new(fields))
    }
}

impl Source {
    fn data_type(&self) -> DataType {
        match self {
            Self::Bag | Self::Topic | Self::Type => DataType::Utf8View,
            Self::LogTime | Self::PublishTime => time_type(),
            Self::Sequence => DataType::UInt32,
            Self::Size => DataType::UInt64,
            Self::Data => DataType::Binary,
            Self::Field(node) => node.data_type(),
        }
    }
}
