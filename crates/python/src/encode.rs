//! From Python objects to values.

use pyo3::IntoPyObjectExt as _;
use pyo3::exceptions::{PyAttributeError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyFloat, PyInt, PyIterator, PyList, PyString, PyTuple};
use timeloom_msg::cdr::Endian;
use timeloom_msg::definition::{ArrayShape, Primitive};
use timeloom_msg::schema::{Element, SchemaType, StructType};
use timeloom_msg::value::{Array, Struct, Text, WideText};
use timeloom_msg::{Schema, Value};

use crate::arguments::named;
use crate::errors;
use crate::value::{dtype, numpy};

/// The value of a message that is a dict or has its fields as attributes.
pub(crate) fn to_value(schema: &Schema, message: &Bound<'_, PyAny>) -> PyResult<Value> {
    let failed = |error| errors::message(message.py(), &error);
    let mut value = schema.default_value().map_err(failed)?;
    if let Value::Struct(target) = &mut value {
        fill(schema, target, message, "")?;
    }
    Ok(value)
}

/// Sets the fields of a message; what a dict leaves out stays as it is.
fn fill(
    schema: &Schema,
    target: &mut Struct,
    message: &Bound<'_, PyAny>,
    path: &str,
) -> PyResult<()> {
    let ty = std::sync::Arc::clone(target.ty());
    let dict = message.cast::<PyDict>().ok();
    if let Some(dict) = dict {
        for key in dict.keys() {
            let Ok(name) = key.extract::<String>() else {
                return Err(not_a_name(ty.name(), &key));
            };
            if ty.field(&name).is_none() {
                let text = format!("{} has no field `{path}{name}`", ty.name());
                return Err(PyValueError::new_err(text));
            }
        }
    }
    if dict.is_none() && is_plain(message) {
        return Err(not_a_message(&ty, message, path));
    }
    for field in ty.fields() {
        let name = PyString::new(message.py(), field.name());
        let value = match dict {
            Some(dict) => match dict.get_item(&name)? {
                Some(value) => value,
                None => continue,
            },
            None => message
                .getattr(&name)
                .map_err(|error| without_field(&ty, message, path, error))?,
        };
        if let Some(slot) = target.get_mut(field.name()) {
            let path = format!("{path}{}", field.name());
            set(schema, slot, field.ty(), &value, &path)?;
        }
    }
    Ok(())
}

fn set(
    schema: &Schema,
    slot: &mut Value,
    ty: &SchemaType,
    value: &Bound<'_, PyAny>,
    path: &str,
) -> PyResult<()> {
    let wrong = |error: PyErr| named(path, value, &error);
    *slot = match (&ty.element, ty.shape) {
        (Element::Struct(_), ArrayShape::Single) => {
            if let Value::Struct(target) = slot {
                fill(schema, target, value, &format!("{path}."))?;
            }
            return Ok(());
        }
        (Element::Primitive(primitive), ArrayShape::Single) => {
            number(*primitive, value).map_err(wrong)?
        }
        (Element::String(_), ArrayShape::Single) => Value::String(text(value).map_err(wrong)?),
        (Element::WString(_), ArrayShape::Single) => {
            let text: String = value.extract().map_err(wrong)?;
            Value::WString(WideText::from(text.as_str()))
        }
        (Element::Primitive(primitive), _) => {
            Value::Array(numbers(*primitive, value).map_err(wrong)?)
        }
        (Element::String(_), _) => {
            let items = elements(value).map_err(wrong)?.map(|item| text(&item?));
            Value::Array(Array::String(
                items.collect::<PyResult<_>>().map_err(wrong)?,
            ))
        }
        (Element::WString(_), _) => {
            let items = elements(value).map_err(wrong)?;
            let items = items.map(|item| Ok(WideText::from(item?.extract::<String>()?.as_str())));
            Value::Array(Array::WString(
                items.collect::<PyResult<_>>().map_err(wrong)?,
            ))
        }
        (Element::Struct(inner), _) => {
            let failed = |error| errors::message(value.py(), &error);
            let related = schema.related(&inner.name().to_string()).map_err(failed)?;
            let default = related.default_value().map_err(failed)?;
            let mut items = Vec::new();
            for (index, item) in elements(value).map_err(wrong)?.enumerate() {
                let mut element = match default.clone() {
                    // The layout is the one of this type, so that the encoder takes it.
                    Value::Struct(default) => {
                        Struct::new(std::sync::Arc::clone(inner), default.values().to_vec())
                    }
                    _ => continue,
                };
                fill(schema, &mut element, &item?, &format!("{path}[{index}]."))?;
                items.push(element);
            }
            Value::Array(Array::Struct(items))
        }
    };
    Ok(())
}

/// Whether a value can be no message, also not one without fields.
fn is_plain(value: &Bound<'_, PyAny>) -> bool {
    value.is_none()
        || value.is_instance_of::<PyString>()
        || value.is_instance_of::<PyBytes>()
        || value.is_instance_of::<PyInt>()
        || value.is_instance_of::<PyFloat>()
        || value.is_instance_of::<PyList>()
        || value.is_instance_of::<PyTuple>()
}

fn not_a_message(ty: &StructType, value: &Bound<'_, PyAny>, path: &str) -> PyErr {
    let place = path.strip_suffix('.').map(|path| format!("{path}: "));
    PyTypeError::new_err(format!(
        "{}expected a dict or an object with the fields of {}, not {}",
        place.unwrap_or_default(),
        ty.name(),
        class_name(value)
    ))
}

/// An object that lacks a field; other errors of its attributes stay as they are.
fn without_field(ty: &StructType, value: &Bound<'_, PyAny>, path: &str, error: PyErr) -> PyErr {
    if error.is_instance_of::<PyAttributeError>(value.py()) {
        return not_a_message(ty, value, path);
    }
    error
}

fn not_a_name(type_name: impl std::fmt::Display, key: &Bound<'_, PyAny>) -> PyErr {
    let class = class_name(key);
    PyTypeError::new_err(format!(
        "the fields of {type_name} are named by str, not {class}"
    ))
}

fn class_name(value: &Bound<'_, PyAny>) -> String {
    let name = value.get_type().name();
    name.map_or_else(|_| "this".to_owned(), |name| name.to_string())
}

/// The elements of a list; a text is none, although Python iterates over its characters.
fn elements<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyIterator>> {
    let is_text = value.is_instance_of::<PyString>() || value.is_instance_of::<PyBytes>();
    if is_text || value.is_instance_of::<PyDict>() {
        let text = format!("expected a list, not {}", class_name(value));
        return Err(PyTypeError::new_err(text));
    }
    value.try_iter()
}

fn text(value: &Bound<'_, PyAny>) -> PyResult<Text> {
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(Text::from_bytes(bytes.as_bytes().to_vec()));
    }
    Ok(Text::from(value.extract::<String>()?))
}

fn number(primitive: Primitive, value: &Bound<'_, PyAny>) -> PyResult<Value> {
    Ok(match primitive {
        Primitive::Bool => Value::Bool(boolean(value)?),
        Primitive::Byte | Primitive::Char | Primitive::IdlChar | Primitive::Uint8 => {
            match value.cast::<PyBytes>() {
                Ok(bytes) => Value::Uint8(single_byte(bytes.as_bytes())?),
                Err(_) => Value::Uint8(value.extract()?),
            }
        }
        Primitive::Int8 => Value::Int8(value.extract()?),
        Primitive::Int16 => Value::Int16(value.extract()?),
        Primitive::Uint16 => Value::Uint16(value.extract()?),
        Primitive::Int32 => Value::Int32(value.extract()?),
        Primitive::Uint32 => Value::Uint32(value.extract()?),
        Primitive::Int64 => Value::Int64(value.extract()?),
        Primitive::Uint64 => Value::Uint64(value.extract()?),
        Primitive::Float32 => Value::Float32(single_precision(value.extract()?)?),
        Primitive::Float64 => Value::Float64(value.extract()?),
    })
}

/// A truth value, or 0 or 1.
fn boolean(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    if let Ok(value) = value.extract() {
        return Ok(value);
    }
    if let Ok(number @ (0 | 1)) = value.extract::<u8>() {
        return Ok(number == 1);
    }
    let text = format!("expected a bool, not {}", class_name(value));
    Err(PyTypeError::new_err(text))
}

/// `rclpy` has bytes of length one for a `byte`.
fn single_byte(bytes: &[u8]) -> PyResult<u8> {
    match bytes {
        [byte] => Ok(*byte),
        _ => Err(PyValueError::new_err(format!(
            "expected one byte, not {}",
            bytes.len()
        ))),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the nearest number is what is asked for; infinity is not"
)]
fn single_precision(value: f64) -> PyResult<f32> {
    let single = value as f32;
    if single.is_infinite() && value.is_finite() {
        return Err(PyValueError::new_err(format!(
            "{value:e} does not fit float32"
        )));
    }
    Ok(single)
}

/// Numbers of anything that numpy makes an array of.
fn numbers(primitive: Primitive, value: &Bound<'_, PyAny>) -> PyResult<Array> {
    let py = value.py();
    if let (Ok(bytes), 1) = (value.cast::<PyBytes>(), primitive.size()) {
        return Ok(array(primitive, bytes.as_bytes()));
    }
    let (numpy, kind) = (numpy(py)?, dtype(primitive, Endian::Little));
    let given = numpy.call_method1(intern!(py, "asarray"), (value,))?;
    if given.getattr(intern!(py, "ndim"))?.extract::<usize>()? == 0 {
        let text = format!("expected an array or a list, not {}", class_name(value));
        return Err(PyTypeError::new_err(text));
    }
    let given_kind = given.getattr(intern!(py, "dtype"))?;
    let given_kind: char = given_kind.getattr(intern!(py, "kind"))?.extract()?;
    match given_kind {
        'b' | 'i' | 'u' | 'f' => {}
        'O' => check_objects(primitive, value)?,
        _ if given.len()? == 0 => {}
        _ => {
            let dtype = given.getattr(intern!(py, "dtype"))?;
            let text = format!("expected numbers of {}, not {dtype}", primitive.name());
            return Err(PyTypeError::new_err(text));
        }
    }
    let converted = numpy.call_method1(intern!(py, "asarray"), (value, kind))?;
    // numpy wraps integers that do not fit, cuts fractions and makes infinity of what is too large, without an error.
    let is_float = matches!(primitive, Primitive::Float32 | Primitive::Float64);
    let fits = if converted.is(&given) {
        true.into_bound_py_any(py)?
    } else if !is_float {
        numpy.call_method1(intern!(py, "array_equal"), (&given, &converted))?
    } else if given_kind == 'f' && primitive == Primitive::Float32 {
        let infinite = |array| numpy.call_method1(intern!(py, "isinf"), (array,));
        let pair = (infinite(&given)?, infinite(&converted)?);
        numpy.call_method1(intern!(py, "array_equal"), pair)?
    } else {
        true.into_bound_py_any(py)?
    };
    if !fits.is_truthy()? {
        let text = format!("values do not fit {}", primitive.name());
        return Err(PyValueError::new_err(text));
    }
    let bytes = converted.call_method0(intern!(py, "tobytes"))?;
    Ok(array(primitive, bytes.cast::<PyBytes>()?.as_bytes()))
}

/// Elements that numpy has no type of numbers for: it would take `None` for "not a number".
fn check_objects(primitive: Primitive, value: &Bound<'_, PyAny>) -> PyResult<()> {
    for item in elements(value)? {
        number(primitive, &item?)?;
    }
    Ok(())
}

fn array(primitive: Primitive, bytes: &[u8]) -> Array {
    macro_rules! split {
        ($type:ty) => {{
            let (chunks, _) = bytes.as_chunks::<{ size_of::<$type>() }>();
            chunks
                .iter()
                .map(|chunk| <$type>::from_le_bytes(*chunk))
                .collect()
        }};
    }
    match primitive {
        Primitive::Bool => Array::Bool(bytes.iter().map(|byte| *byte != 0).collect()),
        Primitive::Byte | Primitive::Char | Primitive::IdlChar | Primitive::Uint8 => {
            Array::Uint8(bytes.to_vec())
        }
        Primitive::Int8 => Array::Int8(split!(i8)),
        Primitive::Int16 => Array::Int16(split!(i16)),
        Primitive::Uint16 => Array::Uint16(split!(u16)),
        Primitive::Int32 => Array::Int32(split!(i32)),
        Primitive::Uint32 => Array::Uint32(split!(u32)),
        Primitive::Int64 => Array::Int64(split!(i64)),
        Primitive::Uint64 => Array::Uint64(split!(u64)),
        Primitive::Float32 => Array::Float32(split!(f32)),
        Primitive::Float64 => Array::Float64(split!(f64)),
    }
}
