//! Definition texts: `.msg`, `.srv`, `.action` and concatenated.

use timeloom_msg::definition::{
    ActionDefinition, BaseType, MessageDefinition, Primitive, ServiceDefinition,
};
use timeloom_msg::value::Columns;
use timeloom_msg::{Definitions, InterfaceKind, Schema, StampProgram, TypeName};

/// Parses a text in every way, and checks that what was understood is written and read back the same.
pub fn fuzz_msg(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let name = |text: &str| TypeName::parse(text).expect("a valid name");
    let message = MessageDefinition::parse(&name("p/msg/T"), &text);
    if let Some(message) = message.ok().filter(has_spelling) {
        let written = message.to_string();
        let again =
            MessageDefinition::parse(&message.name, &written).expect("a written definition parses");
        assert_eq!(again.to_string(), written);
        assert_eq!(again.fields.len(), message.fields.len());
    }
    if let Ok(service) = ServiceDefinition::parse(&name("p/srv/T"), &text) {
        assert!(ServiceDefinition::parse(&service.name, &service.to_string()).is_ok());
    }
    if let Ok(action) = ActionDefinition::parse(&name("p/action/T"), &text) {
        assert!(ActionDefinition::parse(&action.name, &action.to_string()).is_ok());
    }
    for root in ["p/msg/T", "p/srv/T_Event", "p/action/T_FeedbackMessage"] {
        if let Ok(schema) = Schema::parse_ros2msg(root, &text) {
            check_schema(&schema);
        }
    }
}

/// A text that ends with a backslash has no spelling in `.msg`: there, the backslash escapes the closing quote.
fn has_spelling(message: &MessageDefinition) -> bool {
    let defaults = message
        .fields
        .iter()
        .filter_map(|field| field.default.as_ref());
    let mut values = message
        .constants
        .iter()
        .map(|constant| &constant.value)
        .chain(defaults);
    !values.any(|value| {
        let text = value.to_string();
        text.ends_with("\\\"") || text.ends_with("\\\"]") || text.contains("\\\", ")
    })
}

/// What must hold for any schema that compiles.
pub fn check_schema(schema: &Schema) {
    let hash = schema.type_hash().expect("a compiled type has a hash");
    let description = schema
        .type_description()
        .expect("a compiled type has a description");
    let back = Schema::from_description(&description).expect("a description compiles");
    assert_eq!(back.type_hash().expect("a hash"), hash);
    // Parts of services stand in whole texts, and the `char` of IDL has no spelling in `.msg`.
    let plain = schema.definitions().iter().all(|message| {
        let idl_char = BaseType::Primitive(Primitive::IdlChar);
        message.name.kind() == InterfaceKind::Msg
            && message.fields.iter().all(|field| field.ty.base != idl_char)
    });
    if plain {
        let text = schema.ros2msg().expect("a compiled type has a text");
        let again = Definitions::parse_ros2msg(schema.name(), &text).expect("a stored text parses");
        let again = Schema::compile(&again, schema.name()).expect("a stored text compiles");
        assert_eq!(again.type_hash().expect("a hash"), hash);
    }
    let columns = Columns::of(schema);
    let _program = StampProgram::compile(schema);
    // Small fixed parts only: a fuzzer finds large arrays at once and then does nothing else.
    if schema.root().min_size() < 1 << 16 {
        let value = schema
            .default_value()
            .expect("a small message has a default");
        assert_eq!(columns.row(&value).len(), columns.names().len());
        let payload = schema.encode(&value).expect("a default encodes");
        super::cdr::check_payload(schema, &payload);
    }
}
