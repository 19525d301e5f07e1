//! `timeloom trace diff`: two bags side by side.

use std::path::PathBuf;

use clap::Args;
use timeloom_text::Table;
use timeloom_trace::{PathChange, Summary, diff, span_text};

use super::analysis::AnalysisArguments;
use crate::context::Context;
use crate::outcome::Outcome;
use crate::verbs::info::Format;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom trace diff before after                       every path of both, the largest change first
  timeloom trace diff before after --to /cmd
  timeloom trace diff before after --format json | jq '.[] | select(.p99_change > 1.2)'";

/// Compare the lineage of two bags: what got slower, what is new, what is gone
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The bag to compare with
    #[arg(value_name = "BEFORE")]
    before: PathBuf,
    /// The bag to compare
    #[arg(value_name = "AFTER")]
    after: PathBuf,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    analysis: AnalysisArguments,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let plan = arguments.analysis.read_plan()?;
    let before = arguments
        .analysis
        .analyse(&arguments.before, &plan, context)?;
    let after = arguments
        .analysis
        .analyse(&arguments.after, &plan, context)?;
    let changes = diff(&before.report, &after.report);
    match arguments.format {
        Format::Json => {
            let json = serde_json::to_string_pretty(&changes)?;
            writeln!(context.printer.data(), "{json}")?;
        }
        Format::Text => context.printer.text(&text(&changes))?,
    }
    Ok(Outcome::lost_if(before.lost || after.lost))
}

fn cell(change: &PathChange, ratio: Option<f64>, of: fn(&Summary) -> u64) -> String {
    let one = |summary: &Option<Summary>| summary.as_ref().map(|summary| span_text(of(summary)));
    match (one(&change.before), one(&change.after)) {
        (Some(before), Some(after)) => {
            let ratio = ratio.map(|ratio| format!(" ({:+.0} %)", (ratio - 1.0) * 100.0));
            format!("{before} → {after}{}", ratio.unwrap_or_default())
        }
        (Some(before), None) => format!("{before} → gone"),
        (None, Some(after)) => format!("new → {after}"),
        (None, None) => "-".to_owned(),
    }
}

fn text(changes: &[PathChange]) -> String {
    let mut table = Table::new("", &["path", "flows", "p50", "p99", "max"]);
    for change in changes {
        let flows = |summary: &Option<Summary>| summary.map_or(0, |summary| summary.count);
        table.row(vec![
            change.path.clone(),
            format!("{} → {}", flows(&change.before), flows(&change.after)),
            cell(change, change.p50_change, |summary| summary.p50_ns),
            cell(change, change.p99_change, |summary| summary.p99_ns),
            cell(change, change.max_change, |summary| summary.max_ns),
        ]);
    }
    table.text()
}
