use std::sync::Arc;

use timeloom_msg::{Definitions, Distro, QosProfile, Value};
use timeloom_time::{Duration, Time};

use super::control::{Answer, Control, Refusal};
use super::mailbox::Reply;
use super::options::{PlayRange, PlayStart};
use crate::ros_node::{Responder, RosNode, Service, ServiceTypes};
use crate::{Error, Result};

/// A target of the services of a player.
pub trait Controllable: Send + Sync {
    /// Requests a control; `reply` is called with its result, now or later.
    fn control_then(&self, control: Control, reply: Reply);

    /// Whether time is paused.
    fn is_paused(&self) -> bool;

    /// The rate of time, also while paused; `None` if it is not known.
    fn rate(&self) -> Option<f64>;

    /// Frequency of `/clock` in hertz; 0 if it is off.
    fn clock_frequency(&self) -> f64;
}

/// The services of a player, as `ros2 bag play` has them; they end with it.
///
/// Each call becomes a [`Control`], and its response has the result. No call waits for another one, so a pause reaches a
/// player during a burst. The node's own thread sends the responses: the playback thread never waits for a client.
#[derive(Debug)]
pub struct Services {
    _services: Vec<Service>,
}

/// The meaning of a call.
enum Ask {
    /// A control.
    Do(Control),
    /// A query whether time is paused.
    Paused,
    /// A query of the rate.
    Rate,
    /// A query of the frequency of `/clock`.
    ClockFrequency,
}

/// Reads a request; `None` if it is invalid. Requests without relevant fields are accepted in any layout: the layouts
/// of one name differ between distributions.
type Read = fn(Option<&Value>) -> Option<Ask>;

/// The services and the meaning of their calls.
const SERVICES: [(&str, &str, Read); 13] = [
    ("~/pause", "Pause", |_| Some(Ask::Do(Control::Pause))),
    ("~/resume", "Resume", |_| Some(Ask::Do(Control::Resume))),
    ("~/toggle_paused", "TogglePaused", |_| {
        Some(Ask::Do(Control::TogglePaused))
    }),
    ("~/is_paused", "IsPaused", |_| Some(Ask::Paused)),
    ("~/get_rate", "GetRate", |_| Some(Ask::Rate)),
    ("~/set_rate", "SetRate", |request| {
        let rate = request?.get("rate")?.as_f64()?;
        Some(Ask::Do(Control::SetRate(rate)))
    }),
    ("~/play", "Play", |request| {
        Some(Ask::Do(Control::Play(play_range(request?)?)))
    }),
    ("~/play_next", "PlayNext", |_| {
        Some(Ask::Do(Control::PlayNext))
    }),
    ("~/burst", "Burst", |request| {
        let count = request?.get("num_messages")?.as_u64()?;
        Some(Ask::Do(Control::Burst(count)))
    }),
    ("~/seek", "Seek", |request| {
        let time = nanos(request?, "time")?;
        Some(Ask::Do(Control::Seek(Time::from_nanos(time))))
    }),
    ("~/stop", "Stop", |_| Some(Ask::Do(Control::Stop))),
    // rosbag2 has no service for the frequency, so these have the types of a rate, which every installation knows.
    ("~/get_clock_publish_frequency", "GetRate", |_| {
        Some(Ask::ClockFrequency)
    }),
    ("~/set_clock_publish_frequency", "SetRate", |request| {
        let hertz = request?.get("rate")?.as_f64()?;
        Some(Ask::Do(Control::SetClockFrequency(hertz)))
    }),
];

impl Services {
    /// Answers as that node, in the layouts of a distribution.
    ///
    /// # Errors
    /// When the middleware refuses one.
    pub fn start(
        node: &RosNode,
        player: impl Controllable + 'static,
        distro: Distro,
    ) -> Result<Self> {
        Self::start_some(node, player, distro, |_| true)
    }

    /// Starts only the services whose name `takes` accepts.
    pub(super) fn start_some(
        node: &RosNode,
        player: impl Controllable + 'static,
        distro: Distro,
        takes: impl Fn(&str) -> bool,
    ) -> Result<Self> {
        let player: Arc<dyn Controllable> = Arc::new(player);
        let definitions = Definitions::builtin_of(distro);
        let mut services = Vec::new();
        for (name, type_name, read) in SERVICES.into_iter().filter(|(name, _, _)| takes(name)) {
            let type_name = format!("rosbag2_interfaces/srv/{type_name}");
            let types =
                ServiceTypes::find(&type_name, |part| Ok::<_, Error>(definitions.schema(part)?))?;
            let player = Arc::clone(&player);
            let handler = move |request: Option<&Value>, responder: Responder| {
                execute(&*player, read(request), responder);
            };
            services.push(node.serve_deferred(name, types, QosProfile::SERVICES, handler)?);
        }
        Ok(Self {
            _services: services,
        })
    }
}

/// Executes a call; the response is sent later, from the thread that executed the control.
fn execute(player: &dyn Controllable, ask: Option<Ask>, responder: Responder) {
    match ask {
        Some(Ask::Do(control)) => {
            player.control_then(control, Box::new(move |answer| respond(responder, answer)));
        }
        Some(Ask::Paused) => responder.fields(&[("paused", Value::Bool(player.is_paused()))]),
        Some(Ask::Rate) => {
            // The rate of an external clock is not known before its second sample.
            let rate = player.rate().unwrap_or(0.0);
            responder.fields(&[("rate", Value::Float64(rate))]);
        }
        Some(Ask::ClockFrequency) => {
            responder.fields(&[("rate", Value::Float64(player.clock_frequency()))]);
        }
        None => respond(responder, Err(Refusal::Malformed)),
    }
}

/// Responds with the result of a control.
fn respond(responder: Responder, answer: std::result::Result<Answer, Refusal>) {
    let (done, count) = match answer {
        Ok(Answer::Played(count)) => (count > 0, count),
        Ok(_) => (true, 0),
        Err(_) => (false, 0),
    };
    let mut fields = vec![
        ("success", Value::Bool(done)),
        ("actually_burst", Value::Uint64(count)),
    ];
    if let Err(refusal) = answer {
        let text = refusal.to_string();
        fields.push(("return_code", Value::Int32(1)));
        fields.push(("error_string", Value::String(text.as_str().into())));
        responder.warn(text);
    }
    responder.fields(&fields);
}

/// The range of a request to play; zeros and negative numbers mean the range of the options.
fn play_range(request: &Value) -> Option<PlayRange> {
    let set = |nanos: i64| (nanos > 0).then_some(nanos);
    let offset = set(nanos(request, "start_offset")?);
    let duration = set(nanos(request, "playback_duration")?);
    let until = set(nanos(request, "playback_until_timestamp")?);
    Some(PlayRange {
        start: offset.map(|offset| PlayStart::Offset(Duration::from_nanos(offset))),
        duration: duration.map(Duration::from_nanos),
        until: until.map(Time::from_nanos),
    })
}

/// A `Time` or `Duration` of a request in nanoseconds.
fn nanos(request: &Value, field: &str) -> Option<i64> {
    let part = |name: &str| request.get(&format!("{field}.{name}"))?.as_i64();
    let seconds = part("sec")?.checked_mul(1_000_000_000)?;
    seconds.checked_add(part("nanosec")?)
}
