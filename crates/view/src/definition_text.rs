use std::fmt::Write as _;

use timeloom_msg::{Result, Schema};

const SEPARATOR: &str =
    "================================================================================";

/// A schema as `ros2msg`, in the form that clients decode by: its own fields, then all types that it uses.
///
/// Other than the text that bags hold, parts of services and actions stand alone here: a request is a request, an
/// event is an event.
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
        // Clients take an empty text for a missing one.
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
    fn messages_are_as_bags_hold_them() {
        for name in ["sensor_msgs/msg/Imu", "std_msgs/msg/String"] {
            let schema = Definitions::builtin().schema(name).unwrap();
            assert_eq!(definition_text(&schema).unwrap(), schema.ros2msg().unwrap());
        }
    }

    #[test]
    fn a_request_stands_alone() {
        let request = text("rosbag2_interfaces/srv/Seek_Request");
        assert!(
            request.starts_with("builtin_interfaces/Time time\n"),
            "{request}"
        );
        assert!(request.contains("MSG: builtin_interfaces/Time\n"));
        assert!(!request.contains("---") && !request.contains("success"));
    }

    #[test]
    fn no_text_is_empty() {
        for name in ["std_srvs/srv/Trigger_Request", "std_msgs/msg/Empty"] {
            assert!(!text(name).trim().is_empty(), "{name}");
        }
    }
}
