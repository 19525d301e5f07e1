use super::reader::Reader;
use crate::error::Result;

/// A request of a client's playback controls.
///
/// Opcode 3, then: command `u8`, speed `f32`, whether to seek `u8`, time `u64`, length of the id `u32`, id.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaybackRequest {
    /// Play or pause; executed after the seek.
    pub command: PlaybackCommand,
    /// Speed relative to real time.
    pub speed: f32,
    /// Time to seek to first, in nanoseconds.
    pub seek_ns: Option<u64>,
    /// Id for the reply.
    pub id: String,
}

/// Whether to play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaybackCommand {
    /// Play.
    Play,
    /// Pause.
    Pause,
}

impl PlaybackRequest {
    /// Parses the fields after the opcode.
    pub(super) fn parse(mut reader: Reader) -> Result<Self> {
        let command = match reader.u8("command")? {
            0 => PlaybackCommand::Play,
            1 => PlaybackCommand::Pause,
            other => return Err(reader.wrong(format!("unknown playback command {other}"))),
        };
        let speed = reader.f32("speed")?;
        let seeks = reader.u8("seek mark")? != 0;
        let time = reader.u64("seek time")?;
        let id = reader.text("request id")?;
        Ok(Self {
            command,
            speed,
            seek_ns: seeks.then_some(time),
            id,
        })
    }

    /// The whole message, as a client sends it.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![3, u8::from(self.command == PlaybackCommand::Pause)];
        out.extend(self.speed.to_le_bytes());
        out.push(u8::from(self.seek_ns.is_some()));
        out.extend(self.seek_ns.unwrap_or(0).to_le_bytes());
        let length = u32::try_from(self.id.len()).unwrap_or(u32::MAX);
        out.extend(length.to_le_bytes());
        out.extend(self.id.as_bytes());
        out
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ClientMessage, parse_binary};
    use super::*;
    use bytes::Bytes;
    use proptest::prelude::*;

    #[test]
    fn the_bytes_are_those_of_the_sdk() {
        // From the snapshots of the official SDK: play at 1.0, seek to 100_500_000_000, id "some-id".
        let request = PlaybackRequest {
            command: PlaybackCommand::Play,
            speed: 1.0,
            seek_ns: Some(100_500_000_000),
            id: "some-id".into(),
        };
        let mut expected = vec![3, 0, 0, 0, 0x80, 0x3f, 1];
        expected.extend(100_500_000_000u64.to_le_bytes());
        expected.extend([7, 0, 0, 0]);
        expected.extend(b"some-id");
        assert_eq!(request.encode(), expected);
    }

    #[test]
    fn a_third_command_is_refused() {
        let mut bytes = vec![3, 2];
        bytes.extend([0; 17]);
        let error = parse_binary(Bytes::from(bytes)).unwrap_err();
        assert!(
            error.to_string().contains("unknown playback command 2"),
            "{error}"
        );
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            play: bool, speed in -1e6f32..1e6, seek_ns: Option<u64>, id in "\\PC{0,40}"
        ) {
            let command = if play { PlaybackCommand::Play } else { PlaybackCommand::Pause };
            let request = PlaybackRequest { command, speed, seek_ns, id };
            let read = parse_binary(Bytes::from(request.encode())).unwrap();
            prop_assert_eq!(read, ClientMessage::Playback(request));
        }

        #[test]
        fn no_bytes_make_it_panic(data: Vec<u8>) {
            drop(parse_binary(Bytes::from(data)));
        }

        #[test]
        fn a_cut_message_is_refused(cut in 0usize..22) {
            let request = PlaybackRequest {
                command: PlaybackCommand::Pause, speed: 2.0, seek_ns: None, id: "abc".into(),
            };
            let mut bytes = request.encode();
            prop_assert_eq!(bytes.len(), 22);
            bytes.truncate(cut);
            prop_assert!(parse_binary(Bytes::from(bytes)).is_err());
        }
    }
}
