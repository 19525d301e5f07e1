//! `timeloom topic list`.

use clap::Args;
use timeloom_text::counted;
use timeloom_wire::{EndpointKind, Graph};

use crate::context::Context;
use crate::live::{Live, LiveArguments, NameList, Shown};
use crate::outcome::Outcome;
use crate::verbs::info::Format;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom topic list
  timeloom topic list -t                        with their types
  timeloom topic list -v                        how many publish and subscribe
  timeloom topic list --format json | jq -r .name";

/// List the topics
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub(crate) struct Arguments {
    /// With their types
    #[arg(short = 't', long)]
    show_types: bool,
    /// Published and subscribed topics with types and numbers
    #[arg(short = 'v', long, conflicts_with = "count_topics")]
    verbose: bool,
    /// Accepted for compatibility with ros2; has no effect
    #[arg(short = 's', long, hide = true)]
    use_sim_time: bool,
    /// Only the number
    #[arg(short = 'c', long)]
    count_topics: bool,
    /// Also hidden topics, with a part that starts with `_`
    #[arg(long)]
    include_hidden_topics: bool,
    /// Output format; json prints one line per topic
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
    let names = NameList::new(graph.topics(), arguments.include_hidden_topics);
    if arguments.verbose && arguments.format == Format::Text {
        print_verbose(&names, &graph, context)?;
        return Ok(Outcome::Done);
    }
    names.print(
        context.printer.data(),
        (shown, arguments.format),
        "topics",
        endpoints,
    )?;
    Ok(Outcome::Done)
}

/// Published and subscribed topics, as in `ros2 topic list -v`.
fn print_verbose(names: &NameList<'_>, graph: &Graph, context: &mut Context) -> anyhow::Result<()> {
    let out = context.printer.data();
    for (title, what, kind) in [
        ("Published", "publisher", EndpointKind::Publisher),
        ("Subscribed", "subscriber", EndpointKind::Subscription),
    ] {
        writeln!(out, "{title} topics:")?;
        for (name, types) in names.iter() {
            let count = graph.on(name, kind).count() as u64;
            if count > 0 {
                let types = types.join(", ");
                writeln!(out, " * {name} [{types}] {}", counted(count, what))?;
            }
        }
        writeln!(out)?;
    }
    Ok(())
}
