use std::path::PathBuf;

use timeloom_msg::value::{Array, Struct, Text};
use timeloom_msg::{Definitions, Distro, QosProfile, Schema, Value};

use super::{Control, Moment, Phase, Recorder, Stamp};
use crate::ros_node::{RosNode, Service, ServiceTypes};
use crate::{Error, Result};

/// The services of a recorder: those of `ros2 bag record`, `~/get_recorder_statistics`, and `~/trigger/<name>` for each
/// trigger. They end when it is dropped.
///
/// All of them become a [`Control`] or read the [`Status`](super::Status).
#[derive(Debug)]
pub struct Services {
    _services: Vec<Service>,
}

/// Fills in a response.
type Answer = fn(&Recorder, &Value, &mut Value) -> Result<()>;

/// The services with their types.
const SERVICES: [(&str, &str, Answer); 12] = [
    ("~/pause", "Pause", |recorder, _, _| {
        recorder.control(&Control::Pause)
    }),
    ("~/resume", "Resume", |recorder, request, answer| {
        let codes = Codes {
            idle: 3,
            mode: 1,
            topic: 2,
            other: 3,
        };
        let when = moment(request, "resume");
        let control = when.map(|when| when.map_or(Control::Resume, Control::ResumeAt));
        codes.execute(recorder, control, answer)
    }),
    ("~/is_paused", "IsPaused", |recorder, _, answer| {
        let paused = recorder.status().phase == Phase::Paused;
        Ok(answer.set("paused", paused)?)
    }),
    (
        "~/split_bagfile",
        "SplitBagfile",
        |recorder, request, answer| {
            let codes = Codes {
                idle: 1,
                mode: 2,
                topic: 3,
                other: 4,
            };
            let when = moment(request, "split");
            let control = when.map(|when| when.map_or(Control::Split, Control::SplitAt));
            codes.execute(recorder, control, answer)
        },
    ),
    ("~/record", "Record", |recorder, request, answer| {
        let uri = request.get("uri");
        let uri = uri.as_ref().and_then(Value::as_str).unwrap_or_default();
        let output = (!uri.is_empty()).then(|| PathBuf::from(uri));
        with_error(answer, recorder.control(&Control::Record { output }))
    }),
    ("~/stop", "Stop", |recorder, _, answer| {
        with_error(answer, recorder.control(&Control::Stop))
    }),
    ("~/is_recording", "IsRecording", |recorder, _, answer| {
        let recording = recorder.status().phase != Phase::Stopped;
        Ok(answer.set("recording", recording)?)
    }),
    (
        "~/start_discovery",
        "StartDiscovery",
        |recorder, _, answer| with_error(answer, recorder.control(&Control::StartDiscovery)),
    ),
    (
        "~/stop_discovery",
        "StopDiscovery",
        |recorder, _, answer| with_error(answer, recorder.control(&Control::StopDiscovery)),
    ),
    (
        "~/is_discovery_running",
        "IsDiscoveryRunning",
        |recorder, _, answer| Ok(answer.set("running", recorder.status().discovery)?),
    ),
    (
        "~/get_subscribed_topics",
        "GetSubscribedTopics",
        |recorder, _, answer| {
            let status = recorder.status();
            let names = status.topics.iter();
            let names = names.map(|topic| Text::from(topic.name.as_str())).collect();
            Ok(answer.set("topics", Value::Array(Array::String(names)))?)
        },
    ),
    ("~/snapshot", "Snapshot", |recorder, _, answer| {
        let done = recorder.control(&Control::Snapshot).is_ok();
        Ok(answer.set("success", done)?)
    }),
];

impl Services {
    /// Answers as that node, in the layouts of a distribution.
    ///
    /// # Errors
    /// When the middleware refuses one.
    pub fn start(node: &RosNode, recorder: &Recorder, distro: Distro) -> Result<Self> {
        let definitions = Definitions::builtin_of(distro);
        let mut services = Vec::new();
        for (name, type_name, answer) in SERVICES {
            // As in rosbag2: without a circular buffer there is no snapshot.
            let options = recorder.options();
            let has_ring = options.snapshot_mode || options.triggers.is_some();
            if name == "~/snapshot" && !has_ring {
                continue;
            }
            let type_name = format!("rosbag2_interfaces/srv/{type_name}");
            let types =
                ServiceTypes::find(&type_name, |part| Ok::<_, Error>(definitions.schema(part)?))?;
            let (recorder, response) = (recorder.clone(), std::sync::Arc::clone(&types.response));
            let handler = move |request: &Value| {
                let mut value = response.default_value()?;
                match answer(&recorder, request, &mut value) {
                    // Responses without a return code cannot report that there is no recording.
                    Ok(()) | Err(Error::NotRecording) => Ok(value),
                    Err(error) => Err(error),
                }
            };
            services.push(node.serve_with(name, types, QosProfile::SERVICES, handler)?);
        }
        services.push(statistics(node, recorder)?);
        let options = recorder.options().triggers.as_ref();
        for trigger in options.into_iter().flat_map(|options| &options.triggers) {
            services.push(trigger_service(node, recorder, &trigger.name)?);
        }
        Ok(Self {
            _services: services,
        })
    }
}

/// The return codes of a response, by error.
struct Codes {
    idle: i32,
    mode: i32,
    topic: i32,
    other: i32,
}

impl Codes {
    /// The same code for every error.
    const PLAIN: Self = Self {
        idle: 1,
        mode: 1,
        topic: 1,
        other: 1,
    };

    /// Executes a control, unless the request was invalid, and fills in the result.
    fn execute(
        &self,
        recorder: &Recorder,
        control: Result<Control>,
        answer: &mut Value,
    ) -> Result<()> {
        let result = control.and_then(|control| recorder.control(&control));
        self.fill_in(answer, result)
    }

    /// Puts an error into the response, if it has fields for it.
    fn fill_in(&self, answer: &mut Value, result: Result<()>) -> Result<()> {
        let Err(error) = result else {
            return Ok(());
        };
        if answer.get("return_code").is_none() {
            return Err(error);
        }
        let code = match &error {
            Error::NotRecording => self.idle,
            Error::Option { .. } => self.mode,
            Error::UnknownTopic { .. } => self.topic,
            _ => self.other,
        };
        answer.set("return_code", code)?;
        let text = Value::String(error.to_string().as_str().into());
        Ok(answer.set("error_string", text)?)
    }
}

/// The moment in a request, if its layout has one; `None` for now.
fn moment(request: &Value, verb: &str) -> Result<Option<Moment>> {
    let number = |field: String| request.get(&field).and_then(|value| value.as_i64());
    let seconds = number(format!("{verb}_time.sec")).unwrap_or(0);
    let nanoseconds = number(format!("{verb}_time.nanosec")).unwrap_or(0);
    let stamp = match number(format!("{verb}_mode")).unwrap_or(0) {
        0 => Stamp::Node,
        1 => Stamp::Publish,
        2 => Stamp::Receive,
        mode => {
            return Err(Error::Option {
                option: "mode",
                reason: format!("{mode} is not 0 (node), 1 (publish) or 2 (receive time)"),
            });
        }
    };
    let time_ns = seconds
        .saturating_mul(1_000_000_000)
        .saturating_add(nanoseconds);
    let topic = request.get("tracking_topic_name");
    let topic = topic.as_ref().and_then(Value::as_str).unwrap_or_default();
    Ok((time_ns > 0).then(|| Moment {
        time_ns,
        stamp,
        topic: (!topic.is_empty()).then(|| topic.to_owned()),
    }))
}

/// Puts an error into the response, if it has fields for it.
fn with_error(answer: &mut Value, result: Result<()>) -> Result<()> {
    Codes::PLAIN.fill_in(answer, result)
}

/// `~/trigger/<name>`: fires a trigger.
fn trigger_service(node: &RosNode, recorder: &Recorder, trigger: &str) -> Result<Service> {
    let types = ServiceTypes::builtin("std_srvs/srv/Trigger")?;
    let response = std::sync::Arc::clone(&types.response);
    let (recorder, trigger) = (recorder.clone(), trigger.to_owned());
    let name = format!("~/trigger/{trigger}");
    let handler = move |_: &Value| {
        let mut value = response.default_value()?;
        let fired = recorder.control(&Control::Fire {
            trigger: trigger.clone(),
        });
        value.set("success", fired.is_ok())?;
        let text = fired.map_or_else(|error| error.to_string(), |()| format!("{trigger} fired"));
        value.set("message", Value::String(text.as_str().into()))?;
        Ok(value)
    };
    node.serve_with(&name, types, QosProfile::SERVICES, handler)
}

/// `~/get_recorder_statistics`: the totals since the recording began.
fn statistics(node: &RosNode, recorder: &Recorder) -> Result<Service> {
    let types = ServiceTypes::builtin("rosbag2_interfaces/srv/GetRecorderStatistics")?;
    let response = std::sync::Arc::clone(&types.response);
    let topic = Definitions::builtin().schema("rosbag2_interfaces/msg/TopicStatistics")?;
    let (recorder, name) = (recorder.clone(), node.name().full());
    let handler = move |_: &Value| {
        let mut value = response.default_value()?;
        let status = recorder.status();
        let topics = status.topics.iter().map(|known| topic_value(&topic, known));
        value.set("node_name", Value::String(Text::from(name.as_str())))?;
        let topics = Array::Struct(topics.collect());
        value.set("topics_statistics", Value::Array(topics))?;
        Ok(value)
    };
    node.serve_with(
        "~/get_recorder_statistics",
        types,
        QosProfile::SERVICES,
        handler,
    )
}

fn topic_value(schema: &Schema, topic: &super::TopicStatus) -> Struct {
    let statistics = &topic.statistics;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the interface has a float32: a rate needs no more digits"
    )]
    let rate = statistics.messages_rate() as f32;
    // In the order of the definition.
    let values = vec![
        Value::String(Text::from(topic.name.as_str())),
        Value::Uint64(statistics.messages_lost_in_transport),
        Value::Uint64(statistics.messages_lost_in_recorder()),
        Value::Uint64(statistics.messages_recorded),
        Value::Uint64(statistics.bytes_written),
        Value::Float32(rate),
    ];
    Struct::new(std::sync::Arc::clone(schema.root()), values)
}
