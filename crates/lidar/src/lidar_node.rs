use std::collections::BTreeSet;
use std::sync::{Arc, Weak};

use timeloom_msg::QosProfile;
use timeloom_node::{ParameterValue, RosNode, Service, Severity, TypedPublisher};
use timeloom_pf::{Lidar, LidarSink, LidarStatus};
use timeloom_time::sync::{Mutex, MutexGuard, lock};
use timeloom_time::{BaseThread, CancelToken, Clock, Steady, WaitOptions};

use crate::diagnostics::{Diagnostics, Subject};
use crate::lidar_options::LidarOptions;
use crate::parameters;
use crate::publish_queue::{self, PublishQueue};
use crate::scan_publisher::{ScanPublisher, ScanSink};
use crate::services;
use crate::{Error, Result};

const ARRAY: &str = "diagnostic_msgs/msg/DiagnosticArray";
/// Scans and headers that wait for the publishing thread: a quarter of a second of the fastest device.
const QUEUE: usize = 256;

/// A lidar as a ROS node, until it is dropped.
///
/// It publishes scans with the time of their first point, packet headers and `/diagnostics`; for a device with layers
/// also a point cloud and static frames. Parameters and services are those of the vendor's driver. The clocks are
/// related on the steady clock: when ROS time jumps, stamps follow and the estimate does not change.
pub struct LidarNode {
    inside: Arc<Inside>,
    // Dropped before the node's publishers are.
    _services: Vec<Service>,
    queue: Arc<PublishQueue>,
    threads: Vec<BaseThread<()>>,
    stop: CancelToken,
}

struct Inside {
    node: RosNode,
    /// The options that the node was made with.
    asked: LidarOptions,
    current: Mutex<Current>,
    publisher: Arc<ScanPublisher>,
    lidar: Arc<Lidar>,
    steady: Clock<Steady>,
}

/// The options by the current parameters.
struct Current {
    options: LidarOptions,
    /// Parameters of the method that were set explicitly.
    given: BTreeSet<String>,
}

impl LidarNode {
    /// Declares the parameters on `node` and starts the driver; returns at once, whether the device can be reached or
    /// not.
    ///
    /// # Errors
    /// When a parameter has an invalid value, or the middleware refuses a publisher or service.
    pub fn new(node: &RosNode, options: LidarOptions) -> Result<Self> {
        let asked = options;
        let (options, given) = parameters::declare(node, &asked)?;
        let base = node.participant().time_base();
        let publisher = Arc::new(ScanPublisher::new(node, &options)?);
        let (queue, jobs) = PublishQueue::new(QUEUE);
        let queue = Arc::new(queue);
        let publishes = Arc::clone(&publisher);
        let publishing = publish_queue::start(&base, jobs, move |job| publishes.publish(job))?;
        let sink: Arc<dyn LidarSink> = Arc::new(ScanSink {
            publisher: Arc::clone(&publisher),
            queue: Arc::clone(&queue),
        });
        let array = node.publisher("/diagnostics", ARRAY, QosProfile::DEFAULT)?;
        let mut makes = Diagnostics::new()?;
        let lidar = Arc::new(Lidar::start(options.settings.clone(), &base, sink)?);
        let services = services::serve(node, &lidar)?;
        let inside = Arc::new(Inside {
            node: node.clone(),
            asked,
            current: Mutex::new(Current { options, given }),
            publisher,
            lidar,
            steady: Clock::on(&base),
        });
        Inside::follow_parameters(&inside);
        let stop = CancelToken::new();
        let (of, token) = (Arc::clone(&inside), stop.clone());
        let thread = base.spawn("lidar_diagnostics", move || {
            of.diagnose(&mut makes, &array, &token);
        });
        Ok(Self {
            inside,
            _services: services,
            queue,
            threads: vec![publishing, thread.map_err(Error::Thread)?],
            stop,
        })
    }

    /// The state of the driver and of the device's clock.
    pub fn status(&self) -> LidarStatus {
        self.inside.lidar.status()
    }

    /// The options by the current parameters.
    pub fn options(&self) -> LidarOptions {
        self.inside.current().options.clone()
    }

    /// The number of published scans.
    pub fn published(&self) -> u64 {
        self.inside.publisher.published().scans
    }

    /// The number of scans that were left out, and of scans and headers that could not be published.
    pub fn unpublished(&self) -> u64 {
        self.inside.publisher.published().missing()
    }
}

impl Drop for LidarNode {
    fn drop(&mut self) {
        self.stop.cancel();
        self.queue.close();
        for thread in self.threads.drain(..) {
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
    fn current(&self) -> MutexGuard<'_, Current> {
        lock(&self.current)
    }

    /// Checks changes of parameters before they are made, and applies them afterwards. The callbacks hold weak
    /// references, so that the node does not keep the driver alive.
    fn follow_parameters(this: &Arc<Self>) {
        let (checks, follows): (Weak<Self>, Weak<Self>) =
            (Arc::downgrade(this), Arc::downgrade(this));
        this.node.guard_parameters(move |changes| {
            let Some(inside) = checks.upgrade() else {
                return Ok(());
            };
            let changed = inside.changed(changes);
            changed.map(|_| ()).map_err(|error| error.to_string())
        });
        this.node.on_parameter_change(move |name, value| {
            if let Some(inside) = follows.upgrade() {
                inside.apply(name, value);
            }
        });
    }

    /// The options with these changes.
    fn changed(&self, changes: &[(String, ParameterValue)]) -> Result<Current> {
        let mut given = self.current().given.clone();
        given.extend(changes.iter().map(|(name, _)| name.clone()));
        let options = parameters::changed(&self.node, &self.asked, &given, changes)?;
        Ok(Current { options, given })
    }

    /// Applies a parameter that was set.
    fn apply(&self, name: &str, value: &ParameterValue) {
        if !parameters::WRITABLE.contains(&name) {
            return;
        }
        let applied = self
            .changed(&[(name.to_owned(), value.clone())])
            .and_then(|changed| {
                let settings = changed.options.settings.clone();
                self.publisher.set_skip_scans(settings.skip_scans);
                self.lidar.reconfigure(settings)?;
                *self.current() = changed;
                Ok(())
            });
        if let Err(error) = applied {
            let text = format!("parameter {name} was set but could not be applied: {error}");
            self.node.log(Severity::Error, &text);
        }
    }

    /// Publishes `/diagnostics` until `stop`.
    fn diagnose(&self, makes: &mut Diagnostics, array: &TypedPublisher, stop: &CancelToken) {
        let wait = WaitOptions::new().cancel(stop);
        let mut failed = false;
        while self
            .steady
            .sleep_for_with(self.asked.diagnostics_period, &wait)
            .is_reached()
        {
            let sent = self.publish_diagnostics(makes, array);
            if let Some(error) = sent.err().filter(|_| !failed) {
                failed = true;
                let text = format!("failed to publish /diagnostics: {error}");
                self.node.log(Severity::Error, &text);
            }
        }
    }

    fn publish_diagnostics(&self, makes: &mut Diagnostics, array: &TypedPublisher) -> Result<()> {
        let now = self.steady.now();
        let settings = self.current().options.settings.clone();
        let subject = Subject {
            node: self.node.name().name(),
            host: &settings.host,
            method: settings.timesync.method.name(),
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
