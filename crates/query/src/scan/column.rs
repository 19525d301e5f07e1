//! A column of a table whose rows are messages.

use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};

use crate::field::{FieldNode, time_type};

/// A column: its name, and where its values come from.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) source: Source,
    /// The column of the table that it is, and the fields within it: the way to it for another process.
    pub(crate) path: Vec<String>,
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
    /// A column of a table.
    pub(crate) fn new(name: &str, source: Source) -> Self {
        Self {
            name: name.to_owned(),
            source,
            path: vec![name.to_owned()],
        }
    }

    /// The column, or the field within it, that a path leads to; under another name.
    #[cfg(feature = "cluster")]
    pub(crate) fn at(table: &[Self], path: &[String], name: &str) -> Option<Self> {
        let (first, fields) = path.split_first()?;
        let column = table.iter().find(|column| column.name == *first)?;
        let mut source = column.source.clone();
        for field in fields {
            let Source::Field(node) = &source else {
                return None;
            };
            source = Source::Field(node.child(field)?.clone());
        }
        Some(Self {
            name: name.to_owned(),
            source,
            path: path.to_vec(),
        })
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
