//! `timeloom play` of a bag that is elsewhere.

use serde_json::json;

use crate::play_listener::ForeignListener;
use crate::remote_server::{Change, Manners, Server};
use crate::support::bags;

#[test]
fn a_bag_on_a_web_server_is_played() {
    let Some(mut listener) = ForeignListener::new() else {
        return;
    };
    let messages: Vec<_> = (0..300).map(|n| ("/chatter", i64::from(n), n)).collect();
    listener.bag("bag", &messages);
    let server = Server::new();
    server.put_folder("bag", &listener.robot.sandbox.path("bag"));
    let bag = server.url("bag");
    let player = listener.start(&format!(
        "play {bag} --wait-for-subscribers --wait-for-all-acked 0 -r 10"
    ));
    listener.subscribe("/chatter");
    let run = player.end();
    assert_eq!(run.code, 0, "{run}");
    listener.ask(&json!({"do": "wait", "topic": "/chatter", "count": 300}));
    assert_eq!(listener.numbers("/chatter"), (0..300).collect::<Vec<i64>>());
    // A place that fails ends the play, and the rest is missing: after as many requests as it takes to open the bag.
    server.put_folder("golden", &bags().join("mcap_plain"));
    let bag = server.url("golden");
    server.behave(Manners::default());
    // The last request of this command reads the first message.
    listener.robot.sandbox.ok(&format!("cat {bag} -n 1"));
    server.behave(Manners {
        changes: Some((server.requests().len() - 1, Change::Tag)),
        ..Manners::default()
    });
    let run = listener.start(&format!("play {bag} -r 10")).end();
    assert_eq!(run.code, 3, "{run}");
    assert!(run.stderr.contains("reading ended early: http://"), "{run}");
}
