//! Fields of messages as columns; their Arrow types are those of `timeloom-columns`.

use datafusion::arrow::datatypes::DataType;
use timeloom_columns::Column;
pub(crate) use timeloom_columns::{UTC, time_type};
use timeloom_msg::Schema;

/// A field of a message type, or of a nested message in it.
#[derive(Debug, Clone)]
pub(crate) struct FieldNode {
    path: String,
    data_type: DataType,
}

impl FieldNode {
    /// The columns of a type by name. A message without fields has no column.
    pub(crate) fn columns(schema: &Schema) -> Vec<(String, Self)> {
        let fields = schema.root().fields().iter();
        fields
            .filter_map(|field| {
                let path = field.name().to_owned();
                let data_type = Column::new(field.ty()).data_type()?;
                Some((path.clone(), Self { path, data_type }))
            })
            .collect()
    }

    pub(crate) fn data_type(&self) -> DataType {
        self.data_type.clone()
    }

    /// The names of the nested messages and of the field, with dots between them.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// A field of the nested message.
    pub(crate) fn child(&self, name: &str) -> Option<Self> {
        let DataType::Struct(fields) = &self.data_type else {
            return None;
        };
        let (_, field) = fields.find(name)?;
        Some(Self {
            path: format!("{}.{name}", self.path),
            data_type: field.data_type().clone(),
        })
    }

    /// Number of values that are read from each message.
    pub(crate) fn leaves(&self) -> u64 {
        leaves(&self.data_type)
    }
}

fn leaves(data_type: &DataType) -> u64 {
    match data_type {
        DataType::Struct(fields) => fields.iter().map(|field| leaves(field.data_type())).sum(),
        _ => 1,
    }
}
