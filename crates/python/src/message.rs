//! A message whose fields are decoded when they are asked for.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyAttributeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};
use timeloom_msg::cdr::Cursor;
use timeloom_msg::definition::ArrayShape;
use timeloom_msg::schema::{Element, SchemaType};

use crate::errors;
use crate::layout::{Layout, LayoutField};
use crate::split::LargeArray;
use crate::value::{self, numpy};

/// A message: its fields are attributes, its type is `__msgtype__`.
///
/// Fields of a message from a bag are decoded when they are first used. Arrays of numbers are numpy arrays that share the
/// memory of the message, so that they cannot be changed; assign another array instead.
///
/// >>> from timeloom import Message
/// >>> point = Message("geometry_msgs/msg/Point", {"x": 1.0, "y": 2.0, "z": 0.0})
/// >>> point.x
/// 1.0
#[pyclass(module = "timeloom", frozen)]
pub(crate) struct Message {
    layout: Arc<Layout>,
    source: Option<Source>,
    cells: Mutex<Cells>,
}

/// The payload that a message is in.
struct Source {
    payload: Payload,
    start: usize,
    /// Fields that are not in the payload.
    arrays: Vec<LargeArray>,
}

/// A payload in the memory of Python.
#[derive(Debug)]
pub(crate) struct Payload {
    bytes: Py<PyBytes>,
    /// Where the payload begins: four bytes before it put its numbers on multiples of eight in memory.
    lead: usize,
}

/// The fields as far as they are known.
#[derive(Default)]
struct Cells {
    /// Where each field begins, as far as the payload was walked through.
    offsets: Vec<usize>,
    /// Values that were set, and decoded ones other than numbers, which cost less to decode again.
    values: Vec<Option<Py<PyAny>>>,
}

impl Payload {
    pub(crate) fn new(bytes: Py<PyBytes>, lead: usize) -> Self {
        Self { bytes, lead }
    }

    pub(crate) fn data<'a>(&'a self, py: Python<'a>) -> &'a [u8] {
        self.bytes.as_bytes(py).get(self.lead..).unwrap_or_default()
    }

    pub(crate) fn bytes<'py>(&self, py: Python<'py>) -> &Bound<'py, PyBytes> {
        self.bytes.bind(py)
    }

    pub(crate) fn lead(&self) -> usize {
        self.lead
    }

    pub(crate) fn share(&self, py: Python<'_>) -> Self {
        Self {
            bytes: self.bytes.clone_ref(py),
            lead: self.lead,
        }
    }
}

/// Whether a field is one number.
fn is_number(ty: &SchemaType) -> bool {
    ty.shape == ArrayShape::Single && matches!(ty.element, Element::Primitive(_))
}

impl Message {
    /// The message that begins at a position of a payload.
    pub(crate) fn at(payload: Payload, layout: Arc<Layout>, start: usize) -> Self {
        Self {
            layout,
            source: Some(Source {
                payload,
                start,
                arrays: Vec::new(),
            }),
            cells: Mutex::default(),
        }
    }

    /// A message whose large arrays are elsewhere; `offsets` are those of its fields in the payload.
    pub(crate) fn split(
        payload: Payload,
        layout: Arc<Layout>,
        offsets: Vec<usize>,
        arrays: Vec<LargeArray>,
    ) -> Self {
        Self {
            layout,
            source: Some(Source {
                payload,
                start: offsets.first().copied().unwrap_or_default(),
                arrays,
            }),
            cells: Mutex::new(Cells {
                offsets,
                values: Vec::new(),
            }),
        }
    }

    fn no_field(&self, name: &Bound<'_, PyString>) -> PyErr {
        let text = format!("{} has no field {name}", self.layout.name());
        PyAttributeError::new_err(text)
    }

    fn cells(&self) -> MutexGuard<'_, Cells> {
        self.cells.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value of a field by its number.
    ///
    /// The cells are not locked while Python works: another thread may wait for them with the interpreter in its hands.
    fn value<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyAny>> {
        let fields = self.layout.fields();
        let failed = |error| errors::message(py, &error);
        if let Some(value) = self.cells().get(py, index) {
            return Ok(value);
        }
        let (Some(source), Some(field)) = (&self.source, fields.get(index)) else {
            return Err(PyAttributeError::new_err("the field has no value"));
        };
        let Some(ty) = &field.ty else {
            return Err(PyAttributeError::new_err("the field has no type"));
        };
        let array = source.arrays.iter().find(|array| array.field == index);
        let value = if let Some(array) = array {
            array.view(py)?
        } else {
            let cursor = Cursor::new(source.payload.data(py)).map_err(failed)?;
            let walked = walk(&mut self.cells().offsets, fields, index, cursor, source);
            let mut cursor = walked.map_err(failed)?;
            value::read(py, &source.payload, &mut cursor, ty, field.nested.as_ref())?
        };
        if is_number(ty) {
            return Ok(value);
        }
        let mut cells = self.cells();
        if let Some(first) = cells.get(py, index) {
            // Another thread was quicker: there is one object for each field.
            return Ok(first);
        }
        // There was none before.
        let _none = cells.set(fields.len(), index, &value);
        Ok(value)
    }
}

/// Goes to a field, and keeps the positions of all fields on the way.
fn walk<'a>(
    offsets: &mut Vec<usize>,
    fields: &[LayoutField],
    index: usize,
    cursor: Cursor<'a>,
    source: &Source,
) -> timeloom_msg::Result<Cursor<'a>> {
    if let Some(offset) = offsets.get(index) {
        return Ok(cursor.at(*offset));
    }
    if offsets.is_empty() {
        offsets.reserve_exact(fields.len());
        offsets.push(source.start);
    }
    let begin = offsets.last().copied().unwrap_or(source.start);
    let mut cursor = cursor.at(begin);
    for field in fields.iter().take(index).skip(offsets.len() - 1) {
        cursor.skip(&field.skip)?;
        offsets.push(cursor.offset());
    }
    Ok(cursor)
}

impl Cells {
    fn get<'py>(&self, py: Python<'py>, index: usize) -> Option<Bound<'py, PyAny>> {
        let value = self.values.get(index)?.as_ref()?;
        Some(value.bind(py).clone())
    }

    /// Returns the value before, which must not be dropped while the cells are locked.
    fn set(&mut self, fields: usize, index: usize, value: &Bound<'_, PyAny>) -> Option<Py<PyAny>> {
        self.values.resize_with(fields, || None);
        let cell = self.values.get_mut(index)?;
        cell.replace(value.clone().unbind())
    }
}

/// What Python does with an attribute that is no field.
fn ordinary<'py>(
    message: &Bound<'py, Message>,
    name: &Bound<'py, PyString>,
) -> PyResult<Bound<'py, PyAny>> {
    static GET: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let py = message.py();
    let get = GET.get_or_try_init(py, || {
        let object = py.get_type::<PyAny>();
        PyResult::Ok(object.getattr(intern!(py, "__getattribute__"))?.unbind())
    })?;
    get.bind(py).call1((message, name))
}

#[pymethods]
impl Message {
    #[new]
    fn new(msgtype: String, fields: &Bound<'_, PyDict>) -> PyResult<Self> {
        let mut names = Vec::new();
        let mut values = Vec::new();
        for (name, value) in fields {
            names.push(name.extract()?);
            values.push(Some(value.unbind()));
        }
        Ok(Self {
            layout: Arc::new(Layout::untyped(fields.py(), msgtype, names)),
            source: None,
            cells: Mutex::new(Cells {
                offsets: Vec::new(),
                values,
            }),
        })
    }

    /// The type, such as `sensor_msgs/msg/Imu`.
    #[getter]
    fn __msgtype__(&self) -> &str {
        self.layout.name()
    }

    fn __getattribute__<'py>(
        slf: &Bound<'py, Self>,
        name: &Bound<'py, PyString>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let message = slf.get();
        match message.layout.find(name) {
            Some(index) => message.value(slf.py(), index),
            None => ordinary(slf, name),
        }
    }

    /// Called when there is no such attribute at all.
    fn __getattr__(&self, name: &Bound<'_, PyString>) -> PyResult<()> {
        Err(self.no_field(name))
    }

    fn __setattr__(&self, name: &Bound<'_, PyString>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let Some(index) = self.layout.find(name) else {
            return Err(self.no_field(name));
        };
        let fields = self.layout.fields().len();
        let before = self.cells().set(fields, index, value);
        drop(before);
        Ok(())
    }

    /// The names of the fields. No plain name: messages have fields that are called `fields`.
    fn __fields__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.layout.fields().iter().map(|field| &field.name))
    }

    /// Decodes all fields and returns them by name; nested messages stay messages.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for (index, field) in self.layout.fields().iter().enumerate() {
            all.set_item(&field.name, self.value(py, index)?)?;
        }
        Ok(all)
    }

    /// All fields by name, for `vars`.
    #[getter]
    fn __dict__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.to_dict(py)
    }

    fn __dir__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let names = self.__fields__(py)?;
        names.append("to_dict")?;
        names.append("__msgtype__")?;
        Ok(names)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = other.py();
        let Ok(other) = other.cast::<Self>() else {
            return Ok(false);
        };
        let other = other.get();
        if self.layout.name() != other.layout.name() {
            return Ok(false);
        }
        let (ours, theirs) = (self.to_dict(py)?, other.to_dict(py)?);
        if ours.len() != theirs.len() {
            return Ok(false);
        }
        let array = numpy(py)?.getattr(intern!(py, "ndarray"))?;
        for (name, value) in ours {
            let Some(other) = theirs.get_item(name)? else {
                return Ok(false);
            };
            let same = if value.is_instance(&array)? || other.is_instance(&array)? {
                let same = numpy(py)?.call_method1(intern!(py, "array_equal"), (value, other))?;
                same.is_truthy()?
            } else {
                value.eq(other)?
            };
            if !same {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let mut fields = Vec::new();
        for (name, value) in self.to_dict(py)? {
            fields.push(format!("{name}={}", value.repr()?));
        }
        Ok(format!("{}({})", self.layout.name(), fields.join(", ")))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let message = slf.get();
        let arguments = (message.layout.name(), message.to_dict(py)?);
        (slf.get_type(), arguments).into_pyobject(py)
    }
}
