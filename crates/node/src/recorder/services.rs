use std::path::PathBuf;

use timeloom_msg::value::{Array, Struct, Text};
use timeloom_msg::{Definitions, Distro, QosProfile, Schema, Value};

use super::{Control, Phase, Recorder};
use crate::ros_node::{RosNode, Service, ServiceTypes};
use crate::{Error, Result};

/// The services of a recorder, as `ros2 bag record` has them and one more; they end with it.
///
/// All of them become a [`Control`] or read the [`Status`](super::Status).
#[derive(Debug)]
pub struct Services {
    _services: Vec<Service>,
}

/// What fills in a response.
type Answer = fn(&Recorder, &Value, &mut Value) -> Result<()>;

/// The services with their types.
const SERVICES: [(&str, &str, Answer); 11] = [
    ("~/pause", "Pause", |recorder, _, _| {
        recorder.control(&Control::Pause)
    }),
    ("~/resume", "Resume", |recorder, _, answer| {
        told(answer, recorder.control(&Control::Resume))
    }),
    ("~/is_paused", "IsPaused", |recorder, _, answer| {
        let paused = recorder.status().phase == Phase::Paused;
        Ok(answer.set("paused", paused)?)
    }),
    ("~/split_bagfile", "SplitBagfile", |recorder, _, answer| {
        told(answer, recorder.control(&Control::Split))
    }),
    ("~/record", "Record", |recorder, request, answer| {
        let uri = request.get("uri");
        let uri = uri.as_ref().and_then(Value::as_str).unwrap_or_default();
        let output = (!uri.is_empty()).then(|| PathBuf::from(uri));
        told(answer, recorder.control(&Control::Record { output }))
    }),
    ("~/stop", "Stop", |recorder, _, answer| {
        told(answer, recorder.control(&Control::Stop))
    }),
    ("~/is_recording", "IsRecording", |recorder, _, answer| {
        let recording = recorder.status().phase != Phase::Stopped;
        Ok(answer.set("recording", recording)?)
    }),
    (
        "~/start_discovery",
        "StartDiscovery",
        |recorder, _, answer| told(answer, recorder.control(&Control::StartDiscovery)),
    ),
    (
        "~/stop_discovery",
        "StopDiscovery",
        |recorder, _, answer| told(answer, recorder.control(&Control::StopDiscovery)),
    ),
    (
        "~/is_discovery_running",
        "IsDiscoveryRunning",
        |recorder, _, answer| Ok(answer.set("running", recorder.status().discovery)?),
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
            // As in rosbag2: without a circular buffer there is nothing to ask for.
            if name == "~/snapshot" && !recorder.options().snapshot_mode {
                continue;
            }
            let type_name = format!("rosbag2_interfaces/srv/{type_name}");
            let types =
                ServiceTypes::find(&type_name, |part| Ok::<_, Error>(definitions.schema(part)?))?;
            let (recorder, response) = (recorder.clone(), std::sync::Arc::clone(&types.response));
            let handler = move |request: &Value| {
                let mut value = response.default_value()?;
                match answer(&recorder, request, &mut value) {
                    // Nothing to do it to: the layouts without a code cannot say it.
                    Ok(()) | Err(Error::NotRecording) => Ok(value),
                    Err(error) => Err(error),
                }
            };
            services.push(node.serve_with(name, types, QosProfile::SERVICES, handler)?);
        }
        services.push(statistics(node, recorder)?);
        Ok(Self {
            _services: services,
        })
    }
}

/// Puts an error into the response, where its layout has a place for it.
fn told(answer: &mut Value, result: Result<()>) -> Result<()> {
    let Err(error) = result else {
        return Ok(());
    };
    if answer.get("return_code").is_none() {
        return Err(error);
    }
    answer.set("return_code", 1_i32)?;
    Ok(answer.set(
        "error_string",
        Value::String(error.to_string().as_str().into()),
    )?)
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
