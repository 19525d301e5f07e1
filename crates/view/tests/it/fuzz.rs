//! The fuzz target on stable Rust: mutated client messages from a fixed seed, also sent to a running server.

#[path = "../../../../fuzz/src/ws.rs"]
#[expect(unreachable_pub, reason = "the fuzz crate exports it")]
mod ws;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use timeloom_testkit::mutation::{Mutator, fuzz};
use timeloom_view::protocol::{PlaybackCommand, PlaybackRequest};

use crate::client::Client;
use crate::toy::{Show, until};

/// A frame with a mask of zeros, as a client sends it.
fn frame(opcode: u8, payload: &[u8]) -> Vec<u8> {
    let mut data = vec![0x80 | opcode];
    match u8::try_from(payload.len()) {
        Ok(short) if short < 126 => data.push(0x80 | short),
        _ => {
            data.push(0x80 | 0x7e);
            data.extend(u16::try_from(payload.len()).unwrap().to_be_bytes());
        }
    }
    data.extend([0; 4]);
    data.extend(payload);
    data
}

const TEXTS: [&str; 8] = [
    r#"{"op":"subscribe","subscriptions":[{"id":0,"channelId":3},{"id":1,"channelId":5}]}"#,
    r#"{"op":"unsubscribe","subscriptionIds":[0,1]}"#,
    r#"{"op":"advertise","channels":[{"id":2,"topic":"/cmd","encoding":"cdr","schemaName":"std_msgs/msg/String"}]}"#,
    r#"{"op":"unadvertise","channelIds":[2]}"#,
    r#"{"op":"subscribeConnectionGraph"}"#,
    r#"{"op":"getParameters","parameterNames":[],"id":"x"}"#,
    r#"{"op":"seek","seconds":1.5}"#,
    r#"{"op":"rate","value":2}"#,
];

fn messages() -> Vec<Vec<u8>> {
    let playback = PlaybackRequest {
        command: PlaybackCommand::Play,
        speed: 2.0,
        seek_ns: Some(5),
        id: "seek-1".into(),
    };
    let mut inputs: Vec<Vec<u8>> = TEXTS.iter().map(|text| frame(1, text.as_bytes())).collect();
    inputs.push(frame(2, &playback.encode()));
    inputs.push(frame(
        2,
        b"\x02\x01\0\0\0\x09\0\0\0\x03\0\0\0cdr\0\x01\0\0\x01",
    ));
    inputs.push(frame(2, b"\x01\x02\0\0\0\0\x01\0\0hello"));
    inputs.push([frame(9, b"ping"), frame(8, b"\x03\xe8")].concat());
    inputs
}

#[test]
fn mutated_client_messages_do_not_panic() {
    let mut inputs = messages();
    inputs.extend(TEXTS.iter().map(|text| text.as_bytes().to_vec()));
    inputs.push(
        b"GET / HTTP/1.1\r\nHost: evil.example\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
          Origin: null\r\nSec-WebSocket-Protocol: foxglove.sdk.v1\r\n\r\n"
            .to_vec(),
    );
    fuzz("ws", ws::fuzz_ws, &inputs, 200, &[]);
}

#[test]
fn garbage_closes_only_its_own_connection() {
    let show = Show::new();
    let address = show.server.address();
    let mut witness = Client::connect(address);
    witness.text("serverInfo");
    let mut random = Mutator::new(0x2545_f491_4f6c_dd1d);
    for input in messages() {
        for _ in 0..8 {
            let mut stream = TcpStream::connect(address).unwrap();
            write!(
                stream,
                "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                 Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
                 Sec-WebSocket-Protocol: foxglove.sdk.v1\r\n\r\n"
            )
            .unwrap();
            // The server may close the connection; its response does not matter.
            drop(stream.write_all(&random.mutate(&input)));
            drop(stream.shutdown(std::net::Shutdown::Write));
            drop(stream.read_to_end(&mut Vec::new()));
        }
    }
    until(|| show.server.clients() == 1);
    witness.send(r#"{"op":"subscribeConnectionGraph"}"#);
    assert_eq!(
        witness.text("connectionGraphUpdate")["op"],
        "connectionGraphUpdate"
    );
}
