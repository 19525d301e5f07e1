//! What becomes of the driver's scans, packets and events.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use timeloom_msg::QosProfile;
use timeloom_pf::{Arrival, DeviceInfo, Header, LidarEvent, LidarSink, Scan, ScanStamp};
use timeloom_sync::ClockPair;
use timeloom_time::{Clock, Ros, Steady, Time};

use super::lidar_options::{Incomplete, LidarOptions};
use super::messages::{Surroundings, fill_header, fill_scan};
use crate::{Result, RosNode, Severity, TypedPublisher};

const SCAN: &str = "sensor_msgs/msg/LaserScan";
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
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    device: DeviceInfo,
    scans: BTreeMap<Option<u16>, TypedPublisher>,
    headers: BTreeMap<&'static str, TypedPublisher>,
    published: Published,
}

impl ScanPublisher {
    /// Publishes on a node; the usual topic is there from the start.
    pub(super) fn new(node: &RosNode, options: &LidarOptions) -> Result<Self> {
        let publisher = Self {
            node: node.clone(),
            options: options.clone(),
            ros: node.clock(),
            steady: Clock::on(&node.participant().time_base()),
            state: Mutex::default(),
        };
        publisher.publisher_of(None)?;
        Ok(publisher)
    }

    pub(super) fn published(&self) -> Published {
        self.state().published
    }

    /// A steady time on the node's clock, as it is now: a jump of that clock touches nothing but this.
    pub(super) fn ros_time(&self, steady: Time<Steady>) -> Time<Ros> {
        let before = self.steady.now();
        let ros = self.ros.now();
        ClockPair::between(before, ros, self.steady.now()).from_steady(steady)
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
        let around = Surroundings {
            stamp: self.ros_time(stamp.host),
            frame_id: &frame,
            device: &device,
            every: layers * (u64::from(self.options.settings.skip_scans) + 1),
        };
        fill_scan(&mut message, scan, &around)?;
        publisher.publish(&message)?;
        Ok(())
    }

    /// The layer, of a device with several.
    fn layer_of(&self, scan: &Scan) -> Option<u16> {
        let several = self
            .state()
            .device
            .layer_count
            .is_some_and(|count| count > 1);
        let layer = scan.header.layer.filter(|_| several)?;
        Some(layer.index.min(MOST_LAYERS))
    }

    fn publisher_of(&self, layer: Option<u16>) -> Result<TypedPublisher> {
        if let Some(known) = self.state().scans.get(&layer) {
            return Ok(known.clone());
        }
        let topic = named(&self.options.topic, layer);
        let made = self.node.publisher(&topic, SCAN, self.options.qos)?;
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
    fn packet(&self, header: &Header, _arrival: Arrival) {
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
        if let LidarEvent::Connected(device) = event {
            self.state().device = device.clone();
        }
        let severity = match event.severity() {
            timeloom_pf::Severity::Normal => Severity::Info,
            timeloom_pf::Severity::Warning => Severity::Warn,
            timeloom_pf::Severity::Error => Severity::Error,
        };
        self.node.log(severity, &event.to_string());
    }
}

fn named(name: &str, layer: Option<u16>) -> String {
    layer.map_or_else(|| name.to_owned(), |layer| format!("{name}_{layer}"))
}
