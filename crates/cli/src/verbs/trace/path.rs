//! `timeloom trace path`: the paths to a topic, hop by hop.

use std::path::PathBuf;

use clap::Args;
use timeloom_text::Table;
use timeloom_trace::{Flow, PathReport, span_text};

use super::analysis::AnalysisArguments;
use super::text::{percentiles, steps_text};
use crate::context::Context;
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::verbs::info::Format;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom trace path my_bag                                every path, hop by hop
  timeloom trace path my_bag --from /points --to /cmd       between two topics
  timeloom trace path my_bag --to /cmd --format json

The slowest flow is shown message by message, with the time since its source was published.";

/// Show the paths from sources to targets, hop by hop, and the slowest flow of each
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The bag: a directory, or one .mcap or .db3 file
    #[arg(value_name = "BAG")]
    bag: PathBuf,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    analysis: AnalysisArguments,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let plan = arguments.analysis.read_plan()?;
    let analysis = arguments.analysis.analyse(&arguments.bag, &plan, context)?;
    let from = &arguments.analysis.sources;
    let wanted = |path: &&PathReport| {
        from.is_empty()
            || path
                .topics
                .first()
                .is_some_and(|first| from.contains(first))
    };
    let all = analysis
        .report
        .targets
        .iter()
        .flat_map(|target| &target.paths);
    let paths: Vec<_> = all.filter(wanted).collect();
    if paths.is_empty() {
        let text = format!("{} has no such path", arguments.bag.display());
        let hint = "`timeloom trace report` lists all paths; topics have their full names";
        return Err(Failure::new(text).hint(hint).into());
    }
    match arguments.format {
        Format::Json => {
            let json = serde_json::to_string_pretty(&paths)?;
            writeln!(context.printer.data(), "{json}")?;
        }
        Format::Text => {
            let texts: Vec<String> = paths.into_iter().map(path_text).collect();
            context.printer.text(&texts.join("\n"))?;
        }
    }
    Ok(Outcome::lost_if(analysis.lost))
}

fn path_text(path: &PathReport) -> String {
    let mut table = Table::new("    ", &["", "count", "p50", "p90", "p99", "p99.9", "max"]);
    let rows = [
        ("latency (best case)", &path.best),
        ("worst case", &path.worst),
        ("all flows", &path.all),
        ("reaction", &path.reaction),
        ("data age", &path.data_age),
        ("data age at its end", &path.data_age_at_end),
    ];
    for (name, summary) in rows {
        let mut row = vec![name.to_owned(), summary.count.to_string()];
        row.extend(percentiles(summary));
        table.row(row);
    }
    let slowest = path.slowest.as_ref().map(flow_text).unwrap_or_default();
    format!(
        "{}\n\n{}\n{}{slowest}",
        path.topics.join(" → "),
        table.text(),
        steps_text(path)
    )
}

fn flow_text(flow: &Flow) -> String {
    if flow.steps.is_empty() {
        return String::new();
    }
    let since = |nanos: Option<u64>| {
        nanos.map_or_else(|| "before its source: clocks differ".to_owned(), span_text)
    };
    let mut table = Table::new(
        "    ",
        &[
            "slowest flow",
            "node",
            "stamp",
            "published after",
            "known by",
        ],
    );
    for (step, elapsed) in flow.steps.iter().zip(flow.elapsed_ns()) {
        let stamp = step
            .stamp_ns
            .map(|nanos| format!("{:.6}", nanos as f64 / 1e9));
        table.row(vec![
            step.topic.clone(),
            step.node.clone(),
            stamp.unwrap_or_else(|| "-".to_owned()),
            since(elapsed),
            step.evidence
                .map_or("source", |evidence| evidence.name())
                .to_owned(),
        ]);
    }
    format!("\n{}", table.text())
}
