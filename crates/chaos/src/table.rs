use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::fault::FAULTS;
use crate::tally::Tally;

/// The results as a Markdown table, with a line of totals.
pub(crate) fn table(results: &BTreeMap<&'static str, Tally>) -> String {
    let mut text = String::from(
        "| fault | injected | survived | kill -9 | published | recorded | lost in transport | lost in recorder | left out | unknown (in the bag) | unexplained | hung | peak memory |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for fault in FAULTS {
        if let Some(tally) = results.get(fault.name) {
            line(&mut text, fault.name, tally);
        }
    }
    line(&mut text, "**all**", &sum(results));
    text
}

/// The totals.
pub(crate) fn sum(results: &BTreeMap<&'static str, Tally>) -> Tally {
    let mut sum = Tally::default();
    for tally in results.values() {
        sum.add(tally);
    }
    sum
}

fn line(text: &mut String, name: &str, tally: &Tally) {
    let written = writeln!(
        text,
        "| {name} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} MiB |",
        tally.injected,
        tally.survived,
        tally.kills,
        tally.published,
        tally.recorded,
        tally.lost_in_transport,
        tally.lost_in_recorder,
        tally.left_out,
        tally.unknown,
        tally.unexplained,
        tally.hung,
        tally.peak_bytes >> 20,
    );
    // Writing to a string does not fail.
    written.unwrap_or_default();
}
