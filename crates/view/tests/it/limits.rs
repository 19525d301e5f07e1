//! Refused clients and limits.

use timeloom_time::Duration;

use crate::client::{Client, http};
use crate::toy::{Show, until};

const NAME: &str = "foxglove.sdk.v1";

#[test]
fn foreign_web_pages_are_refused() {
    let show = Show::new();
    let address = show.server.address();
    for origin in [
        "http://localhost:8080",
        "https://app.foxglove.dev",
        "file://",
    ] {
        assert!(
            Client::try_connect(address, NAME, Some(origin)).is_ok(),
            "{origin}"
        );
    }
    // Any page can send `null` from a sandboxed frame.
    for origin in ["https://evil.example", "null"] {
        let stranger = Client::try_connect(address, NAME, Some(origin));
        assert_eq!(stranger.err(), Some(403), "{origin}");
    }
    let rebound = http(
        address,
        "GET /status.json HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    );
    assert!(rebound.starts_with("HTTP/1.1 403"), "{rebound}");
    assert!(rebound.contains("--allow-origin"), "{rebound}");
}

#[test]
fn an_allowed_page_is_accepted() {
    let show = Show::with(|options| options.allowed_origins = vec!["https://my.example".into()]);
    let client = Client::try_connect(show.server.address(), NAME, Some("https://my.example"));
    assert!(client.is_ok());
}

#[test]
fn the_number_of_clients_is_limited() {
    let show = Show::with(|options| options.most_clients = 2);
    let address = show.server.address();
    let first = Client::connect(address);
    let _second = Client::connect(address);
    until(|| show.server.clients() == 2);
    assert_eq!(Client::try_connect(address, NAME, None).err(), Some(503));
    drop(first);
    until(|| show.server.clients() == 1);
    assert!(Client::try_connect(address, NAME, None).is_ok());
}

#[test]
fn a_message_that_is_too_long_ends_the_connection() {
    let show = Show::with(|options| options.longest_message = 1_000);
    let mut client = Client::connect(show.server.address());
    // The connection may be closed while the client still writes.
    drop(
        client
            .socket
            .send(tungstenite::Message::binary(vec![1; 2_000])),
    );
    let code = loop {
        match client.socket.read() {
            Ok(tungstenite::Message::Close(frame)) => {
                break frame.map(|frame| u16::from(frame.code));
            }
            Ok(_) => {}
            Err(error) => panic!("{error}"),
        }
    };
    assert_eq!(code, Some(1009));
    until(|| show.server.clients() == 0);
}

#[test]
fn a_slow_handshake_times_out() {
    let show = Show::with(|options| options.handshake_timeout = Duration::from_millis(50));
    let answer = http(show.server.address(), "GET / HTTP/1.1\r\n");
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
}

#[test]
fn an_endless_head_is_refused() {
    let show = Show::new();
    let long = format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(17_000));
    let answer = http(show.server.address(), &long);
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
}

#[test]
fn the_server_listens_on_the_loopback_address_by_default() {
    let options = timeloom_view::ViewOptions::default();
    assert_eq!(options.address.to_string(), "127.0.0.1:8765");
}

#[test]
fn a_port_in_use_is_an_error_with_the_address() {
    let show = Show::new();
    let address = show.server.address();
    let options = timeloom_view::ViewOptions {
        address,
        ..timeloom_view::ViewOptions::default()
    };
    let error = timeloom_view::Server::start(options, crate::toy::Toy::new())
        .err()
        .unwrap();
    assert_eq!(error.to_string(), format!("can't listen on {address}"));
}
