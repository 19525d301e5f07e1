//! Messages and keys as users type them, for `crate::fuzzing`.

use timeloom_msg::Schema;
use timeloom_tui::KeyParser;

use super::json_value::{message_value, parse};
use crate::fuzzing::NOW;

/// A message of `topic pub` or `service call`; what is taken can be sent, or is refused.
pub(crate) fn message(schema: &Schema, text: &str) {
    let taken = parse(text).and_then(|json| message_value(schema, &json, NOW));
    let Ok(message) = taken else { return };
    if let Ok(payload) = schema.encode(&message.value) {
        schema.decode(&payload).expect("what is sent can be read");
    }
}

/// Keys in one piece and byte by byte are the same keys.
pub(crate) fn keys(bytes: &[u8]) {
    let whole = KeyParser::default().feed(bytes);
    let mut parser = KeyParser::default();
    let mut pieces = Vec::new();
    for byte in bytes {
        pieces.extend(parser.feed(std::slice::from_ref(byte)));
    }
    assert!(whole.len() <= bytes.len() && pieces.len() <= bytes.len());
    let _lone = (parser.has_part(), parser.end());
}
