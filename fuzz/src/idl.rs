//! IDL texts.

use timeloom_msg::Schema;

/// Parses a text as IDL, alone and as a stored schema.
pub fn fuzz_idl(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for root in ["p/msg/T", "p/srv/T_Event"] {
        if let Ok(schema) = Schema::parse_ros2idl(root, &text) {
            assert!(schema.type_hash().is_ok());
            super::msg::check_schema(&schema);
        }
    }
}
