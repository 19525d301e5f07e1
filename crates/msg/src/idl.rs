//! Definitions in OMG IDL, in the subset that ROS 2 uses.

mod declaration;
mod lexer;
mod parser;
mod types;

use std::collections::BTreeSet;

use crate::definition::{MessageDefinition, check_text};
use crate::definition::{action_extras, service_extras};
use crate::{InterfaceKind, Result, TypeName};

/// Reads the text of a `.idl` file, whose first line has the number `first` in the whole text.
///
/// Returns every message in it, with the parts of services and actions that rosidl derives.
pub(crate) fn parse(name: &TypeName, text: &str, first: u32) -> Result<Vec<MessageDefinition>> {
    let full = name.to_string();
    check_text(&full, text)?;
    let tokens = lexer::tokenize(&full, text, first)?;
    let mut messages = parser::Parser::new(&full, &tokens).parse()?;
    let names: BTreeSet<TypeName> = messages
        .iter()
        .map(|message| message.name.clone())
        .collect();
    for name in &names {
        match name.kind() {
            InterfaceKind::Srv => {
                let base = name
                    .without_suffix("_Request")
                    .filter(|b| names.contains(&b.with_suffix("_Response")));
                messages.extend(base.iter().flat_map(service_extras));
            }
            InterfaceKind::Action => {
                let base = name
                    .without_suffix("_Goal")
                    .filter(|b| names.contains(&b.with_suffix("_Result")));
                messages.extend(base.iter().flat_map(action_extras));
            }
            InterfaceKind::Msg => {}
        }
    }
    Ok(messages)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::Literal;

    fn parse_text(text: &str) -> Result<Vec<MessageDefinition>> {
        parse(&TypeName::parse("p/msg/T").unwrap(), text, 1)
    }

    const SAMPLE: &str = r#"
// generated from rosidl_adapter
#include "std_msgs/msg/Header.idl"
module p {
  module msg {
    typedef double double__9[9];
    module T_Constants {
      const uint8 ONE = 1;
      @verbatim (language="comment", text="a ) b" "\n" "c")
      const string NAME = "x" "y";
    };
    /* a block
       comment */
    struct T {
      @verbatim (language="comment", text="the header")
      std_msgs::msg::Header header;
      double__9 covariance;
      @default (value=-1.5)
      @unit (value="m") double x;
      sequence<uint8, 3> few;
      sequence<Other> others;
      string<5> name, alias;
      @default (value=TRUE) boolean yes;
      unsigned long long big;
      octet raw;
      char c;
    };
  };
};
"#;

    #[test]
    fn a_message_with_everything() {
        let messages = parse_text(SAMPLE).unwrap();
        assert_eq!(messages.len(), 1);
        let text = "uint8 ONE=1\nstring NAME=\"xy\"\nstd_msgs/Header header\nfloat64[9] covariance\nfloat64 x -1.5\nuint8[<=3] few\nOther[] others\nstring<=5 name\nstring<=5 alias\nbool yes true\nuint64 big\nbyte raw\nchar c\n";
        assert_eq!(messages[0].to_string(), text);
        assert_eq!(messages[0].fields[2].default, Some(Literal::Float(-1.5)));
    }

    #[test]
    fn empty_messages_and_services() {
        let text = "module p { module srv { struct S_Request { uint8 structure_needs_at_least_one_member; }; struct S_Response { long a; }; }; };";
        let messages = parse_text(text).unwrap();
        let names: Vec<_> = messages.iter().map(|m| m.name.name()).collect();
        assert_eq!(names, ["S_Request", "S_Response", "S_Event", "S"]);
        assert!(messages[0].fields.is_empty());
    }

    #[test]
    fn errors_have_the_line_and_the_expected_value() {
        let error = |text: &str| parse_text(text).unwrap_err().to_string();
        assert_eq!(
            error("module p {\n module msg {\n struct T {\n long 5;\n"),
            "line 4 of p/msg/T: expected a name, found `5`"
        );
        assert_eq!(
            error("enum X"),
            "line 1 of p/msg/T: expected `module`, `struct`, `typedef` or `const`, found `enum`"
        );
        assert_eq!(
            error("struct T { long a; };"),
            "line 1 of p/msg/T: expected a struct inside two modules, found `T`"
        );
        assert_eq!(
            error("module p { module msg { struct T { wchar a; }; }; };"),
            "line 1 of p/msg/T: expected a type that ROS 2 supports, found `wchar`"
        );
        assert_eq!(
            error("\n/* open"),
            "line 2 of p/msg/T: expected `*/` at the end of the comment, found nothing"
        );
        assert_eq!(
            error("\"open"),
            "line 1 of p/msg/T: expected a closing quote, found nothing"
        );
        assert_eq!(
            error("module p {"),
            "line 1 of p/msg/T: expected `}`, found nothing"
        );
    }

    #[test]
    fn types_that_ros_lacks() {
        let error = |ty: &str| {
            let text = format!("module p {{ module msg {{ struct T {{ {ty} a; }}; }}; }};");
            parse_text(&text).unwrap_err().to_string()
        };
        let place = "line 1 of p/msg/T: expected";
        assert_eq!(
            error("long double"),
            format!("{place} a type that ROS 2 supports, found `long`")
        );
        assert_eq!(
            error("unsigned double"),
            format!("{place} `short` or `long` after `unsigned`, found `double`")
        );
        assert_eq!(
            error("string<0>"),
            format!("{place} a size from 1 to 4294967295, found `0`")
        );
        assert_eq!(
            error("a::b"),
            format!("{place} `package::msg::Name`, found `a::b`")
        );
    }

    #[test]
    fn deep_nesting_is_refused() {
        let error = parse_text(&"module a { ".repeat(20_000))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("expected at most 8 nested modules"),
            "{error}"
        );
        let nested = format!(
            "module p {{ module msg {{ struct T {{ {} x; }}; }}; }};",
            "sequence<".repeat(20_000)
        );
        let error = parse_text(&nested).unwrap_err().to_string();
        assert!(
            error.contains("expected a type that is not an array"),
            "{error}"
        );
    }
}
