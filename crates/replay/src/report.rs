//! The result of a replay test.

mod html;
mod text;

pub use html::html;
pub use text::text;

use std::path::PathBuf;

use serde::Serialize;
use timeloom_compare::Comparison;
use timeloom_trace::Verdict;

use crate::failure::Failure;
use crate::judge::Judgement;
use crate::plan::RunPlan;
use crate::run::Played;

/// The result of all runs.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The plan.
    pub plan: PathBuf,
    /// Where the runs left their bags and logs.
    pub directory: PathBuf,
    /// Expected bags that were written.
    pub updated: Vec<PathBuf>,
    /// The runs, in the order of the plan.
    pub runs: Vec<RunReport>,
}

/// The result of a run.
#[derive(Debug, Serialize)]
pub struct RunReport {
    /// Its name.
    pub name: String,
    /// Whether it reached its end and every verdict is kept.
    pub passed: bool,
    /// The command.
    pub command: Vec<String>,
    /// Where its bag (`output`) and logs (`stdout.log`, `stderr.log`) are.
    pub directory: PathBuf,
    /// The bag of the outputs.
    pub bag: Option<PathBuf>,
    /// Number of input messages that were played.
    pub played: u64,
    /// Why it did not reach its end.
    pub failure: Option<Failure>,
    /// Remarks that do not change the verdict.
    pub notes: Vec<String>,
    /// Verdicts on the recorded bag.
    pub verdicts: Vec<Verdict>,
    /// The outputs compared with the expected bag.
    pub comparison: Option<Comparison>,
}

impl Report {
    /// Whether all runs passed.
    pub fn is_passed(&self) -> bool {
        self.runs.iter().all(|run| run.passed)
    }
}

impl RunReport {
    pub(crate) fn new(
        run: &RunPlan,
        directory: PathBuf,
        played: Played,
        judgement: Judgement,
    ) -> Self {
        let kept = judgement.verdicts.iter().all(|verdict| verdict.kept);
        Self {
            name: run.name.clone(),
            passed: played.failure.is_none() && kept,
            command: run.command.clone(),
            directory,
            bag: played.bag,
            played: played.inputs,
            failure: played.failure,
            notes: played.notes,
            verdicts: judgement.verdicts,
            comparison: judgement.comparison,
        }
    }

    /// Number of verdicts that failed.
    pub fn missed(&self) -> usize {
        self.verdicts.iter().filter(|verdict| !verdict.kept).count()
    }

    /// The verdicts of the run, the process itself first.
    fn all_verdicts(&self) -> Vec<Verdict> {
        let process = Verdict {
            budget: self.name.clone(),
            path: String::new(),
            what: "process".to_owned(),
            allowed: "runs to the end of the bag".to_owned(),
            actual: match &self.failure {
                None => format!("{} messages played", self.played),
                Some(failure) => failure.text.clone(),
            },
            kept: self.failure.is_none(),
            reason: self.failure.as_ref().map_or_else(String::new, |failure| {
                let lines = failure.last_lines.join("\n");
                format!("{}\n{lines}", failure.text).trim_end().to_owned()
            }),
        };
        let others = self.verdicts.iter().map(|verdict| Verdict {
            budget: format!("{}: {}", self.name, verdict.budget),
            ..verdict.clone()
        });
        std::iter::once(process).chain(others).collect()
    }
}

/// The report as a `JUnit` file: a test case for each verdict of each run.
pub fn junit_text(report: &Report) -> String {
    let verdicts = report.runs.iter().flat_map(RunReport::all_verdicts);
    let verdicts: Vec<Verdict> = verdicts.collect();
    let name = format!("timeloom replay-test {}", report.plan.display());
    timeloom_trace::junit(&verdicts, &name, None)
}
