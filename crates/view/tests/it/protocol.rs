//! The protocol as a client sees it: handshake, channels, messages, services, graph, publishing, page.

use serde_json::json;
use timeloom_view::protocol::Level;

use crate::client::{Client, http};
use crate::toy::{START, Show, Toy, payload, until};

#[test]
fn all_protocol_names_are_accepted() {
    let show = Show::new();
    let address = show.server.address();
    for (offered, chosen) in [
        ("foxglove.sdk.v1", "foxglove.sdk.v1"),
        ("foxglove.websocket.v1", "foxglove.websocket.v1"),
        ("foxglove.sdk.v1.1", "foxglove.sdk.v1.1"),
        ("foxglove.sdk.v1.1, foxglove.sdk.v1", "foxglove.sdk.v1"),
        ("foxglove.websocket.v1, foxglove.sdk.v1", "foxglove.sdk.v1"),
    ] {
        let client = Client::try_connect(address, offered, None).unwrap();
        assert_eq!(client.subprotocol, chosen);
    }
    let unknown = Client::try_connect(address, "foxglove.sdk.v2", None);
    assert_eq!(unknown.err(), Some(400));
}

#[test]
fn a_client_gets_server_info_and_channels() {
    let show = Show::new();
    let mut client = Client::connect(show.server.address());
    let info = client.text("serverInfo");
    assert_eq!(info["name"], "toy");
    assert_eq!(
        info["capabilities"],
        json!([
            "time",
            "services",
            "clientPublish",
            "connectionGraph",
            "playbackControl"
        ])
    );
    assert_eq!(info["supportedEncodings"], json!(["cdr"]));
    assert_eq!(
        info["dataStartTime"],
        json!({"sec": 1_700_000_000, "nsec": 0})
    );
    assert_eq!(
        info["dataEndTime"],
        json!({"sec": 1_700_000_300, "nsec": 0})
    );
    let advertised = client.text("advertise");
    for channel in advertised["channels"].as_array().unwrap() {
        assert_eq!(channel["encoding"], "cdr");
        assert_eq!(channel["schemaEncoding"], "ros2msg");
        assert!(!channel["schema"].as_str().unwrap().is_empty(), "{channel}");
    }
    let services = client.text("advertiseServices");
    assert_eq!(services["services"][0]["name"], "/echo");
}

#[test]
fn version_1_1_sends_schemas_in_a_table() {
    let show = Show::new();
    let mut client = Client::try_connect(show.server.address(), "foxglove.sdk.v1.1", None).unwrap();
    let advertised = client.text("advertise");
    assert_eq!(advertised["schemas"].as_array().unwrap().len(), 5);
    let channel = &advertised["channels"][0];
    assert_eq!(channel["schemaId"], 1);
    assert!(channel.get("schema").is_none());
}

#[test]
fn a_subscriber_gets_every_message_with_its_number_and_time() {
    let show = Show::new();
    let mut client = Client::connect(show.server.address());
    let imu = client.channel("/imu/data");
    client.subscribe(77, imu);
    until(|| show.toy.heard() == [format!("Wanted {imu}")]);
    for step in 0..3 {
        show.toy.publish(0, START + step);
        // The client does not subscribe to this topic.
        show.toy.publish(1, START + step);
    }
    for step in 0..3 {
        let expected = payload("sensor_msgs/msg/Imu", START + step).to_vec();
        assert_eq!(client.message(), (77, START + step, expected));
    }
    client.send(r#"{"op":"unsubscribe","subscriptionIds":[77]}"#);
    until(|| show.toy.heard().last() == Some(&format!("Unwanted {imu}")));
}

#[test]
fn late_subscribers_get_retained_messages() {
    let show = Show::new();
    for id in [1, 2] {
        let mut client = Client::connect(show.server.address());
        let latched = client.channel("/tf_static");
        client.subscribe(id, latched);
        let (subscription, time, _) = client.message();
        assert_eq!((subscription, time), (id, START));
    }
}

#[test]
fn a_disconnected_client_leaves_no_demand() {
    let show = Show::new();
    let mut client = Client::connect(show.server.address());
    let imu = client.channel("/imu/data");
    client.subscribe(1, imu);
    until(|| show.toy.heard().len() == 1);
    drop(client);
    until(|| show.toy.heard().last() == Some(&format!("Unwanted {imu}")));
    until(|| show.server.clients() == 0);
}

#[test]
fn invalid_requests_get_an_error_message() {
    let show = Show::new();
    let mut client = Client::connect(show.server.address());
    for (request, words) in [
        (
            r#"{"op":"subscribe","subscriptions":[{"id":1,"channelId":99}]}"#,
            "there is no channel 99",
        ),
        (
            r#"{"op":"subscribe","subscriptions":[{"id":1,"channelId":18446744073709551615}]}"#,
            "there is no channel",
        ),
        ("nonsense", "a JSON message of 8 bytes is malformed"),
        (
            r#"{"op":"fetchAsset","uri":"x"}"#,
            "fetchAsset is not possible here",
        ),
        (
            r#"{"op":"unadvertise","channelIds":[4]}"#,
            "channel 4 was not advertised",
        ),
    ] {
        client.send(request);
        let status = client.text("status");
        assert_eq!(status["level"], 2);
        let message = status["message"].as_str().unwrap();
        assert!(message.contains(words), "{message}");
    }
    client.send_binary(vec![200]);
    let status = client.text("status");
    assert!(
        status["message"]
            .as_str()
            .unwrap()
            .contains("unknown opcode 200")
    );
}

#[test]
fn service_calls_get_a_response_or_an_error() {
    let show = Show::new();
    let mut client = Client::connect(show.server.address());
    let services = client.text("advertiseServices");
    let id = u32::try_from(services["services"][0]["id"].as_u64().unwrap()).unwrap();
    let call = |service: u32, number: u32, encoding: &str, payload: &[u8]| {
        let mut data = vec![2];
        data.extend(service.to_le_bytes());
        data.extend(number.to_le_bytes());
        data.extend(u32::try_from(encoding.len()).unwrap().to_le_bytes());
        data.extend(encoding.as_bytes());
        data.extend(payload);
        data
    };
    client.send_binary(call(id, 9, "cdr", b"\0\x01\0\0\x01"));
    let response = client.binary(3);
    assert_eq!(response, call(id, 9, "cdr", b"\0\x01\0\0\x01")[1..]);
    for (data, words) in [
        (call(id, 10, "cdr", b""), "/echo wants a request"),
        (call(id, 11, "json", b"{}"), "only cdr is taken"),
        (call(999, 12, "cdr", b"x"), "there is no service 999"),
    ] {
        client.send_binary(data);
        let failure = client.text("serviceCallFailure");
        assert!(
            failure["message"].as_str().unwrap().contains(words),
            "{failure}"
        );
    }
}

#[test]
fn clients_publish_to_the_source() {
    let show = Show::new();
    let mut client = Client::connect(show.server.address());
    client.send(
        r#"{"op":"advertise","channels":[{"id":3,"topic":"/cmd","encoding":"cdr","schemaName":"a/msg/B"}]}"#,
    );
    client.send_binary(vec![1, 3, 0, 0, 0, 7, 7]);
    until(|| show.toy.heard() == ["publish /cmd a/msg/B 2"]);
    client.send_binary(vec![1, 4, 0, 0, 0, 7, 7]);
    assert!(
        client.text("status")["message"]
            .as_str()
            .unwrap()
            .contains("channel 4")
    );
    client.send(
        r#"{"op":"advertise","channels":[{"id":5,"topic":"/j","encoding":"json","schemaName":"x"}]}"#,
    );
    assert!(
        client.text("status")["message"]
            .as_str()
            .unwrap()
            .contains("only cdr")
    );
}

#[test]
fn graph_subscribers_get_the_graph() {
    let show = Show::new();
    let mut client = Client::connect(show.server.address());
    client.send(r#"{"op":"subscribeConnectionGraph"}"#);
    let update = client.text("connectionGraphUpdate");
    assert_eq!(
        update["publishedTopics"],
        json!([{"name": "/scan", "publisherIds": ["/toy"]}])
    );
}

#[test]
fn channels_are_advertised_and_withdrawn() {
    let show = Show::new();
    let mut client = Client::connect(show.server.address());
    client.text("advertiseServices");
    let output = show.toy.output();
    let id = output.advertise(vec![Toy::spare_channel()]);
    assert_eq!(client.text("advertise")["channels"][0]["topic"], "/spare");
    output.unadvertise(&id);
    assert_eq!(client.text("unadvertise")["channelIds"], json!(id));
    output.notice("n", Level::Warning, "look");
    let status = client.text("status");
    assert_eq!(
        (&status["message"], &status["id"]),
        (&json!("look"), &json!("n"))
    );
    let mut later = Client::connect(show.server.address());
    assert_eq!(later.text("status")["message"], "look");
    output.withdraw("n");
    assert_eq!(client.text("removeStatus")["statusIds"], json!(["n"]));
}

#[test]
fn the_server_closes_connections_with_a_reason() {
    let show = Show::new();
    let mut client = Client::connect(show.server.address());
    client.text("advertiseServices");
    drop(show);
    let closed = loop {
        match client.socket.read() {
            Ok(tungstenite::Message::Close(Some(frame))) => break u16::from(frame.code),
            Ok(_) => {}
            Err(error) => panic!("{error}"),
        }
    };
    assert_eq!(closed, 1001);
}

#[test]
fn the_page_is_one_self_contained_document() {
    let show = Show::new();
    let address = show.server.address();
    let page = http(
        address,
        &format!("GET / HTTP/1.1\r\nHost: {address}\r\n\r\n"),
    );
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n"), "{page}");
    assert!(page.contains("Content-Security-Policy: default-src 'none'; script-src 'sha256-"));
    assert!(page.contains("<title>timeloom</title>"));
    let head = http(address, "HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(head.ends_with("\r\n\r\n"));
    let missing = http(address, "GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(
        missing.starts_with("HTTP/1.1 404 Not Found\r\n"),
        "{missing}"
    );
    let post = http(address, "POST / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(post.starts_with("HTTP/1.1 405"), "{post}");
}

#[test]
fn the_status_is_json_for_programs() {
    let show = Show::new();
    let answer = http(
        show.server.address(),
        "GET /status.json HTTP/1.1\r\nHost: localhost\r\n\r\n",
    );
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    let status: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!(status["title"], "toy");
    assert_eq!(status["timeline"]["startNs"], START.to_string());
    assert_eq!(status["topics"][1]["lostWire"], 17);
    assert_eq!(status["server"]["dropped"], 0);
}
