//! Writes a bag.

use std::path::PathBuf;
use std::sync::Mutex;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use timeloom_bag::{
    BagOptions, BagWriter, Message, MessageDefinition, StorageId, StorageOptions, TopicId,
    TopicInfo, WriteOutcome,
};
use timeloom_msg::qos::{QosSpelling, parse_profiles, profiles_to_yaml};

use crate::arguments::{Nanos, Sequence};
use crate::errors;
use crate::message_type::MessageType;
use crate::recorder::compression_mode;

/// The bag behind `timeloom.Writer`.
#[pyclass(module = "timeloom._native", frozen)]
pub(crate) struct NativeWriter {
    /// `None` once it is closed.
    writer: Mutex<Option<BagWriter>>,
}

impl NativeWriter {
    /// Works on the open writer without the lock of the interpreter.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut BagWriter) -> timeloom_bag::Result<T> + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| {
            let mut writer = self
                .writer
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            writer.as_mut().map(work)
        });
        match done {
            Some(done) => done.map_err(|error| errors::bag(py, &error)),
            None => Err(PyValueError::new_err("the writer is closed")),
        }
    }
}

/// A failed write is an error, never silent.
fn check(outcome: WriteOutcome) -> timeloom_bag::Result<u64> {
    match outcome.error {
        Some(error) => Err(error),
        None => Ok(outcome.unwritten.iter().map(|entry| entry.messages).sum()),
    }
}

#[pymethods]
impl NativeWriter {
    #[new]
    #[pyo3(signature = (path, storage, preset, compression, max_file_size, max_file_duration, ros_distro, custom_data))]
    #[expect(
        clippy::too_many_arguments,
        reason = "each has a name in the Python class that calls it"
    )]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        storage: &str,
        preset: &str,
        compression: &str,
        max_file_size: u64,
        max_file_duration: i64,
        ros_distro: String,
        custom_data: Vec<(String, String)>,
    ) -> PyResult<Self> {
        let failed = |error| errors::bag(py, &error);
        let compression = compression_mode(compression)?;
        let storage = StorageId::from_name(storage).map_err(failed)?;
        let options = BagOptions {
            storage: StorageOptions::preset(storage, preset).map_err(failed)?,
            compression,
            max_file_size,
            max_file_duration_ns: max_file_duration,
            ros_distro,
            custom_data,
            ..BagOptions::default()
        };
        let writer = py
            .detach(move || BagWriter::create(&path, options))
            .map_err(failed)?;
        Ok(Self {
            writer: Mutex::new(Some(writer)),
        })
    }

    /// Declares a topic; `qos` is YAML as bags have it.
    fn add_topic(
        &self,
        py: Python<'_>,
        name: String,
        message_type: &MessageType,
        qos: &str,
    ) -> PyResult<u32> {
        let failed = |error| errors::message(py, &error);
        let schema = message_type.schema();
        let profiles = parse_profiles(qos).map_err(failed)?;
        let topic = TopicInfo {
            name,
            type_name: schema.name().to_string(),
            serialization_format: "cdr".to_owned(),
            offered_qos_profiles: profiles_to_yaml(&profiles, QosSpelling::Names),
            type_description_hash: schema.type_hash().map_err(failed)?.to_string(),
            definition: MessageDefinition {
                encoding: "ros2msg".to_owned(),
                text: schema.ros2msg().map_err(failed)?,
            },
        };
        self.with(py, |writer| writer.add_topic(&topic))
            .map(|id| id.0)
    }

    /// Writes a payload.
    fn write(
        &self,
        py: Python<'_>,
        topic: u32,
        payload: &Bound<'_, PyBytes>,
        log_time: Nanos,
        publish_time: Nanos,
        sequence: Sequence,
    ) -> PyResult<()> {
        let data = payload.as_bytes();
        let message = Message {
            topic: TopicId(topic),
            log_time_ns: log_time.0,
            publish_time_ns: publish_time.0,
            sequence: sequence.0,
            data,
        };
        // The bag is read after it is closed, so buffered messages need no flush by age.
        let lost = self.with(py, |writer| check(writer.write(&[message], 0)))?;
        if lost > 0 {
            return Err(PyValueError::new_err(format!(
                "{lost} messages were not written"
            )));
        }
        Ok(())
    }

    /// Finishes the bag: messages, files, bytes, and how many messages each topic has.
    fn close<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let finished = py.detach(|| {
            let mut writer = self
                .writer
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            writer.take().map(BagWriter::finish)
        });
        let Some(finished) = finished else {
            return Ok(None);
        };
        let failed = |error| errors::bag(py, &error);
        let (summary, outcome) = finished.map_err(failed)?;
        check(outcome).map_err(failed)?;
        let dict = PyDict::new(py);
        dict.set_item("files", summary.metadata.files.len())?;
        dict.set_item("messages", summary.metadata.message_count)?;
        Ok(Some(dict))
    }
}
