//! What becomes of the driver's scans, packets and events.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use timeloom_msg::QosProfile;
use timeloom_pf::{Arrival, DeviceInfo, Header, LidarEvent, LidarSink, Scan, ScanStamp};
use timeloom_sync::ClockPair;
use timeloom_time::{Clock, Reading, Ros, SourceState, Steady, Time};

use super::layer_frames::LayerFrames;
use super::lidar_options::{Incomplete, LidarOptions};
use super::messages::{Surroundings, fill_header, fill_scan};
use super::point_cloud::PointCloud;
use super::ros_timeline::RosTimeline;
use crate::{Result, RosNode, Severity, TypedPublisher};

const SCAN: &str = "sensor_msgs/msg/LaserScan";
const CLOUD: &str = "sensor_msgs/msg/PointCloud2";
/// As the vendor's driver publishes the scans of layers and their cloud.
const LAYER_QOS: QosProfile = QosProfile {
    depth: 100,
    ..QosProfile::DEFAULT
};
const CLOUD_QOS: QosProfile = QosProfile {
    depth: 1,
    ..QosProfile::DEFAULT
};
const R2000: (&str, &str) = ("r2000_header", "pf_interfaces/msg/PFR2000Header");
const R2300: (&str, &str) = ("r2300_header", "pf_interfaces/msg/PFR2300Header");
/// No device has more layers; packets that say so are wrong.
const MOST_LAYERS: u16 = 16;

/// What was published, and what was not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Published {
    pub(super) scans: u64,
    pub(super) incomplete_dropped: u64,
    pub(super) failed: u64,
}

/// Publishes what a lidar gives.
pub(super) struct ScanPublisher {
    node: RosNode,
    options: LidarOptions,
    ros: Clock<Ros>,
    steady: Clock<Steady>,
    /// Scans that the device leaves out after each; it may be changed.
    skip_scans: AtomicU16,
    state: Mutex<State>,
    /// What a device with layers has besides scans; none for others.
    layers: Mutex<Option<LayerOutput>>,
    timeline: Mutex<RosTimeline>,
}

#[derive(Default)]
struct State {
    device: DeviceInfo,
    scans: BTreeMap<Option<u16>, TypedPublisher>,
    headers: BTreeMap<&'static str, TypedPublisher>,
    published: Published,
}

/// The cloud of all layers, and their frames.
struct LayerOutput {
    publisher: TypedPublisher,
    cloud: PointCloud,
    frames: LayerFrames,
}

impl ScanPublisher {
    /// Publishes on a node. Topics are there when the device has told what it is; if an R2000 is expected, its topic is
    /// there at once.
    pub(super) fn new(node: &RosNode, options: &LidarOptions) -> Result<Self> {
        let publisher = Self {
            node: node.clone(),
            options: options.clone(),
            ros: node.clock(),
            steady: Clock::on(&node.participant().time_base()),
            skip_scans: AtomicU16::new(options.settings.skip_scans),
            state: Mutex::default(),
            layers: Mutex::default(),
            timeline: Mutex::default(),
        };
        if publisher.options.device.contains("R2000") {
            publisher.publisher_of(None)?;
        }
        Ok(publisher)
    }

    /// Makes the publishers that a device needs.
    fn prepare(&self, device: &DeviceInfo) -> Result<()> {
        let expected = &self.options.device;
        if !device.product.contains(expected.as_str()) {
            let text = format!(
                "the parameter device is {expected}, but a {} has answered",
                device.product
            );
            self.node.log(Severity::Warn, &text);
        }
        if !device.has_layers() {
            self.publisher_of(None)?;
            return Ok(());
        }
        for layer in 0..device.layer_count.unwrap_or(0).min(u64::from(MOST_LAYERS)) {
            self.publisher_of(u16::try_from(layer).ok())?;
        }
        let mut layers = self.layers.lock().unwrap_or_else(PoisonError::into_inner);
        if layers.is_none() {
            *layers = Some(LayerOutput {
                publisher: self.node.publisher(&self.options.topic, CLOUD, CLOUD_QOS)?,
                cloud: PointCloud::new(self.options.layers)?,
                frames: LayerFrames::new(&self.node, &self.options.frame_id)?,
            });
        }
        Ok(())
    }

    /// The device leaves out so many scans after each, from now on.
    pub(super) fn set_skip_scans(&self, skip_scans: u16) {
        self.skip_scans.store(skip_scans, Ordering::Relaxed);
    }

    pub(super) fn published(&self) -> Published {
        self.state().published
    }

    /// A steady time on the node's clock, never negative: a jump of that clock touches nothing but this.
    pub(super) fn ros_time(&self, steady: Time<Steady>) -> Time<Ros> {
        let reading = Reading::take(&self.steady, &self.ros);
        let pair = ClockPair::new(reading.after(), reading.other());
        pair.from_steady(steady).max(Time::from_nanos(0))
    }

    /// What the node's clock showed at a moment of the past.
    fn stamp(&self, steady: Time<Steady>) -> Time<Ros> {
        if self.ros.source_state() == SourceState::Inactive {
            return self.ros_time(steady);
        }
        self.see_ros_time();
        self.timeline().stamp(steady)
    }

    /// Remembers what a simulated clock shows now.
    fn see_ros_time(&self) {
        if self.ros.source_state() == SourceState::Active {
            let now = self.steady.now();
            let (ros, epoch) = (self.ros.now(), self.ros.epoch());
            self.timeline().see(now, ros, epoch);
        }
    }

    fn timeline(&self) -> MutexGuard<'_, RosTimeline> {
        self.timeline.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn publish_scan(&self, scan: &Scan, stamp: &ScanStamp) -> Result<()> {
        let layer = self.layer_of(scan);
        let publisher = self.publisher_of(layer)?;
        let mut message = publisher.message()?;
        let frame = named(&self.options.frame_id, layer);
        let device = self.state().device.clone();
        let layers = layer.and(device.layer_count).unwrap_or(1);
        let stamp = self.stamp(stamp.host);
        let around = Surroundings {
            stamp,
            frame_id: &frame,
            device: &device,
            every: layers * (u64::from(self.skip_scans.load(Ordering::Relaxed)) + 1),
        };
        fill_scan(&mut message, scan, &around)?;
        publisher.publish(&message)?;
        if let Some(layer) = layer {
            self.publish_layer(scan, layer, stamp, &device)?;
        }
        Ok(())
    }

    /// The layer's part of the cloud, and its frame.
    fn publish_layer(
        &self,
        scan: &Scan,
        layer: u16,
        stamp: Time<Ros>,
        device: &DeviceInfo,
    ) -> Result<()> {
        let mut layers = self.layers.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(output) = layers.as_mut() else {
            return Ok(());
        };
        let inclination = scan.header.layer.map_or(0, |layer| layer.inclination);
        let frame = named(&self.options.frame_id, Some(layer));
        let now = self.ros_time(self.steady.now());
        output.frames.see(&frame, inclination, now)?;
        for turn in output.cloud.add(scan, layer, stamp, device) {
            let mut message = output.publisher.message()?;
            output
                .cloud
                .fill(&mut message, &turn, &self.options.frame_id)?;
            output.publisher.publish(&message)?;
        }
        Ok(())
    }

    /// The layer, of a device with several.
    fn layer_of(&self, scan: &Scan) -> Option<u16> {
        let several = self.state().device.has_layers();
        let layer = scan.header.layer.filter(|_| several)?;
        Some(layer.index.min(MOST_LAYERS))
    }

    fn publisher_of(&self, layer: Option<u16>) -> Result<TypedPublisher> {
        if let Some(known) = self.state().scans.get(&layer) {
            return Ok(known.clone());
        }
        let topic = named(&self.options.topic, layer);
        let qos = layer.map_or(self.options.qos, |_| LAYER_QOS);
        let made = self.node.publisher(&topic, SCAN, qos)?;
        self.state().scans.insert(layer, made.clone());
        Ok(made)
    }

    fn publish_header(&self, header: &Header) -> Result<()> {
        let (topic, type_name) = if header.layer.is_some() { R2300 } else { R2000 };
        let known = self.state().headers.get(topic).cloned();
        let publisher = if let Some(publisher) = known {
            publisher
        } else {
            let made = self.node.publisher(topic, type_name, QosProfile::DEFAULT)?;
            self.state().headers.insert(topic, made.clone());
            made
        };
        // Nobody pays for what nobody reads.
        if publisher.wire().matched() == 0 {
            return Ok(());
        }
        let mut message = publisher.message()?;
        fill_header(&mut message, header)?;
        publisher.publish(&message)?;
        Ok(())
    }

    /// Counts what could not be published; the first of many is told.
    fn fail(&self, what: &str, error: &crate::Error) {
        let first = {
            let mut state = self.state();
            state.published.failed += 1;
            state.published.failed == 1
        };
        if first {
            let text = format!("{what} could not be published: {error}");
            self.node.log(Severity::Error, &text);
        }
    }
}

impl LidarSink for ScanPublisher {
    fn device(&self, device: &DeviceInfo) {
        self.state().device = device.clone();
        if let Err(error) = self.prepare(device) {
            self.fail("what the device offers", &error);
        }
    }

    fn packet(&self, header: &Header, _arrival: Arrival) {
        self.see_ros_time();
        if self.options.headers
            && let Err(error) = self.publish_header(header)
        {
            self.fail("a header", &error);
        }
    }

    fn scan(&self, scan: &Scan, stamp: &ScanStamp) {
        if !scan.is_complete() && self.options.incomplete == Incomplete::Drop {
            self.state().published.incomplete_dropped += 1;
            return;
        }
        match self.publish_scan(scan, stamp) {
            Ok(()) => self.state().published.scans += 1,
            Err(error) => self.fail("a scan", &error),
        }
    }

    fn event(&self, event: &LidarEvent) {
        let severity = match event.severity() {
            timeloom_pf::Severity::Normal => Severity::Info,
            timeloom_pf::Severity::Warning => Severity::Warn,
            timeloom_pf::Severity::Error => Severity::Error,
        };
        self.node.log(severity, &event.to_string());
    }
}

/// The name of a layer's topic or frame: layers are counted from one in names, and from zero by the device.
fn named(name: &str, layer: Option<u16>) -> String {
    layer.map_or_else(|| name.to_owned(), |layer| format!("{name}_{}", layer + 1))
}
