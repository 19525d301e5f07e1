//! The type of a field.

use std::fmt;

use crate::{InterfaceKind, TypeName};

/// A type of fixed size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Primitive {
    /// `bool`, one byte.
    Bool,
    /// `byte`, an opaque octet.
    Byte,
    /// `char` of a `.msg` file: an unsigned octet in ROS 2.
    Char,
    /// `char` of an IDL file; on the wire the same as [`Primitive::Char`], but another type in hashes.
    IdlChar,
    /// `int8`.
    Int8,
    /// `uint8`.
    Uint8,
    /// `int16`.
    Int16,
    /// `uint16`.
    Uint16,
    /// `int32`.
    Int32,
    /// `uint32`.
    Uint32,
    /// `int64`.
    Int64,
    /// `uint64`.
    Uint64,
    /// `float32`.
    Float32,
    /// `float64`.
    Float64,
}

impl Primitive {
    /// Reads the name of a `.msg` file.
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "bool" => Self::Bool,
            "byte" => Self::Byte,
            "char" => Self::Char,
            "int8" => Self::Int8,
            "uint8" => Self::Uint8,
            "int16" => Self::Int16,
            "uint16" => Self::Uint16,
            "int32" => Self::Int32,
            "uint32" => Self::Uint32,
            "int64" => Self::Int64,
            "uint64" => Self::Uint64,
            "float32" => Self::Float32,
            "float64" => Self::Float64,
            _ => return None,
        })
    }

    /// The name in a `.msg` file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Byte => "byte",
            Self::Char | Self::IdlChar => "char",
            Self::Int8 => "int8",
            Self::Uint8 => "uint8",
            Self::Int16 => "int16",
            Self::Uint16 => "uint16",
            Self::Int32 => "int32",
            Self::Uint32 => "uint32",
            Self::Int64 => "int64",
            Self::Uint64 => "uint64",
            Self::Float32 => "float32",
            Self::Float64 => "float64",
        }
    }

    /// Size on the wire in bytes; the alignment is the same.
    pub fn size(self) -> usize {
        match self {
            Self::Bool | Self::Byte | Self::Char | Self::IdlChar | Self::Int8 | Self::Uint8 => 1,
            Self::Int16 | Self::Uint16 => 2,
            Self::Int32 | Self::Uint32 | Self::Float32 => 4,
            Self::Int64 | Self::Uint64 | Self::Float64 => 8,
        }
    }
}

/// The type of one element of a field.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum BaseType {
    /// A type of fixed size.
    Primitive(Primitive),
    /// `string`, with the largest length when it is bounded.
    String(Option<u32>),
    /// `wstring`, with the largest length when it is bounded.
    WString(Option<u32>),
    /// Another message.
    Message(TypeName),
}

/// The number of elements of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ArrayShape {
    /// One element.
    Single,
    /// `T[n]`: always `n` elements.
    Fixed(u32),
    /// `T[<=n]`: at most `n` elements.
    Bounded(u32),
    /// `T[]`: any number of elements.
    Unbounded,
}

/// The type of a field: an element and its number.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FieldType {
    /// The type of one element.
    pub base: BaseType,
    /// Number of elements.
    pub shape: ArrayShape,
}

impl FieldType {
    /// A field of one element.
    pub fn single(base: BaseType) -> Self {
        Self {
            base,
            shape: ArrayShape::Single,
        }
    }

    /// The spelling in a `.msg` file of `package`: types of the same package need no prefix.
    pub fn spelling(&self, package: &str) -> String {
        let base = match &self.base {
            BaseType::Primitive(primitive) => primitive.name().to_owned(),
            BaseType::String(bound) => bounded("string", *bound),
            BaseType::WString(bound) => bounded("wstring", *bound),
            BaseType::Message(name) => reference(name, package),
        };
        match self.shape {
            ArrayShape::Single => base,
            ArrayShape::Fixed(n) => format!("{base}[{n}]"),
            ArrayShape::Bounded(n) => format!("{base}[<={n}]"),
            ArrayShape::Unbounded => format!("{base}[]"),
        }
    }
}

impl fmt::Display for FieldType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.spelling(""))
    }
}

/// The shortest spelling that a parser reads back as the same type: parts of services and actions appear only in
/// definitions of services and actions, where their names are unambiguous.
fn reference(name: &TypeName, package: &str) -> String {
    let builtin =
        Primitive::parse(name.name()).is_some() || ["string", "wstring"].contains(&name.name());
    let derived = name.derived_kind() == Some(name.kind());
    if name.kind() != InterfaceKind::Msg && !derived {
        name.to_string()
    } else if name.package() == package && !builtin {
        name.name().to_owned()
    } else {
        name.short()
    }
}

fn bounded(name: &str, bound: Option<u32>) -> String {
    bound.map_or_else(|| name.to_owned(), |bound| format!("{name}<={bound}"))
}
