//! Our own router, when there is no other.

use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use timeloom_wire::environment::Environment;
use timeloom_wire::{NodeName, Participant as _};
use timeloom_zenoh::{NoteKind, Options, RouterUse, ZenohParticipant};

use crate::local::{Watched, options, participant, router, until};
use crate::peer::Peer;

/// A port of 127.0.0.1 without a listener: below the ephemeral ports of the system.
fn free() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = std::process::id() * 11 + NEXT.fetch_add(1, Ordering::Relaxed);
        let address = format!("127.0.0.1:{}", 10_000 + number % 20_000);
        if TcpListener::bind(&address).is_ok() {
            return format!("tcp/{address}");
        }
    }
}

/// A configuration file that exists until dropped.
struct File(PathBuf);

impl File {
    fn new(text: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("timeloom-zenoh-{}-{number}.json5", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).unwrap();
        Self(path)
    }

    fn uri(&self) -> String {
        format!("file://{}", self.0.display())
    }
}

impl Drop for File {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).ok();
    }
}

#[test]
fn the_first_participant_is_the_router_for_all() {
    let at = free();
    let first = participant(&at);
    let own = format!("router of our own at {at}");
    until("the first is the router", || first.router() == own);
    let second = participant(&at);
    until("it is found", || second.router() == "router found");
    let watched = Watched::new(second.clone());
    let _node = first.node(NodeName::new("/", "first").unwrap()).unwrap();
    until("they see each other", || watched.node_names() == ["/first"]);
    let text = second.describe();
    assert!(
        text.starts_with("Zenoh 1.10.2, domain 0, router found, "),
        "{text}"
    );
    assert!(text.contains("listens at tcp/127.0.0.1:"), "{text}");
}

#[test]
fn the_remaining_participant_becomes_the_router() {
    let at = free();
    let first = participant(&at);
    let second = participant(&at);
    until("it is found", || second.router() == "router found");
    drop(first);
    let own = format!("router of our own at {at}");
    until("the second takes over", || second.router() == own);
    let third = participant(&at);
    let watched = Watched::new(third);
    let _node = second.node(NodeName::new("/", "second").unwrap()).unwrap();
    until("others find it", || watched.node_names() == ["/second"]);
}

#[test]
fn peers_that_waited_for_a_router_find_ours() {
    let at = free();
    let Some(mut peer) = Peer::start(&at) else {
        return;
    };
    let zid = peer.ask(&serde_json::json!({"do": "zid"}));
    assert!(zid.is_string());
    let watched = Watched::new(participant(&at));
    until("it is seen", || watched.node_names() == ["/peer"]);
}

#[test]
fn no_router_is_started_if_none_is_wanted() {
    let at = free();
    let alone = ZenohParticipant::new(&Options {
        router: RouterUse::NotNeeded,
        ..options(&at)
    })
    .unwrap();
    assert_eq!(alone.router(), "no router");
    assert!(
        TcpListener::bind(at.strip_prefix("tcp/").unwrap()).is_ok(),
        "there is no listener"
    );
}

#[test]
fn a_port_in_use_is_noted_and_the_participant_works() {
    // No router at the endpoint of the session, and another listener at the endpoint of the router's own configuration.
    let (_router, at) = router();
    let notes = Arc::new(std::sync::Mutex::new(0));
    let counted = Arc::clone(&notes);
    let file = File::new(&format!(
        "{{ mode: \"router\", listen: {{ endpoints: [{at:?}] }} }}"
    ));
    let alone = ZenohParticipant::new(&Options {
        router_config: Some(file.uri()),
        reporter: Some(Arc::new(move |_| *counted.lock().unwrap() += 1)),
        ..options(&free())
    })
    .unwrap();
    assert_eq!(alone.router(), "no router");
    let noted = alone.notes();
    assert_eq!((noted.len(), noted[0].kind), (1, NoteKind::Warning));
    assert!(
        noted[0].text.contains("be a router at"),
        "{}",
        noted[0].text
    );
    assert_eq!(*notes.lock().unwrap(), 1);
}

#[test]
fn the_files_that_the_environment_names_are_read() {
    let at = free();
    let session = File::new(&format!(
        "{{ mode: \"peer\", connect: {{ endpoints: [{at:?}] }}, listen: {{ endpoints: [\"tcp/127.0.0.1:0\"] }},
            scouting: {{ multicast: {{ enabled: false }} }} }}"
    ));
    let router = File::new(&format!(
        "{{ mode: \"router\", listen: {{ endpoints: [{at:?}, \"tcp/127.0.0.1:0\"] }},
            scouting: {{ multicast: {{ enabled: false }} }} }}"
    ));
    let variables = [
        ("RMW_IMPLEMENTATION", "rmw_zenoh_cpp".to_owned()),
        ("ZENOH_SESSION_CONFIG_URI", session.uri()),
        ("ZENOH_ROUTER_CONFIG_URI", router.uri()),
    ];
    let environment = Environment::read(&|name| {
        let found = variables.iter().find(|(variable, _)| *variable == name);
        found.map(|(_, value)| value.clone())
    });
    let ours = ZenohParticipant::new(&Options::from_environment(&environment.unwrap())).unwrap();
    // At both endpoints of its file, in any order.
    let is_as_wanted = |text: &str| {
        let places = text.strip_prefix("router of our own at ").unwrap_or("");
        places.split(", ").count() == 2 && places.split(", ").any(|place| place == at)
    };
    until("it is the router of its file", || {
        is_as_wanted(&ours.router())
    });
    let watched = Watched::new(participant(&at));
    let _node = ours.node(NodeName::new("/", "ours").unwrap()).unwrap();
    until("others find it", || watched.node_names() == ["/ours"]);
}

#[test]
fn the_owner_of_the_participant_may_be_dropped_inside_a_receiver() {
    let (_router, at) = router();
    let ours = participant(&at);
    let other = participant(&at);
    let watched = Watched::new(other.clone());
    let kept = Arc::new(std::sync::Mutex::new(None));
    let inside = Arc::clone(&kept);
    let watch = ours.watch_graph(Box::new(move |_| drop(inside.lock().unwrap().take())));
    let node = ours.node(NodeName::new("/", "ours").unwrap());
    until("we are seen", || watched.node_names() == ["/ours"]);
    *kept.lock().unwrap() = Some((ours, node));
    // Triggers the observer, now that it has something to drop.
    let _other = other.node(NodeName::new("/", "other").unwrap()).unwrap();
    until(
        "the last handle is dropped by the participant's own thread",
        || kept.lock().unwrap().is_none(),
    );
    until("we are gone", || watched.node_names() == ["/other"]);
    drop(watch);
}
