#![doc = include_str!("../README.md")]

mod account;
mod align;
mod arguments;
mod arrow;
mod bag;
mod clock;
mod encode;
mod errors;
mod file_maps;
mod layout;
mod mapped;
mod memory;
mod message;
mod message_type;
mod messages;
mod network;
mod numpy;
mod player;
mod recorder;
mod records;
mod selection;
mod sensor_clock;
mod slices;
mod split;
mod sync_fit;
mod trace;
mod value;
mod waiting;
mod writer;

use pyo3::prelude::*;

/// The native part of the package `timeloom`; its public face is in Python.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("has_zenoh", timeloom_transport::HAS_ZENOH)?;
    module.add_class::<arrow::ArrowTable>()?;
    module.add_class::<bag::NativeBag>()?;
    module.add_class::<clock::NativeClock>()?;
    module.add_class::<memory::Memory>()?;
    module.add_class::<message::Message>()?;
    module.add_class::<message_type::MessageType>()?;
    module.add_class::<messages::Messages>()?;
    module.add_class::<records::Records>()?;
    module.add_class::<player::NativePlayer>()?;
    module.add_class::<recorder::NativeRecorder>()?;
    module.add_class::<sensor_clock::NativeSensorClock>()?;
    module.add_class::<writer::NativeWriter>()?;
    module.add_function(wrap_pyfunction!(sensor_clock::steady_now, module)?)?;
    module.add_function(wrap_pyfunction!(sensor_clock::system_from_steady, module)?)?;
    module.add_function(wrap_pyfunction!(sync_fit::sync_fit, module)?)?;
    module.add_function(wrap_pyfunction!(trace::trace, module)?)?;
    module.add_function(wrap_pyfunction!(align::align, module)?)
}
