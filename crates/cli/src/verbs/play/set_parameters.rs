//! `play --set-parameters`: the nodes of the running robot get the parameters that they had in the bag.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use clap::Args;
use timeloom_bag::{BagReader, RobotParameters, StorageReader as _};
use timeloom_msg::name::is_hidden;
use timeloom_node::{ParameterChange, ParameterPlan, ParameterProblem, RemoteParameters};
use timeloom_text::counted;
use timeloom_time::Duration;
use timeloom_wire::{EndpointKind, Graph};

use crate::context::Context;
use crate::failure::Failure;
use crate::live::Live;

/// How long a service of a node may take to be found, and then to answer.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The flags for parameters.
#[derive(Debug, Args)]
pub(super) struct ParameterArguments {
    /// First set the parameters of the robot's nodes to their values in the bag; shows the changes and asks
    #[arg(long)]
    set_parameters: bool,
    /// Set them without asking
    #[arg(short = 'y', long, requires = "set_parameters")]
    yes: bool,
}

/// Parameters that are to be put back.
pub(crate) struct SetParameters {
    parameters: RobotParameters,
    log_time_ns: i64,
    asks: bool,
}

impl ParameterArguments {
    /// Reads the parameters of the bags at a log time, by default that of the first message; `None` without the flag.
    pub(super) fn read(
        &self,
        reader: &mut BagReader,
        start_ns: Option<i64>,
    ) -> anyhow::Result<Option<SetParameters>> {
        if !self.set_parameters {
            return Ok(None);
        }
        if !self.yes && !io::stdin().is_terminal() {
            let text = "--set-parameters asks for confirmation, and there is no terminal";
            return Err(Failure::usage(text).hint("add --yes").into());
        }
        let mut parameters = reader.parameters()?;
        // Tools such as `ros2 param` are nodes for a moment, with hidden names.
        parameters.nodes.retain(|name, _| !is_hidden(name));
        if parameters.nodes.is_empty() {
            let hint = "only `timeloom record` without --no-state saves parameters";
            return Err(Failure::new("the bag has no parameters").hint(hint).into());
        }
        let begin = reader.info().start_time_ns.unwrap_or(i64::MIN);
        Ok(Some(SetParameters {
            parameters,
            log_time_ns: start_ns.unwrap_or(begin),
            asks: !self.yes,
        }))
    }
}

impl SetParameters {
    /// Sets what is to be set, if anything; true if all nodes have the parameters of the bag now.
    pub(super) fn run_all(
        wanted: Option<&Self>,
        live: &Live,
        context: &mut Context,
    ) -> anyhow::Result<bool> {
        wanted.map_or(Ok(true), |wanted| wanted.run(live, context))
    }

    /// Compares, asks and sets.
    fn run(&self, live: &Live, context: &mut Context) -> anyhow::Result<bool> {
        let remote = RemoteParameters::new(live.shared_node(), &live.base(), TIMEOUT);
        let stopper = remote.clone();
        live.interrupt().wakes(move || stopper.stop());
        let graph = live.settled();
        let there = self
            .parameters
            .nodes
            .keys()
            .filter(|name| has_node(&graph, name));
        let there: Vec<String> = there.cloned().collect();
        let plan = ParameterPlan::new(&self.parameters, self.log_time_ns, &remote.read_all(&there));
        for change in &plan.changes {
            let ParameterChange {
                node,
                name,
                from,
                to,
            } = change;
            context
                .printer
                .note(&format!("{node} {name}: {from} → {to}"));
        }
        let mut refused: Vec<ParameterProblem> = plan.read_only.clone();
        if !plan.changes.is_empty() && self.asks && !confirmed(&plan)? {
            return Err(
                Failure::new("not confirmed: no parameter was set, nothing was played").into(),
            );
        }
        let set = set(&remote, &plan.changes, &mut refused);
        for (problems, what) in [(&refused, "not set"), (&plan.absent, "absent")] {
            for problem in problems {
                context.printer.warning(&line(problem, what));
            }
        }
        let count = |problems: &[ParameterProblem]| -> usize {
            problems.iter().map(|problem| problem.count).sum()
        };
        let (refusals, absent) = (count(&refused), count(&plan.absent));
        context.printer.note(&format!(
            "parameters: {set} set, {} the same, {refusals} refused, {absent} absent",
            plan.same
        ));
        Ok(refusals + absent == 0)
    }
}

fn line(problem: &ParameterProblem, what: &str) -> String {
    let ParameterProblem {
        node,
        name,
        reason,
        count,
    } = problem;
    if name.is_empty() {
        let count = counted(*count as u64, "parameter");
        return format!("{node}: {count} {what}: {reason}");
    }
    format!("{node} {name} {what}: {reason}")
}

fn has_node(graph: &Graph, node: &str) -> bool {
    let service = format!("{node}/list_parameters");
    graph.on(&service, EndpointKind::Server).next().is_some()
}

fn confirmed(plan: &ParameterPlan) -> io::Result<bool> {
    let count = counted(plan.changes.len() as u64, "parameter");
    let mut out = io::stderr();
    write!(out, "set {count}? [y/N] ")?;
    out.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Sets the parameters node by node; returns how many were set.
fn set(
    remote: &RemoteParameters,
    changes: &[ParameterChange],
    refused: &mut Vec<ParameterProblem>,
) -> usize {
    let mut by_node: BTreeMap<&str, Vec<&ParameterChange>> = BTreeMap::new();
    for change in changes {
        by_node.entry(&change.node).or_default().push(change);
    }
    let mut set = 0;
    for (node, changes) in by_node {
        let wanted: Vec<_> = changes
            .iter()
            .map(|change| (change.name.clone(), change.to.clone()))
            .collect();
        let results = remote.set(node, &wanted).unwrap_or_else(|error| {
            let reason = error.to_string();
            wanted.iter().map(|_| Err(reason.clone())).collect()
        });
        for ((name, _), result) in wanted.iter().zip(results) {
            match result {
                Ok(()) => set += 1,
                Err(reason) => refused.push(ParameterProblem {
                    node: node.to_owned(),
                    name: name.clone(),
                    reason,
                    count: 1,
                }),
            }
        }
    }
    set
}
