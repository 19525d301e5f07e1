//! Parsers of data from peers, for the fuzz targets, which see only the public API.
//!
//! Each panics when an invariant fails: encoding what was decoded gives the same.

use timeloom_wire::Gid;

use crate::attachment::Attachment;
use crate::qos_code;
use crate::token::{Token, gid_of};

/// A liveliness token, and the endpoint that it announces.
pub fn token(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Some(qos) = qos_code::decode(&text) {
        assert_eq!(qos_code::decode(&qos_code::encode(&qos)), Some(qos));
    }
    let Ok(token) = Token::decode(&text) else {
        return;
    };
    let again = Token::decode(&token.encode()).expect("what was written is read");
    assert_eq!(again, token);
    let Some(info) = token.info(gid_of(&text)) else {
        return;
    };
    assert_ne!(info.gid, Gid::UNKNOWN);
    assert!(info.topic.len() <= text.len() && info.type_name.len() <= text.len());
    if let Some(end) = &token.end {
        let key = end.route.key(token.domain);
        assert!(key.len() <= text.len() + 16, "{key}");
    }
}

/// The attachment of a message.
pub fn attachment(data: &[u8]) {
    if let Ok(attachment) = Attachment::decode(data) {
        let written = attachment.encode();
        assert!(data.starts_with(&written));
    }
}
