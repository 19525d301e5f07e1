//! Batches for programs in other languages.

use arrow_array::RecordBatch;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::SchemaRef;

use crate::Result;

/// Batches as an Arrow stream in memory, as pyarrow and others read it.
///
/// # Errors
/// When the batches do not have this schema.
pub fn stream_bytes(schema: &SchemaRef, batches: &[RecordBatch]) -> Result<Vec<u8>> {
    let size: usize = batches.iter().map(RecordBatch::get_array_memory_size).sum();
    let mut writer = StreamWriter::try_new(Vec::with_capacity(size + 4096), schema)?;
    for batch in batches {
        writer.write(batch)?;
    }
    writer.finish()?;
    Ok(writer.into_inner()?)
}
