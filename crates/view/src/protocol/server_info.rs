use std::collections::BTreeMap;

use serde::Serialize;

/// The first message to a client: who the server is and what it can do.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "op", rename = "serverInfo", rename_all = "camelCase")]
pub struct ServerInfo {
    /// Its name.
    pub name: String,
    /// What it can do.
    pub capabilities: Vec<Capability>,
    /// How clients may encode what they send.
    pub supported_encodings: Vec<&'static str>,
    /// Metadata.
    pub metadata: BTreeMap<String, String>,
    /// Changes when the server starts anew, so that a client that comes back forgets the old channels.
    pub session_id: String,
    /// The first moment of what can be played.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_start_time: Option<Moment>,
    /// The last moment of what can be played.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_end_time: Option<Moment>,
}

/// Something that a server can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Capability {
    /// It sends the time.
    Time,
    /// Its playback can be steered.
    PlaybackControl,
    /// Its services can be called.
    Services,
    /// It takes messages.
    ClientPublish,
    /// It sends the connection graph.
    ConnectionGraph,
}

/// A time in two parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Moment {
    sec: u64,
    nsec: u64,
}

impl Moment {
    /// Of nanoseconds since 1970; those before are 1970.
    pub fn from_ns(time_ns: i64) -> Self {
        let time = u64::try_from(time_ns).unwrap_or(0);
        Self {
            sec: time / 1_000_000_000,
            nsec: time % 1_000_000_000,
        }
    }
}

impl ServerInfo {
    /// The message.
    pub fn encode(&self) -> String {
        super::advertise::json(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_written_as_clients_know_it() {
        let info = ServerInfo {
            name: "bag".into(),
            capabilities: vec![Capability::Time, Capability::PlaybackControl],
            supported_encodings: vec!["cdr"],
            metadata: BTreeMap::new(),
            session_id: "1".into(),
            data_start_time: Some(Moment::from_ns(1_000_000_005)),
            data_end_time: None,
        };
        assert_eq!(
            info.encode(),
            r#"{"op":"serverInfo","name":"bag","capabilities":["time","playbackControl"],"supportedEncodings":["cdr"],"metadata":{},"sessionId":"1","dataStartTime":{"sec":1,"nsec":5}}"#
        );
    }
}
