//! A running robot in the browser.

use std::sync::Arc;

use clap::Args;
use timeloom_bag::TopicInfo;
use timeloom_text::counted;
use timeloom_view::{GraphView, GraphViewOptions, Hidden, Listening, Source};

use super::Arguments;
use super::bag::report_slow_clients;
use super::wait::wait;
use crate::context::Context;
use crate::decode::resolver;
use crate::failure::Failure;
use crate::live::{Live, SimClock};
use crate::outcome::Outcome;

/// The part of a robot that is shown.
#[derive(Debug, Args)]
#[command(next_help_heading = "Running robot")]
pub(crate) struct RobotArguments {
    /// Subscribe only to topics that a client shows; the others have no rate and no account of losses
    #[arg(long)]
    on_demand: bool,
    /// Show topics with a part that begins with _ too
    #[arg(long)]
    include_hidden_topics: bool,
    /// Use the time of /clock for messages and clients
    #[arg(short = 's', long)]
    use_sim_time: bool,
}

impl RobotArguments {
    /// Refuses what only a robot has.
    pub(super) fn check_bag(&self) -> Result<(), Failure> {
        let given = [
            ("--on-demand", self.on_demand),
            ("--include-hidden-topics", self.include_hidden_topics),
            ("--use-sim-time", self.use_sim_time),
        ];
        match given.into_iter().find(|(_, given)| *given) {
            Some((flag, _)) => Err(Failure::usage(format!(
                "{flag} applies to a running robot, but a bag is given"
            ))
            .hint("leave out the bag or the flag")),
            None => Ok(()),
        }
    }
}

pub(super) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let live = Live::join(&arguments.network, context)?;
    let robot = &arguments.robot;
    let simulated = live.uses_sim_time(robot.use_sim_time);
    let simulated = simulated.then(|| SimClock::new(&live)).transpose()?;
    let selection = arguments.selection.selection();
    let name = format!("domain {}", live.environment().domain);
    let options = GraphViewOptions {
        name: name.clone(),
        listening: if robot.on_demand {
            Listening::OnDemand
        } else {
            Listening::Always
        },
        hidden: if robot.include_hidden_topics {
            Hidden::Shown
        } else {
            Hidden::LeftOut
        },
        takes: Arc::new(move |topic, type_name| selection.takes(&TopicInfo::new(topic, type_name))),
        types: resolver(),
        clock: simulated.as_ref().map(SimClock::clock),
    };
    let view = Arc::new(GraphView::new(Arc::clone(live.participant()), options)?);
    let server = arguments
        .server
        .start(Arc::clone(&view) as Arc<dyn Source>, &name, context)?;
    wait(live.interrupt(), arguments.duration, || {
        if let Some(simulated) = &simulated {
            simulated.report(context);
        }
        false
    });
    let lost = view.lost_on_the_wire();
    if lost > 0 {
        let text = format!("{} lost in transport", counted(lost, "message"));
        context.printer.loss(&text);
    }
    for note in live.notes() {
        context.printer.warning(&note);
    }
    let slow = report_slow_clients(&server, context);
    Ok(Outcome::lost_if(lost > 0 || slow))
}
