//! Structs, constants and annotations.

use super::lexer::Token;
use super::parser::Parser;
use crate::definition::{
    ArrayShape, BaseType, Constant, Field, FieldType, Literal, MAX_FIELDS, MessageDefinition,
    Source,
};
use crate::{InterfaceKind, Result, TypeName};

/// The field that IDL needs in a message without fields.
const PLACEHOLDER: &str = "structure_needs_at_least_one_member";

/// A value in the source, before its type is known.
pub(super) enum RawValue<'a> {
    Plain(&'a str),
    Text(String),
}

impl<'a> Parser<'a> {
    /// Steps over annotations and returns the value of `@default`.
    pub(super) fn annotations(&mut self) -> Result<Option<RawValue<'a>>> {
        let mut default = None;
        while self.accept('@') {
            let name = self.word()?;
            if !self.accept('(') {
                continue;
            }
            let mut depth = 1_usize;
            let mut after_equals = false;
            while depth > 0 {
                if name == "default" && after_equals {
                    default = self.raw_value();
                }
                after_equals = false;
                match self.advance() {
                    Some(Token::Punctuation('(')) => depth += 1,
                    Some(Token::Punctuation(')')) => depth -= 1,
                    Some(Token::Punctuation('=')) => after_equals = true,
                    Some(_) => {}
                    None => return Err(self.expected("`)` at the end of the annotation")),
                }
            }
        }
        Ok(default)
    }

    /// The value at the current position, which does not move.
    fn raw_value(&self) -> Option<RawValue<'a>> {
        match self.peek()? {
            Token::Word(text) | Token::Number(text) => Some(RawValue::Plain(text)),
            Token::Text(text) => Some(RawValue::Text(text.clone())),
            Token::Punctuation(_) => None,
        }
    }

    /// `struct Name { members };`
    pub(super) fn structure(&mut self) -> Result<()> {
        self.advance();
        let source = self.source();
        let struct_name = self.word()?;
        let (package, kind) = match self.scopes.as_slice() {
            [package, "msg"] => (package, InterfaceKind::Msg),
            [package, "srv"] => (package, InterfaceKind::Srv),
            [package, "action"] => (package, InterfaceKind::Action),
            _ => return Err(source.expected("a struct inside two modules", struct_name)),
        };
        let name = TypeName::new(package, kind, struct_name)?;
        self.expect('{')?;
        let mut fields = Vec::new();
        while !self.accept('}') {
            self.member(&mut fields)?;
            if fields.len() > MAX_FIELDS {
                return Err(self.expected(&format!("at most {MAX_FIELDS} members")));
            }
        }
        self.expect(';')?;
        if let [only] = fields.as_slice()
            && only.name == PLACEHOLDER
        {
            fields.clear();
        }
        let message = MessageDefinition::new(name, fields, Vec::new());
        self.messages.push(message);
        Ok(())
    }

    fn member(&mut self, fields: &mut Vec<Field>) -> Result<()> {
        let default = self.annotations()?;
        let ty = self.field_type()?;
        loop {
            let source = self.source();
            let name = self.word()?;
            if fields.iter().any(|field| field.name == name) {
                return Err(source.expected("a field name that is not used before", name));
            }
            let ty = self.array_suffix(ty.clone())?;
            let default = default.as_ref().and_then(|raw| literal(source, &ty, raw));
            fields.push(Field {
                name: name.to_owned(),
                ty,
                default,
            });
            if !self.accept(',') {
                return self.expect(';');
            }
        }
    }

    /// `const type NAME = value;`
    pub(super) fn constant(&mut self) -> Result<()> {
        self.advance();
        let ty = self.field_type()?;
        let name = self.word()?.to_owned();
        self.expect('=')?;
        let source = self.source();
        let mut raw = self.raw_value().ok_or_else(|| self.expected("a value"))?;
        self.advance();
        // Adjacent string literals are one.
        while let (RawValue::Text(text), Some(Token::Text(more))) = (&mut raw, self.peek()) {
            text.push_str(more);
            self.advance();
        }
        let wrong = || source.expected("a value of the constant's type", &name);
        let value = literal(source, &ty, &raw).ok_or_else(wrong)?;
        self.expect(';')?;
        if let Some(owner) = self
            .scopes
            .last()
            .and_then(|scope| scope.strip_suffix("_Constants"))
        {
            let constant = Constant {
                name,
                ty: ty.base,
                value,
            };
            self.constants
                .entry(owner.to_owned())
                .or_default()
                .push(constant);
        }
        Ok(())
    }
}

/// The literal for a type, or `None` if the value does not fit it: defaults are not part of the data.
fn literal(source: Source<'_>, ty: &FieldType, raw: &RawValue<'_>) -> Option<Literal> {
    match (raw, &ty.base, ty.shape) {
        (RawValue::Text(text), BaseType::String(_) | BaseType::WString(_), ArrayShape::Single) => {
            Some(Literal::Text(text.clone()))
        }
        // rosidl spells the default of an array as a text: "(1, 2, 3)".
        (RawValue::Text(text), _, shape) if shape != ArrayShape::Single => {
            let inner = text
                .trim()
                .trim_start_matches(['(', '['])
                .trim_end_matches([')', ']', ',']);
            Literal::parse(source, ty, &format!("[{inner}]")).ok()
        }
        (RawValue::Plain(text), _, _) => Literal::parse(source, ty, text).ok(),
        (RawValue::Text(_), ..) => None,
    }
}
