//! The type of messages: decodes and encodes them.

use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView};
use timeloom_msg::{AmentIndex, Schema, StoredDefinition, TypeRequest, TypeResolver};

use crate::encode::to_value;
use crate::errors;
use crate::layout::Layout;
use crate::message::{Message, Payload};

/// How the text of a definition is written.
const ENCODINGS: [&str; 2] = ["ros2msg", "ros2idl"];

/// The resolver of all bags: built-in types, and the packages below `AMENT_PREFIX_PATH`.
pub(crate) fn resolver() -> TypeResolver {
    let prefixes = std::env::var("AMENT_PREFIX_PATH").unwrap_or_default();
    TypeResolver::new(AmentIndex::from_prefix_path(&prefixes))
}

/// A message type.
///
/// >>> from timeloom import MessageType
/// >>> point = MessageType("geometry_msgs/msg/Point")
/// >>> point.decode(point.encode({"x": 1.5})).x
/// 1.5
#[pyclass(module = "timeloom", frozen)]
pub(crate) struct MessageType {
    schema: Arc<Schema>,
    layout: Arc<Layout>,
}

impl MessageType {
    pub(crate) fn of(py: Python<'_>, schema: Arc<Schema>) -> Self {
        let layout = Arc::new(Layout::of(py, schema.root()));
        Self { schema, layout }
    }

    pub(crate) fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// How the fields are found in payloads of this type.
    pub(crate) fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// The message in a payload that begins after `lead` bytes.
    pub(crate) fn message(
        &self,
        py: Python<'_>,
        bytes: Bound<'_, PyBytes>,
        lead: usize,
    ) -> PyResult<Message> {
        let root = self.schema.root();
        let failed = |error| errors::message(py, &error);
        let payload = if root.has_wstring() {
            // Only the whole message tells which of the two layouts of wide characters it has.
            let data = bytes.as_bytes().get(lead..).unwrap_or_default();
            let value = self.schema.decode(data).map_err(failed)?;
            let data = self.schema.encode(&value).map_err(failed)?;
            Payload::new(PyBytes::new(py, &data).unbind(), 0)
        } else {
            Payload::new(bytes.unbind(), lead)
        };
        Ok(Message::at(payload, Arc::clone(&self.layout), 4))
    }
}

/// A payload as `bytes`; other objects with bytes are copied.
fn payload_bytes<'py>(payload: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    if let Ok(bytes) = payload.cast::<PyBytes>() {
        return Ok(bytes.clone());
    }
    if payload.is_instance_of::<PyByteArray>() || payload.is_instance_of::<PyMemoryView>() {
        let bytes = payload.py().get_type::<PyBytes>().call1((payload,))?;
        return Ok(bytes.cast_into()?);
    }
    let class = payload.get_type().name()?;
    let text = format!("a payload is bytes, bytearray or memoryview, not {class}");
    Err(PyTypeError::new_err(text))
}

#[pymethods]
impl MessageType {
    /// A built-in type, one of an installed package, or one with its definition as text.
    #[new]
    #[pyo3(signature = (name, definition = None, encoding = "ros2msg"))]
    fn new(py: Python<'_>, name: &str, definition: Option<&str>, encoding: &str) -> PyResult<Self> {
        if !ENCODINGS.contains(&encoding) {
            let known = ENCODINGS.join(", ");
            let text = format!("encoding is one of {known}, not '{encoding}'");
            return Err(PyValueError::new_err(text));
        }
        let stored = definition.map(|text| StoredDefinition { encoding, text });
        let request = TypeRequest {
            name,
            hash: None,
            stored,
        };
        let schema = resolver().resolve(&request);
        let schema = schema.map_err(|error| errors::message(py, &error))?;
        Ok(Self::of(py, Arc::new(schema)))
    }

    /// The full name.
    #[getter]
    fn name(&self) -> String {
        self.schema.name().to_string()
    }

    /// The definition with those of all types that it uses, as bags store it.
    #[getter]
    fn definition(&self, py: Python<'_>) -> PyResult<String> {
        self.schema
            .ros2msg()
            .map_err(|error| errors::message(py, &error))
    }

    /// The RIHS01 hash.
    #[getter]
    fn hash(&self, py: Python<'_>) -> PyResult<String> {
        let hash = self
            .schema
            .type_hash()
            .map_err(|error| errors::message(py, &error))?;
        Ok(hash.to_string())
    }

    /// The message in a payload; its fields are decoded when they are used.
    fn decode(&self, py: Python<'_>, payload: &Bound<'_, PyAny>) -> PyResult<Message> {
        let payload = payload_bytes(payload)?;
        timeloom_msg::cdr::Encapsulation::parse(payload.as_bytes())
            .map_err(|error| errors::message(py, &error))?;
        self.message(py, payload, 0)
    }

    /// The payload of a message: a `Message`, a message of `rclpy` or `rosbags`, or a dict.
    ///
    /// Fields that a dict leaves out have their default values.
    pub(crate) fn encode<'py>(&self, message: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let py = message.py();
        let value = to_value(&self.schema, message)?;
        let payload = self
            .schema
            .encode(&value)
            .map_err(|error| errors::message(py, &error))?;
        Ok(PyBytes::new(py, &payload))
    }

    fn __repr__(&self) -> String {
        format!("MessageType({:?})", self.name())
    }
}
