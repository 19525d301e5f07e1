//! A participant in the domain that the environment names.

use std::sync::Arc;

use timeloom_msg::name::validate_full_topic_name;
use timeloom_node::{Names, NodeOptions, ParameterValue, RosArguments};
use timeloom_time::{Clock, Duration, Steady, TimeBase};
use timeloom_transport::{JoinOptions, Joined};
use timeloom_wire::environment::{Backend, Environment};
use timeloom_wire::{Graph, Node, NodeName, Participant};

use crate::context::Context;
use crate::failure::Failure;
use crate::live::view::{LISTING, SUBSCRIBING, View, nodes_are_known};
use crate::live::{Interrupt, LiveArguments};

/// Our node and the graph around it.
pub(crate) struct Live {
    joined: Joined,
    /// The notes that were printed at the start.
    printed: Vec<String>,
    node: Arc<dyn Node>,
    names: Names,
    /// The part of `--ros-args` for every node of the process.
    helper: RosArguments,
    use_sim_time: bool,
    environment: Environment,
    view: View,
    interrupt: Interrupt,
    spin_time: Duration,
}

/// A hidden node without parameter services, /rosout and type descriptions.
fn hidden(name: &str) -> NodeOptions {
    NodeOptions {
        rosout: false,
        parameter_services: false,
        type_description: false,
        ..NodeOptions::new(name)
    }
}

/// The name of the process's own node, hidden as the nodes of the ros2 command are.
fn own_name() -> String {
    format!("_timeloom_{}", std::process::id())
}

impl Live {
    /// Joins the domain as the verb's node; warns about settings that have no effect here.
    pub(crate) fn join(arguments: &LiveArguments, context: &mut Context) -> anyhow::Result<Self> {
        Self::join_as(&own_name(), arguments, context)
    }

    /// Joins to look at the graph: what is set for data alone is not mentioned.
    pub(crate) fn join_to_look(
        arguments: &LiveArguments,
        context: &mut Context,
    ) -> anyhow::Result<Self> {
        let options = context.node(hidden(&own_name()))?;
        let mut environment = LiveArguments::environment()?;
        environment.notes.retain(|note| !note.is_about_data());
        Self::enter_in(environment, &options, arguments, context)
    }

    /// Joins as a node of that name.
    pub(crate) fn join_as(
        name: &str,
        arguments: &LiveArguments,
        context: &mut Context,
    ) -> anyhow::Result<Self> {
        let options = context.node(hidden(name))?;
        Self::enter(&options, arguments, context)
    }

    /// Joins beside a node that the verb makes itself and that `--ros-args` are about.
    pub(crate) fn join_beside(
        arguments: &LiveArguments,
        context: &mut Context,
    ) -> anyhow::Result<Self> {
        let helper = context.ros().for_helper();
        let options = helper.options(hidden(&own_name()), |path| std::fs::read_to_string(path))?;
        Self::enter(&options, arguments, context)
    }

    fn enter(
        options: &NodeOptions,
        arguments: &LiveArguments,
        context: &mut Context,
    ) -> anyhow::Result<Self> {
        Self::enter_in(LiveArguments::environment()?, options, arguments, context)
    }

    fn enter_in(
        environment: Environment,
        options: &NodeOptions,
        arguments: &LiveArguments,
        context: &mut Context,
    ) -> anyhow::Result<Self> {
        for note in &environment.notes {
            context.printer.aside(&format!("note: {note}"));
        }
        let interrupt = Interrupt::new()?;
        let enclave = context.ros().enclave();
        let joined = join(
            &environment,
            &JoinOptions {
                localhost: arguments.localhost,
                enclave,
            },
        )?;
        let printed = lines(&joined);
        for note in &printed {
            context.printer.aside(&format!("note: {note}"));
        }
        let names = Names::new(options)?;
        let node = joined.participant.node(names.node().clone())?;
        let view = View::new(&*joined.participant, &interrupt);
        let simulated = options.parameters.get("use_sim_time");
        Ok(Self {
            joined,
            printed,
            node,
            names,
            helper: context.ros().for_helper(),
            use_sim_time: simulated == Some(&ParameterValue::Bool(true)),
            environment,
            view,
            interrupt,
            spin_time: arguments.spin_time,
        })
    }

    /// The full name of a topic as the node means it; remapped, as in ROS.
    pub(crate) fn topic(&self, name: &str) -> anyhow::Result<String> {
        Ok(self.names.topic(name)?)
    }

    /// The full name of a service as the node means it; remapped, as in ROS.
    pub(crate) fn service(&self, name: &str) -> anyhow::Result<String> {
        Ok(self.names.service(name)?)
    }

    /// Whether time comes from `/clock`, by flag or by the parameter of the node.
    pub(crate) fn uses_sim_time(&self, flag: bool) -> bool {
        flag || self.use_sim_time
    }

    /// The options of one more hidden node of this process; topics are remapped as for the first.
    pub(crate) fn helper(&self, what: &str) -> anyhow::Result<NodeOptions> {
        let options = hidden(&format!("{}_{what}", own_name()));
        Ok(self
            .helper
            .options(options, |path| std::fs::read_to_string(path))?)
    }

    /// The graph of the others, once it has settled.
    pub(crate) fn settled(&self) -> Graph {
        let own = self.node.name();
        let whole = |graph: &Graph| nodes_are_known(graph, own);
        self.view.settle(LISTING, self.spin_time, whole);
        self.view.graph()
    }

    /// The graph once no more endpoints appear, even if their nodes are not known yet: a longer wait would lose messages.
    pub(crate) fn settled_endpoints(&self) -> Graph {
        self.view.settle(SUBSCRIBING, self.spin_time, |_| true);
        self.view.graph()
    }

    /// The graph as it is now.
    pub(crate) fn graph(&self) -> Graph {
        self.view.graph()
    }

    /// Blocks until the condition holds, or for the discovery time; true if it holds.
    pub(crate) fn look_for(&self, condition: impl FnMut(&Graph) -> bool) -> bool {
        self.view.wait_until(Some(self.spin_time), condition)
    }

    /// Blocks until the condition holds, or for `limit`; true if it holds, false also at Ctrl-C.
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
        &self.joined.participant
    }

    /// Notes of the transport, one line each.
    pub(crate) fn notes(&self) -> Vec<String> {
        lines(&self.joined)
    }

    /// The notes since the start, such as malformed data of peers.
    pub(crate) fn later_notes(&self) -> Vec<String> {
        let mut notes = self.notes();
        notes.retain(|note| !self.printed.contains(note));
        notes
    }

    /// Whether endpoints with incompatible `QoS` do not match; on Zenoh, only the key matters.
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
        self.joined.participant.time_base()
    }

    pub(crate) fn clock(&self) -> Clock<Steady> {
        Clock::on(&self.base())
    }

    /// The error for a topic, service or node that does not exist.
    pub(crate) fn missing<'a>(
        &self,
        what: &str,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Failure {
        let domain = self.environment.domain;
        Failure::new(format!("no {what} {name} in domain {domain}"))
            .suggest(name, known)
            .or_hint(format!(
                "`timeloom {what} list` lists them, `--spin-time` waits longer for discovery, `timeloom doctor net` looks for causes"
            ))
    }
}

/// A participant as an environment asks for it, without flags.
pub(crate) fn participant(environment: &Environment) -> anyhow::Result<Arc<dyn Participant>> {
    Ok(join(environment, &JoinOptions::default())?.participant)
}

fn join(environment: &Environment, options: &JoinOptions<'_>) -> anyhow::Result<Joined> {
    let joined = timeloom_transport::join(environment, options);
    Ok(joined.map_err(|error| {
        let hint = error.hint().map(str::to_owned);
        Failure::new(error.to_string()).hint_if(hint)
    })?)
}

/// Notes of the transport, one line each.
fn lines(joined: &Joined) -> Vec<String> {
    let notes = joined.notes();
    notes.iter().map(ToString::to_string).collect()
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
