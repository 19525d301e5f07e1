//! Rows for every library that takes Arrow, without pyarrow: the Arrow `PyCapsule` interface.

use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use timeloom_columns::{
    Error, RecordBatch, Result, SchemaRef, TopicReader, array_schema, array_stream,
};

use crate::errors;

/// Rows in memory.
#[pyclass(module = "timeloom._native", frozen)]
pub(crate) struct ArrowTable {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl ArrowTable {
    pub(crate) fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self { schema, batches }
    }
}

#[pymethods]
impl ArrowTable {
    /// The rows as an Arrow C stream; they are shared, not copied. A schema that is asked for is not looked at, as the
    /// interface allows.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let batches = self.batches.clone().into_iter().map(Ok);
        stream(py, &self.schema, batches)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        schema(py, &self.schema)
    }
}

/// The schema of a topic.
pub(crate) fn schema<'py>(py: Python<'py>, schema: &SchemaRef) -> PyResult<Bound<'py, PyCapsule>> {
    let exported = array_schema(schema).map_err(|error| errors::table(py, &error))?;
    PyCapsule::new_with_value(py, exported, c"arrow_schema")
}

/// A topic that is read while its rows are asked for.
pub(crate) fn read_on_demand(
    py: Python<'_>,
    reader: TopicReader,
) -> PyResult<Bound<'_, PyCapsule>> {
    let schema = reader.empty().schema();
    let batches = OnDemand {
        reader,
        ended: false,
    };
    stream(py, &schema, batches)
}

fn stream<'py>(
    py: Python<'py>,
    schema: &SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch>> + Send + 'static,
) -> PyResult<Bound<'py, PyCapsule>> {
    let stream = array_stream(SchemaRef::clone(schema), batches);
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}

/// The batches of a reader, and an error behind the last one when something is missing.
struct OnDemand {
    reader: TopicReader,
    ended: bool,
}

impl Iterator for OnDemand {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let batch = self.reader.next_batch();
        if let Ok(Some(batch)) = batch {
            return Some(batch.into_record_batch());
        }
        self.ended = true;
        let lost = self.reader.lost();
        match batch {
            Err(error) => Some(Err(error)),
            _ if lost.is_empty() => None,
            _ => Some(Err(Error::Incomplete {
                topic: self.reader.topic().to_owned(),
                lost,
            })),
        }
    }
}
