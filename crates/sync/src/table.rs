//! Samples and results as CSV text: pure functions, no files.

mod cells;
mod device_times;
mod read;
mod read_mapped;
mod units;
mod write;

pub use device_times::DeviceTimeReader;
pub use read::{Row, SampleReader, read_samples};
pub use read_mapped::MappedReader;
pub use units::{DeviceColumn, TableUnits, TimeUnit};
pub use write::{
    MAPPED_HEADER, SAMPLE_HEADER, mapped_line, sample_line, write_mapped, write_samples,
};
