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
        let unsupported = self.expected("a type that ROS 2 supports");
        let nested = self.expected("a type that is not an array itself");
        let mut word = self.word()?;
        let unsigned = word == "unsigned";
        if unsigned {
            word = self.word()?;
        }
        let twice = word == "long" && self.peek() == Some(&Token::Word("long"));
        if twice {
            self.advance();
        }
        let primitive = match (word, unsigned, twice) {
            ("short", false, _) | ("int16", ..) => Primitive::Int16,
            ("short", true, _) | ("uint16", ..) => Primitive::Uint16,
            ("long", false, false) | ("int32", ..) => Primitive::Int32,
            ("long", true, false) | ("uint32", ..) => Primitive::Uint32,
            ("long", false, true) | ("int64", ..) => Primitive::Int64,
            ("long", true, true) | ("uint64", ..) => Primitive::Uint64,
            ("int8", ..) => Primitive::Int8,
            ("uint8", ..) => Primitive::Uint8,
            ("octet", ..) => Primitive::Byte,
            ("char", ..) => Primitive::IdlChar,
            ("boolean", ..) => Primitive::Bool,
            ("float", ..) => Primitive::Float32,
            ("double", ..) => Primitive::Float64,
            ("string", ..) => return Ok(FieldType::single(BaseType::String(self.bound()?))),
            ("wstring", ..) => return Ok(FieldType::single(BaseType::WString(self.bound()?))),
            ("sequence", ..) => return Err(nested),
            ("wchar" | "any" | "fixed" | "map", ..) | (_, true, _) => return Err(unsupported),
            _ => return self.named_type(word),
        };
        if word == "long" && self.peek() == Some(&Token::Word("double")) {
            return Err(unsupported);
        }
        Ok(FieldType::single(BaseType::Primitive(primitive)))
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
        let wrong = self.expected("a size from 1 to 4294967295");
        match self.advance() {
            Some(Token::Number(text)) => text.parse().ok().filter(|size| *size > 0).ok_or(wrong),
            _ => Err(wrong),
        }
    }

    /// A typedef or a message, by its scoped name of which `first` is the first part.
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
