//! The nodes of the robot: an IMU, a filter of scans, a fusion of both that buffers, and a planner on a timer.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use timeloom_msg::value::Array;
use timeloom_msg::{Definitions, QosProfile, Value};
use timeloom_node::{
    NodeOptions, RosNode, TrackedNode, TrackedPublisher, TrackedSubscription, TrackedSynchronizer,
};
use timeloom_time::sync::lock;
use timeloom_time::{Clock, Duration, Event, Steady, System, Time, TimeBase};
use timeloom_trace::{InputSet, MatchRule, Used};
use timeloom_wire::Participant;

use crate::Failure;
use crate::truth::{set_stamp, stamp_of};

const SCAN: &str = "sensor_msgs/msg/LaserScan";
const IMU: &str = "sensor_msgs/msg/Imu";
const ODOMETRY: &str = "nav_msgs/msg/Odometry";
const PATH: &str = "nav_msgs/msg/Path";

const IMU_PERIOD: Duration = Duration::from_millis(10);
const PLAN_PERIOD: Duration = Duration::from_millis(100);
/// Largest time difference of a scan and its IMU message.
const NEAR: Duration = Duration::from_millis(12);

/// State shared by the nodes: the demo's own stopwatch, to check latencies against.
#[derive(Default)]
struct Notes {
    /// When the filter got the scan with this stamp.
    scans: BTreeMap<i64, Time<Steady>>,
    /// Input of the next plan: the newest odometry, and the stamp of its scan.
    newest: Option<(Used, i64)>,
    /// Time from the filter to the plan, by the stamp of the plan.
    plans: BTreeMap<i64, i64>,
    /// Times of scans from the filter to the planner, as odometry.
    odometry: Vec<i64>,
}

type Shared = Arc<Mutex<Notes>>;

/// The nodes, ready to run.
pub(crate) struct Pipeline {
    notes: Shared,
    imu: TrackedPublisher,
    plan: TrackedPublisher,
    _subscriptions: [TrackedSubscription; 2],
    _fusion: TrackedSynchronizer,
}

/// The threads of a pipeline; dropping it ends them.
pub(crate) struct Running(Event, Vec<JoinHandle<()>>);

impl Pipeline {
    pub(crate) fn new(participant: &Arc<dyn Participant>, tracked: bool) -> Result<Self, Failure> {
        let notes = Shared::default();
        let node = |name: &str| -> Result<TrackedNode, Failure> {
            let node = RosNode::new(Arc::clone(participant), NodeOptions::new(name))?;
            let node = TrackedNode::new(node)?;
            node.tracker().set_enabled(tracked);
            Ok(node)
        };
        let (filter, fusion, planner) = (node("filter")?, node("fusion")?, node("planner")?);
        let imu =
            node("imu_driver")?.create_tracked_publisher("/imu", IMU, QosProfile::SENSOR_DATA)?;
        let plan = planner.create_tracked_publisher("/plan", PATH, QosProfile::DEFAULT)?;
        Ok(Self {
            _subscriptions: [filtering(&filter, &notes)?, planning(&planner, &notes)?],
            _fusion: fusing(&fusion)?,
            notes,
            imu,
            plan,
        })
    }

    /// Lets the IMU and the planner run.
    pub(crate) fn start(&self) -> Running {
        let stop = Event::new(&TimeBase::machine());
        let (imu, plan, notes) = (self.imu.clone(), self.plan.clone(), Arc::clone(&self.notes));
        let threads = vec![
            every(IMU_PERIOD, &stop, move || measure(&imu)),
            every(PLAN_PERIOD, &stop, move || publish_plan(&plan, &notes)),
        ];
        Running(stop, threads)
    }

    /// Times of scans from the filter to the planner since the last reset.
    pub(crate) fn odometry_latencies(&self) -> Vec<i64> {
        lock(&self.notes).odometry.clone()
    }

    pub(crate) fn forget_latencies(&self) {
        lock(&self.notes).odometry.clear();
    }

    /// True time of the scan of a plan from the filter to the plan.
    pub(crate) fn latency_of(&self, plan_stamp_ns: i64) -> Option<i64> {
        lock(&self.notes).plans.get(&plan_stamp_ns).copied()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.set();
        for thread in self.1.drain(..) {
            let _ended = thread.join();
        }
    }
}

/// Takes out what is too near, and keeps the stamp.
fn filtering(node: &TrackedNode, notes: &Shared) -> Result<TrackedSubscription, Failure> {
    let filtered =
        node.create_tracked_publisher("/scan_filtered", SCAN, QosProfile::SENSOR_DATA)?;
    let notes = Arc::clone(notes);
    let clock = Clock::<Steady>::new();
    Ok(node.create_tracked_subscription(
        "/scan",
        SCAN,
        QosProfile::SENSOR_DATA,
        move |message| {
            let now = clock.now();
            let Ok(mut scan) = message.value() else {
                return;
            };
            if let Some(stamp) = stamp_of(&scan) {
                lock(&notes).scans.insert(stamp, now);
            }
            if let Some(Value::Array(Array::Float32(ranges))) = scan.get("ranges") {
                let near = |range: &f32| if *range < 0.3 { f32::INFINITY } else { *range };
                let ranges = ranges.iter().map(near).collect();
                let _set = scan.set("ranges", Value::Array(Array::Float32(ranges)));
            }
            let _sent = filtered.publish(&scan);
        },
    )?)
}

/// Buffers both sensors, joins a scan with the nearest IMU message, and takes its time for it.
fn fusing(node: &TrackedNode) -> Result<TrackedSynchronizer, Failure> {
    let odometry = node.create_tracked_publisher("/odometry", ODOMETRY, QosProfile::DEFAULT)?;
    let schema = Definitions::builtin().schema(SCAN)?;
    let clock = Clock::<Steady>::new();
    let topics = [("/scan_filtered", SCAN), ("/imu", IMU)];
    let rule = MatchRule::Within(NEAR);
    Ok(node.create_tracked_synchronizer(
        &topics,
        QosProfile::SENSOR_DATA,
        16,
        rule,
        move |messages, inputs| {
            let _woke = clock.sleep_for(Duration::from_millis(2));
            let stamp = messages
                .first()
                .and_then(|scan| schema.decode(&scan.payload).ok());
            let (Some(stamp), Ok(mut pose)) =
                (stamp.as_ref().and_then(stamp_of), odometry.message())
            else {
                return;
            };
            if set_stamp(&mut pose, stamp).is_ok() {
                let _sent = odometry.publish_made_of(&pose, inputs);
            }
        },
    )?)
}

/// Remembers the newest odometry until the timer of the planner asks for it.
fn planning(node: &TrackedNode, notes: &Shared) -> Result<TrackedSubscription, Failure> {
    let notes = Arc::clone(notes);
    let clock = Clock::<Steady>::new();
    Ok(node.create_tracked_subscription(
        "/odometry",
        ODOMETRY,
        QosProfile::DEFAULT,
        move |message| {
            let now = clock.now();
            if let Some(stamp) = message.stamp() {
                let mut notes = lock(&notes);
                notes.newest = Some((message.used(), stamp.nanos()));
                if let Some(came) = notes.scans.get(&stamp.nanos()) {
                    let latency = (now - *came).nanos();
                    notes.odometry.push(latency);
                }
            }
        },
    )?)
}

fn publish_plan(plan: &TrackedPublisher, notes: &Shared) {
    let Some((odometry, scan)) = lock(notes).newest.take() else {
        return;
    };
    let mut inputs = InputSet::default();
    inputs.add(odometry);
    let stamp = Clock::<System>::new().now().nanos();
    let Ok(mut path) = plan.message() else { return };
    if set_stamp(&mut path, stamp).is_err() {
        return;
    }
    let now = Clock::<Steady>::new().now();
    let mut notes = lock(notes);
    if let Some(came) = notes.scans.get(&scan) {
        let latency = (now - *came).nanos();
        notes.plans.insert(stamp, latency);
    }
    drop(notes);
    let _sent = plan.publish_made_of(&path, &inputs);
}

fn measure(imu: &TrackedPublisher) {
    let Ok(mut message) = imu.message() else {
        return;
    };
    if set_stamp(&mut message, Clock::<System>::new().now().nanos()).is_ok() {
        let _sent = imu.publish(&message);
    }
}

/// Does something again and again until it is to stop.
fn every(period: Duration, stop: &Event, mut act: impl FnMut() + Send + 'static) -> JoinHandle<()> {
    let stop = stop.clone();
    std::thread::spawn(move || {
        while !stop.wait_for(period) {
            act();
        }
    })
}
