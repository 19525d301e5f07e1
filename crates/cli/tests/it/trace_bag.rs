//! A bag of a small robot whose nodes tag their messages.
//!
//! ```text
//! /points ──► filter ──► /filtered ──► fusion ──► /fused ──► controller ──► /cmd
//!                            /odom ──►                 (10 Hz; /odom 50 Hz)
//! ```

use std::path::Path;

use timeloom_bag::{BagOptions, BagWriter, Message, MessageDefinition, TopicId, TopicInfo};
use timeloom_msg::Definitions;
use timeloom_time::Time;
use timeloom_trace::{InputInfo, MessageTrackingTag, Moment, OutputInfo, TAG_TYPE, tag_topic};

const MS: i64 = 1_000_000;
/// 2026-11-15T08:00:00Z.
const START: i64 = 1_794_729_600_000 * MS;

pub(crate) const TOPICS: [&str; 5] = ["/points", "/odom", "/filtered", "/fused", "/cmd"];

/// Behaviour of the robot.
#[derive(Clone, Copy)]
pub(crate) struct Robot {
    pub(crate) cycles: i64,
    /// Processing time of the fusion, in milliseconds.
    pub(crate) fusion_ms: i64,
    /// The filter hangs in this cycle.
    pub(crate) stuck: Option<i64>,
    /// The tag of `/points` and the last one of `/odom` are lost in this cycle, before the recorder.
    pub(crate) lost: Option<i64>,
    /// Number of malformed tags at the end.
    pub(crate) broken: usize,
    /// ROS time is simulated, and goes so many times as fast.
    pub(crate) sim_rate: Option<i64>,
    /// The controller is on another host, whose clock is ahead by this.
    pub(crate) arm_ahead_ms: i64,
}

impl Default for Robot {
    fn default() -> Self {
        Self {
            cycles: 50,
            fusion_ms: 20,
            stuck: Some(20),
            lost: Some(30),
            broken: 0,
            sim_rate: None,
            arm_ahead_ms: 0,
        }
    }
}

impl Robot {
    /// The same on the host of the controller.
    fn on_arm(self, at: Moment) -> Moment {
        if self.arm_ahead_ms == 0 {
            return at;
        }
        let ros = at.ros.nanos() + self.arm_ahead_ms * MS;
        Moment::from_nanos(ros, at.steady.nanos() + 9_000_000 * MS)
    }

    fn moment(self, ms: i64) -> Moment {
        let steady = 3_600_000 * MS + ms * MS;
        match self.sim_rate {
            Some(rate) => Moment::from_nanos(100_000 * MS + ms * MS * rate, steady),
            None => Moment::from_nanos(START + ms * MS, steady),
        }
    }

    fn input(self, topic: &str, stamp_ms: i64, received_ms: i64) -> InputInfo {
        InputInfo {
            topic: topic.into(),
            received: self.moment(received_ms),
            stamp: Some(Time::from_nanos(START + stamp_ms * MS)),
        }
    }

    /// All tags, in the order in which they were published: topic, publication, stamp, inputs.
    fn tags(self) -> Vec<(usize, i64, i64, Vec<InputInfo>)> {
        let mut tags = Vec::new();
        for cycle in 0..self.cycles {
            let at = cycle * 100;
            // Every tenth cycle is slower.
            let slow = if cycle % 10 == 9 { 15 } else { 0 };
            if self.lost != Some(cycle) {
                tags.push((0, at, at, vec![]));
            }
            let odom = if self.lost == Some(cycle) { 4 } else { 5 };
            for part in 0..odom {
                tags.push((1, at + part * 20, at + part * 20, vec![]));
            }
            if self.stuck == Some(cycle) {
                continue;
            }
            let filtered = at + 8 + slow;
            tags.push((2, filtered, at, vec![self.input("/points", at, at + 2)]));
            let fused = filtered + 2 + self.fusion_ms;
            let odom = at + (filtered + 2 - at) / 20 * 20;
            let inputs = vec![
                self.input("/filtered", at, filtered + 2),
                self.input("/odom", odom, odom + 1),
            ];
            tags.push((3, fused, at, inputs));
            tags.push((4, fused + 9, at, vec![self.input("/fused", at, fused + 1)]));
        }
        tags.sort_by_key(|(topic, published, ..)| (*published, *topic));
        tags
    }

    /// Writes the bag.
    pub(crate) fn record(self, path: &Path) {
        let mut writer = BagWriter::create(path, BagOptions::default()).unwrap();
        let topics: Vec<TopicId> = TOPICS
            .iter()
            .map(|topic| {
                let schema = Definitions::builtin().schema(TAG_TYPE).unwrap();
                let mut info = TopicInfo::new(tag_topic(topic), TAG_TYPE);
                info.type_description_hash = schema.type_hash().unwrap().to_string();
                info.definition = MessageDefinition {
                    encoding: "ros2msg".into(),
                    text: schema.ros2msg().unwrap(),
                };
                writer.add_topic(&info).unwrap()
            })
            .collect();
        let nodes = ["/lidar", "/wheels", "/filter", "/fusion", "/controller"];
        let mut numbers = [0; 5];
        for (topic, published, stamp, inputs) in self.tags() {
            let after_loss = self.lost.map(|cycle| cycle * 100 + 100);
            if topic < 2 && after_loss == Some(published) {
                numbers[topic] += 1;
                writer.lost_in_transport(topics[topic], 1, 0);
            }
            let mut tag = MessageTrackingTag {
                header_stamp: self.moment(published).ros,
                output: OutputInfo {
                    topic: TOPICS[topic].into(),
                    node: nodes[topic].into(),
                    sequence: numbers[topic],
                    published: self.moment(published),
                    stamp: Some(Time::from_nanos(START + stamp * MS)),
                },
                inputs,
            };
            if TOPICS[topic] == "/cmd" {
                tag.output.published = self.on_arm(tag.output.published);
                for input in &mut tag.inputs {
                    input.received = self.on_arm(input.received);
                }
            }
            numbers[topic] += 1;
            let log_time_ns = START + published * MS + MS / 2;
            let message = Message {
                topic: topics[topic],
                log_time_ns,
                publish_time_ns: START + published * MS,
                sequence: u32::try_from(numbers[topic]).unwrap(),
                data: &tag.encode(),
            };
            let outcome = writer.write(&[message], log_time_ns);
            assert!(outcome.is_ok());
        }
        for number in 0..self.broken {
            let log_time_ns = START + 60_000 * MS + i64::try_from(number).unwrap();
            let message = Message {
                topic: topics[2],
                log_time_ns,
                publish_time_ns: log_time_ns,
                sequence: 0,
                data: &[0, 1, 0, 0, 1, 2, 3],
            };
            assert!(writer.write(&[message], log_time_ns).is_ok());
        }
        let (_metadata, outcome) = writer.finish().unwrap();
        assert!(outcome.is_ok());
    }
}
