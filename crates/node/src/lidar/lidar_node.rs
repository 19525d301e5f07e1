use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use timeloom_msg::QosProfile;
use timeloom_pf::{Lidar, LidarSink, LidarStatus};
use timeloom_time::{BaseThread, CancelToken, Clock, Steady, WaitOptions};

use super::diagnostics::{Diagnostics, Subject};
use super::lidar_options::LidarOptions;
use super::parameters;
use super::scan_publisher::ScanPublisher;
use super::services;
use crate::{Error, ParameterValue, Result, RosNode, Service, Severity, TypedPublisher};

const ARRAY: &str = "diagnostic_msgs/msg/DiagnosticArray";

/// A lidar as a ROS node, until it is dropped.
///
/// It publishes scans with the time of their first point, the headers of the packets and `/diagnostics`; of a device with
/// layers also their cloud and their frames. Its parameters and its services are those of the vendor's driver. The relation of the clocks is estimated on the steady clock: when ROS
/// time jumps, stamps follow and the estimate stays as it is.
pub struct LidarNode {
    inside: Arc<Inside>,
    // Dropped before the node's publishers are.
    _services: Vec<Service>,
    diagnostics: Option<BaseThread<()>>,
    stop: CancelToken,
}

struct Inside {
    node: RosNode,
    /// What the node was made with.
    asked: LidarOptions,
    current: Mutex<Current>,
    publisher: Arc<ScanPublisher>,
    lidar: Arc<Lidar>,
    steady: Clock<Steady>,
}

/// What the parameters have come to.
struct Current {
    options: LidarOptions,
    /// Parameters of the method that somebody has set.
    given: BTreeSet<String>,
}

impl LidarNode {
    /// Makes a lidar's node of `node`: declares the parameters and starts; returns at once, whether the device can be
    /// reached or not.
    ///
    /// # Errors
    /// When a parameter has a value that cannot be, or the middleware refuses something.
    pub fn new(node: &RosNode, options: LidarOptions) -> Result<Self> {
        let asked = options;
        let (options, given) = parameters::declare(node, &asked)?;
        let base = node.participant().time_base();
        let publisher = Arc::new(ScanPublisher::new(node, &options)?);
        let sink: Arc<dyn LidarSink> = Arc::clone(&publisher) as Arc<dyn LidarSink>;
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
            diagnostics: Some(thread.map_err(Error::Thread)?),
            stop,
        })
    }

    /// How the lidar is now.
    pub fn status(&self) -> LidarStatus {
        self.inside.lidar.status()
    }

    /// The options, as the parameters have them now.
    pub fn options(&self) -> LidarOptions {
        self.inside.current().options.clone()
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
    fn current(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has changes of parameters checked before they are made, and obeyed when they are. The node keeps nothing alive by
    /// that but itself.
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
                inside.obey(name, value);
            }
        });
    }

    /// What the parameters would come to with these changes.
    fn changed(&self, changes: &[(String, ParameterValue)]) -> Result<Current> {
        let mut given = self.current().given.clone();
        given.extend(changes.iter().map(|(name, _)| name.clone()));
        let options = parameters::changed(&self.node, &self.asked, &given, changes)?;
        Ok(Current { options, given })
    }

    /// Obeys a parameter that was set.
    fn obey(&self, name: &str, value: &ParameterValue) {
        if !parameters::WRITABLE.contains(&name) {
            return;
        }
        let obeyed = self
            .changed(&[(name.to_owned(), value.clone())])
            .and_then(|changed| {
                let settings = changed.options.settings.clone();
                self.publisher.set_skip_scans(settings.skip_scans);
                self.lidar.reconfigure(settings)?;
                *self.current() = changed;
                Ok(())
            });
        if let Err(error) = obeyed {
            let text = format!("the parameter {name} was set, but not obeyed: {error}");
            self.node.log(Severity::Error, &text);
        }
    }

    /// Publishes `/diagnostics` until it is told to stop.
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
                let text = format!("/diagnostics could not be published: {error}");
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
