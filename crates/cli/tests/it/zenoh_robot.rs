//! A robot on Zenoh that is not ours (eclipse-zenoh from `PyPI`), its router, and verbs beside it, all on 127.0.0.1.

use std::fmt::Write as _;
use std::net::TcpListener;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value as Json, json};
use timeloom_msg::{QosProfile, Value};
use timeloom_node::ServiceTypes;
use timeloom_zenoh::{Options, ZenohParticipant, ZenohRouter};

use crate::record_robot::{self, Recording, peer_script, python, until};
use crate::support::Sandbox;

pub(crate) const DOMAIN: u32 = 7;

/// Settings that make a process discover others only through the router.
pub(crate) fn look_at(sandbox: &mut Sandbox, endpoint: &str) {
    sandbox.set("RMW_IMPLEMENTATION", "rmw_zenoh_cpp");
    sandbox.set("ROS_DOMAIN_ID", &DOMAIN.to_string());
    let places =
        format!("connect/endpoints=[\"{endpoint}\"];listen/endpoints=[\"tcp/127.0.0.1:0\"]");
    sandbox.set("ZENOH_CONFIG_OVERRIDE", &places);
}

/// A free port of 127.0.0.1, below the ephemeral ports.
pub(crate) fn free_endpoint() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = std::process::id() * 13 + NEXT.fetch_add(1, Ordering::Relaxed);
        let address = format!("127.0.0.1:{}", 10_000 + number % 20_000);
        if TcpListener::bind(&address).is_ok() {
            return format!("tcp/{address}");
        }
    }
}

pub(crate) struct ZenohRobot {
    peer: record_robot::Robot,
    endpoint: String,
    _router: ZenohRouter,
}

impl ZenohRobot {
    /// With a router of its own; `None` without Python.
    pub(crate) fn new() -> Option<Self> {
        let mut command = Command::new(python()?);
        let router = ZenohRouter::start("tcp/127.0.0.1:0").unwrap();
        let endpoint = router.endpoints().remove(0);
        command
            .arg(peer_script("zenoh_robot.py"))
            .args([DOMAIN.to_string(), endpoint.clone()]);
        let mut peer = record_robot::Robot::with(DOMAIN, command);
        look_at(&mut peer.sandbox, &endpoint);
        Some(Self {
            peer,
            endpoint,
            _router: router,
        })
    }

    pub(crate) fn sandbox(&self) -> &Sandbox {
        &self.peer.sandbox
    }

    /// Has the robot do something; gives its answer.
    pub(crate) fn ask(&mut self, command: &Json) -> Json {
        self.peer.ask(command)
    }

    pub(crate) fn writer(&mut self, name: &str, topic: &str, more: &Json) {
        let command = json!({"do": "writer", "name": name, "topic": topic});
        self.ask(&merged(command, more));
    }

    /// Publishes; gives how many numbers the writer has used so far.
    pub(crate) fn publish(&mut self, name: &str, count: u64, more: &Json) -> u64 {
        let command = json!({"do": "publish", "name": name, "count": count});
        self.ask(&merged(command, more)).as_u64().unwrap()
    }

    pub(crate) fn matched(&mut self, names: &[&str]) {
        for name in names {
            self.peer.matched(name);
        }
    }

    /// A verb of ours in a process of its own.
    pub(crate) fn start(&self, arguments: &str) -> Recording {
        Recording::start(&mut self.sandbox().command(arguments))
    }

    /// A participant of the test itself.
    pub(crate) fn participant(&self) -> Arc<ZenohParticipant> {
        let options = Options {
            domain: DOMAIN,
            ..Options::default().only_at(&self.endpoint)
        };
        Arc::new(ZenohParticipant::new(&options).unwrap())
    }

    /// The foreign robot calls a service of ours; the answer as JSON.
    pub(crate) fn call(
        &mut self,
        service: &str,
        type_name: &str,
        fill: impl FnOnce(&mut Value),
    ) -> Json {
        let types = ServiceTypes::builtin(type_name).unwrap();
        let mut request = types.request.default_value().unwrap();
        fill(&mut request);
        let request = hex(&types.request.encode(&request).unwrap());
        let hash = types.spec(service, QosProfile::SERVICES).type_hash.unwrap();
        let answer = self.ask(
            &json!({"do": "call", "service": service, "type_name": types.name.to_dds(),
            "type_hash": hash.to_string(), "request": request}),
        );
        let answer = types
            .response
            .decode(&bytes(answer.as_str().unwrap()))
            .unwrap();
        serde_json::from_str(&answer.to_json()).unwrap()
    }

    /// Recorded, lost in transport and lost in the recorder, as a running recorder reports to another node.
    pub(crate) fn account(&mut self, topic: &str) -> [u64; 3] {
        let reply = self.call(
            "/rosbag2_recorder/get_recorder_statistics",
            "rosbag2_interfaces/srv/GetRecorderStatistics",
            |_| {},
        );
        let mut topics = reply["topics_statistics"].as_array().unwrap().iter();
        let Some(found) = topics.find(|found| found["topic_name"] == topic) else {
            return [0; 3];
        };
        [
            "messages_recorded",
            "messages_lost_in_transport",
            "messages_lost_in_recorder",
        ]
        .map(|name| found[name].as_u64().unwrap())
    }

    /// Waits until a running recorder has accounted for all that was published.
    pub(crate) fn accounted(&mut self, topic: &str, published: u64) {
        let mut last = [0; 3];
        until(|| {
            last = self.account(topic);
            assert!(
                last.iter().sum::<u64>() <= published,
                "{last:?} of {published}"
            );
            last.iter().sum::<u64>() == published
        });
    }
}

fn merged(mut command: Json, more: &Json) -> Json {
    for (key, value) in more.as_object().into_iter().flatten() {
        command[key] = value.clone();
    }
    command
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        write!(text, "{byte:02x}").unwrap_or_default();
        text
    })
}

fn bytes(hex: &str) -> Vec<u8> {
    let pairs = hex.as_bytes().chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}
