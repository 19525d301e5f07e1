use std::collections::BTreeMap;

use serde::Serialize;

/// The first message to a client: name and capabilities of the server.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "op", rename = "serverInfo", rename_all = "camelCase")]
pub struct ServerInfo {
    /// Its name.
    pub name: String,
    /// Its capabilities.
    pub capabilities: Vec<Capability>,
    /// Encodings that clients may use.
    pub supported_encodings: Vec<&'static str>,
    /// Metadata.
    pub metadata: BTreeMap<String, String>,
    /// Differs for each start of the server, so that a client that reconnects drops the old channels.
    pub session_id: String,
    /// The start of the playable range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_start_time: Option<Moment>,
    /// The end of the playable range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_end_time: Option<Moment>,
}

/// A capability of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Capability {
    /// It sends the time.
    Time,
    /// Clients can control the playback.
    PlaybackControl,
    /// Clients can call services.
    Services,
    /// Clients can publish.
    ClientPublish,
    /// It sends the connection graph.
    ConnectionGraph,
}

/// A time in seconds and nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Moment {
    sec: u64,
    nsec: u64,
}

impl Moment {
    /// From nanoseconds since 1970; earlier times become 1970.
    pub fn from_ns(time_ns: i64) -> Self {
        let time = u64::try_from(time_ns).unwrap_or(0);
        Self {
            sec: time / 1_000_000_000,
            nsec: time % 1_000_000_000,
        }
    }
}

impl ServerInfo {
    /// Encodes the message.
    pub fn encode(&self) -> String {
        super::advertise::json(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_info_has_the_documented_fields() {
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
