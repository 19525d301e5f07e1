/// The playback state for clients.
///
/// Opcode 5, then: status `u8`, time `u64`, speed `f32`, whether time jumped `u8`, length of the id `u32`, id.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaybackState {
    /// The status.
    pub status: PlaybackStatus,
    /// The current time in nanoseconds.
    pub time_ns: u64,
    /// Speed relative to real time.
    pub speed: f32,
    /// Whether a seek caused this message: clients then clear their plots.
    pub did_seek: bool,
    /// The id of the request that this answers.
    pub id: Option<String>,
}

/// Status of a playback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaybackStatus {
    /// Playing.
    Playing,
    /// Paused.
    Paused,
    /// Waiting for messages to be read.
    Buffering,
    /// The end was reached; only a seek continues.
    Ended,
}

impl PlaybackState {
    /// Encodes the message.
    pub fn encode(&self) -> Vec<u8> {
        let id = self.id.as_deref().unwrap_or_default();
        let mut out = Vec::with_capacity(19 + id.len());
        out.push(5);
        out.push(match self.status {
            PlaybackStatus::Playing => 0,
            PlaybackStatus::Paused => 1,
            PlaybackStatus::Buffering => 2,
            PlaybackStatus::Ended => 3,
        });
        out.extend(self.time_ns.to_le_bytes());
        out.extend(self.speed.to_le_bytes());
        out.push(u8::from(self.did_seek));
        let length = u32::try_from(id.len()).unwrap_or(u32::MAX);
        out.extend(length.to_le_bytes());
        out.extend(id.as_bytes());
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_are_those_of_the_sdk() {
        let state = PlaybackState {
            status: PlaybackStatus::Ended,
            time_ns: 258,
            speed: 2.0,
            did_seek: true,
            id: Some("id".into()),
        };
        let expected = b"\x05\x03\x02\x01\0\0\0\0\0\0\0\0\0\x40\x01\x02\0\0\0id";
        assert_eq!(state.encode(), expected);
    }

    #[test]
    fn without_a_request_there_is_no_id() {
        let state = PlaybackState {
            status: PlaybackStatus::Buffering,
            time_ns: 0,
            speed: 1.0,
            did_seek: false,
            id: None,
        };
        assert_eq!(state.encode().len(), 19);
        assert_eq!(state.encode()[1], 2);
    }
}
