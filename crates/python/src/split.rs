//! Large messages: their large arrays of numbers stay where they are, the other fields are copied.

use std::ops::Range;

use pyo3::intern;
use pyo3::prelude::*;
use timeloom_bag::SharedPayload;
use timeloom_msg::cdr::{Cursor, Endian};
use timeloom_msg::definition::{ArrayShape, Primitive};
use timeloom_msg::schema::{Element, SchemaType};

use crate::layout::Layout;
use crate::memory::Memory;
use crate::value::{dtype, numpy};

/// Arrays of fewer bytes are copied: a view costs as much.
const LARGE: usize = 16 << 10;
/// Numbers begin at multiples of up to this in a payload, counted from the end of its header.
const ALIGNMENT: usize = 8;
/// The header of a payload.
const HEADER: usize = 4;

/// A payload without its large arrays.
pub(crate) struct Split {
    /// The header and all other fields, each as far from a multiple of [`ALIGNMENT`] as in the payload.
    pub(crate) rest: Vec<u8>,
    /// Where each field begins in `rest`; large arrays are empty there.
    pub(crate) offsets: Vec<usize>,
    pub(crate) arrays: Vec<ArrayPlace>,
}

/// A large array in a payload.
pub(crate) struct ArrayPlace {
    field: usize,
    /// Its numbers.
    pub(crate) range: Range<usize>,
    primitive: Primitive,
    endian: Endian,
}

impl Split {
    /// `None` for a message without large arrays, with much besides them, or one that cannot be decoded, which is reported
    /// when its fields are used.
    pub(crate) fn new(data: &[u8], layout: &Layout) -> Option<Self> {
        let start = Cursor::new(data).ok()?;
        let endian = start.endian();
        let mut cursor = start.at(HEADER);
        let mut split = Self {
            rest: data.get(..HEADER)?.to_vec(),
            offsets: Vec::with_capacity(layout.fields().len()),
            arrays: Vec::new(),
        };
        for (field, entry) in layout.fields().iter().enumerate() {
            let begin = cursor.offset();
            let here = Cursor::new(data).ok()?.at(begin);
            let place = entry.ty.as_ref().and_then(|ty| array(here, ty));
            cursor.skip(&entry.skip).ok()?;
            match place {
                Some((range, primitive)) if range.len() >= LARGE => {
                    split.offsets.push(split.rest.len());
                    split.arrays.push(ArrayPlace {
                        field,
                        range,
                        primitive,
                        endian,
                    });
                }
                _ => split.copy(data, begin..cursor.offset())?,
            }
        }
        (!split.arrays.is_empty()).then_some(split)
    }

    fn copy(&mut self, data: &[u8], field: Range<usize>) -> Option<()> {
        if field.len() >= LARGE {
            return None;
        }
        while self.rest.len() % ALIGNMENT != field.start % ALIGNMENT {
            self.rest.push(0);
        }
        self.offsets.push(self.rest.len());
        self.rest.extend_from_slice(data.get(field)?);
        Some(())
    }
}

/// The numbers of an array that begins at the cursor.
fn array(mut cursor: Cursor<'_>, ty: &SchemaType) -> Option<(Range<usize>, Primitive)> {
    let Element::Primitive(primitive) = &ty.element else {
        return None;
    };
    if ty.shape == ArrayShape::Single {
        return None;
    }
    let count = cursor.count(ty.shape).ok()?;
    let bytes = cursor
        .slice(primitive.name(), count, primitive.size())
        .ok()?;
    let end = cursor.offset();
    Some((end - bytes.len()..end, *primitive))
}

/// A large array that a message refers to.
pub(crate) struct LargeArray {
    pub(crate) field: usize,
    primitive: Primitive,
    endian: Endian,
    source: ArraySource,
}

/// Where the numbers of an array are.
pub(crate) enum ArraySource {
    /// Bytes of a file.
    File(Py<PyAny>),
    /// Memory of the reader, and their range in it.
    Memory(SharedPayload, Range<usize>),
}

impl LargeArray {
    pub(crate) fn new(place: &ArrayPlace, source: ArraySource) -> Self {
        Self {
            field: place.field,
            primitive: place.primitive,
            endian: place.endian,
            source,
        }
    }

    /// The array, which cannot be changed.
    pub(crate) fn view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let bytes = match &self.source {
            ArraySource::File(view) => view.bind(py).clone(),
            ArraySource::Memory(payload, range) => {
                Memory::shared(payload.clone(), range.clone()).into_array(py)?
            }
        };
        let kind = dtype(self.primitive, self.endian);
        if kind == "u1" {
            return Ok(bytes);
        }
        let array = bytes.call_method1(intern!(py, "view"), (kind,))?;
        let flags = array.getattr(intern!(py, "flags"))?;
        if flags.getattr(intern!(py, "aligned"))?.is_truthy()? {
            return Ok(array);
        }
        // Libraries that take pointers expect numbers at multiples of their size.
        let copy = numpy(py)?.call_method1(intern!(py, "array"), (array,))?;
        copy.call_method1(intern!(py, "setflags"), (false,))?;
        Ok(copy)
    }
}
