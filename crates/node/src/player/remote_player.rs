use std::sync::Arc;

use timeloom_msg::{Definitions, Distro, QosProfile, Value};
use timeloom_time::{Duration, Ros, Time, TimeBase};
use timeloom_wire::{EndpointKind, Graph, Node};

use crate::{Client, Error, Result, ServiceTypes};

/// A player of another process, of Timeloom or rosbag2, controlled by its services.
///
/// ```no_run
/// use std::sync::Arc;
/// use timeloom_msg::Distro;
/// use timeloom_node::player::{PauseCommand, RemoteCommand, RemotePlayer};
/// use timeloom_node::{NodeOptions, RosNode};
/// use timeloom_time::{Duration, TimeBase};
/// use timeloom_wire::loopback::LoopbackNetwork;
///
/// let base = TimeBase::machine();
/// let network = LoopbackNetwork::new(&base);
/// let node = RosNode::new(network.participant("me")?, NodeOptions::new("me"))?;
/// let name = "/rosbag2_player".to_owned();
/// let timeout = Duration::from_secs(3);
/// let player = RemotePlayer::new(Arc::clone(node.wire()), base, name, Distro::Jazzy, timeout);
/// player.set_paused(PauseCommand::Resume)?;
/// let answer = player.send(RemoteCommand::SetRate(0.5))?;
/// assert!(!answer.refused);
/// # Ok::<_, timeloom_node::Error>(())
/// ```
pub struct RemotePlayer {
    node: Arc<dyn Node>,
    base: TimeBase,
    name: String,
    distro: Distro,
    timeout: Duration,
}

/// A command for a [`RemotePlayer`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RemoteCommand {
    /// Set the rate of time.
    SetRate(f64),
    /// Publish `/clock` this many times per second; 0 turns it off.
    SetClockFrequency(f64),
    /// Go to this time.
    Seek(Time<Ros>),
    /// Publish the next message; only when paused.
    PlayNext,
    /// Publish this many messages at once, or all with 0; only when paused.
    Burst(u64),
    /// Start playing.
    Play,
    /// Stop playing.
    Stop,
}

/// A command that changes whether a [`RemotePlayer`] is paused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseCommand {
    /// Stop time.
    Pause,
    /// Resume time.
    Resume,
    /// Pause, or resume.
    Toggle,
}

/// The answer to a [`RemoteCommand`].
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteAnswer {
    /// The response of the service.
    pub response: Value,
    /// Whether the player refused the command.
    pub refused: bool,
    /// Number of messages that a burst published.
    pub published: Option<u64>,
}

impl RemoteCommand {
    /// The name of the service below the node.
    pub fn service(self) -> &'static str {
        self.parts().0
    }

    fn parts(self) -> (&'static str, &'static str) {
        match self {
            Self::SetRate(_) => ("set_rate", "SetRate"),
            Self::SetClockFrequency(_) => ("set_clock_publish_frequency", "SetRate"),
            Self::Seek(_) => ("seek", "Seek"),
            Self::PlayNext => ("play_next", "PlayNext"),
            Self::Burst(_) => ("burst", "Burst"),
            Self::Play => ("play", "Play"),
            Self::Stop => ("stop", "Stop"),
        }
    }

    fn fill(self, request: &mut Value) -> Result<()> {
        match self {
            Self::SetRate(rate) | Self::SetClockFrequency(rate) => request.set("rate", rate)?,
            Self::Seek(time) => {
                let invalid = |_| Error::Failed {
                    reason: "time out of range for a ROS message".to_owned(),
                };
                let seconds = time.nanos().div_euclid(1_000_000_000);
                let nanos = time.nanos().rem_euclid(1_000_000_000);
                request.set("time.sec", i32::try_from(seconds).map_err(invalid)?)?;
                request.set("time.nanosec", u32::try_from(nanos).map_err(invalid)?)?;
            }
            Self::Burst(count) => request.set("num_messages", count)?,
            Self::PlayNext | Self::Play | Self::Stop => {}
        }
        Ok(())
    }
}

impl PauseCommand {
    /// The name of the service below the node.
    pub fn service(self) -> &'static str {
        self.parts().0
    }

    fn parts(self) -> (&'static str, &'static str) {
        match self {
            Self::Pause => ("pause", "Pause"),
            Self::Resume => ("resume", "Resume"),
            Self::Toggle => ("toggle_paused", "TogglePaused"),
        }
    }
}

impl RemotePlayer {
    /// The player of that full node name, called by `node`; `base` is the time base of its participant.
    ///
    /// Each service may take `timeout` to be found, and again to answer. `distro` selects the layouts of its types.
    pub fn new(
        node: Arc<dyn Node>,
        base: TimeBase,
        name: String,
        distro: Distro,
        timeout: Duration,
    ) -> Self {
        Self {
            node,
            base,
            name,
            distro,
            timeout,
        }
    }

    /// The names of the nodes with the service `~/set_rate` of a player.
    pub fn all(graph: &Graph) -> Vec<String> {
        let servers = graph.endpoints().filter(|info| {
            info.kind == EndpointKind::Server && info.type_name == "rosbag2_interfaces/srv/SetRate"
        });
        let names = servers.filter_map(|info| info.topic.strip_suffix("/set_rate"));
        let mut names: Vec<_> = names.map(str::to_owned).collect();
        names.sort();
        names.dedup();
        names
    }

    /// The full name of its node.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether time is stopped.
    ///
    /// # Errors
    /// When the service does not exist or does not answer.
    pub fn is_paused(&self) -> Result<bool> {
        let answer = self.call(("is_paused", "IsPaused"), |_| Ok(()))?;
        Ok(answer.get("paused") == Some(Value::Bool(true)))
    }

    /// The rate of time; 0 when the player does not know it.
    ///
    /// # Errors
    /// When the service does not exist or does not answer.
    pub fn rate(&self) -> Result<Option<f64>> {
        let answer = self.call(("get_rate", "GetRate"), |_| Ok(()))?;
        Ok(answer.get("rate").and_then(|rate| rate.as_f64()))
    }

    /// Sends a command and blocks for the answer.
    ///
    /// # Errors
    /// When the service does not exist or does not answer, or a value does not fit its type.
    pub fn send(&self, command: RemoteCommand) -> Result<RemoteAnswer> {
        let response = self.call(command.parts(), |request| command.fill(request))?;
        let published = response.get("actually_burst");
        Ok(RemoteAnswer {
            refused: is_refused(&response),
            published: published.and_then(|count| count.as_u64()),
            response,
        })
    }

    /// Pauses or resumes; returns whether it is paused now, and whether the command was refused.
    ///
    /// Most layouts of the response have no field to refuse with, so the state is read before and after.
    ///
    /// # Errors
    /// When a service does not exist or does not answer.
    pub fn set_paused(&self, command: PauseCommand) -> Result<(bool, bool)> {
        let wanted = match command {
            PauseCommand::Pause => true,
            PauseCommand::Resume => false,
            PauseCommand::Toggle => !self.is_paused()?,
        };
        let response = self.call(command.parts(), |_| Ok(()))?;
        let paused = self.is_paused()?;
        Ok((paused, is_refused(&response) || paused != wanted))
    }

    fn call(
        &self,
        (service, type_name): (&str, &str),
        fill: impl FnOnce(&mut Value) -> Result<()>,
    ) -> Result<Value> {
        let service = format!("{}/{service}", self.name);
        let definitions = Definitions::builtin_of(self.distro);
        let type_name = format!("rosbag2_interfaces/srv/{type_name}");
        let types =
            ServiceTypes::find(&type_name, |part| Ok::<_, Error>(definitions.schema(part)?))?;
        let qos = QosProfile::SERVICES;
        let client = Client::new(&*self.node, &service, types, qos, &self.base)?;
        if !client.wait_for_server(self.timeout) {
            return Err(Error::NoServer { service });
        }
        let mut request = client.request()?;
        fill(&mut request)?;
        client.call(&request, self.timeout)
    }
}

impl std::fmt::Debug for RemotePlayer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RemotePlayer({})", self.name)
    }
}

fn is_refused(response: &Value) -> bool {
    let code = response.get("return_code");
    response.get("success") == Some(Value::Bool(false))
        || code.is_some_and(|code| code.as_i64() != Some(0))
}
