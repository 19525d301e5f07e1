//! A foreign listener, and generated bags.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use timeloom_bag::{BagOptions, BagWriter, Message, TopicInfo};

use crate::record_robot::{LOOPBACK, Recording, Robot, peer_script, python};
use crate::robot::new_domain;

pub(crate) const STRING: &str = "std_msgs/msg/String";
pub(crate) const MS: i64 = 1_000_000;
/// The start of generated bags.
pub(crate) const START: i64 = 1_700_000_000_000_000_000;

/// A separate domain with a foreign listener in it.
pub(crate) struct ForeignListener {
    pub(crate) robot: Robot,
}

impl ForeignListener {
    /// `None` without Python.
    pub(crate) fn new() -> Option<Self> {
        let domain = new_domain();
        let mut command = Command::new(python()?);
        command
            .arg(peer_script("listener.py"))
            .arg(domain.to_string())
            .env("CYCLONEDDS_URI", LOOPBACK);
        Some(Self {
            robot: Robot::with(domain, command),
        })
    }

    pub(crate) fn ask(&mut self, command: &Value) -> Value {
        self.robot.ask(command)
    }

    /// Subscribes to a topic.
    pub(crate) fn subscribe(&mut self, topic: &str) {
        self.ask(&json!({"do": "subscribe", "topic": topic}));
    }

    /// Calls a service of the player.
    pub(crate) fn call(&mut self, service: &str, fields: &Value) -> Value {
        let mut command = json!({"do": "call", "node": "/rosbag2_player", "service": service});
        let fields = fields.as_object().cloned().unwrap_or_default();
        command.as_object_mut().unwrap().extend(fields);
        self.ask(&command)
    }

    /// Messages received since the last call, in order: topic and number, or time.
    pub(crate) fn heard(&mut self) -> Vec<(String, i64)> {
        let heard = self.ask(&json!({"do": "take"}));
        let heard = heard.as_array().unwrap().iter();
        heard
            .map(|pair| {
                let topic = pair[0].as_str().unwrap().to_owned();
                let number = match &pair[1] {
                    Value::String(hex) => number_of(&unhex(hex)),
                    time => time.as_i64().unwrap(),
                };
                (topic, number)
            })
            .collect()
    }

    /// The numbers received on one topic.
    pub(crate) fn numbers(&mut self, topic: &str) -> Vec<i64> {
        let heard = self.heard().into_iter();
        heard
            .filter_map(|(name, number)| (name == topic).then_some(number))
            .collect()
    }

    /// Starts a verb with arguments separated by spaces.
    pub(crate) fn start(&self, arguments: &str) -> Recording {
        let mut command = self.robot.sandbox.command(arguments);
        Recording::start(command.arg("--localhost"))
    }

    /// Has `clock drive` do something.
    pub(crate) fn drive(&self, order: &str) {
        let mut command = self.robot.sandbox.command(&format!("clock drive {order}"));
        let output = command.arg("--localhost").output().unwrap();
        assert!(output.status.success(), "{order}: {output:?}");
    }

    /// A bag of numbered texts: topic, milliseconds, number.
    pub(crate) fn bag(&self, name: &str, lines: &[(&str, i64, u32)]) -> PathBuf {
        let path = self.robot.sandbox.path(name);
        let mut writer = BagWriter::create(&path, BagOptions::default()).unwrap();
        for (topic, millis, number) in lines {
            let topic = writer.add_topic(&TopicInfo::new(*topic, STRING)).unwrap();
            let time = START + millis * MS;
            let message = Message {
                topic,
                log_time_ns: time,
                publish_time_ns: time,
                sequence: 0,
                data: &payload(*number),
            };
            assert!(writer.write(&[message], 0).is_ok());
        }
        assert!(writer.finish().unwrap().1.is_ok());
        path
    }
}

/// A serialised text that begins with its number; lengths differ.
pub(crate) fn payload(number: u32) -> Vec<u8> {
    let text = format!("{number}:{}", "x".repeat(number as usize % 97));
    let mut payload = vec![0, 1, 0, 0];
    payload.extend(u32::try_from(text.len() + 1).unwrap().to_le_bytes());
    payload.extend(text.as_bytes());
    payload.push(0);
    payload
}

/// The number in a text that came, which must be what was recorded, byte for byte.
fn number_of(payload_heard: &[u8]) -> i64 {
    let text = String::from_utf8_lossy(&payload_heard[8..]);
    let number: u32 = text.split(':').next().unwrap().parse().unwrap();
    let recorded = payload(number);
    // What follows is padding.
    assert_eq!(payload_heard[4..recorded.len()], recorded[4..], "{number}");
    assert!(payload_heard.len() - recorded.len() < 4);
    number.into()
}

fn unhex(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2);
    let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.map(byte).collect()
}
