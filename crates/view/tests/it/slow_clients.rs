//! A client that does not read delays no other client, and its dropped messages are counted.

use bytes::Bytes;

use crate::client::Client;
use crate::toy::{START, Show, Toy};

#[test]
fn a_slow_client_is_notified_of_dropped_messages_and_delays_no_other() {
    // Large messages fill the socket buffers and then the queue, in some hundred steps.
    let show = Show::with(|options| options.send_queue_bytes = 1024 * 1024);
    let output = show.toy.output();
    let spare = output.advertise(vec![Toy::spare_channel()])[0];
    let payload = Bytes::from(vec![7; 64 * 1024]);
    let mut slow = Client::connect(show.server.address());
    let mut quick = Client::connect(show.server.address());
    for client in [&mut slow, &mut quick] {
        client.subscribe(1, u64::from(spare.0));
        // A reply after the subscription shows that the subscription is active.
        client.send("nonsense");
        client.text("status");
    }
    let mut sent = 0;
    output.message(spare, START, payload.clone());
    quick.message();
    while show.server.dropped() == 0 {
        sent += 1;
        output.message(spare, START + sent, payload.clone());
        assert_eq!(quick.message().1, START + sent);
    }
    // Now it reads: received and dropped messages add up to all messages.
    let (mut got, mut missed) = (0, 0);
    let mut newest = START;
    while newest < START + sent || missed == 0 {
        match slow.socket.read().unwrap() {
            tungstenite::Message::Binary(data) if data[0] == 1 => {
                newest = i64::from_le_bytes(data[5..13].try_into().unwrap());
                got += 1;
            }
            tungstenite::Message::Text(text) if text.contains("timeloom.dropped") => {
                let status: serde_json::Value = serde_json::from_str(&text).unwrap();
                let message = status["message"].as_str().unwrap();
                let (_, rest) = message.split_once("slow: ").unwrap();
                missed = rest.split(' ').next().unwrap().parse().unwrap();
                assert!(message.contains("/spare"), "{message}");
            }
            _ => {}
        }
    }
    assert_eq!(got + missed, sent + 1);
    assert_eq!(show.server.dropped(), u64::try_from(missed).unwrap());
}
