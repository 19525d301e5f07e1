//! The tags of a robot like Autoware: 29 topics, from sensors to commands.

use std::collections::HashMap;
use std::ops::Range;

use timeloom_time::Time;
use timeloom_trace::{InputInfo, MessageTrackingTag, Moment, OutputInfo};

const MS: i64 = 1_000_000;

/// Topic, messages per cycle, time of publication in the cycle, and inputs.
type Stage = (&'static str, i64, i64, &'static [&'static str]);

#[rustfmt::skip]
const STAGES: &[Stage] = &[
    ("/sensing/lidar/top/raw", 1, 0, &[]),
    ("/sensing/lidar/left/raw", 1, 1, &[]),
    ("/sensing/lidar/right/raw", 1, 2, &[]),
    ("/sensing/lidar/rear/raw", 1, 3, &[]),
    ("/sensing/imu/raw", 10, 0, &[]),
    ("/sensing/gnss/pose", 1, 4, &[]),
    ("/vehicle/velocity", 5, 0, &[]),
    ("/sensing/camera/0/image", 1, 5, &[]),
    ("/sensing/lidar/top/cropped", 1, 8, &["/sensing/lidar/top/raw"]),
    ("/sensing/lidar/left/cropped", 1, 8, &["/sensing/lidar/left/raw"]),
    ("/sensing/lidar/right/cropped", 1, 9, &["/sensing/lidar/right/raw"]),
    ("/sensing/lidar/rear/cropped", 1, 9, &["/sensing/lidar/rear/raw"]),
    ("/sensing/imu/data", 10, 1, &["/sensing/imu/raw"]),
    ("/localization/twist", 5, 2, &["/sensing/imu/data", "/vehicle/velocity"]),
    ("/sensing/lidar/concatenated", 1, 20, &["/sensing/lidar/top/cropped", "/sensing/lidar/left/cropped",
        "/sensing/lidar/right/cropped", "/sensing/lidar/rear/cropped"]),
    ("/localization/downsampled", 1, 25, &["/sensing/lidar/concatenated"]),
    ("/localization/ndt_pose", 1, 33, &["/localization/downsampled", "/sensing/gnss/pose"]),
    ("/localization/kinematic_state", 1, 36, &["/localization/ndt_pose", "/localization/twist"]),
    ("/perception/no_ground", 1, 30, &["/sensing/lidar/concatenated"]),
    ("/perception/clusters", 1, 38, &["/perception/no_ground"]),
    ("/perception/rois", 1, 39, &["/sensing/camera/0/image"]),
    ("/perception/detected", 1, 50, &["/perception/clusters", "/perception/rois"]),
    ("/perception/tracked", 1, 55, &["/perception/detected", "/localization/kinematic_state"]),
    ("/perception/predicted", 1, 60, &["/perception/tracked"]),
    ("/planning/path", 1, 70, &["/perception/predicted", "/localization/kinematic_state"]),
    ("/planning/trajectory", 1, 78, &["/planning/path"]),
    ("/control/lateral", 1, 82, &["/planning/trajectory"]),
    ("/control/longitudinal", 1, 83, &["/planning/trajectory"]),
    ("/control/cmd", 1, 85, &["/control/lateral", "/control/longitudinal"]),
];

#[derive(Default)]
pub(crate) struct Robot {
    sequences: HashMap<&'static str, i64>,
    latest: HashMap<&'static str, (i64, i64)>,
}

fn at(ms: i64) -> Moment {
    Moment::from_nanos(1_700_000_000_000 * MS + ms * MS, 9_000_000 * MS + ms * MS)
}

fn tag(topic: &str, sequence: i64, published: i64, inputs: Vec<InputInfo>) -> (i64, Vec<u8>) {
    let tag = MessageTrackingTag {
        header_stamp: at(published).ros,
        output: OutputInfo {
            topic: topic.to_owned(),
            node: format!("/node{topic}"),
            sequence,
            published: at(published),
            stamp: Some(Time::from_nanos(published * MS)),
        },
        inputs,
    };
    (published * MS, tag.encode())
}

fn input(topic: &str, stamp: i64, received: i64) -> InputInfo {
    InputInfo {
        topic: topic.to_owned(),
        received: at(received),
        stamp: Some(Time::from_nanos(stamp * MS)),
    }
}

impl Robot {
    /// The tags of these cycles of 100 ms in the order of publication, with their arrivals.
    pub(crate) fn tags(&mut self, cycles: Range<i64>) -> Vec<(i64, Vec<u8>)> {
        let mut tags = Vec::new();
        for cycle in cycles {
            let mut events: Vec<(i64, &Stage)> = Vec::new();
            for stage in STAGES {
                let (_, often, when, _) = *stage;
                events.extend(
                    (0..often).map(|part| (cycle * 100 + when + part * 100 / often, stage)),
                );
            }
            events.sort_by_key(|(published, _)| *published);
            for (published, (topic, _, _, from)) in events {
                let inputs = from.iter().filter_map(|from| {
                    let (stamp, sent) = self.latest.get(from)?;
                    Some(input(from, *stamp, sent + 1))
                });
                let inputs = inputs.collect();
                let sequence = self.sequences.entry(topic).or_default();
                tags.push(tag(topic, *sequence, published, inputs));
                *sequence += 1;
                self.latest.insert(topic, (published, published));
            }
        }
        tags
    }
}

/// One cycle through a chain of sixteen diamonds.
pub(crate) fn diamond(cycle: i64) -> Vec<(i64, Vec<u8>)> {
    let start = cycle * 100;
    let mut tags = vec![tag("/t0", cycle, start, vec![])];
    for level in 0..16 {
        let (now, next) = (start + level * 2 + 1, start + level * 2 + 2);
        let top = format!("/t{level}");
        let made = || vec![input(&top, start + level * 2, now)];
        let (left, right) = (format!("/l{level}"), format!("/r{level}"));
        tags.push(tag(&left, cycle, now, made()));
        tags.push(tag(&right, cycle, now, made()));
        let both = vec![input(&left, now, next), input(&right, now, next)];
        tags.push(tag(&format!("/t{}", level + 1), cycle, next, both));
    }
    tags
}
