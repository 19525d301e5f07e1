//! `timeloom trace diff`: two bags side by side.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use timeloom_text::Table;
use timeloom_trace::{PathReport, Report, Summary, span_text};

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
    /// Form of the output
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    analysis: AnalysisArguments,
}

/// A path in both bags.
struct Change {
    topics: String,
    before: Option<Summary>,
    after: Option<Summary>,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let plan = arguments.analysis.read_plan()?;
    let before = arguments
        .analysis
        .analyse(&arguments.before, &plan, context)?;
    let after = arguments
        .analysis
        .analyse(&arguments.after, &plan, context)?;
    let mut changes = changes(&before.report, &after.report);
    changes.sort_by(|a, b| b.weight().total_cmp(&a.weight()));
    match arguments.format {
        Format::Json => {
            let values: Vec<_> = changes.iter().map(Change::json).collect();
            let json = serde_json::to_string_pretty(&values)?;
            writeln!(context.printer.data(), "{json}")?;
        }
        Format::Text => context.printer.text(&text(&changes))?,
    }
    Ok(Outcome::lost_if(before.lost || after.lost))
}

fn changes(before: &Report, after: &Report) -> Vec<Change> {
    let paths = |report: &Report| -> BTreeMap<String, Summary> {
        let all = report.targets.iter().flat_map(|target| &target.paths);
        all.map(|path: &PathReport| (path.topics.join(" → "), path.best))
            .collect()
    };
    let (before, after) = (paths(before), paths(after));
    let mut names: Vec<_> = before.keys().chain(after.keys()).cloned().collect();
    names.sort();
    names.dedup();
    let change = |topics: String| Change {
        before: before.get(&topics).copied(),
        after: after.get(&topics).copied(),
        topics,
    };
    names.into_iter().map(change).collect()
}

impl Change {
    /// How many times as long it takes.
    fn ratio(&self, of: fn(&Summary) -> u64) -> Option<f64> {
        let (before, after) = (of(self.before.as_ref()?), of(self.after.as_ref()?));
        (before > 0).then(|| after as f64 / before as f64)
    }

    fn weight(&self) -> f64 {
        let ratio = self.ratio(|summary| summary.p99_ns);
        ratio.map_or(f64::MAX, |ratio| ratio.ln().abs())
    }

    fn json(&self) -> serde_json::Value {
        json!({
            "path": self.topics,
            "before": self.before,
            "after": self.after,
            "p50_change": self.ratio(|summary| summary.p50_ns),
            "p99_change": self.ratio(|summary| summary.p99_ns),
            "max_change": self.ratio(|summary| summary.max_ns),
        })
    }

    fn cell(&self, of: fn(&Summary) -> u64) -> String {
        let one =
            |summary: &Option<Summary>| summary.as_ref().map(|summary| span_text(of(summary)));
        match (one(&self.before), one(&self.after)) {
            (Some(before), Some(after)) => {
                let change = self
                    .ratio(of)
                    .map(|ratio| format!(" ({:+.0} %)", (ratio - 1.0) * 100.0));
                format!("{before} → {after}{}", change.unwrap_or_default())
            }
            (Some(before), None) => format!("{before} → gone"),
            (None, Some(after)) => format!("new → {after}"),
            (None, None) => "-".to_owned(),
        }
    }
}

fn text(changes: &[Change]) -> String {
    let mut table = Table::new("", &["path", "flows", "p50", "p99", "max"]);
    for change in changes {
        let flows = |summary: &Option<Summary>| summary.map_or(0, |summary| summary.count);
        table.row(vec![
            change.topics.clone(),
            format!("{} → {}", flows(&change.before), flows(&change.after)),
            change.cell(|summary| summary.p50_ns),
            change.cell(|summary| summary.p99_ns),
            change.cell(|summary| summary.max_ns),
        ]);
    }
    table.text()
}
