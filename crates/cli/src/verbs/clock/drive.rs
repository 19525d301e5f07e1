//! `timeloom clock drive`: controls the node that publishes `/clock`.

use bytes::Bytes;
use clap::{Args, ValueEnum};
use serde_json::json;
use timeloom_msg::{Definitions, Distro, QosProfile, Value};
use timeloom_node::ServiceTypes;
use timeloom_time::Duration;
use timeloom_wire::{Caller, EndpointKind, Graph};

use super::clock_listener::{CLOCK, ClockListener, owners};
use crate::context::Context;
use crate::failure::Failure;
use crate::live::{Live, LiveArguments, full_name, seconds};
use crate::outcome::Outcome;
use crate::time_argument::TimeArgument;
use crate::verbs::info::Format;
use crate::verbs::play::bag_arguments::{distro, distro_or_environment};

const EXAMPLES: &str = "\
EXAMPLES
  timeloom clock drive status               the node, its state, rate and time
  timeloom clock drive pause
  timeloom clock drive rate 0.5
  timeloom clock drive frequency 100        publish /clock 100 times per second; 0 turns it off
  timeloom clock drive seek +10s            relative to /clock; also dates, times of day and nanoseconds
  timeloom clock drive next                 publish the next message of a paused player
  timeloom clock drive burst 100 --node /rosbag2_player

The target is the node that publishes /clock, or the only node with the services of a player. Exit code 1: the node
refused. A player with --use-sim-time refuses to change time: control the node that publishes /clock instead.";

/// Timeout of `status` for a sample of `/clock`.
const GLANCE: Duration = Duration::from_secs(2);
/// The highest frequency of `/clock` that a player accepts.
const MAX_FREQUENCY: f64 = 10_000.0;

/// Control the node that publishes /clock: a player of Timeloom or ros2 bag, or `clock publish`
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The command
    #[arg(value_enum, value_name = "ORDER")]
    order: Order,
    /// A rate, a frequency, a time, or a number of messages
    #[arg(value_name = "VALUE", allow_hyphen_values = true)]
    value: Option<String>,
    /// The node to control, if more than one qualifies
    #[arg(long, value_name = "NODE")]
    node: Option<String>,
    /// Time to wait for the node
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    timeout: Duration,
    /// The ROS distribution of its service types [default: `ROS_DISTRO`, else jazzy]
    #[arg(long, value_name = "NAME", value_parser = distro)]
    ros_distro: Option<Distro>,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    live: LiveArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Order {
    /// Show the node, its time, state and rate
    Status,
    /// Stop time
    Pause,
    /// Resume time
    Resume,
    /// Pause, or resume
    Toggle,
    /// Set the rate of time to VALUE
    Rate,
    /// Publish /clock VALUE times per second; 0 turns it off
    Frequency,
    /// Go to the time VALUE; +10s and -10s are relative to /clock
    Seek,
    /// Publish the next message; only when paused
    Next,
    /// Publish VALUE messages at once, or all with 0; only when paused
    Burst,
    /// Start playing
    Play,
    /// Stop playing
    Stop,
}

impl Arguments {
    /// The value, parsed.
    fn value<T: std::str::FromStr<Err: std::fmt::Display>>(&self) -> Result<T, Failure> {
        let name = self.order.to_possible_value();
        let name = name.as_ref().map_or("it", |name| name.get_name());
        let text = self.value.as_deref();
        let text = text.ok_or_else(|| {
            Failure::usage(format!("{name} needs a value"))
                .hint("`timeloom clock drive --help` shows examples")
        })?;
        text.parse()
            .map_err(|error| Failure::usage(format!("{name} {text}: {error}")))
    }

    fn frequency(&self) -> Result<f64, Failure> {
        let hertz = self.value::<f64>()?;
        let valid = (0.0..=MAX_FREQUENCY).contains(&hertz);
        valid.then_some(hertz).ok_or_else(|| {
            Failure::usage(format!(
                "frequency {hertz} is out of range: expected 0 to {MAX_FREQUENCY} Hz (0 turns /clock off)"
            ))
        })
    }

    /// Refuses invalid values before a node is looked for.
    fn check(&self) -> Result<(), Failure> {
        match self.order {
            Order::Rate => self.value::<f64>().map(drop),
            Order::Frequency => self.frequency().map(drop),
            Order::Seek => self.value::<TimeArgument>().map(drop),
            Order::Burst => self.value::<u64>().map(drop),
            _ => match &self.value {
                Some(value) => Err(Failure::usage(format!("unexpected argument {value}"))),
                None => Ok(()),
            },
        }
    }
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    arguments.check()?;
    let live = Live::join(&arguments.live, context)?;
    let node = target(arguments, &live)?;
    let remote = Remote {
        live: &live,
        node,
        distro: distro_or_environment(arguments.ros_distro),
        timeout: arguments.timeout,
    };
    if arguments.order == Order::Status {
        return status(&remote, arguments.format, context);
    }
    if let Order::Pause | Order::Resume | Order::Toggle = arguments.order {
        return set_paused(&remote, arguments, context);
    }
    let (service, type_name, fields) = request(arguments, &live, context)?;
    let answer = remote.call(service, type_name, &fields)?;
    let refused = is_refused(&answer);
    match arguments.format {
        Format::Json => writeln!(context.printer.data(), "{}", answer.to_json())?,
        Format::Text => {
            let count = answer
                .get("actually_burst")
                .and_then(|count| count.as_u64());
            let done = count.map_or("done".to_owned(), |count| format!("{count} published"));
            let word = if refused { "refused".to_owned() } else { done };
            let text = format!("{}: {service}: {word}", remote.node);
            context.printer.note(&text);
        }
    }
    Ok(outcome(&remote, refused, context))
}

fn is_refused(answer: &Value) -> bool {
    let code = answer.get("return_code");
    answer.get("success") == Some(Value::Bool(false))
        || code.is_some_and(|code| code.as_i64() != Some(0))
}

/// The exit code; after a refusal with a hint which node to control instead.
fn outcome(remote: &Remote<'_>, refused: bool, context: &mut Context) -> Outcome {
    if !refused {
        return Outcome::Done;
    }
    let clock = remote.live.topic(CLOCK);
    let others = clock.map_or_else(
        |_| Vec::new(),
        |clock| owners(&remote.live.settled(), &clock),
    );
    if !others.is_empty() && !others.contains(&remote.node) {
        let text = format!(
            "{} publishes /clock; if {} follows it, control that node",
            others.join(", "),
            remote.node
        );
        context.printer.hint(&text);
    }
    Outcome::ProblemFound
}

/// Pauses or resumes. Most layouts of the answer have no field to refuse with, so the node is asked what it does now.
fn set_paused(
    remote: &Remote<'_>,
    arguments: &Arguments,
    context: &mut Context,
) -> anyhow::Result<Outcome> {
    let before = remote.is_paused()?;
    let (service, type_name, wanted) = match arguments.order {
        Order::Pause => ("pause", "Pause", true),
        Order::Resume => ("resume", "Resume", false),
        _ => ("toggle_paused", "TogglePaused", !before),
    };
    let answer = remote.call(service, type_name, &[])?;
    let paused = remote.is_paused()?;
    let refused = is_refused(&answer) || paused != wanted;
    match arguments.format {
        Format::Json => {
            let text = json!({ "node": remote.node, "done": !refused, "paused": paused });
            writeln!(context.printer.data(), "{text}")?;
        }
        Format::Text => {
            let state = if paused { "paused" } else { "running" };
            let word = if refused {
                format!("refused, it is {state}")
            } else {
                state.to_owned()
            };
            let text = format!("{}: {service}: {word}", remote.node);
            context.printer.note(&text);
        }
    }
    Ok(outcome(remote, refused, context))
}

type Request = (&'static str, &'static str, Vec<(&'static str, Value)>);

fn request(arguments: &Arguments, live: &Live, context: &mut Context) -> anyhow::Result<Request> {
    Ok(match arguments.order {
        Order::Frequency => {
            let hertz = Value::Float64(arguments.frequency()?);
            let service = "set_clock_publish_frequency";
            (service, "SetRate", vec![("rate", hertz)])
        }
        Order::Status | Order::Pause | Order::Resume | Order::Toggle | Order::Rate => {
            let rate = Value::Float64(arguments.value()?);
            ("set_rate", "SetRate", vec![("rate", rate)])
        }
        Order::Seek => {
            let time = resolve(arguments.value()?, live, arguments.timeout, context)?;
            let (sec, nanosec) = (
                time.div_euclid(1_000_000_000),
                time.rem_euclid(1_000_000_000),
            );
            let far = |_| Failure::usage("time out of range for a ROS message");
            let sec = Value::Int32(i32::try_from(sec).map_err(far)?);
            let nanosec = Value::Uint32(u32::try_from(nanosec).map_err(far)?);
            (
                "seek",
                "Seek",
                vec![("time.sec", sec), ("time.nanosec", nanosec)],
            )
        }
        Order::Next => ("play_next", "PlayNext", vec![]),
        Order::Burst => {
            let count = Value::Uint64(arguments.value()?);
            ("burst", "Burst", vec![("num_messages", count)])
        }
        Order::Play => ("play", "Play", vec![]),
        Order::Stop => ("stop", "Stop", vec![]),
    })
}

/// A time in nanoseconds; offsets are relative to `/clock`.
fn resolve(
    time: TimeArgument,
    live: &Live,
    timeout: Duration,
    context: &mut Context,
) -> anyhow::Result<i64> {
    let relative = !matches!(time, TimeArgument::Absolute(_) | TimeArgument::Local(_));
    let now = if relative {
        let silent = || {
            Failure::new("no sample on /clock to count from")
                .hint("use a date or nanoseconds, or play with --clock")
        };
        shown(live, timeout, context)?.ok_or_else(silent)?
    } else {
        0
    };
    let far = || Failure::usage("time out of range");
    Ok(time
        .resolve(now, now, &Context::time_zone())
        .ok_or_else(far)?)
}

/// The time of `/clock` in nanoseconds; `None` without a sample within `timeout`.
fn shown(live: &Live, timeout: Duration, context: &mut Context) -> anyhow::Result<Option<i64>> {
    let listener = ClockListener::open(live)?;
    let clock = live.clock();
    let until = clock.now().saturating_add(timeout);
    let mut ticks = Vec::new();
    // Waits end early when something else happens, such as a match.
    while ticks.is_empty() && clock.now() < until && !live.interrupt().happened() {
        ticks = listener.wait(until - clock.now(), context);
    }
    Ok(ticks.last().map(|tick| tick.time.nanos()))
}

/// Nanoseconds as seconds.
fn exact(nanos: i64) -> String {
    let (whole, rest) = (
        nanos.div_euclid(1_000_000_000),
        nanos.rem_euclid(1_000_000_000),
    );
    format!("{whole}.{rest:09} s")
}

/// The node to control.
fn target(arguments: &Arguments, live: &Live) -> anyhow::Result<String> {
    if let Some(name) = &arguments.node {
        return full_name(name);
    }
    let clock = live.topic(CLOCK)?;
    let found =
        |graph: &Graph| !owners(graph, &clock).is_empty() || !controllable(graph).is_empty();
    live.wait_for(Some(arguments.timeout), found);
    let graph = live.settled();
    let (owners, able) = (owners(&graph, &clock), controllable(&graph));
    let both: Vec<_> = owners.iter().filter(|name| able.contains(name)).collect();
    Ok(match (&both[..], &able[..]) {
        ([one], _) => (*one).clone(),
        ([], [one]) => one.clone(),
        ([], []) if !owners.is_empty() => {
            let text = format!(
                "{} publishes /clock but has no services to control it",
                owners.join(", ")
            );
            return Err(Failure::new(text).into());
        }
        ([], []) => {
            let text = "no node publishes /clock, and no player was found";
            let hint = "start `timeloom play BAG --clock` or `timeloom clock publish`";
            return Err(Failure::new(text).hint(hint).into());
        }
        _ => {
            let text = format!("more than one node can be controlled: {}", able.join(", "));
            return Err(Failure::usage(text)
                .hint("select one with --node NAME")
                .into());
        }
    })
}

/// The nodes with a service `~/set_rate` of the player's type.
fn controllable(graph: &Graph) -> Vec<String> {
    let servers = graph.endpoints().filter(|info| {
        info.kind == EndpointKind::Server && info.type_name == "rosbag2_interfaces/srv/SetRate"
    });
    let names = servers.filter_map(|info| info.topic.strip_suffix("/set_rate"));
    let mut names: Vec<_> = names.map(str::to_owned).collect();
    names.sort();
    names.dedup();
    names
}

struct Remote<'a> {
    live: &'a Live,
    node: String,
    distro: Distro,
    timeout: Duration,
}

impl Remote<'_> {
    fn is_paused(&self) -> anyhow::Result<bool> {
        let answer = self.call("is_paused", "IsPaused", &[])?;
        Ok(answer.get("paused") == Some(Value::Bool(true)))
    }

    fn call(&self, name: &str, type_name: &str, fields: &[(&str, Value)]) -> anyhow::Result<Value> {
        let service = format!("{}/{name}", self.node);
        let definitions = Definitions::builtin_of(self.distro);
        let type_name = format!("rosbag2_interfaces/srv/{type_name}");
        let types = ServiceTypes::find(&type_name, |part| {
            Ok::<_, timeloom_node::Error>(definitions.schema(part)?)
        })?;
        let spec = types.spec(&service, QosProfile::SERVICES);
        let caller = Caller::new(self.live.node(), &spec, &self.live.base())?;
        if !caller.wait_for_server(self.timeout) {
            let text = format!("no service {service}");
            let hint = "`timeloom service list` lists the services";
            return Err(Failure::new(text).hint(hint).into());
        }
        let mut request = types.request.default_value()?;
        for (field, value) in fields {
            request.set(field, value.clone())?;
        }
        let payload = Bytes::from(types.request.encode(&request)?);
        let response = caller.call(payload, self.timeout)?;
        Ok(types.response.decode(&response)?)
    }
}

fn status(remote: &Remote<'_>, format: Format, context: &mut Context) -> anyhow::Result<Outcome> {
    let paused = remote.is_paused()?;
    let rate = remote.call("get_rate", "GetRate", &[])?;
    let rate = rate.get("rate").and_then(|rate| rate.as_f64());
    let clock = remote.live.topic(CLOCK)?;
    let all = owners(&remote.live.settled(), &clock);
    let owns = all.contains(&remote.node);
    let time = if all.is_empty() {
        None
    } else {
        shown(remote.live, GLANCE.min(remote.timeout), context)?
    };
    let text = match format {
        Format::Json => json!({
            "node": remote.node, "paused": paused, "rate": rate, "publishes_clock": owns, "clock_ns": time,
        })
        .to_string(),
        Format::Text => {
            let state = if paused { "paused" } else { "running" };
            // A rate that is not known yet is answered as 0.
            let rate = rate.filter(|rate| *rate > 0.0);
            let rate = rate.map_or("unknown rate".to_owned(), |rate| format!("×{rate}"));
            let time = time.map_or(String::new(), |time| format!(", /clock shows {}", exact(time)));
            let owns = if owns { ", publishes /clock" } else { "" };
            format!("{}: {state}, {rate}{time}{owns}", remote.node)
        }
    };
    writeln!(context.printer.data(), "{text}")?;
    Ok(Outcome::Done)
}
