//! What a client of the view may send: the head of its request, frames, and the messages in them.

use timeloom_view::http::{AccessRules, RequestHead};
use timeloom_view::protocol::{
    ClientFrame, ClientMessage, PageRequest, Subprotocol, parse_binary, parse_text, read_frames,
};

const LONGEST: usize = 1 << 16;

/// Reads bytes as a request, as frames, and as a message without frames.
pub fn fuzz_ws(data: &[u8]) {
    check_head(data);
    for frame in read_frames(data, LONGEST) {
        match frame {
            ClientFrame::Text(text) => check_text(&text),
            ClientFrame::Binary(bytes) => check_binary(&bytes),
        }
    }
    check_text(&String::from_utf8_lossy(data));
    check_binary(data);
}

fn check_head(data: &[u8]) {
    let Ok(Some((head, length))) = RequestHead::parse(data) else {
        return;
    };
    assert!(length <= data.len());
    let (host, origin) = (head.header("host"), head.header("origin"));
    let admitted = AccessRules::default().admit(host.as_deref(), origin.as_deref());
    // Whoever comes under a name that is not an address, or under nobody's, is not let in.
    if host.as_deref() == Some("evil.example") || origin.as_deref() == Some("null") {
        assert!(admitted.is_err());
    }
    let offered = head.header("sec-websocket-protocol").unwrap_or_default();
    if let Some(chosen) = Subprotocol::choose(&offered) {
        assert!(offered.contains(chosen.name()));
    }
    let _upgrade = head.is_upgrade();
}

fn check_text(text: &str) {
    let _message = parse_text(text);
    if let Ok(request) = PageRequest::parse(text) {
        let _control = request.control(1_700_000_000_000_000_000);
    }
}

fn check_binary(data: &[u8]) {
    let parsed = parse_binary(bytes_of(data));
    if let Ok(ClientMessage::Playback(request)) = &parsed {
        // What is written is read back: a number that is none has many spellings, and only that.
        let again = parse_binary(bytes_of(&request.encode()));
        if !request.speed.is_nan() {
            assert_eq!(
                again.expect("what was written is read"),
                parsed.expect("it was read")
            );
        }
    }
}

fn bytes_of(data: &[u8]) -> bytes::Bytes {
    bytes::Bytes::copy_from_slice(data)
}
