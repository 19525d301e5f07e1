use std::fmt::Write as _;

use timeloom_msg::{Result, Schema};

const SEPARATOR: &str =
    "================================================================================";

/// A schema as self-contained `ros2msg`: its own fields, then every type that it uses.
///
/// Unlike the text in bags, the parts of services and actions are separate: a request contains only the request.
pub(crate) fn definition_text(schema: &Schema) -> Result<String> {
    let definitions = schema.definitions();
    let root = schema.name();
    let mut text = definitions
        .get(root)
        .map(ToString::to_string)
        .unwrap_or_default();
    for name in definitions.dependencies(root)? {
        if let Some(body) = definitions.get(&name) {
            // Writing to a string cannot fail.
            let _ok = write!(text, "\n{SEPARATOR}\nMSG: {}\n{body}", name.short());
        }
    }
    if text.trim().is_empty() {
        // Clients treat an empty text as missing.
        "# no fields\n".clone_into(&mut text);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use timeloom_msg::Definitions;

    fn text(name: &str) -> String {
        definition_text(&Definitions::builtin().schema(name).unwrap()).unwrap()
    }

    #[test]
    fn message_text_equals_the_text_in_bags() {
        for name in ["sensor_msgs/msg/Imu", "std_msgs/msg/String"] {
            let schema = Definitions::builtin().schema(name).unwrap();
            assert_eq!(definition_text(&schema).unwrap(), schema.ros2msg().unwrap());
        }
    }

    #[test]
    fn a_request_contains_only_its_own_types() {
        let request = text("rosbag2_interfaces/srv/Seek_Request");
        assert!(
            request.starts_with("builtin_interfaces/Time time\n"),
            "{request}"
        );
        assert!(request.contains("MSG: builtin_interfaces/Time\n"));
        assert!(!request.contains("---") && !request.contains("success"));
    }

    #[test]
    fn definition_texts_are_never_empty() {
        for name in ["std_srvs/srv/Trigger_Request", "std_msgs/msg/Empty"] {
            assert!(!text(name).trim().is_empty(), "{name}");
        }
    }
}
