//! `timeloom trace report`: the lineage of a bag.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use timeloom_trace::html;

use super::analysis::AnalysisArguments;
use super::text::{Paths, report_text};
use crate::context::Context;
use crate::outcome::Outcome;
use crate::plain_text::plain_text;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom trace report my_bag                             every path with its percentiles, every source's losses
  timeloom trace report my_bag --to /control/command/cmd   only what leads there
  timeloom trace report my_bag --format json | jq '.targets[].paths[].best.p99_ns'
  timeloom trace report my_bag --format html -o page.html  graph, stacked hops, histogram, the slowest flow
  timeloom trace report my_bag --links stamp               no tags needed: topics that keep their stamps
  timeloom trace report my_bag --all-paths                 every path, where a source has hundreds to one target

worst is CARET's worst case, reaction adds the time since the message before, age is that of the data at the target;
all three are maxima. Every message of every source has an outcome, and they add up to what was published.";

/// Show paths, latencies, hops and losses of a bag
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The bag: a directory, or one .mcap or .db3 file
    #[arg(value_name = "BAG")]
    bag: PathBuf,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: ReportFormat,
    /// Output file [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// List every path, even similar ones from the same source
    #[arg(long)]
    all_paths: bool,
    #[command(flatten)]
    analysis: AnalysisArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum ReportFormat {
    /// Text tables
    #[default]
    Text,
    /// JSON
    Json,
    /// A self-contained page
    Html,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let plan = arguments.analysis.read_plan()?;
    let analysis = arguments.analysis.analyse(&arguments.bag, &plan, context)?;
    let name = arguments.bag.display().to_string();
    let text = match arguments.format {
        ReportFormat::Text => {
            let paths = if arguments.all_paths {
                Paths::All
            } else {
                Paths::Summary
            };
            plain_text(&report_text(&analysis.report, &name, paths)).into_owned()
        }
        ReportFormat::Json => serde_json::to_string_pretty(&analysis.report)? + "\n",
        ReportFormat::Html => html(&analysis.report, &name),
    };
    write_out(arguments.output.as_deref(), &text, context)?;
    Ok(Outcome::lost_if(analysis.lost))
}

/// Writes to a new file, or to stdout.
pub(super) fn write_out(
    output: Option<&std::path::Path>,
    text: &str,
    context: &mut Context,
) -> anyhow::Result<()> {
    let Some(path) = output else {
        context.printer.data().write_all(text.as_bytes())?;
        return Ok(());
    };
    let written = std::fs::File::create_new(path)
        .and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes()));
    written.with_context(|| format!("cannot write {}", path.display()))?;
    context.printer.note(&format!("wrote {}", path.display()));
    Ok(())
}
