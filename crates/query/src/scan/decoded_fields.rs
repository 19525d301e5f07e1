//! The fields of a scan, decoded in one pass over each payload.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray as _};
use datafusion::error::{DataFusionError, Result};
use timeloom_bag::Message;
use timeloom_columns::Rows;
use timeloom_msg::Schema;

use crate::field::FieldNode;

/// Decodes the fields that the columns of a scan need, each once.
pub(super) struct DecodedFields {
    rows: Rows,
    /// For each column the index of its decoded field, and the names from there to the column.
    columns: Vec<(usize, Vec<String>)>,
}

impl DecodedFields {
    pub(super) fn new(schema: Arc<Schema>, columns: &[&FieldNode]) -> Result<Self> {
        let mut paths: Vec<String> = Vec::new();
        for column in columns {
            let is_covered = |other: &&FieldNode| below(column.path(), other.path()).is_some();
            let known = paths.iter().any(|path| path == column.path());
            if !known && !columns.iter().any(is_covered) {
                paths.push(column.path().to_owned());
            }
        }
        let place = |column: &&FieldNode| {
            paths.iter().enumerate().find_map(|(index, path)| {
                if path == column.path() {
                    return Some((index, Vec::new()));
                }
                let names = below(column.path(), path)?.split('.');
                Some((index, names.map(str::to_owned).collect()))
            })
        };
        Ok(Self {
            columns: columns.iter().filter_map(place).collect(),
            rows: Rows::new(schema, Some(&paths)).map_err(failed)?,
        })
    }

    /// Adds a message; the error says why its values are null.
    pub(super) fn push(&mut self, message: &Message<'_>) -> timeloom_msg::Result<()> {
        self.rows.push(message)
    }

    /// The arrays of all columns, in their order.
    pub(super) fn take(&mut self) -> Result<Vec<ArrayRef>> {
        let fields = self.rows.take().into_arrays().map_err(failed)?;
        let columns = self.columns.iter().map(|(index, names)| {
            let mut array = fields.get(*index).cloned().flatten();
            for name in names {
                let message = array.as_ref().and_then(|array| array.as_struct_opt());
                array = message.and_then(|message| message.column_by_name(name).cloned());
            }
            let missing = || DataFusionError::Internal("a column has no field".to_owned());
            array.ok_or_else(missing)
        });
        columns.collect()
    }
}

/// The rest of a path that is below another one.
fn below<'a>(path: &'a str, above: &str) -> Option<&'a str> {
    path.strip_prefix(above)?.strip_prefix('.')
}

fn failed(error: timeloom_columns::Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}
