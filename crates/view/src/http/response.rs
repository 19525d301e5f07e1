use tungstenite::handshake::derive_accept_key;

use crate::protocol::Subprotocol;

/// An answer that ends the connection.
#[derive(Clone, Debug)]
pub(crate) struct Response {
    status: &'static str,
    kind: &'static str,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Response {
    pub(crate) fn new(status: &'static str, kind: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            kind,
            headers: Vec::new(),
            body: body.into(),
        }
    }

    /// A plain text response.
    pub(crate) fn text(status: &'static str, sentence: impl std::fmt::Display) -> Self {
        Self::new(status, "text/plain; charset=utf-8", format!("{sentence}\n"))
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// The bytes; those of the body only if the method asks for them.
    pub(crate) fn encode(&self, method: &str) -> Vec<u8> {
        let mut head = format!(
            "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n\
             X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n",
            self.status,
            self.kind,
            self.body.len()
        );
        for (name, value) in &self.headers {
            let value = value.as_str();
            head.extend([name, ": ", value, "\r\n"]);
        }
        head.push_str("\r\n");
        let mut out = head.into_bytes();
        if method != "HEAD" {
            out.extend(&self.body);
        }
        out
    }
}

/// The answer after which the connection is a WebSocket.
pub(crate) fn switching_protocols(key: &str, subprotocol: Subprotocol) -> Vec<u8> {
    format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {}\r\nSec-WebSocket-Protocol: {}\r\n\r\n",
        derive_accept_key(key.as_bytes()),
        subprotocol.name()
    )
    .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_handshake_is_that_of_the_standard() {
        // The example of RFC 6455.
        let answer = switching_protocols("dGhlIHNhbXBsZSBub25jZQ==", Subprotocol::SdkV1);
        let text = String::from_utf8(answer).unwrap();
        assert!(text.contains("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
        assert!(text.contains("Sec-WebSocket-Protocol: foxglove.sdk.v1\r\n"));
    }

    #[test]
    fn a_head_has_the_length_but_not_the_body() {
        let response = Response::text("200 OK", "hello");
        let head = String::from_utf8(response.encode("HEAD")).unwrap();
        assert!(head.contains("Content-Length: 6\r\n") && head.ends_with("\r\n\r\n"));
        assert!(response.encode("GET").ends_with(b"hello\n"));
    }
}
