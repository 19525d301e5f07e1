//! A player of generated data whose messages are all known.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use bytes::Bytes;
use timeloom_msg::{Definitions, Value};
use timeloom_node::player::{Control, Mark};
use timeloom_time::{
    CancelToken, ControlledClock, PlaybackRate, PlayerClock as _, Time, TimeBase, WaitOptions, Woke,
};
use timeloom_view::protocol::{ConnectionGraph, PlaybackStatus};
use timeloom_view::{
    Ability, Channel, ChannelId, Demand, Description, Error, Fact, Playback, Result, Retention,
    Server, ServiceInfo, Snapshot, SnapshotKind, Source, SourceOutput, Timeline, TopicRow,
    ViewOptions, seconds_since,
};

/// Start of the data.
pub(crate) const START: i64 = 1_700_000_000_000_000_000;
/// Length of the data: longer than a slow browser test takes.
pub(crate) const LENGTH: i64 = 300_000_000_000;

const TOPICS: [(&str, &str, i64); 5] = [
    ("/imu/data", "sensor_msgs/msg/Imu", 10_000_000),
    ("/scan", "sensor_msgs/msg/LaserScan", 50_000_000),
    ("/tf_static", "tf2_msgs/msg/TFMessage", LENGTH),
    (
        "/diagnostics",
        "diagnostic_msgs/msg/DiagnosticArray",
        200_000_000,
    ),
    (
        "/plan/message_tracking_tag",
        "tilde_msg/msg/MessageTrackingTag",
        100_000_000,
    ),
];

/// A player with its clock, its thread and a record of requests.
pub(crate) struct Toy {
    clock: Arc<ControlledClock>,
    output: OnceLock<(SourceOutput, Vec<ChannelId>)>,
    counts: [AtomicU64; TOPICS.len()],
    seeks: AtomicU64,
    ended: AtomicBool,
    marks: Mutex<(Option<i64>, Option<i64>)>,
    stop: CancelToken,
    pub(crate) heard: Mutex<Vec<String>>,
}

impl Toy {
    pub(crate) fn new() -> Arc<Self> {
        let clock = ControlledClock::new(&TimeBase::machine(), Time::from_nanos(START));
        Arc::new(Self {
            clock: Arc::new(clock),
            output: OnceLock::new(),
            counts: Default::default(),
            seeks: AtomicU64::new(0),
            ended: AtomicBool::new(false),
            marks: Mutex::default(),
            stop: CancelToken::new(),
            heard: Mutex::default(),
        })
    }

    pub(crate) fn now(&self) -> i64 {
        self.clock.now().nanos().min(START + LENGTH)
    }

    fn note(&self, text: String) {
        self.heard.lock().unwrap().push(text);
    }

    pub(crate) fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }

    /// Publishes each message at its time; starts over after each jump.
    fn play(&self) {
        let options = WaitOptions::new().cancel(&self.stop);
        loop {
            let now = self.now();
            let next = |period: i64| START + ((now - START).max(0) / period + 1) * period;
            let time = TOPICS.iter().map(|topic| next(topic.2)).min().unwrap();
            let end = time > START + LENGTH;
            let until = Time::from_nanos(time.min(START + LENGTH));
            match self.clock.clock().sleep_until_with(until, &options) {
                Woke::Reached if end => {
                    self.ended.store(true, Ordering::SeqCst);
                    self.clock.pause().unwrap();
                    let jumped = self
                        .clock
                        .clock()
                        .sleep_until_with(Time::from_nanos(i64::MAX), &options);
                    if jumped == Woke::Cancelled {
                        return;
                    }
                }
                Woke::Reached => {
                    let due = |topic: &usize| (time - START) % TOPICS[*topic].2 == 0;
                    let due = (0..TOPICS.len()).filter(due);
                    due.for_each(|topic| self.publish(topic, time));
                }
                Woke::Jumped(_) => {}
                _ => return,
            }
        }
    }

    /// Publishes a message of a topic now.
    pub(crate) fn publish(&self, topic: usize, time: i64) {
        let (output, ids) = self.output.get().unwrap();
        self.counts[topic].fetch_add(1, Ordering::Relaxed);
        output.message(ids[topic], time, payload(TOPICS[topic].1, time));
    }

    pub(crate) fn output(&self) -> SourceOutput {
        self.output.get().unwrap().0.clone()
    }

    /// A channel that is not advertised yet.
    pub(crate) fn spare_channel() -> Channel {
        Channel {
            topic: "/spare".into(),
            type_name: "std_msgs/msg/String".into(),
            definition: "string data".into(),
            retention: Retention::None,
        }
    }

    fn paused(&self) -> bool {
        self.clock.is_paused()
    }
}

/// The player behind a server on a free port; it plays on its own thread once resumed.
pub(crate) struct Show {
    pub(crate) toy: Arc<Toy>,
    pub(crate) server: Server,
}

impl Show {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut ViewOptions)) -> Self {
        let toy = Toy::new();
        let mut options = ViewOptions::default();
        options.address.set_port(0);
        change(&mut options);
        let server = Server::start(options, Arc::clone(&toy) as Arc<dyn Source>).unwrap();
        let playing = Arc::clone(&toy);
        std::thread::spawn(move || playing.play());
        Self { toy, server }
    }
}

impl Drop for Show {
    fn drop(&mut self) {
        self.toy.stop.cancel();
    }
}

/// A default message, with numbers in the fields that the page reads.
pub(crate) fn payload(type_name: &str, time: i64) -> Bytes {
    let schema = Definitions::builtin().schema(type_name).unwrap();
    let mut value = schema.default_value().unwrap();
    match type_name {
        "diagnostic_msgs/msg/DiagnosticArray" => {
            let seconds = seconds_since(START, time);
            let mut status = default("diagnostic_msgs/msg/DiagnosticStatus");
            status.set("name", "lidar clock").unwrap();
            let offset = 40.0 + 25.0 * (seconds / 4.0).sin() + (seconds * 7.0).cos() * 3.0;
            let pairs = [("offset_us", offset), ("drift_ppm", 12.5)].map(|(key, number)| {
                let mut pair = default("diagnostic_msgs/msg/KeyValue");
                pair.set("key", key).unwrap();
                pair.set("value", format!("{number:.3}").as_str()).unwrap();
                pair
            });
            status.set("values", list(&pairs)).unwrap();
            value.set("status", list(&[status])).unwrap();
        }
        "tilde_msg/msg/MessageTrackingTag" => {
            let link = usize::try_from(time / 100_000_000 % 4).unwrap();
            let (from, to, node) = [
                ("/scan", "/filtered", "/filter"),
                ("/imu/data", "/pose", "/fusion"),
                ("/filtered", "/pose", "/fusion"),
                ("/pose", "/plan", "/planner"),
            ][link];
            value.set("output_info.topic_name", to).unwrap();
            value.set("output_info.node_fqn", node).unwrap();
            let mut input = default("tilde_msg/msg/SubTopicTimeInfo");
            input.set("topic_name", from).unwrap();
            value.set("input_infos", list(&[input])).unwrap();
        }
        _ => {}
    }
    schema.encode(&value).unwrap().into()
}

fn default(type_name: &str) -> Value {
    let schema = Definitions::builtin().schema(type_name).unwrap();
    schema.default_value().unwrap()
}

fn list(values: &[Value]) -> Value {
    let structs = values
        .iter()
        .map(|value| value.as_struct().unwrap().clone());
    Value::Array(timeloom_msg::value::Array::Struct(structs.collect()))
}

impl Source for Toy {
    fn description(&self) -> Description {
        Description {
            name: "toy".into(),
            range_ns: Some((START, START + LENGTH)),
            time: Ability::Yes,
            services: Ability::Yes,
            publish: Ability::Yes,
            graph: Ability::Yes,
        }
    }

    fn attach(&self, output: SourceOutput) -> Result<()> {
        let channels = TOPICS.iter().map(|(topic, type_name, _)| Channel {
            topic: (*topic).into(),
            type_name: (*type_name).into(),
            definition: Definitions::builtin()
                .schema(type_name)
                .unwrap()
                .ros2msg()
                .unwrap(),
            retention: if *topic == "/tf_static" {
                Retention::Latest
            } else {
                Retention::None
            },
        });
        let ids = output.advertise(channels.collect());
        output.advertise_services(vec![ServiceInfo {
            name: "/echo".into(),
            type_name: "std_srvs/srv/SetBool".into(),
            request: "bool data".into(),
            response: "bool success\nstring message".into(),
        }]);
        assert!(self.output.set((output, ids)).is_ok());
        self.publish(2, START);
        Ok(())
    }

    fn time_ns(&self) -> Option<i64> {
        Some(self.now())
    }

    fn playback(&self) -> Option<Playback> {
        let status = if self.ended.load(Ordering::SeqCst) {
            PlaybackStatus::Ended
        } else if self.paused() {
            PlaybackStatus::Paused
        } else {
            PlaybackStatus::Playing
        };
        Some(Playback {
            status,
            time_ns: self.now(),
            rate: self.clock.rate().unwrap(),
            seeks: self.seeks.load(Ordering::SeqCst),
        })
    }

    fn control(&self, control: Control) -> Result<()> {
        self.note(format!("{control:?}"));
        let seek = |time: i64| {
            let time = time.clamp(START, START + LENGTH);
            self.ended.store(false, Ordering::SeqCst);
            self.clock.jump(Time::from_nanos(time)).unwrap();
            self.seeks.fetch_add(1, Ordering::SeqCst);
        };
        match control {
            Control::Resume => self.clock.resume().unwrap(),
            Control::TogglePaused if self.paused() => return self.control(Control::Resume),
            Control::TogglePaused | Control::Pause => self.clock.pause().unwrap(),
            Control::SetRate(rate) => {
                let rate =
                    PlaybackRate::new(rate).map_err(|error| Error::Refused(error.to_string()))?;
                self.clock.set_rate(rate).unwrap();
            }
            Control::Seek(time) => seek(time.nanos()),
            Control::SeekBy(by) => seek(self.now() + by.nanos()),
            Control::PlayNext => self.publish(0, self.now()),
            Control::Mark(Mark::A) => self.marks.lock().unwrap().0 = Some(self.now()),
            Control::Mark(Mark::B) => self.marks.lock().unwrap().1 = Some(self.now()),
            Control::SetLoop(None) => *self.marks.lock().unwrap() = (None, None),
            other => {
                return Err(Error::Unsupported {
                    what: format!("{other:?}"),
                });
            }
        }
        Ok(())
    }

    fn snapshot(&self) -> Snapshot {
        let playback = self.playback().unwrap();
        let since = |time: i64| seconds_since(START, time);
        let (a, b) = *self.marks.lock().unwrap();
        let topics = TOPICS.iter().zip(&self.counts).map(|(topic, count)| {
            let count = count.load(Ordering::Relaxed);
            TopicRow {
                name: topic.0.into(),
                type_name: topic.1.into(),
                count,
                bytes: count * 320,
                recorded: u64::try_from(LENGTH / topic.2).ok(),
                lost_wire: Some(if topic.0 == "/scan" { 17 } else { 0 }),
                lost_recorder: Some(0),
                ..TopicRow::default()
            }
        });
        Snapshot {
            title: "toy".into(),
            kind: SnapshotKind::Player,
            state: format!("{:?}", playback.status).to_lowercase(),
            timeline: Some(Timeline {
                start_ns: START,
                duration: since(START + LENGTH),
                now: since(playback.time_ns),
                rate: playback.rate,
                real_rate: Some(playback.rate),
                read_ahead: Some(since(playback.time_ns + 2_000_000_000)),
                mark_a: a.map(since),
                mark_b: b.map(since),
                density: (0..240u64).map(|part| 60 + part * 37 % 50).collect(),
                losses: vec![(2.0, 3.0, 17)],
                marks: Vec::new(),
            }),
            topics: topics.collect(),
            facts: vec![Fact::new("clock", "this player")],
        }
    }

    fn demand(&self, channel: ChannelId, demand: Demand) {
        self.note(format!("{demand:?} {channel}"));
    }

    fn call(&self, service: &str, request: Bytes) -> Result<Bytes> {
        if request.is_empty() {
            return Err(Error::Refused(format!("{service} wants a request")));
        }
        Ok(request)
    }

    fn publish(&self, topic: &str, type_name: &str, payload: Bytes) -> Result<()> {
        self.note(format!("publish {topic} {type_name} {}", payload.len()));
        Ok(())
    }

    fn graph(&self) -> Option<ConnectionGraph> {
        let mut graph = ConnectionGraph::default();
        let publishers = graph.published.entry("/scan".into()).or_default();
        publishers.insert("/toy".into());
        Some(graph)
    }
}

/// Waits for a condition that another thread fulfils.
#[track_caller]
pub(crate) fn until(condition: impl FnMut() -> bool) {
    timeloom_testkit::until("the condition of the test", condition);
}
