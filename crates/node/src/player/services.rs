use std::sync::{Arc, Mutex, PoisonError, Weak};

use bytes::Bytes;
use timeloom_msg::{Definitions, Distro, QosProfile, Schema, Value};
use timeloom_time::{Duration, Time};
use timeloom_wire::{Request, RequestHandler, RequestId, ServiceServer};

use super::control::{Answer, Control, Refusal};
use super::mailbox::Reply;
use super::options::{PlayRange, PlayStart};
use crate::ros_node::{RosNode, ServiceTypes, Severity};
use crate::{Error, Result};

/// What can be controlled from elsewhere.
pub trait Obeys: Send + Sync {
    /// Asks for something; `reply` is called when it was done, or at once.
    fn control_then(&self, control: Control, reply: Reply);

    /// Whether time stands because somebody wanted it to.
    fn is_paused(&self) -> bool;

    /// How fast time goes, or will go when resumed; none if nobody knows.
    fn rate(&self) -> Option<f64>;
}

/// The services of a player, as `ros2 bag play` has them; they end with it.
///
/// Each call becomes a [`Control`] and is answered when that was done, by what came of it: no call waits for another
/// one, so a pause reaches a player in the midst of a burst.
pub struct Services {
    _servers: Vec<Arc<dyn ServiceServer>>,
}

/// What a call asks for.
enum Ask {
    /// Something to be done.
    Do(Control),
    /// Whether time stands.
    Paused,
    /// How fast time goes.
    Rate,
}

/// What a request means; none if it makes no sense. Requests without fields that matter are understood in any layout:
/// under one name, they differ between distributions.
type Read = fn(Option<&Value>) -> Option<Ask>;

/// The services and what their calls ask for.
const SERVICES: [(&str, &str, Read); 11] = [
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
];

impl Services {
    /// Answers as that node, in the layouts of a distribution.
    ///
    /// # Errors
    /// When the middleware refuses one.
    pub fn start(node: &RosNode, player: impl Obeys + 'static, distro: Distro) -> Result<Self> {
        Self::start_some(node, player, distro, |_| true)
    }

    /// The same, with those services alone whose type `takes` says yes to.
    pub(super) fn start_some(
        node: &RosNode,
        player: impl Obeys + 'static,
        distro: Distro,
        takes: impl Fn(&str) -> bool,
    ) -> Result<Self> {
        let player: Arc<dyn Obeys> = Arc::new(player);
        let definitions = Definitions::builtin_of(distro);
        let mut servers = Vec::new();
        for (name, type_name, read) in SERVICES.into_iter().filter(|(_, name, _)| takes(name)) {
            let type_name = format!("rosbag2_interfaces/srv/{type_name}");
            let types =
                ServiceTypes::find(&type_name, |part| Ok::<_, Error>(definitions.schema(part)?))?;
            servers.push(serve(node, name, types, read, &player)?);
        }
        Ok(Self { _servers: servers })
    }
}

impl std::fmt::Debug for Services {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Services")
    }
}

fn serve(
    node: &RosNode,
    name: &str,
    types: ServiceTypes,
    read: Read,
    player: &Arc<dyn Obeys>,
) -> Result<Arc<dyn ServiceServer>> {
    let name = node.resolve_service(name)?;
    for schema in [&types.request, &types.response] {
        node.register_type(schema);
    }
    let spec = types.spec(&name, QosProfile::SERVICES);
    let desk = Arc::new(Desk {
        name,
        read,
        request: types.request,
        response: types.response,
        player: Arc::clone(player),
        node: node.clone(),
        server: Arc::default(),
    });
    // Held while the server is made: a call that comes before it is there waits for it.
    let mut slot = desk.server.lock().unwrap_or_else(PoisonError::into_inner);
    let server = node
        .wire()
        .serve(&spec, Arc::clone(&desk) as Arc<dyn RequestHandler>)?;
    let server: Arc<dyn ServiceServer> = Arc::from(server);
    *slot = Some(Arc::downgrade(&server));
    drop(slot);
    Ok(server)
}

/// One service.
struct Desk {
    name: String,
    read: Read,
    request: Arc<Schema>,
    response: Arc<Schema>,
    player: Arc<dyn Obeys>,
    node: RosNode,
    server: Arc<Mutex<Option<Weak<dyn ServiceServer>>>>,
}

impl RequestHandler for Desk {
    fn request(&self, request: Request, _server: &dyn ServiceServer) {
        let value = self.request.decode(&request.payload).ok();
        let ask = (self.read)(value.as_ref());
        let window = Window {
            id: request.id,
            name: self.name.clone(),
            response: Arc::clone(&self.response),
            node: self.node.clone(),
            server: Arc::clone(&self.server),
        };
        match ask {
            Some(Ask::Do(control)) => self
                .player
                .control_then(control, Box::new(move |answer| window.answer(answer))),
            Some(Ask::Paused) => window.send(&[("paused", Value::Bool(self.player.is_paused()))]),
            Some(Ask::Rate) => {
                // Nobody knows how fast a clock goes that was not heard twice.
                let rate = self.player.rate().unwrap_or(0.0);
                window.send(&[("rate", Value::Float64(rate))]);
            }
            None => window.answer(Err(Refusal::Malformed)),
        }
    }
}

/// Where one call is answered.
struct Window {
    id: RequestId,
    name: String,
    response: Arc<Schema>,
    node: RosNode,
    server: Arc<Mutex<Option<Weak<dyn ServiceServer>>>>,
}

impl Window {
    /// Tells what came of a control.
    fn answer(&self, answer: std::result::Result<Answer, Refusal>) {
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
            self.node
                .log(Severity::Warn, &format!("{}: {text}", self.name));
            fields.push(("return_code", Value::Int32(1)));
            fields.push(("error_string", Value::String(text.as_str().into())));
        }
        self.send(&fields);
    }

    /// Sends a response with those of the fields that its layout has.
    fn send(&self, fields: &[(&str, Value)]) {
        if let Err(reason) = self.reply(fields) {
            let text = format!("a call of {} was not answered: {reason}", self.name);
            self.node.log(Severity::Error, &text);
        }
    }

    fn reply(&self, fields: &[(&str, Value)]) -> Result<()> {
        let mut response = self.response.default_value()?;
        for (name, value) in fields {
            if response.get(name).is_some() {
                response.set(name, value.clone())?;
            }
        }
        let payload = Bytes::from(self.response.encode(&response)?);
        let server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        let server = server.as_ref().and_then(Weak::upgrade);
        // The service may have ended while it was done.
        server.map_or(Ok(()), |server| Ok(server.reply(&self.id, payload)?))
    }
}

/// The part that a request to play asks for; zeros and negative numbers mean: as the player was told at its start.
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
