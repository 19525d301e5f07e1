//! A player under control: a bag is written and played, paused, moved and stepped, and a subscription prints what
//! arrives.
//!
//! `cargo run --example player -p timeloom-examples`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use timeloom_bag::{BagOptions, BagReader, BagWriter, Message, TopicInfo};
use timeloom_msg::{Definitions, QosProfile, TypeName};
use timeloom_node::player::{Answer, Control, Options, PlayRange, Player, Reporter};
use timeloom_node::{NodeOptions, RosNode};
use timeloom_time::{Clock, Duration, Steady, Time, VirtualTime};
use timeloom_wire::loopback::LoopbackNetwork;
use timeloom_wire::{Receiver, Sample, TopicSpec};

const TOPIC: &str = "/count";
const TYPE: &str = "std_msgs/msg/UInt32";

/// Prints the numbers that arrive.
struct Printer;

impl Receiver for Printer {
    fn sample(&self, sample: Sample) {
        // The payload is a CDR header of four bytes and the number.
        if let Some(Ok(number)) = sample.payload.get(4..8).map(<[u8; 4]>::try_from) {
            println!("  received {}", u32::from_le_bytes(number));
        }
    }
}

/// Ten numbers, one per second.
fn write_bag(path: &Path) -> Result<(), Box<dyn Error>> {
    let mut writer = BagWriter::create(path, BagOptions::default())?;
    let topic = writer.add_topic(&TopicInfo::new(TOPIC, TYPE))?;
    let schema = Definitions::builtin().schema(TYPE)?;
    for number in 0..10_u32 {
        let mut value = schema.default_value()?;
        value.set("data", number)?;
        let time = i64::from(number) * 1_000_000_000;
        let message = Message {
            topic,
            log_time_ns: time,
            publish_time_ns: time,
            sequence: 0,
            data: &schema.encode(&value)?,
        };
        if !writer.write(&[message], time).is_ok() {
            return Err("a message was not written".into());
        }
    }
    let (_summary, outcome) = writer.finish()?;
    if outcome.is_ok() {
        Ok(())
    } else {
        Err("the bag was not finished".into())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::temp_dir().join(format!("timeloom_player_{}", std::process::id()));
    let bag = directory.join("numbers");
    std::fs::create_dir_all(&directory)?;
    let played = write_bag(&bag).and_then(|()| play(&bag));
    std::fs::remove_dir_all(&directory)?;
    played
}

fn play(bag: &Path) -> Result<(), Box<dyn Error>> {
    // Virtual time, so that the example does not really wait; `TimeBase::machine()` is real time, and `timeloom_dds` or
    // `timeloom_zenoh` a real network.
    let time = VirtualTime::new();
    let _here = time.enter();
    let network = LoopbackNetwork::new(&time.base());
    let listener = RosNode::new(
        network.participant("listener")?,
        NodeOptions::new("listener"),
    )?;
    let spec = TopicSpec {
        name: TOPIC.to_owned(),
        type_name: TypeName::parse(TYPE)?,
        type_hash: None,
        qos: QosProfile::DEFAULT,
    };
    let _subscription = listener.wire().subscribe(&spec, Arc::new(Printer))?;

    let node = RosNode::new(network.participant("player")?, NodeOptions::new("player"))?;
    let reader = BagReader::open_all(&[bag])?;
    let reporter = Reporter::new(|notice| println!("notice: {notice}"));
    let player = Player::open(&node, reader, Options::default(), reporter)?;
    let steady = Clock::<Steady>::on(&time.base());
    let pass = |seconds: f64| {
        let _slept = steady.sleep_for(Duration::from_secs_f64(seconds));
    };

    println!("play");
    player.control(Control::Play(PlayRange::default()))?;
    pass(2.5);
    println!("pause, and publish a single message");
    player.control(Control::Pause)?;
    player.control(Control::PlayNext)?;
    pass(10.0);
    println!("seek to 8 s, at double rate");
    let answer = player.control(Control::Seek(Time::from_secs(8)))?;
    assert_eq!(answer, Answer::At(Time::from_secs(8)));
    player.control(Control::SetRate(2.0))?;
    player.control(Control::Resume)?;
    player.wait();
    println!("played {} messages", player.status().played());
    assert_eq!(player.status().played(), 6);
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
