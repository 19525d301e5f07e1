//! Records a topic into a bag and prints the account of every message.
//!
//! The robot is a loopback network in this process. With `timeloom_dds::DdsParticipant` or
//! `timeloom_zenoh::ZenohParticipant` in its place, the same program records a real one.

use std::sync::Arc;

use timeloom_msg::{QosProfile, TypeName};
use timeloom_node::recorder::{BuiltinTypes, Options, Recorder, Report, Selection};
use timeloom_time::{Clock, Duration, Steady, VirtualTime};
use timeloom_wire::loopback::LoopbackNetwork;
use timeloom_wire::{NodeName, Participant, PublishOptions, TopicSpec};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Records a hundred messages into `output`.
pub(crate) fn record(output: &std::path::Path) -> Outcome<Report> {
    // Virtual time: nothing here really waits.
    let time = VirtualTime::new();
    let _here = time.enter();
    let network = LoopbackNetwork::new(&time.base());
    let clock = Clock::<Steady>::on(&time.base());

    let robot = network.participant("robot")?;
    let talker = robot.node(NodeName::new("/", "talker")?)?;
    let publisher = talker.publish(&TopicSpec {
        name: "/chatter".into(),
        type_name: TypeName::parse("std_msgs/msg/String")?,
        type_hash: None,
        qos: QosProfile::DEFAULT,
    })?;

    let participant: Arc<dyn Participant> = network.participant("recorder")?;
    let node = participant.node(NodeName::new("/", "recorder")?)?;
    let everything = Selection {
        all_topics: true,
        ..Selection::default()
    };
    let options = Options::new(output, everything, Arc::new(BuiltinTypes));
    let recorder = Recorder::start(participant, node, options)?;
    let _woke = clock.sleep_for(Duration::from_millis(100));

    for _ in 0..100 {
        let hello = b"\0\x01\0\0\x06\0\0\0hello\0".as_slice();
        publisher.publish(hello.into(), PublishOptions::default())?;
        let _woke = clock.sleep_for(Duration::from_millis(10));
    }
    let mut reports = recorder.finish()?;
    reports.pop().ok_or_else(|| "there is no report".into())
}

#[expect(clippy::print_stdout, reason = "an example prints its result")]
pub(crate) fn main() -> Outcome<()> {
    let directory = std::env::temp_dir().join(format!("timeloom-recorder-{}", std::process::id()));
    let report = record(&directory)?;
    for topic in &report.topics {
        let account = &topic.statistics;
        println!(
            "{}: {} recorded, {} lost in transport, {} lost in the recorder",
            topic.name,
            account.messages_recorded,
            account.messages_lost_in_transport,
            account.messages_lost_in_recorder(),
        );
    }
    std::fs::remove_dir_all(&directory)?;
    Ok(())
}
