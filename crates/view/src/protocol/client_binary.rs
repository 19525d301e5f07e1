use bytes::Bytes;

use super::client_message::{ClientMessage, ServiceCall};
use super::playback_request::PlaybackRequest;
use super::reader::Reader;
use crate::error::Result;

const PUBLISH: u8 = 1;
const CALL: u8 = 2;
const PLAYBACK: u8 = 3;

/// Parses a binary message of a client; payloads are slices of `data`.
///
/// # Errors
/// When it is truncated, or has an invalid opcode, text or command.
pub fn parse_binary(data: Bytes) -> Result<ClientMessage> {
    let mut reader = Reader::new("binary message", data);
    match reader.u8("opcode")? {
        PUBLISH => {
            let channel = reader.u32("channel")?;
            let payload = reader.rest();
            Ok(ClientMessage::Publish { channel, payload })
        }
        CALL => {
            let (service, call) = (reader.u32("service")?, reader.u32("call")?);
            let encoding = reader.text("encoding")?;
            let payload = reader.rest();
            Ok(ClientMessage::Call(ServiceCall {
                service,
                call,
                encoding,
                payload,
            }))
        }
        PLAYBACK => PlaybackRequest::parse(reader).map(ClientMessage::Playback),
        opcode => Err(reader.wrong(format!("unknown opcode {opcode}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_published_message_has_a_channel_and_a_payload() {
        let data = Bytes::from_static(&[1, 4, 0, 0, 0, 9, 8]);
        let payload = data.slice(5..);
        assert_eq!(
            parse_binary(data).unwrap(),
            ClientMessage::Publish {
                channel: 4,
                payload
            }
        );
    }

    #[test]
    fn a_call_has_an_encoding_and_a_request() {
        let data = b"\x02\x01\0\0\0\x02\0\0\0\x03\0\0\0cdrXY";
        let expected = ServiceCall {
            service: 1,
            call: 2,
            encoding: "cdr".into(),
            payload: Bytes::from_static(b"XY"),
        };
        assert_eq!(
            parse_binary(Bytes::from_static(data)).unwrap(),
            ClientMessage::Call(expected)
        );
    }

    #[test]
    fn a_length_beyond_the_end_allocates_nothing() {
        let data = b"\x02\x01\0\0\0\x02\0\0\0\xff\xff\xff\xffcdr";
        let error = parse_binary(Bytes::from_static(data)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "a binary message of 16 bytes is malformed: encoding is truncated"
        );
    }

    #[test]
    fn unknown_opcodes_are_named() {
        let error = parse_binary(Bytes::from_static(&[9])).unwrap_err();
        assert!(error.to_string().contains("unknown opcode 9"), "{error}");
        assert!(parse_binary(Bytes::new()).is_err());
    }
}
