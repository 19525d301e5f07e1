//! A message definition and the parser of `.msg` texts.

use std::sync::Arc;

use super::line::{Member, parse_line};
use super::source::check_limit;
use super::{BaseType, FieldType, Literal, MAX_FIELDS, Source, check_text};
use crate::{Result, TypeName};

/// A field of a message.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The name.
    pub name: String,
    /// The type.
    pub ty: FieldType,
    /// The default value, when the definition has one.
    pub default: Option<Literal>,
}

impl Field {
    /// A field without a default.
    pub fn new(name: &str, ty: FieldType) -> Self {
        Self {
            name: name.to_owned(),
            ty,
            default: None,
        }
    }
}

/// A constant of a message; it is not part of the data.
#[derive(Debug, Clone, PartialEq)]
pub struct Constant {
    /// The name.
    pub name: String,
    /// The type.
    pub ty: BaseType,
    /// The value.
    pub value: Literal,
}

/// A message, or one part of a service or an action.
///
/// Two definitions are equal when their members are; comments do not count.
#[derive(Debug, Clone)]
pub struct MessageDefinition {
    /// The full type name.
    pub name: TypeName,
    /// The fields, in wire order.
    pub fields: Vec<Field>,
    /// The constants.
    pub constants: Vec<Constant>,
    /// The text that it was read from, with its comments.
    text: Option<Arc<str>>,
}

impl PartialEq for MessageDefinition {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.fields, &self.constants)
            == (&other.name, &other.fields, &other.constants)
    }
}

impl MessageDefinition {
    /// A definition of these members, which was not read from a text.
    pub fn new(name: TypeName, fields: Vec<Field>, constants: Vec<Constant>) -> Self {
        Self {
            name,
            fields,
            constants,
            text: None,
        }
    }

    /// The text of a `.msg` file: as it was read, with comments, or generated from the members.
    pub fn text(&self) -> String {
        self.text
            .as_deref()
            .map_or_else(|| self.to_string(), str::to_owned)
    }

    /// Whether it was read from a text.
    pub(crate) fn has_text(&self) -> bool {
        self.text.is_some()
    }

    /// The same members without the text that they were read from.
    #[must_use]
    pub(crate) fn without_text(self) -> Self {
        Self { text: None, ..self }
    }

    /// Reads the text of a `.msg` file.
    ///
    /// # Errors
    /// Names the line and the expected token.
    pub fn parse(name: &TypeName, text: &str) -> Result<Self> {
        check_text(&name.to_string(), text)?;
        Self::parse_lines(name, text.lines(), 1)
    }

    /// Reads lines; the first one has the number `first` in the whole text.
    pub(crate) fn parse_lines<'a>(
        name: &TypeName,
        lines: impl Iterator<Item = &'a str>,
        first: u32,
    ) -> Result<Self> {
        let full = name.to_string();
        let mut message = Self::new(name.clone(), Vec::new(), Vec::new());
        let mut text = String::new();
        let mut source = Source {
            name: &full,
            line: first,
        };
        for line in lines {
            let line = line.trim_start_matches('\u{feff}');
            text.push_str(line);
            text.push('\n');
            match parse_line(source, name.package(), line)? {
                Some(Member::Field(field)) => message.push_field(source, field)?,
                Some(Member::Constant(constant)) => message.constants.push(constant),
                None => {}
            }
            check_limit(
                &full,
                "number of members",
                message.fields.len() + message.constants.len(),
                MAX_FIELDS,
            )?;
            source.line = source.line.saturating_add(1);
        }
        message.text = Some(text.into());
        Ok(message)
    }

    fn push_field(&mut self, source: Source<'_>, field: Field) -> Result<()> {
        // Quadratic, but bounded by MAX_FIELDS and far from it in practice.
        if self.fields.iter().any(|other| other.name == field.name) {
            return Err(source.expected("a field name that is not used before", &field.name));
        }
        self.fields.push(field);
        Ok(())
    }

    /// The messages that the fields use, in the order of the fields, with repetitions.
    pub fn references(&self) -> impl Iterator<Item = &TypeName> {
        self.fields.iter().filter_map(|field| match &field.ty.base {
            BaseType::Message(name) => Some(name),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<MessageDefinition> {
        MessageDefinition::parse(&TypeName::parse("p/msg/T").unwrap(), text)
    }

    #[test]
    fn fields_constants_and_defaults() {
        let text = "\u{feff}# head\r\nint32 A=1\r\n\r\nint32 a 5\r\nstring s\r\n";
        let message = parse(text).unwrap();
        assert_eq!(message.fields.len(), 2);
        assert_eq!(message.constants[0].value, Literal::Int(1));
        assert_eq!(message.fields[0].default, Some(Literal::Int(5)));
    }

    #[test]
    fn the_text_keeps_comments_and_equality_ignores_them() {
        let commented = parse("# metres\r\nfloat64 x 0.5  # from the left\n").unwrap();
        assert_eq!(
            commented.text(),
            "# metres\nfloat64 x 0.5  # from the left\n"
        );
        let plain = parse("float64 x 0.5\n").unwrap();
        assert_eq!(commented, plain);
        assert_eq!(commented.without_text().text(), "float64 x 0.5\n");
        assert_ne!(plain, parse("float64 x 0.25\n").unwrap());
    }

    #[test]
    fn errors_count_lines_from_one() {
        let error = parse("int32 a\n\nint32 b\nint32 a\n")
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "line 4 of p/msg/T: expected a field name that is not used before, found `a`"
        );
    }

    #[test]
    fn sizes_are_bounded() {
        assert!(
            parse(&"#".repeat(5 << 20))
                .unwrap_err()
                .to_string()
                .contains("definition length is 5242880")
        );
        let many = (0..20_000)
            .map(|i| format!("uint8 A{i}=1"))
            .collect::<Vec<_>>()
            .join("\n");
        assert!(
            parse(&many)
                .unwrap_err()
                .to_string()
                .contains("number of members")
        );
    }
}
