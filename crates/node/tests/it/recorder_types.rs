//! Definitions of types: at hand, asked for, late.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use timeloom_bag::MessageDefinition;
use timeloom_msg::TypeHash;
use timeloom_node::recorder::{FoundType, Recorder, TypeSource};
use timeloom_time::{Clock, Duration, Steady};
use timeloom_wire::EndpointInfo;

use crate::recorder_world::{RELIABLE, World, account, finish, spec, topic};

/// Knows a type only when it is asked, and only after a while.
struct Slow {
    clock: Clock<Steady>,
    takes: Duration,
    asked: AtomicU64,
}

impl TypeSource for Slow {
    fn at_hand(&self, _type_name: &str, _hash: Option<&TypeHash>) -> Option<FoundType> {
        None
    }

    fn ask(&self, publisher: &EndpointInfo) -> Result<FoundType, String> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let _woke = self.clock.sleep_for(self.takes);
        Ok(FoundType {
            definition: MessageDefinition {
                encoding: "ros2msg".into(),
                text: "int32 n\n".into(),
            },
            hash: publisher.type_hash,
        })
    }
}

fn record_own_type(takes_millis: i64) -> (World, Recorder, u64) {
    let world = World::new();
    let hash = TypeHash::from_bytes([7; 32]);
    let own = timeloom_wire::TopicSpec {
        type_hash: Some(hash),
        ..spec("/own", "own/msg/Thing", RELIABLE)
    };
    let talker = world.node("talker").publish(&own).unwrap();
    let mut options = world.options();
    let slow = Arc::new(Slow {
        clock: world.clock.clone(),
        takes: Duration::from_millis(takes_millis),
        asked: AtomicU64::new(0),
    });
    options.types = Arc::clone(&slow) as _;
    let recorder = world.record(options);
    world.publish(&*talker, 500, 10_000);
    let asked = slow.asked.load(Ordering::Relaxed);
    (world, recorder, asked)
}

#[test]
fn messages_wait_for_the_definition_of_their_type() {
    let (world, recorder, asked) = record_own_type(1_000);
    let report = finish(&recorder);
    assert_eq!((report.metadata.files.len(), asked), (1, 1));
    assert_eq!(account(topic(&report.topics, "/own")), (500, 0, 0));
    let reader = timeloom_bag::BagReader::open(&world.bag()).unwrap();
    let info = &timeloom_bag::StorageReader::info(&reader).topics[0];
    assert_eq!(info.definition.text, "int32 n\n");
    assert_eq!(world.notes(), Vec::<String>::new());
}

#[test]
fn a_definition_that_comes_late_begins_a_new_file() {
    let (world, recorder, _asked) = record_own_type(4_000);
    let report = finish(&recorder);
    assert_eq!(account(topic(&report.topics, "/own")), (500, 0, 0));
    assert_eq!(report.metadata.files.len(), 2);
    let notes = world.notes();
    assert!(notes[0].contains("/own is recorded raw"), "{notes:?}");
    assert!(notes[1].contains("arrived late"), "{notes:?}");
}
