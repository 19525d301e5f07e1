//! A participant in the domain that the environment names.

use std::fmt::Display;
use std::sync::Arc;

use timeloom_dds::DdsParticipant;
use timeloom_msg::name::validate_full_topic_name;
use timeloom_time::{Clock, Duration, Steady, TimeBase};
use timeloom_wire::environment::{Backend, Environment};
use timeloom_wire::{Graph, Node, NodeName, Participant};

use crate::context::Context;
use crate::failure::Failure;
use crate::live::view::{View, nodes_are_known};
use crate::live::{Interrupt, LiveArguments};
use crate::suggestion::nearest;

/// What the transport wants people to know, a line each.
type Notes = Box<dyn Fn() -> Vec<String>>;

/// We in the graph, and what we see of it.
pub(crate) struct Live {
    participant: Arc<dyn Participant>,
    notes: Notes,
    /// Those that were told at the start.
    told: Vec<String>,
    node: Arc<dyn Node>,
    environment: Environment,
    view: View,
    interrupt: Interrupt,
    spin_time: Duration,
}

impl Live {
    /// Joins the domain; says on stderr what is set and does not work as in ROS.
    pub(crate) fn join(arguments: &LiveArguments, context: &mut Context) -> anyhow::Result<Self> {
        // Hidden, as the nodes of the ros2 command are.
        let name = format!("_timeloom_{}", std::process::id());
        Self::join_as(NodeName::new("/", &name)?, arguments, context)
    }

    /// Joins to look at the graph: what is set for data alone is not mentioned.
    pub(crate) fn join_to_look(
        arguments: &LiveArguments,
        context: &mut Context,
    ) -> anyhow::Result<Self> {
        let name = format!("_timeloom_{}", std::process::id());
        let mut environment = LiveArguments::environment()?;
        environment.notes.retain(|note| !note.is_about_data());
        Self::join_in(environment, NodeName::new("/", &name)?, arguments, context)
    }

    /// Joins as a node of that name.
    pub(crate) fn join_as(
        name: NodeName,
        arguments: &LiveArguments,
        context: &mut Context,
    ) -> anyhow::Result<Self> {
        Self::join_in(LiveArguments::environment()?, name, arguments, context)
    }

    fn join_in(
        environment: Environment,
        name: NodeName,
        arguments: &LiveArguments,
        context: &mut Context,
    ) -> anyhow::Result<Self> {
        for note in &environment.notes {
            context.printer.aside(&format!("note: {note}"));
        }
        let interrupt = Interrupt::new()?;
        let (participant, notes) = match environment.backend {
            Backend::Dds => join_dds(arguments, &environment)?,
            Backend::Zenoh => join_zenoh(arguments, &environment)?,
        };
        let told = notes();
        for note in &told {
            context.printer.aside(&format!("note: {note}"));
        }
        let node = participant.node(name)?;
        let view = View::new(&*participant, &interrupt);
        Ok(Self {
            participant,
            notes,
            told,
            node,
            environment,
            view,
            interrupt,
            spin_time: arguments.spin_time,
        })
    }

    /// The graph of the others, once it has settled.
    pub(crate) fn settled(&self) -> Graph {
        let own = self.node.name();
        let whole = |graph: &Graph| nodes_are_known(graph, own);
        self.view.settle(self.spin_time, whole);
        self.view.graph()
    }

    /// The graph once no more endpoints come, whosever they are: who waits longer loses messages.
    pub(crate) fn settled_endpoints(&self) -> Graph {
        self.view.settle(self.spin_time, |_| true);
        self.view.graph()
    }

    /// The graph as it is now.
    pub(crate) fn graph(&self) -> Graph {
        self.view.graph()
    }

    /// Blocks until the graph is so, or for the time that was given to look; true if it is.
    pub(crate) fn look_for(&self, condition: impl FnMut(&Graph) -> bool) -> bool {
        self.view.wait_until(Some(self.spin_time), condition)
    }

    /// Blocks until the graph is so, or for `limit`; true if it is, false also at Ctrl-C.
    pub(crate) fn wait_for(
        &self,
        limit: Option<Duration>,
        condition: impl FnMut(&Graph) -> bool,
    ) -> bool {
        self.view.wait_until(limit, condition)
    }

    /// The names of the others' nodes, one for each.
    pub(crate) fn nodes(&self, graph: &Graph) -> Vec<NodeName> {
        graph
            .nodes()
            .filter(|(name, _)| *name != self.node.name())
            .flat_map(|(name, count)| std::iter::repeat_n(name.clone(), count))
            .collect()
    }

    pub(crate) fn node(&self) -> &dyn Node {
        &*self.node
    }

    /// The same node, for what outlives this borrow.
    pub(crate) fn shared_node(&self) -> Arc<dyn Node> {
        Arc::clone(&self.node)
    }

    pub(crate) fn participant(&self) -> &Arc<dyn Participant> {
        &self.participant
    }

    /// What the transport wants people to know, a line each.
    pub(crate) fn notes(&self) -> Vec<String> {
        (self.notes)()
    }

    /// What came up since the start: malformed data of peers and the like.
    pub(crate) fn later_notes(&self) -> Vec<String> {
        let mut notes = self.notes();
        notes.retain(|note| !self.told.contains(note));
        notes
    }

    /// Whether endpoints whose `QoS` does not fit stay apart; on Zenoh, the key alone counts.
    pub(crate) fn qos_must_fit(&self) -> bool {
        self.environment.backend == Backend::Dds
    }

    pub(crate) fn environment(&self) -> &Environment {
        &self.environment
    }

    pub(crate) fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    pub(crate) fn base(&self) -> TimeBase {
        self.participant.time_base()
    }

    pub(crate) fn clock(&self) -> Clock<Steady> {
        Clock::on(&self.base())
    }

    /// A topic, service or node that is not there: what there is instead.
    pub(crate) fn missing<'a>(
        &self,
        what: &str,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Failure {
        let domain = self.environment.domain;
        let hint = match nearest(name, known) {
            Some(near) => format!("did you mean {near}?"),
            None => format!(
                "`timeloom {what} list` shows what there is, `--spin-time` looks longer, `timeloom doctor net` \
                 looks for reasons"
            ),
        };
        Failure::new(format!("no {what} {name} in domain {domain}")).hint(hint)
    }
}

fn join_dds(
    arguments: &LiveArguments,
    environment: &Environment,
) -> anyhow::Result<(Arc<dyn Participant>, Notes)> {
    let participant = DdsParticipant::new(&arguments.dds(environment)).map_err(|error| {
        let text = error.to_string();
        let hint = way_out(&text);
        Failure::new(text).hint_if(hint.map(str::to_owned))
    })?;
    let participant = Arc::new(participant);
    let noted = Arc::clone(&participant);
    let notes = move || {
        let notes = noted.notes();
        notes
            .iter()
            .map(|note| line(&note.kind, &note.text, note.total))
            .collect()
    };
    Ok((participant, Box::new(notes)))
}

/// What to do when Cyclone DDS does not start, by what it says.
fn way_out(said: &str) -> Option<&'static str> {
    let known = [
        (
            "failed to find interfaces",
            "no network interface is up, not even the loopback: `sudo ip link set lo up` is enough for this machine",
        ),
        (
            "free participant index",
            "without multicast there is room for 32 processes of one domain on a machine: stop some, choose another \
             ROS_DOMAIN_ID, or raise Discovery/MaxAutoParticipantIndex in CYCLONEDDS_URI",
        ),
        (
            "does not match an available interface",
            "CYCLONEDDS_URI names an interface that is not there: `timeloom doctor net` lists those that are",
        ),
    ];
    known
        .into_iter()
        .find_map(|(words, hint)| said.contains(words).then_some(hint))
}

#[cfg(feature = "zenoh")]
fn join_zenoh(
    arguments: &LiveArguments,
    environment: &Environment,
) -> anyhow::Result<(Arc<dyn Participant>, Notes)> {
    let options = arguments.zenoh(environment);
    let participant = Arc::new(timeloom_zenoh::ZenohParticipant::new(&options)?);
    let noted = Arc::clone(&participant);
    let notes = move || {
        let notes = noted.notes();
        notes
            .iter()
            .map(|note| line(&note.kind, &note.text, note.total))
            .collect()
    };
    Ok((participant, Box::new(notes)))
}

#[cfg(not(feature = "zenoh"))]
fn join_zenoh(
    _: &LiveArguments,
    environment: &Environment,
) -> anyhow::Result<(Arc<dyn Participant>, Notes)> {
    let rmw = environment.rmw.as_deref().unwrap_or("rmw_zenoh_cpp");
    let text = format!("RMW_IMPLEMENTATION={rmw} asks for Zenoh, which this build does not speak");
    let hint = "build timeloom with `--features zenoh` (released binaries have it), or unset RMW_IMPLEMENTATION to use \
        DDS";
    Err(Failure::new(text).hint(hint).into())
}

fn line(kind: &dyn Display, text: &str, total: u64) -> String {
    format!("{kind}: {text} ({total})")
}

/// The full name of a topic or service; people leave the slash out.
pub(crate) fn full_name(name: &str) -> anyhow::Result<String> {
    let name = if name.starts_with('/') {
        name.to_owned()
    } else {
        format!("/{name}")
    };
    validate_full_topic_name(&name)?;
    Ok(name)
}
