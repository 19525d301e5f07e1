//! Types and typedefs.

use super::lexer::Token;
use super::parser::Parser;
use crate::definition::{ArrayShape, BaseType, FieldType, Primitive};
use crate::{InterfaceKind, Result, TypeName};

impl Parser<'_> {
    /// `typedef type name[n];`
    pub(super) fn typedef(&mut self) -> Result<()> {
        self.advance();
        let ty = self.field_type()?;
        let name = self.word()?;
        let ty = self.array_suffix(ty)?;
        self.expect(';')?;
        let scoped = self
            .scopes
            .iter()
            .copied()
            .chain([name])
            .collect::<Vec<_>>()
            .join("::");
        self.typedefs.insert(scoped, ty);
        Ok(())
    }

    /// `[n]` after a name.
    pub(super) fn array_suffix(&mut self, ty: FieldType) -> Result<FieldType> {
        if !self.accept('[') {
            return Ok(ty);
        }
        let size = self.size()?;
        self.expect(']')?;
        self.element(ty).map(|base| FieldType {
            base,
            shape: ArrayShape::Fixed(size),
        })
    }

    /// Any type.
    pub(super) fn field_type(&mut self) -> Result<FieldType> {
        if self.peek() != Some(&Token::Word("sequence")) {
            return self.simple_type();
        }
        self.advance();
        self.expect('<')?;
        // ROS has no sequences of sequences, so there is no recursion here.
        let ty = self.simple_type()?;
        let base = self.element(ty)?;
        let shape = if self.accept(',') {
            ArrayShape::Bounded(self.size()?)
        } else {
            ArrayShape::Unbounded
        };
        self.expect('>')?;
        Ok(FieldType { base, shape })
    }

    fn element(&self, ty: FieldType) -> Result<BaseType> {
        match ty.shape {
            ArrayShape::Single => Ok(ty.base),
            _ => Err(self.expected("a type that is not an array itself")),
        }
    }

    /// A type without `sequence`: a primitive, a string, a typedef or a message.
    fn simple_type(&mut self) -> Result<FieldType> {
        let source = self.source();
        let first = self.word()?;
        let word = if first == "unsigned" {
            self.word()?
        } else {
            first
        };
        let twice = word == "long" && self.peek() == Some(&Token::Word("long"));
        if twice {
            self.advance();
        }
        let long_double = word == "long" && self.peek() == Some(&Token::Word("double"));
        let base = match (primitive(first == "unsigned", word, twice), word) {
            (Some(primitive), _) if !long_double => BaseType::Primitive(primitive),
            (None, "string") => BaseType::String(self.bound()?),
            (None, "wstring") => BaseType::WString(self.bound()?),
            (None, "sequence") => {
                return Err(source.expected("a type that is not an array itself", word));
            }
            (None, "wchar" | "any" | "fixed" | "map") | (Some(_), _) => {
                return Err(source.expected("a type that ROS 2 supports", word));
            }
            (None, _) if first == "unsigned" => {
                return Err(source.expected("`short` or `long` after `unsigned`", word));
            }
            (None, _) => return self.named_type(word),
        };
        Ok(FieldType::single(base))
    }

    /// `<n>` after `string`.
    fn bound(&mut self) -> Result<Option<u32>> {
        if !self.accept('<') {
            return Ok(None);
        }
        let size = self.size()?;
        self.expect('>')?;
        Ok(Some(size))
    }

    fn size(&mut self) -> Result<u32> {
        let size = match self.peek() {
            Some(Token::Number(text)) => text.parse().ok().filter(|size| *size > 0),
            _ => None,
        };
        let size = size.ok_or_else(|| self.expected("a size from 1 to 4294967295"))?;
        self.advance();
        Ok(size)
    }

    /// A typedef or a message, by its scoped name, whose first part is `first`.
    fn named_type(&mut self, first: &str) -> Result<FieldType> {
        let source = self.source();
        let mut scoped = first.to_owned();
        while self.accept(':') {
            scoped.push_str("::");
            scoped.push_str(self.word()?);
        }
        for depth in (0..=self.scopes.len()).rev() {
            let outer = self.scopes.get(..depth).unwrap_or_default();
            let candidate = outer
                .iter()
                .copied()
                .chain([scoped.as_str()])
                .collect::<Vec<_>>()
                .join("::");
            if let Some(ty) = self.typedefs.get(&candidate) {
                return Ok(ty.clone());
            }
        }
        let parts: Vec<&str> = scoped.split("::").collect();
        let name = match (parts.as_slice(), self.scopes.as_slice()) {
            ([package, kind, name], _) | ([name], [package, kind, ..]) => {
                TypeName::parse(&format!("{package}/{kind}/{name}"))
            }
            ([name], [package]) => TypeName::new(package, InterfaceKind::Msg, name),
            _ => return Err(source.expected("`package::msg::Name`", &scoped)),
        };
        let name = name
            .ok()
            .ok_or_else(|| source.expected("`package::msg::Name`", &scoped))?;
        Ok(FieldType::single(BaseType::Message(name)))
    }
}

/// The primitive of a keyword; `twice` means `long long`.
fn primitive(unsigned: bool, word: &str, twice: bool) -> Option<Primitive> {
    Some(match (unsigned, word, twice) {
        (false, "int8", _) => Primitive::Int8,
        (false, "uint8", _) => Primitive::Uint8,
        (false, "short" | "int16", _) => Primitive::Int16,
        (true, "short", _) | (false, "uint16", _) => Primitive::Uint16,
        (false, "long", false) | (false, "int32", _) => Primitive::Int32,
        (true, "long", false) | (false, "uint32", _) => Primitive::Uint32,
        (false, "long", true) | (false, "int64", _) => Primitive::Int64,
        (true, "long", true) | (false, "uint64", _) => Primitive::Uint64,
        (false, "octet", _) => Primitive::Byte,
        (false, "char", _) => Primitive::IdlChar,
        (false, "boolean", _) => Primitive::Bool,
        (false, "float", _) => Primitive::Float32,
        (false, "double", _) => Primitive::Float64,
        _ => return None,
    })
}
