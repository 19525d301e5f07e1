//! Services with foreign servers and clients, in both encodings.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};
use timeloom_msg::{QosProfile, TypeHash, TypeName};
use timeloom_time::{Duration, TimeBase};
use timeloom_wire::{Caller, Node, Request, RequestHandler, ServiceServer, ServiceSpec};

use crate::local::{new_domain, until};
use crate::peer::Peer;
use crate::python::node;

/// Adds two numbers.
pub(crate) struct Adder;

impl RequestHandler for Adder {
    fn request(&self, request: Request, server: &dyn ServiceServer) {
        let number =
            |at: usize| i64::from_le_bytes(request.payload[at..at + 8].try_into().unwrap());
        server
            .reply(&request.id, sum(number(4) + number(12)))
            .unwrap();
    }
}

fn sum(sum: i64) -> Bytes {
    [&[0, 1, 0, 0][..], &sum.to_le_bytes()].concat().into()
}

fn pair(a: i64, b: i64) -> Bytes {
    [&[0, 1, 0, 0][..], &a.to_le_bytes(), &b.to_le_bytes()]
        .concat()
        .into()
}

pub(crate) fn add_service() -> ServiceSpec {
    ServiceSpec {
        name: "/add".into(),
        type_name: TypeName::parse("timeloom_test/srv/Add").unwrap(),
        type_hash: None,
        request_hash: Some(TypeHash::from_bytes([1; 32])),
        response_hash: Some(TypeHash::from_bytes([2; 32])),
        qos: QosProfile::SERVICES,
    }
}

fn caller(node: &Arc<dyn Node>) -> Caller {
    let caller = Caller::new(&**node, &add_service(), &TimeBase::machine()).unwrap();
    assert!(caller.wait_for_server(Duration::from_secs(30)));
    caller
}

pub(crate) fn calls(node: &Arc<dyn Node>, count: i64) {
    let caller = caller(node);
    for number in 0..count {
        let answer = caller
            .call(pair(number, 40), Duration::from_secs(30))
            .unwrap();
        assert_eq!(answer[..12], sum(number + 40)[..], "call {number}");
    }
}

/// A foreign server and a foreign client of one kind, with the command for each.
fn both_ways(peer: fn(u32) -> Option<Peer>, serve: &str, call: &str) {
    let domain = new_domain();
    let Some(mut server) = peer(domain) else {
        return;
    };
    server.send(&serve);
    assert_eq!(server.answer(), "serving");
    calls(&node(domain), 20);
    assert_eq!(server.answer(), Value::Null);
    let domain = new_domain();
    let Some(mut client) = peer(domain) else {
        return;
    };
    let node = node(domain);
    let _server = node.serve(&add_service(), Arc::new(Adder)).unwrap();
    assert_eq!(client.ask(&call), json!([3, 42, 0]));
}

#[test]
fn services_work_both_ways_in_the_encoding_of_cyclone() {
    let serve = json!({"do": "serve", "service": "/add", "count": 20});
    let call = json!({"do": "call", "service": "/add", "pairs": [[1, 2], [40, 2], [-5, 5]]});
    both_ways(Peer::cyclone, &serve.to_string(), &call.to_string());
}

#[test]
fn services_work_both_ways_in_the_encoding_of_fast_dds() {
    both_ways(Peer::fast, "serve /add 20", "call /add 1 2 40 2 -5 5");
}

/// One server, and one client of each kind at the same time.
#[test]
fn one_server_answers_both_encodings() {
    let domain = new_domain();
    let (Some(mut fast), Some(mut cyclone)) = (Peer::fast(domain), Peer::cyclone(domain)) else {
        return;
    };
    let node = node(domain);
    let _server = node.serve(&add_service(), Arc::new(Adder)).unwrap();
    fast.send(&"call /add 1 2 3 4");
    cyclone.send(&json!({"do": "call", "service": "/add", "pairs": [[5, 6], [7, 8]]}));
    assert_eq!(fast.answer(), json!([3, 7]));
    assert_eq!(cyclone.answer(), json!([11, 15]));
}

/// One of them would misread the request, so the call fails; with one server left it works.
#[test]
fn servers_of_two_encodings_are_refused_with_the_reason() {
    let domain = new_domain();
    let (Some(mut fast), Some(mut cyclone)) = (Peer::fast(domain), Peer::cyclone(domain)) else {
        return;
    };
    fast.send(&"serve /add 1");
    cyclone.send(&json!({"do": "serve", "service": "/add", "count": 1}));
    assert_eq!(
        (fast.answer(), cyclone.answer()),
        (json!("serving"), json!("serving"))
    );
    let node = node(domain);
    let caller = caller(&node);
    until("both are there", || caller.client().servers() == 2);
    let error = caller
        .call(pair(1, 2), Duration::from_secs(1))
        .unwrap_err()
        .to_string();
    assert!(error.contains("servers of two encodings"), "{error}");
    fast.kill();
    until("one is gone", || caller.client().servers() == 1);
    let answer = caller.call(pair(1, 2), Duration::from_secs(30)).unwrap();
    assert_eq!(answer[..12], sum(3)[..]);
    assert_eq!(cyclone.answer(), Value::Null);
}
