//! `timeloom trace export`: exports for other tools.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use timeloom_text::counted;
use timeloom_trace::{MessageTrace, dot, mermaid};

use super::analysis::AnalysisArguments;
use super::report::write_out;
use crate::context::Context;
use crate::outcome::Outcome;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom trace export my_bag --format chrome -o trace.json   open it in https://ui.perfetto.dev
  timeloom trace export my_bag --format otlp -o spans.json     for an OpenTelemetry collector, Jaeger, Tempo
  timeloom trace export my_bag --format mermaid                the graph, for Markdown
  timeloom trace export my_bag --format dot | dot -Tsvg > graph.svg
  timeloom trace export my_bag --format chrome --start +10s --end +12s -o part.json";

/// Write lineage for Perfetto, OpenTelemetry, Mermaid or Graphviz
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The bag: a directory, or one .mcap or .db3 file
    #[arg(value_name = "BAG")]
    bag: PathBuf,
    /// Output format
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: ExportFormat,
    /// Output file [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    analysis: AnalysisArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
    /// JSON for Perfetto and the tracing page of Chrome
    #[value(alias = "perfetto")]
    Chrome,
    /// JSON of OpenTelemetry: a span for each message, links for its inputs
    Otlp,
    /// The graph for Markdown
    Mermaid,
    /// The graph for Graphviz
    Dot,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let plan = arguments.analysis.read_plan()?;
    let output = arguments.output.as_deref();
    let (text, unread, lost) = match arguments.format {
        ExportFormat::Chrome | ExportFormat::Otlp => {
            let mut trace = MessageTrace::new(arguments.analysis.options(&plan));
            let intake = arguments
                .analysis
                .read(&arguments.bag, &plan, &mut trace, context)?;
            let text = if arguments.format == ExportFormat::Otlp {
                trace.otlp()
            } else {
                trace.chrome()
            };
            (text, intake.unread, intake.is_incomplete)
        }
        ExportFormat::Mermaid | ExportFormat::Dot => {
            let analysis = arguments.analysis.analyse(&arguments.bag, &plan, context)?;
            let text = if arguments.format == ExportFormat::Dot {
                dot(&analysis.report)
            } else {
                mermaid(&analysis.report)
            };
            (text, analysis.unread, analysis.lost)
        }
    };
    write_out(output, &text, context)?;
    if unread > 0 {
        let words = counted(unread, "message");
        context
            .printer
            .warning(&format!("{words} could not be read"));
    }
    Ok(Outcome::lost_if(lost))
}
