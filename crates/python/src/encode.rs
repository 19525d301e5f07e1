//! From Python objects to values.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};
use timeloom_msg::definition::{ArrayShape, Primitive};
use timeloom_msg::schema::{Element, SchemaType};
use timeloom_msg::value::{Array, Struct, Text, WideText};
use timeloom_msg::{Schema, Value};

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
        for name in dict.keys() {
            let name: String = name.extract()?;
            if ty.field(&name).is_none() {
                let text = format!("{} has no field `{path}{name}`", ty.name());
                return Err(PyValueError::new_err(text));
            }
        }
    }
    for field in ty.fields() {
        let name = PyString::new(message.py(), field.name());
        let value = match dict {
            Some(dict) => match dict.get_item(&name)? {
                Some(value) => value,
                None => continue,
            },
            None => message.getattr(&name)?,
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
    let wrong = |error: PyErr| explain(value.py(), path, &error);
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
            let items = value.try_iter().map_err(wrong)?.map(|item| text(&item?));
            Value::Array(Array::String(
                items.collect::<PyResult<_>>().map_err(wrong)?,
            ))
        }
        (Element::WString(_), _) => {
            let items = value.try_iter().map_err(wrong)?;
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
            for (index, item) in value.try_iter().map_err(wrong)?.enumerate() {
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

/// The error with the name of the field.
fn explain(py: Python<'_>, path: &str, error: &PyErr) -> PyErr {
    let text = format!("{path}: {}", error.value(py));
    if error.is_instance_of::<PyTypeError>(py) {
        return PyTypeError::new_err(text);
    }
    PyValueError::new_err(text)
}

fn text(value: &Bound<'_, PyAny>) -> PyResult<Text> {
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(Text::from_bytes(bytes.as_bytes().to_vec()));
    }
    Ok(Text::from(value.extract::<String>()?))
}

fn number(primitive: Primitive, value: &Bound<'_, PyAny>) -> PyResult<Value> {
    Ok(match primitive {
        Primitive::Bool => Value::Bool(value.is_truthy()?),
        Primitive::Byte | Primitive::Char | Primitive::IdlChar | Primitive::Uint8 => {
            match value.cast::<PyBytes>() {
                Ok(bytes) => Value::Uint8(bytes.as_bytes().first().copied().unwrap_or(0)),
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
        Primitive::Float32 => Value::Float32(value.extract()?),
        Primitive::Float64 => Value::Float64(value.extract()?),
    })
}

/// Numbers of anything that numpy makes an array of.
fn numbers(primitive: Primitive, value: &Bound<'_, PyAny>) -> PyResult<Array> {
    use timeloom_msg::cdr::Endian;
    let py = value.py();
    if let (Ok(bytes), 1) = (value.cast::<PyBytes>(), primitive.size()) {
        return Ok(array(primitive, bytes.as_bytes()));
    }
    let (numpy, kind) = (numpy(py)?, dtype(primitive, Endian::Little));
    let converted = numpy.call_method1(intern!(py, "asarray"), (value, kind))?;
    let is_array = value.is_instance(&numpy.getattr(intern!(py, "ndarray"))?)?;
    let is_float = matches!(primitive, Primitive::Float32 | Primitive::Float64);
    if is_array && !is_float {
        // numpy wraps integers that do not fit, without an error.
        let same = numpy.call_method1(intern!(py, "array_equal"), (value, &converted))?;
        if !same.is_truthy()? {
            let text = format!("values do not fit {}", primitive.name());
            return Err(PyValueError::new_err(text));
        }
    }
    let bytes = converted.call_method0(intern!(py, "tobytes"))?;
    Ok(array(primitive, bytes.cast::<PyBytes>()?.as_bytes()))
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
