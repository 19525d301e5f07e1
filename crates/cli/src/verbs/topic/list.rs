//! `timeloom topic list`.

use clap::Args;
use timeloom_wire::EndpointKind;

use crate::context::Context;
use crate::live::{Live, LiveArguments, NameList, Shown};
use crate::outcome::Outcome;
use crate::verbs::info::Format;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom topic list
  timeloom topic list -t                        with their types
  timeloom topic list --format json | jq -r .name";

/// List the topics
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// With their types
    #[arg(short = 't', long)]
    show_types: bool,
    /// Only how many there are
    #[arg(short = 'c', long)]
    count_topics: bool,
    /// Hidden topics too, those with a part that starts with `_`
    #[arg(long)]
    include_hidden_topics: bool,
    /// Form of the output; as JSON, one line for each topic
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    live: LiveArguments,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let live = Live::join_to_look(&arguments.live, context)?;
    let graph = live.settled();
    let count = |name: &str, kind| graph.on(name, kind).count().into();
    let endpoints = |name: &str| {
        [
            ("publishers", EndpointKind::Publisher),
            ("subscriptions", EndpointKind::Subscription),
        ]
        .into_iter()
        .map(|(key, kind)| (key.to_owned(), count(name, kind)))
        .collect()
    };
    let shown = Shown::new(arguments.count_topics, arguments.show_types);
    NameList::new(graph.topics(), arguments.include_hidden_topics).print(
        context.printer.data(),
        (shown, arguments.format),
        "topics",
        endpoints,
    )?;
    Ok(Outcome::Done)
}
