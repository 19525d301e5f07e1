use std::sync::{Arc, Mutex};

use crate::locking::lock;
use bytes::Bytes;
use timeloom_wire::{
    Caller, EndpointKind, Error, Node, Reply, ReplyReceiver, Request, RequestHandler,
    ServiceServer, ServiceSpec, WatchedGraph,
};

use crate::transport::check_context::CheckContext;
use crate::transport::payload::{is_payload, payload};

/// Replies with the request and a mark of its own in the last byte.
struct Echo(u8);

fn marked(request: &[u8], mark: u8) -> Bytes {
    let mut answer = request.to_vec();
    if let Some(last) = answer.last_mut() {
        *last ^= mark;
    }
    answer.into()
}

impl RequestHandler for Echo {
    fn request(&self, request: Request, server: &dyn ServiceServer) {
        let answer = marked(&request.payload, self.0);
        server.reply(&request.id, answer).expect("a reply is sent");
    }
}

/// Keeps requests for later.
#[derive(Default)]
struct Later(Mutex<Vec<Request>>);

impl RequestHandler for Later {
    fn request(&self, request: Request, _: &dyn ServiceServer) {
        lock(&self.0).push(request);
    }
}

/// Keeps replies.
#[derive(Default)]
struct Answers(Mutex<Vec<Reply>>);

impl ReplyReceiver for Answers {
    fn reply(&self, reply: Reply) {
        lock(&self.0).push(reply);
    }
}

fn echo(node: &Arc<dyn Node>, service: &ServiceSpec, mark: u8) -> Box<dyn ServiceServer> {
    node.serve(service, Arc::new(Echo(mark)))
        .expect("a server is made")
}

fn calls_and_gets(context: &CheckContext<'_>, caller: &Caller, request: &Bytes, mark: u8) {
    let answer = caller
        .call(request.clone(), context.patience())
        .expect("an answer");
    assert_eq!(answer, marked(request, mark));
}

pub(crate) fn services_answer_both_ways(context: &CheckContext<'_>) {
    let (near, far) = context.two_nodes();
    let (there, back) = (context.service("there"), context.service("back"));
    let _servers = [echo(&far, &there, 0x11), echo(&near, &back, 0x22)];
    let outward = context.caller(&near, &there);
    let homeward = context.caller(&far, &back);
    for (mark, length) in [(1, 8), (2, 16), (3, 1_000), (4, 200_000)] {
        calls_and_gets(context, &outward, &payload(mark, length), 0x11);
        calls_and_gets(context, &homeward, &payload(mark, length), 0x22);
    }
}

pub(crate) fn two_clients_get_only_their_own_replies(context: &CheckContext<'_>) {
    let (near, far) = context.two_nodes();
    let third = context.node(&context.participant(), "third");
    let service = context.service("echo");
    let _server = echo(&far, &service, 0);
    let clients = [&near, &third].map(|node| {
        let answers = Arc::new(Answers::default());
        let client = node.client(&service, Arc::clone(&answers) as _);
        (client.expect("a client is made"), answers)
    });
    for (client, _) in &clients {
        context.until("the server is in sight", || client.servers() == 1);
    }
    let mut sent = [Vec::new(), Vec::new()];
    for mark in 0..20_u32 {
        for (who, (client, _)) in clients.iter().enumerate() {
            let request = payload(mark * 2 + u32::from(who == 1), 24);
            let number = client.call(request.clone()).expect("a call");
            sent[who].push((number, request));
        }
    }
    for ((_, answers), sent) in clients.iter().zip(sent) {
        context.until("all answers arrive", || {
            lock(&answers.0).len() >= sent.len()
        });
        context.quiet();
        let mut got: Vec<_> = lock(&answers.0)
            .iter()
            .map(|reply| (reply.sequence, reply.payload.clone()))
            .collect();
        got.sort_by_key(|(number, _)| *number);
        assert_eq!(got, sent);
    }
}

pub(crate) fn concurrent_calls_are_answered_in_any_order(context: &CheckContext<'_>) {
    let (near, far) = context.two_nodes();
    let service = context.service("later");
    let later = Arc::new(Later::default());
    let server = far
        .serve(&service, Arc::clone(&later) as _)
        .expect("a server is made");
    let caller = Arc::new(context.caller(&near, &service));
    let base = context.base();
    let patience = context.patience();
    let threads: Vec<_> = (0..8)
        .map(|mark| {
            let caller = Arc::clone(&caller);
            let call = move || caller.call(payload(mark, 12), patience);
            base.spawn("caller", call).expect("a thread")
        })
        .collect();
    context.until("all calls arrive", || lock(&later.0).len() == 8);
    // The last first, and from a thread that is not the transport's.
    for request in lock(&later.0).drain(..).rev() {
        server
            .reply(&request.id, request.payload)
            .expect("a reply is sent");
    }
    for (mark, thread) in (0..).zip(threads) {
        let answer = thread.join().expect("no panic").expect("an answer");
        assert!(is_payload(&answer, mark, 12), "call {mark}");
    }
}

pub(crate) fn a_server_that_goes_is_not_counted(context: &CheckContext<'_>) {
    let (near, far) = context.two_nodes();
    let service = context.service("echo");
    let server = echo(&far, &service, 0x33);
    let caller = context.caller(&near, &service);
    calls_and_gets(context, &caller, &payload(1, 8), 0x33);
    drop(server);
    if context.quirks().servers_stay {
        context.quiet();
    } else {
        context.until("no server is in sight", || caller.client().servers() == 0);
    }
    let unanswered = caller.call(payload(2, 8), timeloom_time::Duration::from_millis(200));
    assert!(
        matches!(
            unanswered,
            Err(Error::CallTimedOut { .. } | Error::Refused { .. })
        ),
        "{unanswered:?}"
    );
    // Another server takes over.
    let _server = echo(&far, &service, 0x44);
    assert!(caller.wait_for_server(context.patience()));
    calls_and_gets(context, &caller, &payload(3, 8), 0x44);
}

pub(crate) fn a_client_that_goes_harms_no_server(context: &CheckContext<'_>) {
    let (near, far) = context.two_nodes();
    let service = context.service("later");
    let later = Arc::new(Later::default());
    let server = far
        .serve(&service, Arc::clone(&later) as _)
        .expect("a server is made");
    let caller = context.caller(&near, &service);
    caller.client().call(payload(1, 8)).expect("a call");
    context.until("the call arrives", || lock(&later.0).len() == 1);
    drop(caller);
    context.quiet();
    let request = lock(&later.0).remove(0);
    // Whether it succeeds depends on the transport; it must not hang.
    let result = server.reply(&request.id, request.payload);
    assert!(
        matches!(
            result,
            Ok(()) | Err(Error::ClientGone { .. } | Error::Refused { .. })
        ),
        "{result:?}"
    );
    let second = context.caller(&near, &service);
    second.client().call(payload(2, 8)).expect("a call");
    context.until("the next call arrives", || lock(&later.0).len() == 1);
}

pub(crate) fn servers_and_clients_are_in_the_graph(context: &CheckContext<'_>) {
    let (near, far) = context.two_nodes();
    let service = context.service("echo");
    let _server = echo(&far, &service, 0);
    let _caller = context.caller(&near, &service);
    let watcher = context.participant();
    let graph = WatchedGraph::new(&*watcher);
    for (kind, node) in [
        (EndpointKind::Server, context.node_name("far")),
        (EndpointKind::Client, context.node_name("near")),
    ] {
        let found = || -> Vec<_> { graph.lock().on(&service.name, kind).cloned().collect() };
        context.until("it is in the graph with its node", || {
            let found = found();
            found.len() == 1 && found[0].node.as_ref() == Some(&node)
        });
        assert_eq!(found()[0].type_name, "example_interfaces/srv/AddTwoInts");
    }
}
