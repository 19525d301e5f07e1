use std::io::{Cursor, Read, Result, Write};

use bytes::Bytes;
use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Message, WebSocket};

const READ_BUFFER: usize = 16 * 1024;

/// A message of a client, assembled from its frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientFrame {
    /// A text.
    Text(String),
    /// Bytes.
    Binary(Bytes),
}

/// Size limits for frames and messages of clients.
pub(crate) fn frame_limits(longest: usize) -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER)
        .max_message_size(Some(longest))
        .max_frame_size(Some(longest))
}

/// Reads client frames as the server does, until the end or the first error.
pub fn read_frames(data: &[u8], longest: usize) -> Vec<ClientFrame> {
    let stream = Recorded(Cursor::new(data));
    let mut socket = WebSocket::from_raw_socket(stream, Role::Server, Some(frame_limits(longest)));
    let mut frames = Vec::new();
    loop {
        match socket.read() {
            Ok(Message::Text(text)) => frames.push(ClientFrame::Text(text.to_string())),
            Ok(Message::Binary(data)) => frames.push(ClientFrame::Binary(data)),
            Ok(_) => {}
            Err(_) => return frames,
        }
    }
}

/// Received bytes; replies are discarded.
struct Recorded<'a>(Cursor<&'a [u8]>);

impl Read for Recorded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for Recorded<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A masked frame, with a mask of zeros.
    fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
        let mut data = vec![
            first,
            0x80 | u8::try_from(payload.len()).unwrap(),
            0,
            0,
            0,
            0,
        ];
        data.extend(payload);
        data
    }

    #[test]
    fn fragments_are_joined_and_control_frames_skipped() {
        let data = [
            frame(0x01, b"he"),
            frame(0x89, b"ping"),
            frame(0x80, b"llo"),
            frame(0x82, &[1, 2]),
        ];
        let expected = [
            ClientFrame::Text("hello".into()),
            ClientFrame::Binary(Bytes::from_static(&[1, 2])),
        ];
        assert_eq!(read_frames(&data.concat(), 100), expected);
    }

    #[test]
    fn oversized_or_malformed_frames_end_reading() {
        let good = frame(0x81, b"ok");
        let long = frame(0x81, &[b'x'; 20]);
        let parts = [frame(0x01, &[b'x'; 8]), frame(0x80, &[b'x'; 8])].concat();
        let unmasked = vec![0x81, 2, b'o', b'k'];
        let huge = vec![0x82, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
        for bad in [long, parts, unmasked, huge, frame(0x8f, b"")] {
            let data = [good.clone(), bad, good.clone()].concat();
            assert_eq!(read_frames(&data, 10), [ClientFrame::Text("ok".into())]);
        }
    }
}
