//! Batches for programs in other languages: the Arrow C data interface.

pub use arrow_array::ffi_stream::FFI_ArrowArrayStream;
pub use arrow_schema::ffi::FFI_ArrowSchema;

use arrow_array::{RecordBatch, RecordBatchIterator};
use arrow_schema::{ArrowError, SchemaRef};

use crate::{Error, Result};

/// Batches as an Arrow C stream; they are asked for when the consumer wants them, on any thread.
pub fn array_stream(
    schema: SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch>> + Send + 'static,
) -> FFI_ArrowArrayStream {
    let failed = |error: Error| match error {
        Error::Arrow(error) => error,
        error => ArrowError::ExternalError(Box::new(error)),
    };
    let batches = batches.map(move |batch| batch.map_err(failed));
    FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new(batches, schema)))
}

/// A schema as an Arrow C schema.
///
/// # Errors
/// When a type has no form in the C interface.
pub fn array_schema(schema: &SchemaRef) -> Result<FFI_ArrowSchema> {
    Ok(FFI_ArrowSchema::try_from(schema.as_ref())?)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::ffi_stream::ArrowArrayStreamReader;
    use arrow_array::{Array as _, Int32Array, RecordBatchReader as _};
    use arrow_schema::{DataType, Field, Schema};

    use super::*;

    fn batch(values: Vec<i32>) -> RecordBatch {
        let schema = Schema::new(vec![Field::new("x", DataType::Int32, false)]);
        let column = Arc::new(Int32Array::from(values));
        RecordBatch::try_new(Arc::new(schema), vec![column]).unwrap()
    }

    #[test]
    fn a_stream_has_its_batches_and_then_its_error() {
        let (one, two) = (batch(vec![1, 2]), batch(vec![3]));
        let error = Error::Incomplete {
            topic: "/a".to_owned(),
            lost: vec!["2 chunks".to_owned()],
        };
        let batches = vec![Ok(one.clone()), Ok(two.clone()), Err(error)];
        let stream = array_stream(one.schema(), batches.into_iter());
        let mut reader = ArrowArrayStreamReader::try_new(stream).unwrap();
        assert_eq!(reader.schema(), one.schema());
        assert_eq!(reader.next().unwrap().unwrap(), one);
        assert_eq!(reader.next().unwrap().unwrap().column(0).len(), 1);
        let text = reader.next().unwrap().unwrap_err().to_string();
        assert!(
            text.contains("/a cannot be read as a whole: 2 chunks"),
            "{text}"
        );
    }

    #[test]
    fn a_schema_comes_back() {
        let schema = batch(Vec::new()).schema();
        let exported = array_schema(&schema).unwrap();
        assert_eq!(Schema::try_from(&exported).unwrap(), *schema);
    }
}
