//! A message whose fields are decoded when they are asked for.

use std::sync::{Arc, OnceLock};

use pyo3::exceptions::PyAttributeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use timeloom_columns::Cursor;
use timeloom_msg::definition::ArrayShape;
use timeloom_msg::schema::{Element, SchemaField, StructType};

use crate::errors;
use crate::value::{self, Payload, numpy};

/// A message: its fields are attributes, its type is `__msgtype__`.
///
/// Fields of a message from a bag are decoded when they are first used. Arrays of numbers are numpy arrays that share the
/// memory of the message, so that they cannot be changed; assign another array instead.
///
/// >>> from timeloom import Message
/// >>> point = Message("geometry_msgs/msg/Point", {"x": 1.0, "y": 2.0, "z": 0.0})
/// >>> point.x
/// 1.0
#[pyclass(module = "timeloom", dict)]
pub(crate) struct Message {
    name: String,
    source: Option<Source>,
}

struct Source {
    payload: Arc<Payload>,
    ty: Arc<StructType>,
    start: usize,
    /// Where each field begins, as far as the payload goes.
    fields: OnceLock<Vec<usize>>,
}

impl Message {
    /// The message that begins at a position of a payload.
    pub(crate) fn at(payload: Arc<Payload>, ty: Arc<StructType>, start: usize) -> Self {
        Self {
            name: ty.name().to_string(),
            source: Some(Source {
                payload,
                ty,
                start,
                fields: OnceLock::new(),
            }),
        }
    }
}

impl Source {
    /// The value of a field; `None` when the type has none of this name.
    fn get<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some((index, field)) = self.ty.field(name) else {
            return Ok(None);
        };
        let failed = |error| errors::message(py, &error);
        let cursor = Cursor::new(self.payload.data(py)).map_err(failed)?;
        let offsets = self.fields.get_or_init(|| self.offsets(cursor.clone()));
        let Some(offset) = offsets.get(index) else {
            // The walk to this field has failed: it fails again and says why.
            let mut cursor = cursor.at(self.start);
            for field in self.ty.fields() {
                cursor.skip(field.ty()).map_err(failed)?;
            }
            return Err(errors::payload(py, &format!("field {name} is not there")));
        };
        let mut cursor = cursor.at(*offset);
        value::read(py, &self.payload, &mut cursor, field.ty()).map(Some)
    }

    /// Decodes all fields of a message of numbers, such as a vector: each costs less than the next look-up would.
    fn numbers(&self, py: Python<'_>, known: &Bound<'_, PyDict>) -> PyResult<()> {
        let is_number = |field: &SchemaField| {
            let single = field.ty().shape == ArrayShape::Single;
            single && matches!(field.ty().element, Element::Primitive(_))
        };
        if !self.ty.fields().iter().all(is_number) {
            return Ok(());
        }
        let cursor = Cursor::new(self.payload.data(py));
        let mut cursor = cursor
            .map_err(|error| errors::message(py, &error))?
            .at(self.start);
        for field in self.ty.fields() {
            let value = value::read(py, &self.payload, &mut cursor, field.ty())?;
            if !known.contains(field.name())? {
                known.set_item(field.name(), value)?;
            }
        }
        Ok(())
    }

    fn offsets(&self, cursor: Cursor<'_>) -> Vec<usize> {
        let mut cursor = cursor.at(self.start);
        let mut offsets = Vec::with_capacity(self.ty.fields().len());
        for field in self.ty.fields() {
            offsets.push(cursor.offset());
            if cursor.skip(field.ty()).is_err() {
                break;
            }
        }
        offsets
    }
}

/// The fields of a message as far as they are decoded or set.
fn known<'py>(message: &Bound<'py, Message>) -> PyResult<Bound<'py, PyDict>> {
    Ok(message
        .getattr(intern!(message.py(), "__dict__"))?
        .cast_into()?)
}

#[pymethods]
impl Message {
    #[new]
    fn new(msgtype: String, _fields: &Bound<'_, PyDict>) -> Self {
        Self {
            name: msgtype,
            source: None,
        }
    }

    fn __init__(
        slf: &Bound<'_, Self>,
        _msgtype: &Bound<'_, PyAny>,
        fields: &Bound<'_, PyDict>,
    ) -> PyResult<()> {
        known(slf)?.update(fields.as_mapping())
    }

    /// The type, such as `sensor_msgs/msg/Imu`.
    #[getter]
    fn __msgtype__(&self) -> &str {
        &self.name
    }

    fn __getattr__<'py>(slf: &Bound<'py, Self>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let message = slf.borrow();
        let value = match &message.source {
            Some(source) => {
                let value = source.get(slf.py(), name)?;
                if value.is_some() {
                    source.numbers(slf.py(), &known(slf)?)?;
                }
                value
            }
            None => None,
        };
        let Some(value) = value else {
            let text = format!("{} has no field {name}", message.name);
            return Err(PyAttributeError::new_err(text));
        };
        drop(message);
        known(slf)?.set_item(name, &value)?;
        Ok(value)
    }

    /// The names of the fields. No plain name: messages have fields that are called `fields`.
    fn __fields__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyList>> {
        let py = slf.py();
        let names = match &slf.borrow().source {
            Some(source) => {
                let names = source.ty.fields().iter().map(SchemaField::name);
                Some(PyList::new(py, names.collect::<Vec<_>>())?)
            }
            None => None,
        };
        names.map_or_else(|| Ok(known(slf)?.keys()), Ok)
    }

    /// Decodes all fields and returns them by name; nested messages stay messages.
    fn to_dict<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(slf.py());
        for name in Self::__fields__(slf)? {
            let name = name.cast_into::<pyo3::types::PyString>()?;
            all.set_item(&name, slf.getattr(&name)?)?;
        }
        Ok(all)
    }

    fn __dir__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyList>> {
        let names = Self::__fields__(slf)?;
        names.append("to_dict")?;
        names.append("__msgtype__")?;
        Ok(names)
    }

    fn __eq__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = slf.py();
        let Ok(other) = other.cast::<Self>() else {
            return Ok(false);
        };
        if slf.borrow().name != other.borrow().name {
            return Ok(false);
        }
        let (ours, theirs) = (Self::to_dict(slf)?, Self::to_dict(other)?);
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

    fn __repr__(slf: &Bound<'_, Self>) -> PyResult<String> {
        let mut fields = Vec::new();
        for (name, value) in Self::to_dict(slf)? {
            fields.push(format!("{name}={}", value.repr()?));
        }
        Ok(format!("{}({})", slf.borrow().name, fields.join(", ")))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let arguments = (slf.borrow().name.clone(), Self::to_dict(slf)?);
        (slf.get_type(), arguments).into_pyobject(py)
    }
}
