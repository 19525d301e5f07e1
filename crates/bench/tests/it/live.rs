//! A load over DDS, recorded and checked byte by byte.

use std::sync::Arc;

use serde_json::Value;
use timeloom_dds::{DdsParticipant, Options};
use timeloom_node::recorder::{self, BuiltinTypes, Recorder, Selection};
use timeloom_testkit::{Sandbox, new_domain};
use timeloom_wire::{NodeName, Participant as _};

use crate::{BINARY, PRODUCERS};

#[test]
fn a_load_over_dds_is_recorded_to_the_byte() {
    let mut sandbox = Sandbox::new(BINARY);
    let domain = new_domain();
    sandbox.set("ROS_DOMAIN_ID", &domain.to_string());
    sandbox.write("producers.yaml", PRODUCERS);
    let participant = Arc::new(DdsParticipant::new(&Options::loopback(domain)).unwrap());
    let node = participant.node(NodeName::new("/", "recorder").unwrap());
    let selection = Selection {
        all_topics: true,
        ..Selection::default()
    };
    let options = recorder::Options::new(sandbox.path("bag"), selection, Arc::new(BuiltinTypes));
    let recorder = Recorder::start(participant, node.unwrap(), options).unwrap();
    let load = sandbox.ok("load producers.yaml --format json --localhost");
    let ledger: Value = serde_json::from_str(&load).unwrap();
    assert_eq!(ledger["total"]["published"], 370);
    assert_eq!(ledger["acknowledged"], true);
    sandbox.write("ledger.json", load);
    recorder.finish().unwrap();
    let run = sandbox.run("verify bag --ledger ledger.json");
    assert_eq!(run.code, 0, "{run}");
}
