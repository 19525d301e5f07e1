//! The values of one field, row after row.

pub(crate) mod arrow;

use std::sync::Arc;

use timeloom_msg::cdr::{Cursor, WideChars};
use timeloom_msg::definition::{ArrayShape, Primitive};
use timeloom_msg::schema::{Element, SchemaType, StructType};
use timeloom_msg::{Error, Result};

/// The values of a field, in plain vectors.
#[derive(Debug, Clone)]
pub enum Column {
    /// `bool`.
    Bool(Vec<u8>),
    /// `int8`.
    Int8(Vec<i8>),
    /// `uint8`, `byte` and `char`.
    Uint8(Vec<u8>),
    /// `int16`.
    Int16(Vec<i16>),
    /// `uint16`.
    Uint16(Vec<u16>),
    /// `int32`.
    Int32(Vec<i32>),
    /// `uint32`.
    Uint32(Vec<u32>),
    /// `int64`.
    Int64(Vec<i64>),
    /// `uint64`.
    Uint64(Vec<u64>),
    /// `float32`.
    Float32(Vec<f32>),
    /// `float64`.
    Float64(Vec<f64>),
    /// `builtin_interfaces/Time`, in nanoseconds.
    Time(Vec<i64>),
    /// `builtin_interfaces/Duration`, in nanoseconds.
    Duration(Vec<i64>),
    /// `string` and `wstring`, as UTF-8; other bytes are replaced.
    Text(Strings),
    /// An array of single bytes.
    Bytes(Strings),
    /// Any other array.
    List(Lists),
    /// A nested message.
    Struct(StructColumn),
    /// A message without fields, which no table can hold.
    Nothing,
}

/// Byte strings behind each other.
#[derive(Debug, Clone)]
pub struct Strings {
    /// End of each row; the first entry is 0.
    pub offsets: Vec<i32>,
    /// The bytes of all rows.
    pub data: Vec<u8>,
    kind: StringKind,
}

#[derive(Debug, Clone, Copy)]
enum StringKind {
    Text(Option<u32>),
    WideText(Option<u32>),
    Bytes(ArrayShape),
}

/// Arrays behind each other.
#[derive(Debug, Clone)]
pub struct Lists {
    /// End of each row; the first entry is 0.
    pub offsets: Vec<i32>,
    /// The elements of all rows.
    pub items: Box<Column>,
    /// The array type, which limits the elements of a row.
    pub shape: ArrayShape,
}

/// The fields of a nested message.
#[derive(Debug, Clone)]
pub struct StructColumn {
    /// The layout.
    pub ty: Arc<StructType>,
    /// One column for each field of the layout.
    pub children: Vec<Column>,
    /// Number of messages.
    pub rows: usize,
}

/// Calls `$body` with the vector of any column of numbers.
macro_rules! for_numbers {
    ($column:expr, $values:ident => $body:expr, $($rest:tt)*) => {
        match $column {
            Self::Int8($values) => $body,
            Self::Uint8($values) => $body,
            Self::Int16($values) => $body,
            Self::Uint16($values) => $body,
            Self::Int32($values) => $body,
            Self::Uint32($values) => $body,
            Self::Int64($values) => $body,
            Self::Uint64($values) => $body,
            Self::Float32($values) => $body,
            Self::Float64($values) => $body,
            $($rest)*
        }
    };
}

impl Column {
    /// An empty column for a field.
    pub fn new(ty: &SchemaType) -> Self {
        use Primitive::{Byte, Char, IdlChar, Uint8};
        match (&ty.element, ty.shape) {
            (element, ArrayShape::Single) => Self::element(element),
            (Element::Primitive(Byte | Char | IdlChar | Uint8), shape) => {
                Self::Bytes(Strings::new(StringKind::Bytes(shape)))
            }
            (element, shape) => Self::List(Lists {
                offsets: vec![0],
                items: Box::new(Self::element(element)),
                shape,
            }),
        }
    }

    fn element(element: &Element) -> Self {
        match element {
            Element::Primitive(primitive) => Self::number(*primitive),
            Element::String(bound) => Self::Text(Strings::new(StringKind::Text(*bound))),
            Element::WString(bound) => Self::Text(Strings::new(StringKind::WideText(*bound))),
            Element::Struct(ty) if ty.fields().is_empty() => Self::Nothing,
            Element::Struct(ty) if ty.is_time() => Self::Time(Vec::new()),
            Element::Struct(ty) if ty.is_duration() => Self::Duration(Vec::new()),
            Element::Struct(ty) => Self::Struct(StructColumn {
                children: ty.fields().iter().map(|it| Self::new(it.ty())).collect(),
                ty: Arc::clone(ty),
                rows: 0,
            }),
        }
    }

    fn number(primitive: Primitive) -> Self {
        match primitive {
            Primitive::Bool => Self::Bool(Vec::new()),
            Primitive::Byte | Primitive::Char | Primitive::IdlChar | Primitive::Uint8 => {
                Self::Uint8(Vec::new())
            }
            Primitive::Int8 => Self::Int8(Vec::new()),
            Primitive::Int16 => Self::Int16(Vec::new()),
            Primitive::Uint16 => Self::Uint16(Vec::new()),
            Primitive::Int32 => Self::Int32(Vec::new()),
            Primitive::Uint32 => Self::Uint32(Vec::new()),
            Primitive::Int64 => Self::Int64(Vec::new()),
            Primitive::Uint64 => Self::Uint64(Vec::new()),
            Primitive::Float32 => Self::Float32(Vec::new()),
            Primitive::Float64 => Self::Float64(Vec::new()),
        }
    }

    /// Reads the field of one message. After an error the column must be cut back with [`Self::truncate`].
    pub(crate) fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        match self {
            Self::Text(strings) | Self::Bytes(strings) => strings.read(cursor),
            Self::List(lists) => {
                let count = cursor.count(lists.shape)?;
                lists.items.read_many(cursor, count)?;
                lists.offsets.push(offset(lists.items.len())?);
                Ok(())
            }
            Self::Struct(message) => {
                message.rows += 1;
                message
                    .children
                    .iter_mut()
                    .try_for_each(|child| child.read(cursor))
            }
            other => other.read_many(cursor, 1),
        }
    }

    fn read_many(&mut self, cursor: &mut Cursor<'_>, count: usize) -> Result<()> {
        for_numbers!(self, values => cursor.extend(values, count),
            Self::Bool(values) => {
                values.extend_from_slice(cursor.booleans(count)?);
                Ok(())
            }
            Self::Time(values) | Self::Duration(values) => {
                for _ in 0..count {
                    let sec: i32 = cursor.number()?;
                    let nanosec: u32 = cursor.number()?;
                    values.push(i64::from(sec) * 1_000_000_000 + i64::from(nanosec));
                }
                Ok(())
            }
            Self::Nothing => cursor.slice("message", count, 1).map(|_| ()),
            Self::Text(_) | Self::Bytes(_) | Self::List(_) | Self::Struct(_) => {
                (0..count).try_for_each(|_| self.read(cursor))
            }
        )
    }

    /// Adds a row without a value: zero, or empty.
    pub(crate) fn push_empty(&mut self) {
        for_numbers!(self, values => values.push(Default::default()),
            Self::Bool(values) => values.push(0),
            Self::Time(values) | Self::Duration(values) => values.push(0),
            Self::Text(strings) | Self::Bytes(strings) => {
                let last = strings.offsets.last().copied().unwrap_or(0);
                strings.offsets.push(last);
            }
            Self::List(lists) => {
                // Arrays of a fixed size have their elements in every row.
                if let ArrayShape::Fixed(size) = lists.shape {
                    (0..size).for_each(|_| lists.items.push_empty());
                }
                let end = i32::try_from(lists.items.len()).unwrap_or(i32::MAX);
                lists.offsets.push(end);
            }
            Self::Struct(message) => {
                message.rows += 1;
                message.children.iter_mut().for_each(Self::push_empty);
            }
            Self::Nothing => {}
        );
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        for_numbers!(self, values => values.len(),
            Self::Bool(values) => values.len(),
            Self::Time(values) | Self::Duration(values) => values.len(),
            Self::Text(strings) | Self::Bytes(strings) => strings.offsets.len().saturating_sub(1),
            Self::List(lists) => lists.offsets.len().saturating_sub(1),
            Self::Struct(message) => message.rows,
            Self::Nothing => 0,
        )
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all rows after the first `rows`.
    pub(crate) fn truncate(&mut self, rows: usize) {
        for_numbers!(self, values => values.truncate(rows),
            Self::Bool(values) => values.truncate(rows),
            Self::Time(values) | Self::Duration(values) => values.truncate(rows),
            Self::Text(strings) | Self::Bytes(strings) => {
                strings.offsets.truncate(rows + 1);
                strings.data.truncate(end(&strings.offsets));
            }
            Self::List(lists) => {
                lists.offsets.truncate(rows + 1);
                lists.items.truncate(end(&lists.offsets));
            }
            Self::Struct(message) => {
                message.rows = message.rows.min(rows);
                message.children.iter_mut().for_each(|child| child.truncate(rows));
            }
            Self::Nothing => {}
        );
    }
}

impl Strings {
    fn new(kind: StringKind) -> Self {
        Self {
            offsets: vec![0],
            data: Vec::new(),
            kind,
        }
    }

    fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        match self.kind {
            StringKind::Text(bound) => {
                let text = String::from_utf8_lossy(cursor.text(bound)?);
                self.data.extend_from_slice(text.as_bytes());
            }
            StringKind::WideText(bound) => {
                let text = cursor.wide_text(bound, WideChars::FourBytes)?;
                self.data
                    .extend_from_slice(text.to_string_lossy().as_bytes());
            }
            StringKind::Bytes(shape) => {
                let count = cursor.count(shape)?;
                self.data
                    .extend_from_slice(cursor.slice("uint8", count, 1)?);
            }
        }
        self.offsets.push(offset(self.data.len())?);
        Ok(())
    }

    /// The number of bytes of every row, for an array of a fixed size.
    pub fn fixed_size(&self) -> Option<u32> {
        match self.kind {
            StringKind::Bytes(ArrayShape::Fixed(size)) => Some(size),
            _ => None,
        }
    }

    /// The bytes of each row.
    pub fn rows(&self) -> impl Iterator<Item = &[u8]> {
        let start = |at: &i32| usize::try_from(*at).unwrap_or(0);
        self.offsets.windows(2).map(move |pair| match pair {
            [from, to] => self.data.get(start(from)..start(to)).unwrap_or_default(),
            _ => &[],
        })
    }
}

fn end(offsets: &[i32]) -> usize {
    offsets
        .last()
        .map_or(0, |end| usize::try_from(*end).unwrap_or(0))
}

/// Arrow counts in `i32`: a batch ends long before, so that only one huge message can exceed it.
fn offset(length: usize) -> Result<i32> {
    i32::try_from(length).map_err(|_error| Error::Limit {
        name: "column".to_owned(),
        what: "size of the values of a batch",
        actual: length as u64,
        limit: i32::MAX as u64,
    })
}
