//! IDL in the style of rosidl, written for every built-in message, must mean the same as the `.msg` text.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use timeloom_msg::definition::{
    ArrayShape, BaseType, FieldType, Literal, MessageDefinition, Primitive,
};
use timeloom_msg::{Definitions, InterfaceKind, Schema, TypeName};

fn base(ty: &BaseType) -> String {
    match ty {
        BaseType::Primitive(primitive) => match primitive {
            Primitive::Bool => "boolean",
            Primitive::Byte => "octet",
            // rosidl writes the char of a .msg file as uint8.
            Primitive::Char => "uint8",
            Primitive::IdlChar => "char",
            Primitive::Float32 => "float",
            Primitive::Float64 => "double",
            other => other.name(),
        }
        .to_owned(),
        BaseType::String(None) => "string".to_owned(),
        BaseType::String(Some(bound)) => format!("string<{bound}>"),
        BaseType::WString(None) => "wstring".to_owned(),
        BaseType::WString(Some(bound)) => format!("wstring<{bound}>"),
        BaseType::Message(name) => format!(
            "{}::{}::{}",
            name.package(),
            name.kind().as_str(),
            name.name()
        ),
    }
}

fn field_type(ty: &FieldType, typedefs: &mut BTreeSet<String>) -> String {
    let element = base(&ty.base);
    match ty.shape {
        ArrayShape::Single => element,
        ArrayShape::Unbounded => format!("sequence<{element}>"),
        ArrayShape::Bounded(n) => format!("sequence<{element}, {n}>"),
        ArrayShape::Fixed(n) => {
            let name = format!(
                "{}__{n}",
                element.replace("::", "__").replace(['<', '>'], "_")
            );
            typedefs.insert(format!("typedef {element} {name}[{n}];"));
            name
        }
    }
}

fn literal(value: &Literal) -> String {
    match value {
        Literal::Bool(value) => value.to_string().to_uppercase(),
        other => other.to_string(),
    }
}

fn idl(message: &MessageDefinition) -> String {
    let (mut typedefs, mut body, mut constants) = (BTreeSet::new(), String::new(), String::new());
    for field in &message.fields {
        if let Some(default) = &field.default {
            writeln!(body, "      @default (value={})", literal(default)).unwrap();
        }
        writeln!(body, "      @verbatim (language=\"comment\", text=\n        \"a {{ comment;\" \"\\n\" \"of ) two lines\")").unwrap();
        writeln!(
            body,
            "      {} {};\n",
            field_type(&field.ty, &mut typedefs),
            field.name
        )
        .unwrap();
    }
    if message.fields.is_empty() {
        body.push_str("      uint8 structure_needs_at_least_one_member;\n");
    }
    for constant in &message.constants {
        writeln!(
            constants,
            "      const {} {} = {};",
            base(&constant.ty),
            constant.name,
            literal(&constant.value)
        )
        .unwrap();
    }
    let (package, kind, name) = (
        message.name.package(),
        message.name.kind().as_str(),
        message.name.name(),
    );
    let typedefs: Vec<String> = typedefs.into_iter().collect();
    let constants = if constants.is_empty() {
        constants
    } else {
        format!("    module {name}_Constants {{\n{constants}    }};\n")
    };
    format!(
        "// generated\n#include \"x/msg/Y.idl\"\n\nmodule {package} {{\n  module {kind} {{\n    {}\n{constants}    struct {name} {{\n{body}    }};\n  }};\n}};\n",
        typedefs.join("\n    ")
    )
}

/// The concatenated form of rosbag2 with encoding `ros2idl`.
fn ros2idl(all: &Definitions, name: &TypeName) -> String {
    let mut text = String::new();
    for part in [name.clone()]
        .iter()
        .chain(&all.dependencies(name).unwrap())
    {
        writeln!(
            text,
            "{}\nIDL: {part}\n{}",
            "=".repeat(80),
            idl(all.get(part).unwrap())
        )
        .unwrap();
    }
    text
}

#[test]
fn every_builtin_message_through_idl() {
    let all = Definitions::builtin();
    let mut count = 0;
    for message in all
        .iter()
        .filter(|message| message.name.kind() == InterfaceKind::Msg)
    {
        let name = message.name.to_string();
        let schema = Schema::parse_ros2idl(&name, &ros2idl(all, &message.name)).unwrap();
        assert_eq!(
            schema.type_hash().unwrap(),
            all.schema(&name).unwrap().type_hash().unwrap(),
            "{name}"
        );
        let parsed = schema.definitions().get(&message.name).unwrap();
        assert_eq!(parsed.constants.len(), message.constants.len(), "{name}");
        let defaults = |m: &MessageDefinition| {
            m.fields
                .iter()
                .map(|f| f.default.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(defaults(parsed), defaults(message), "{name}");
        count += 1;
    }
    assert!(count > 180, "{count}");
}

#[test]
fn a_text_without_the_first_header_is_the_root() {
    let all = Definitions::builtin();
    let name = TypeName::parse("std_msgs/msg/Header").unwrap();
    let text = ros2idl(all, &name);
    let bare = text.split_once("IDL: std_msgs/msg/Header\n").unwrap().1;
    let schema = Schema::parse_ros2idl("std_msgs/msg/Header", bare).unwrap();
    assert_eq!(
        schema.type_hash().unwrap(),
        all.schema("std_msgs/msg/Header")
            .unwrap()
            .type_hash()
            .unwrap()
    );
}
