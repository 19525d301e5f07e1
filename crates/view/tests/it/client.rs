//! A client of the Foxglove protocol, and of HTTP.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;
use timeloom_view::protocol::PlaybackRequest;
use tungstenite::client::IntoClientRequest as _;
use tungstenite::{Message, WebSocket};

/// Limit for every wait of the tests.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Client {
    pub(crate) socket: WebSocket<TcpStream>,
    /// The negotiated protocol.
    pub(crate) subprotocol: String,
}

/// A received playback state.
#[derive(Debug, PartialEq)]
pub(crate) struct State {
    pub(crate) status: u8,
    pub(crate) time_ns: i64,
    pub(crate) speed: f32,
    pub(crate) did_seek: bool,
    pub(crate) id: String,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        Self::try_connect(address, "foxglove.sdk.v1", None).unwrap()
    }

    /// Connects; returns the HTTP status if the server refuses.
    pub(crate) fn try_connect(
        address: SocketAddr,
        subprotocol: &str,
        origin: Option<&str>,
    ) -> Result<Self, u16> {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut request = format!("ws://{address}/").into_client_request().unwrap();
        let headers = request.headers_mut();
        headers.insert("sec-websocket-protocol", subprotocol.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert("origin", origin.parse().unwrap());
        }
        match tungstenite::client(request, stream) {
            Ok((socket, response)) => Ok(Self {
                socket,
                subprotocol: response.headers()["sec-websocket-protocol"]
                    .to_str()
                    .unwrap()
                    .to_owned(),
            }),
            Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(response))) => {
                Err(response.status().as_u16())
            }
            Err(error) => panic!("{error}"),
        }
    }

    pub(crate) fn send(&mut self, text: &str) {
        self.socket.send(Message::text(text)).unwrap();
    }

    pub(crate) fn send_binary(&mut self, data: Vec<u8>) {
        self.socket.send(Message::binary(data)).unwrap();
    }

    pub(crate) fn steer(&mut self, request: &PlaybackRequest) {
        self.send_binary(request.encode());
    }

    /// The next text with that operation; skips everything before it.
    pub(crate) fn text(&mut self, op: &str) -> Value {
        loop {
            if let Message::Text(text) = self.socket.read().unwrap() {
                let value: Value = serde_json::from_str(&text).unwrap();
                if value["op"] == op {
                    return value;
                }
            }
        }
    }

    /// The next binary message with that opcode, without the opcode.
    pub(crate) fn binary(&mut self, opcode: u8) -> Vec<u8> {
        loop {
            if let Message::Binary(data) = self.socket.read().unwrap()
                && data[0] == opcode
            {
                return data[1..].to_vec();
            }
        }
    }

    /// The next message: subscription, time and payload.
    pub(crate) fn message(&mut self) -> (u32, i64, Vec<u8>) {
        let data = self.binary(1);
        let subscription = u32::from_le_bytes(data[..4].try_into().unwrap());
        let time = i64::from_le_bytes(data[4..12].try_into().unwrap());
        (subscription, time, data[12..].to_vec())
    }

    /// The next playback state.
    pub(crate) fn state(&mut self) -> State {
        let data = self.binary(5);
        State {
            status: data[0],
            time_ns: i64::from_le_bytes(data[1..9].try_into().unwrap()),
            speed: f32::from_le_bytes(data[9..13].try_into().unwrap()),
            did_seek: data[13] != 0,
            id: String::from_utf8(data[18..].to_vec()).unwrap(),
        }
    }

    /// The playback state that answers a request.
    pub(crate) fn answer(&mut self, id: &str) -> State {
        loop {
            let state = self.state();
            if state.id == id {
                return state;
            }
        }
    }

    /// The channel id of a topic, from the first advertisement.
    pub(crate) fn channel(&mut self, topic: &str) -> u64 {
        let advertised = self.text("advertise");
        let channels = advertised["channels"].as_array().unwrap();
        let found = channels.iter().find(|channel| channel["topic"] == topic);
        found.unwrap()["id"].as_u64().unwrap()
    }

    pub(crate) fn subscribe(&mut self, id: u32, channel: u64) {
        self.send(&format!(
            r#"{{"op":"subscribe","subscriptions":[{{"id":{id},"channelId":{channel}}}]}}"#
        ));
    }
}

/// Sends a raw request; returns the whole response.
pub(crate) fn http(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}
