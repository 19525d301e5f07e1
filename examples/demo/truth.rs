//! The ground truth: every message that the robot published, as the robot itself recorded it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use timeloom_msg::Value;

use crate::Failure;

/// The topics of the pipeline, from the sensor on, with their types.
pub(crate) const TOPICS: [(&str, &str); 5] = [
    ("/scan", "sensor_msgs/msg/LaserScan"),
    ("/scan_filtered", "sensor_msgs/msg/LaserScan"),
    ("/imu", "sensor_msgs/msg/Imu"),
    ("/odometry", "nav_msgs/msg/Odometry"),
    ("/plan", "nav_msgs/msg/Path"),
];

/// One message that was published.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Published {
    /// The stamp in its header.
    pub(crate) stamp_ns: i64,
    /// For scans: the true time of their first point. For plans: the time that their scan took to get there.
    pub(crate) truth_ns: Option<i64>,
}

/// The lidar driver's own error estimate at the end, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DriverReport {
    /// The deviation of the error that varies.
    pub(crate) sigma_ns: i64,
    /// The earliest and the latest that a stamp can be: stamp minus truth.
    pub(crate) bias_ns: (i64, i64),
}

/// All messages by topic, in the order of publication.
#[derive(Debug, Default)]
pub(crate) struct Truth {
    pub(crate) published: BTreeMap<String, Vec<Published>>,
    /// None if the driver had no bounds from both sides.
    pub(crate) report: Option<DriverReport>,
}

/// Marks the line with the report of the driver, in place of a topic.
const REPORT: &str = "report";

impl Truth {
    pub(crate) fn of(&self, topic: &str) -> &[Published] {
        self.published.get(topic).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn write(&self, directory: &Path) -> Result<(), Failure> {
        let mut text = String::new();
        for (topic, messages) in &self.published {
            for message in messages {
                let truth = message
                    .truth_ns
                    .map_or(String::new(), |nanos| nanos.to_string());
                writeln!(text, "{topic},{},{truth}", message.stamp_ns)?;
            }
        }
        if let Some(report) = &self.report {
            let (early, late) = report.bias_ns;
            writeln!(text, "{REPORT},{},{early},{late}", report.sigma_ns)?;
        }
        Ok(std::fs::write(directory.join("truth.csv"), text)?)
    }

    pub(crate) fn read(directory: &Path) -> Result<Self, Failure> {
        let text = std::fs::read_to_string(directory.join("truth.csv"))?;
        let mut truth = Self::default();
        for line in text.lines() {
            let mut cells = line.split(',');
            if let [REPORT, sigma, early, late] = cells.clone().collect::<Vec<_>>()[..] {
                truth.report = Some(DriverReport {
                    sigma_ns: sigma.parse()?,
                    bias_ns: (early.parse()?, late.parse()?),
                });
                continue;
            }
            let (Some(topic), Some(stamp)) = (cells.next(), cells.next()) else {
                return Err(format!("a strange line in truth.csv: {line}").into());
            };
            let published = Published {
                stamp_ns: stamp.parse()?,
                truth_ns: cells
                    .next()
                    .filter(|cell| !cell.is_empty())
                    .map(str::parse)
                    .transpose()?,
            };
            truth
                .published
                .entry(topic.to_owned())
                .or_default()
                .push(published);
        }
        Ok(truth)
    }
}

/// The stamp of a message with a header.
pub(crate) fn stamp_of(message: &Value) -> Option<i64> {
    let part = |name| message.get(name).and_then(|value| value.as_i64());
    Some(part("header.stamp.sec")? * 1_000_000_000 + part("header.stamp.nanosec")?)
}

/// Gives a message with a header its stamp.
pub(crate) fn set_stamp(message: &mut Value, nanos: i64) -> Result<(), Failure> {
    let second = i32::try_from(nanos.div_euclid(1_000_000_000))?;
    let rest = u32::try_from(nanos.rem_euclid(1_000_000_000))?;
    message.set("header.stamp.sec", Value::Int32(second))?;
    message.set("header.stamp.nanosec", Value::Uint32(rest))?;
    Ok(())
}
