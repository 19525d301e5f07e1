//! Definitions as text: the inverse of the parsers.

use std::fmt::{self, Write as _};

use super::{ActionDefinition, MessageDefinition, ServiceDefinition};

impl fmt::Display for MessageDefinition {
    /// The text of a `.msg` file: constants first, then fields, no comments.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let package = self.name.package();
        for constant in &self.constants {
            let ty = super::FieldType::single(constant.ty.clone());
            writeln!(
                f,
                "{} {}={}",
                ty.spelling(package),
                constant.name,
                constant.value
            )?;
        }
        for field in &self.fields {
            write!(f, "{} {}", field.ty.spelling(package), field.name)?;
            match &field.default {
                Some(default) => writeln!(f, " {default}")?,
                None => f.write_char('\n')?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for ServiceDefinition {
    /// The text of a `.srv` file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}---\n{}", self.request, self.response)
    }
}

impl fmt::Display for ActionDefinition {
    /// The text of a `.action` file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}---\n{}---\n{}", self.goal, self.result, self.feedback)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TypeName;

    #[test]
    fn text_parses_back_to_the_same() {
        let name = TypeName::parse("p/msg/T").unwrap();
        let text = "string S=\"a # \\\"b\"\nint8 N=-1\nfloat64 x 1.0\nOther[<=3] o\nstd_msgs/Header h\nstring[2] t [\"a\", \"b,c\"]\nwstring<=4 w\n";
        let message = MessageDefinition::parse(&name, text).unwrap();
        assert_eq!(message.to_string(), text);
        assert_eq!(
            MessageDefinition::parse(&name, &message.to_string()).unwrap(),
            message
        );
    }
}
