//! Publishes the driver's scans, packet headers and events.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use timeloom_msg::QosProfile;
use timeloom_node::{RosNode, Severity, TypedPublisher};
use timeloom_pf::{Arrival, DeviceInfo, Header, LidarEvent, LidarSink, Scan, ScanStamp};
use timeloom_sync::ClockPair;
use timeloom_time::sync::{Mutex, MutexGuard, lock};
use timeloom_time::{Clock, Reading, Ros, SourceState, Steady, Time};

use crate::Result;
use crate::layer_frames::LayerFrames;
use crate::lidar_options::{Incomplete, LidarOptions};
use crate::messages::{Messages, R2000, R2300, SCAN, ScanContext};
use crate::point_cloud::{CLOUD, PointCloud};
use crate::publish_queue::{Job, PublishQueue, Pushed};
use crate::ros_timeline::RosTimeline;

/// As the vendor's driver publishes the scans of layers and their cloud.
const LAYER_QOS: QosProfile = QosProfile {
    depth: 100,
    ..QosProfile::DEFAULT
};
const CLOUD_QOS: QosProfile = QosProfile {
    depth: 1,
    ..QosProfile::DEFAULT
};
/// No device has more layers.
const MOST_LAYERS: u16 = 16;

/// Counts of published and unpublished messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Published {
    pub(crate) scans: u64,
    pub(crate) incomplete_dropped: u64,
    pub(crate) failed: u64,
    /// Scans and headers that the full queue did not take.
    pub(crate) dropped: u64,
}

impl Published {
    /// All that was not published.
    pub(crate) const fn missing(&self) -> u64 {
        self.incomplete_dropped + self.failed + self.dropped
    }
}

/// Publishes scans, clouds and headers on the publishing thread.
pub(crate) struct ScanPublisher {
    node: RosNode,
    messages: Messages,
    options: LidarOptions,
    ros: Clock<Ros>,
    steady: Clock<Steady>,
    /// Scans that the device skips after each.
    skip_scans: AtomicU16,
    state: Mutex<State>,
    /// The cloud and frames of a device with layers; none for others.
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
    /// Publishes on a node. Topics are created when the device is identified; the topic of an expected R2000 is created
    /// at once.
    pub(crate) fn new(node: &RosNode, options: &LidarOptions) -> Result<Self> {
        let publisher = Self {
            node: node.clone(),
            messages: Messages::new()?,
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
                "parameter device is {expected}, but the device is a {}",
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
        let mut layers = lock(&self.layers);
        if layers.is_none() {
            *layers = Some(LayerOutput {
                publisher: self.node.publisher(&self.options.topic, CLOUD, CLOUD_QOS)?,
                cloud: PointCloud::new(self.options.layers)?,
                frames: LayerFrames::new(&self.node, &self.options.frame_id)?,
            });
        }
        Ok(())
    }

    /// Sets how many scans the device skips after each.
    pub(crate) fn set_skip_scans(&self, skip_scans: u16) {
        self.skip_scans.store(skip_scans, Ordering::Relaxed);
    }

    pub(crate) fn published(&self) -> Published {
        self.state().published
    }

    /// A steady time on the node's clock, never negative: a jump of that clock touches nothing but this.
    pub(crate) fn ros_time(&self, steady: Time<Steady>) -> Time<Ros> {
        let reading = Reading::take(&self.steady, &self.ros);
        let pair = ClockPair::new(reading.after(), reading.other());
        pair.from_steady(steady).max(Time::from_nanos(0))
    }

    /// The time of the node's clock at a past moment.
    fn stamp(&self, steady: Time<Steady>) -> Time<Ros> {
        if self.ros.source_state() == SourceState::Inactive {
            return self.ros_time(steady);
        }
        self.see_ros_time();
        self.timeline().stamp(steady)
    }

    /// Remembers the current time of a simulated clock.
    fn see_ros_time(&self) {
        if self.ros.source_state() == SourceState::Active {
            let now = self.steady.now();
            let (ros, epoch) = (self.ros.now(), self.ros.epoch());
            self.timeline().see(now, ros, epoch);
        }
    }

    fn timeline(&self) -> MutexGuard<'_, RosTimeline> {
        lock(&self.timeline)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    fn publish_scan(&self, scan: &Scan, stamp: &ScanStamp) -> Result<()> {
        let layer = self.layer_of(scan);
        let publisher = self.publisher_of(layer)?;
        let frame = named(&self.options.frame_id, layer);
        let device = self.state().device.clone();
        let layers = layer.and(device.layer_count).unwrap_or(1);
        let stamp = self.stamp(stamp.host);
        let context = ScanContext {
            stamp,
            frame_id: &frame,
            device: &device,
            every: layers * (u64::from(self.skip_scans.load(Ordering::Relaxed)) + 1),
        };
        publisher.publish(&self.messages.scan(scan, &context))?;
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
        let mut layers = lock(&self.layers);
        let Some(output) = layers.as_mut() else {
            return Ok(());
        };
        let inclination = scan.header.layer.map_or(0, |layer| layer.inclination);
        let frame = named(&self.options.frame_id, Some(layer));
        let now = self.ros_time(self.steady.now());
        output.frames.note(&frame, inclination, now)?;
        for turn in output.cloud.add(scan, layer, stamp, device) {
            let header = self.messages.header(turn.stamp, &self.options.frame_id);
            output
                .publisher
                .publish(&output.cloud.message(header, &turn))?;
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
        let (topic, type_name) = if header.layer.is_some() {
            ("r2300_header", R2300)
        } else {
            ("r2000_header", R2000)
        };
        let known = self.state().headers.get(topic).cloned();
        let publisher = if let Some(publisher) = known {
            publisher
        } else {
            let made = self.node.publisher(topic, type_name, QosProfile::DEFAULT)?;
            self.state().headers.insert(topic, made.clone());
            made
        };
        if publisher.wire().matched() > 0 {
            publisher.publish(&self.messages.packet_header(header))?;
        }
        Ok(())
    }

    /// Publishes a scan or a header.
    pub(crate) fn publish(&self, job: Job) {
        match job {
            Job::Header(header) => {
                if let Err(error) = self.publish_header(&header) {
                    self.fail("a packet header", &error);
                }
            }
            Job::Scan(scan, stamp) => match self.publish_scan(&scan, &stamp) {
                Ok(()) => self.state().published.scans += 1,
                Err(error) => self.fail("a scan", &error),
            },
        }
    }

    /// Counts messages that could not be published, and logs the first.
    fn fail(&self, what: &str, error: &crate::Error) {
        let first = {
            let mut state = self.state();
            state.published.failed += 1;
            state.published.failed == 1
        };
        if first {
            let text = format!("failed to publish {what}: {error}");
            self.node.log(Severity::Error, &text);
        }
    }
}

/// Hands what the driver brings to the publishing thread.
pub(crate) struct ScanSink {
    pub(crate) publisher: Arc<ScanPublisher>,
    pub(crate) queue: Arc<PublishQueue>,
}

impl ScanSink {
    fn push(&self, job: Job) {
        if self.queue.push(job) != Pushed::Dropped {
            return;
        }
        let dropped = {
            let mut state = self.publisher.state();
            state.published.dropped += 1;
            state.published.dropped
        };
        if dropped == 1 {
            let text = "publishing is too slow: scans or packet headers are dropped";
            self.publisher.node.log(Severity::Warn, text);
        }
    }
}

impl LidarSink for ScanSink {
    fn device(&self, device: &DeviceInfo) {
        self.publisher.state().device = device.clone();
        if let Err(error) = self.publisher.prepare(device) {
            self.publisher.fail("the topics of the device", &error);
        }
    }

    fn packet(&self, header: &Header, _arrival: Arrival) {
        self.publisher.see_ros_time();
        if self.publisher.options.headers {
            self.push(Job::Header(*header));
        }
    }

    fn scan(&self, scan: Scan, stamp: ScanStamp) {
        if !scan.is_complete() && self.publisher.options.incomplete == Incomplete::Drop {
            self.publisher.state().published.incomplete_dropped += 1;
            return;
        }
        self.push(Job::Scan(scan, stamp));
    }

    fn event(&self, event: &LidarEvent) {
        let severity = match event.severity() {
            timeloom_pf::Severity::Normal => Severity::Info,
            timeloom_pf::Severity::Warning => Severity::Warn,
            timeloom_pf::Severity::Error => Severity::Error,
        };
        self.publisher.node.log(severity, &event.to_string());
    }
}

/// The name of a layer's topic or frame: layers are counted from one in names, and from zero by the device.
fn named(name: &str, layer: Option<u16>) -> String {
    layer.map_or_else(|| name.to_owned(), |layer| format!("{name}_{}", layer + 1))
}
