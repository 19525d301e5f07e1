//! The result table.

use std::fmt::Write as _;

use serde_json::{Value as Json, json};

use super::jobs::Job;

/// Timeloom compared with one other tool.
pub(super) struct Row {
    job: &'static str,
    unit: &'static str,
    ours: f64,
    other: &'static str,
    /// Its value, or the reason why there is none.
    theirs: Result<f64, String>,
}

/// A row for each other side; values are seconds, in the order of the sides.
pub(super) fn rows(job: &Job, values: &[Vec<f64>], missing: &[Option<String>]) -> Vec<Row> {
    let middle = |index: usize| median(values.get(index).map_or(&[][..], Vec::as_slice));
    let ours = middle(0).unwrap_or(f64::NAN) * job.factor;
    let others = job.sides.iter().enumerate().skip(1);
    others
        .map(|(index, side)| {
            let why = || {
                let why = missing.get(index).cloned().flatten();
                why.unwrap_or_else(|| "no value".to_owned())
            };
            Row {
                job: job.name,
                unit: job.unit,
                ours,
                other: side.name(),
                theirs: middle(index)
                    .map(|value| value * job.factor)
                    .ok_or_else(why),
            }
        })
        .collect()
}

fn median(values: &[f64]) -> Option<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// As Markdown.
pub(super) fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "| job | unit | timeloom | other | theirs | theirs / ours |\n|---|---|---:|---|---:|---:|\n",
    );
    for row in rows {
        let (theirs, ratio) = match &row.theirs {
            Ok(theirs) => (digits(*theirs), format!("{}×", digits(theirs / row.ours))),
            Err(why) => (why.clone(), String::new()),
        };
        let line = writeln!(
            text,
            "| {} | {} | {} | {} | {theirs} | {ratio} |",
            row.job,
            row.unit,
            digits(row.ours),
            row.other
        );
        // Writing to a string does not fail.
        line.unwrap_or_default();
    }
    text
}

pub(super) fn as_json(rows: &[Row]) -> Json {
    let rows = rows.iter().map(|row| {
        let theirs = row.theirs.as_ref().ok();
        json!({
            "job": row.job,
            "unit": row.unit,
            "ours": row.ours,
            "other": row.other,
            "theirs": theirs,
            "ratio": theirs.map(|theirs| theirs / row.ours),
            "missing": row.theirs.as_ref().err(),
        })
    });
    rows.collect()
}

/// Three significant digits.
fn digits(value: f64) -> String {
    match value {
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value if value >= 1.0 => format!("{value:.2}"),
        value => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::versus::jobs;

    #[test]
    fn the_median_counts_and_missing_tools_are_named() {
        let all = jobs::all();
        let job = all.iter().find(|job| job.name == "convert").unwrap();
        let values = [vec![1e-6, 9e-6, 2e-6], vec![20e-6, 10e-6, 90e-6]];
        let there = rows(job, &values, &[None, None]);
        let expected = "| convert | µs CPU per message | 2.00 | rosbags (PyPI) | 20.0 | 10.0× |";
        assert_eq!(table(&there).lines().last(), Some(expected));
        let gone = rows(
            job,
            &[vec![1e-6], vec![]],
            &[None, Some("not installed".into())],
        );
        let expected =
            "| convert | µs CPU per message | 1.00 | rosbags (PyPI) | not installed |  |";
        assert_eq!(table(&gone).lines().last(), Some(expected));
        assert_eq!(as_json(&gone)[0]["missing"], "not installed");
    }
}
