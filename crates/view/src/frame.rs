//! WebSocket frames to clients: unmasked and whole.

const FINAL: u8 = 0x80;

/// Ten bytes of frame header and the start of the message.
const LONGEST: usize = 10 + 13;

/// The payload type of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameKind {
    Text,
    Binary,
    Ping,
    Close,
}

/// The header of a frame and the start of its message, on the stack.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FrameHead {
    bytes: [u8; LONGEST],
    length: usize,
}

impl FrameHead {
    /// The header for a message of `length` bytes.
    pub(crate) fn new(kind: FrameKind, message: usize) -> Self {
        let mut head = Self::default();
        head.push(&[FINAL
            | match kind {
                FrameKind::Text => 1,
                FrameKind::Binary => 2,
                FrameKind::Close => 8,
                FrameKind::Ping => 9,
            }]);
        match (u8::try_from(message), u16::try_from(message)) {
            (Ok(short), _) if short < 126 => head.push(&[short]),
            (_, Ok(medium)) => {
                head.push(&[126]);
                head.push(&medium.to_be_bytes());
            }
            _ => {
                let long = u64::try_from(message).unwrap_or(u64::MAX);
                head.push(&[127]);
                head.push(&long.to_be_bytes());
            }
        }
        head
    }

    /// Appends the start of the message; its length is part of the message's length.
    pub(crate) fn with(mut self, front: &[u8; 13]) -> Self {
        self.push(front);
        self
    }

    fn push(&mut self, bytes: &[u8]) {
        let end = self.length + bytes.len();
        if let Some(place) = self.bytes.get_mut(self.length..end) {
            place.copy_from_slice(bytes);
            self.length = end;
        }
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tungstenite::protocol::frame::FrameHeader;

    proptest! {
        #[test]
        fn tungstenite_reads_the_same_length(message in prop_oneof![0usize..300, 65_000usize..66_000, 0usize..1 << 40]) {
            let head = FrameHead::new(FrameKind::Binary, message);
            let mut bytes = std::io::Cursor::new(head.as_bytes());
            let (header, length) = FrameHeader::parse(&mut bytes).unwrap().unwrap();
            prop_assert!(header.is_final);
            prop_assert!(header.mask.is_none());
            prop_assert_eq!(length, message as u64);
        }
    }
}
