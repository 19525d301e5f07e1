//! Values of a payload as Python objects; arrays are views of the payload.

use std::sync::Arc;

use pyo3::IntoPyObjectExt as _;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyString};
use timeloom_msg::cdr::{Cursor, Endian, WideChars};
use timeloom_msg::definition::{ArrayShape, Primitive};
use timeloom_msg::schema::{Element, SchemaType};

use crate::errors;
use crate::layout::Layout;
use crate::message::{Message, Payload};

/// The value of a field at the position of the cursor, which moves behind it.
pub(crate) fn read<'py>(
    py: Python<'py>,
    payload: &Payload,
    cursor: &mut Cursor<'_>,
    ty: &SchemaType,
    nested: Option<&Arc<Layout>>,
) -> PyResult<Bound<'py, PyAny>> {
    let failed = |error| errors::message(py, &error);
    if ty.shape == ArrayShape::Single {
        return element(py, payload, cursor, &ty.element, nested);
    }
    let count = cursor.count(ty.shape).map_err(failed)?;
    if let Element::Primitive(primitive) = &ty.element {
        let size = primitive.size();
        let bytes = cursor
            .slice(primitive.name(), count, size)
            .map_err(failed)?;
        let start = payload.lead() + cursor.offset() - bytes.len();
        return view(
            py,
            payload,
            dtype(*primitive, cursor.endian()),
            count,
            start,
        );
    }
    let items = PyList::empty(py);
    for _ in 0..count {
        items.append(element(py, payload, cursor, &ty.element, nested)?)?;
    }
    Ok(items.into_any())
}

fn element<'py>(
    py: Python<'py>,
    payload: &Payload,
    cursor: &mut Cursor<'_>,
    element: &Element,
    nested: Option<&Arc<Layout>>,
) -> PyResult<Bound<'py, PyAny>> {
    let failed = |error| errors::message(py, &error);
    match element {
        Element::Primitive(primitive) => number(py, cursor, *primitive),
        Element::String(bound) => {
            let bytes = cursor.text(*bound).map_err(failed)?;
            Ok(PyString::new(py, &String::from_utf8_lossy(bytes)).into_any())
        }
        Element::WString(bound) => {
            // Messages with wide strings are encoded again before they are read, with four bytes each.
            let text = cursor.wide_text(*bound, WideChars::FourBytes);
            let text = text.map_err(failed)?.to_string_lossy();
            Ok(PyString::new(py, &text).into_any())
        }
        Element::Struct(_) => {
            let Some(layout) = nested else {
                return Err(errors::payload(py, "a nested message has no layout"));
            };
            let (payload, start) = (payload.share(py), cursor.offset());
            let message = Message::at(payload, Arc::clone(layout), start);
            // Behind it, where the next element of an array begins.
            cursor.skip(layout.skip()).map_err(failed)?;
            Ok(Bound::new(py, message)?.into_any())
        }
    }
}

fn number<'py>(
    py: Python<'py>,
    cursor: &mut Cursor<'_>,
    primitive: Primitive,
) -> PyResult<Bound<'py, PyAny>> {
    macro_rules! take {
        ($type:ty) => {
            cursor
                .number::<$type>()
                .map_err(|error| errors::message(py, &error))?
                .into_bound_py_any(py)
        };
    }
    match primitive {
        Primitive::Bool => {
            let byte = cursor.number::<u8>();
            let byte = byte.map_err(|error| errors::message(py, &error))?;
            (byte != 0).into_bound_py_any(py)
        }
        Primitive::Byte | Primitive::Char | Primitive::IdlChar | Primitive::Uint8 => take!(u8),
        Primitive::Int8 => take!(i8),
        Primitive::Int16 => take!(i16),
        Primitive::Uint16 => take!(u16),
        Primitive::Int32 => take!(i32),
        Primitive::Uint32 => take!(u32),
        Primitive::Int64 => take!(i64),
        Primitive::Uint64 => take!(u64),
        Primitive::Float32 => take!(f32),
        Primitive::Float64 => take!(f64),
    }
}

/// The numpy type of an element.
pub(crate) fn dtype(primitive: Primitive, endian: Endian) -> &'static str {
    let little = endian == Endian::Little;
    match primitive {
        Primitive::Bool => "?",
        Primitive::Byte | Primitive::Char | Primitive::IdlChar | Primitive::Uint8 => "u1",
        Primitive::Int8 => "i1",
        Primitive::Int16 if little => "<i2",
        Primitive::Int16 => ">i2",
        Primitive::Uint16 if little => "<u2",
        Primitive::Uint16 => ">u2",
        Primitive::Int32 if little => "<i4",
        Primitive::Int32 => ">i4",
        Primitive::Uint32 if little => "<u4",
        Primitive::Uint32 => ">u4",
        Primitive::Int64 if little => "<i8",
        Primitive::Int64 => ">i8",
        Primitive::Uint64 if little => "<u8",
        Primitive::Uint64 => ">u8",
        Primitive::Float32 if little => "<f4",
        Primitive::Float32 => ">f4",
        Primitive::Float64 if little => "<f8",
        Primitive::Float64 => ">f8",
    }
}

/// A function of numpy, looked up once.
pub(crate) fn numpy(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static NUMPY: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = NUMPY.get_or_try_init(py, || PyResult::Ok(py.import("numpy")?.unbind()))?;
    Ok(module.bind(py))
}

/// An array that shares the memory of the payload.
fn view<'py>(
    py: Python<'py>,
    payload: &Payload,
    dtype: &str,
    count: usize,
    start: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let numpy = numpy(py)?;
    if count == 0 {
        return numpy.call_method1(intern!(py, "empty"), (0, dtype));
    }
    let bytes = payload.bytes(py);
    numpy.call_method1(intern!(py, "frombuffer"), (bytes, dtype, count, start))
}
