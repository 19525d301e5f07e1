use std::sync::Arc;

use timeloom_msg::QosProfile;
use timeloom_pf::{Lidar, LidarSink, LidarStatus};
use timeloom_time::{BaseThread, CancelToken, Clock, Steady, WaitOptions};

use super::diagnostics::{Diagnostics, Subject};
use super::lidar_options::LidarOptions;
use super::parameters;
use super::scan_publisher::ScanPublisher;
use crate::{Error, Result, RosNode, Severity, TypedPublisher};

const ARRAY: &str = "diagnostic_msgs/msg/DiagnosticArray";

/// A lidar as a ROS node, until it is dropped.
///
/// It publishes scans with the time of their first point, the headers of the packets and `/diagnostics`; its
/// parameters are those of the vendor's driver. The relation of the clocks is estimated on the steady clock: when ROS
/// time jumps, stamps follow and the estimate stays as it is.
pub struct LidarNode {
    inside: Arc<Inside>,
    // Dropped before the node's publishers are.
    diagnostics: Option<BaseThread<()>>,
    stop: CancelToken,
}

struct Inside {
    node: RosNode,
    options: LidarOptions,
    publisher: Arc<ScanPublisher>,
    lidar: Lidar,
    steady: Clock<Steady>,
}

impl LidarNode {
    /// Makes a lidar's node of `node`: declares the parameters and starts; returns at once, whether the device can be
    /// reached or not.
    ///
    /// # Errors
    /// When a parameter has a value that cannot be, or the middleware refuses something.
    pub fn new(node: &RosNode, options: LidarOptions) -> Result<Self> {
        let options = parameters::declare(node, options)?;
        let base = node.participant().time_base();
        let publisher = Arc::new(ScanPublisher::new(node, &options)?);
        let sink: Arc<dyn LidarSink> = Arc::clone(&publisher) as Arc<dyn LidarSink>;
        let array = node.publisher("/diagnostics", ARRAY, QosProfile::DEFAULT)?;
        let mut makes = Diagnostics::new()?;
        let lidar = Lidar::start(options.settings.clone(), &base, sink)?;
        let inside = Arc::new(Inside {
            node: node.clone(),
            options,
            publisher,
            lidar,
            steady: Clock::on(&base),
        });
        let stop = CancelToken::new();
        let (of, token) = (Arc::clone(&inside), stop.clone());
        let thread = base.spawn("lidar_diagnostics", move || {
            of.diagnose(&mut makes, &array, &token);
        });
        Ok(Self {
            inside,
            diagnostics: Some(thread.map_err(Error::Thread)?),
            stop,
        })
    }

    /// How the lidar is now.
    pub fn status(&self) -> LidarStatus {
        self.inside.lidar.status()
    }

    /// The options, as the parameters have them.
    pub fn options(&self) -> &LidarOptions {
        &self.inside.options
    }

    /// Scans that were published.
    pub fn published(&self) -> u64 {
        self.inside.publisher.published().scans
    }

    /// Scans that were left out, and scans and headers that could not be published.
    pub fn unpublished(&self) -> u64 {
        let published = self.inside.publisher.published();
        published.failed + published.incomplete_dropped
    }
}

impl Drop for LidarNode {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.diagnostics.take() {
            let _panicked = thread.join();
        }
    }
}

impl std::fmt::Debug for LidarNode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "LidarNode({}, {:?})",
            self.inside.node.name(),
            self.inside.lidar
        )
    }
}

impl Inside {
    /// Publishes `/diagnostics` until it is told to stop.
    fn diagnose(&self, makes: &mut Diagnostics, array: &TypedPublisher, stop: &CancelToken) {
        let wait = WaitOptions::new().cancel(stop);
        let mut failed = false;
        while self
            .steady
            .sleep_for_with(self.options.diagnostics_period, &wait)
            .is_reached()
        {
            let sent = self.publish_diagnostics(makes, array);
            if let Some(error) = sent.err().filter(|_| !failed) {
                failed = true;
                let text = format!("/diagnostics could not be published: {error}");
                self.node.log(Severity::Error, &text);
            }
        }
    }

    fn publish_diagnostics(&self, makes: &mut Diagnostics, array: &TypedPublisher) -> Result<()> {
        let now = self.steady.now();
        let subject = Subject {
            node: self.node.name().name(),
            host: &self.options.settings.host,
            method: self.options.settings.timesync.method.name(),
            status: &self.lidar.status(),
            published: self.publisher.published(),
            now: (self.publisher.ros_time(now), now),
        };
        let mut message = array.message()?;
        makes.fill(&mut message, &subject)?;
        array.publish(&message)?;
        Ok(())
    }
}
