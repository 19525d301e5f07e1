//! Brings a catalogue up to date, and prints what was done.

use serde_json::json;
use timeloom_catalog::{CATALOG_FILE, IndexReport, Indexer, Scope};
use timeloom_text::{counted, grouped, size};
use timeloom_time::Clock;

use super::Arguments;
use crate::catalogs::{explained, store};
use crate::context::Context;
use crate::outcome::Outcome;
use crate::verbs::info::Format;

pub(super) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let place = context.bags.place_of(&[&arguments.folder])?;
    let store = store(&arguments.folder)?;
    let indexer = Indexer {
        place,
        root: &arguments.folder,
        store: store.as_ref(),
        clock: Clock::new(),
        threads: usize::from(arguments.threads),
    };
    let mut progress = context.progress("opening bags");
    let report = indexer.update(&Scope::All, &mut |done, all| {
        progress.update_count(done, all, "bag");
    });
    drop(progress);
    let report = report.map_err(explained)?;
    print(arguments, &report, context)?;
    Ok(Outcome::lost_if(report.is_incomplete()))
}

fn print(arguments: &Arguments, report: &IndexReport, context: &mut Context) -> anyhow::Result<()> {
    let path = arguments.folder.join(CATALOG_FILE);
    if let Some(reason) = &report.rebuilt {
        let text = format!(
            "{} was damaged and is written anew: {reason}",
            path.display()
        );
        context.printer.warning(&text);
    }
    if arguments.format == Format::Json {
        let text = serde_json::to_string_pretty(&json(&path.display().to_string(), report))?;
        writeln!(context.printer.data(), "{text}")?;
    } else {
        context
            .printer
            .note(&line(&path.display().to_string(), report));
        if arguments.verbose {
            context.printer.text(&names(report))?;
        }
    }
    for text in &report.unlisted {
        context.printer.warning(&format!("not listed: {text}"));
    }
    for (bag, reason) in &report.unreadable {
        context
            .printer
            .warning(&format!("{bag}: cannot be opened: {reason}"));
    }
    for (bag, damage) in &report.damaged {
        context
            .printer
            .warning(&format!("{bag}: damaged: {damage}"));
    }
    if !report.unsettled.is_empty() {
        let bags = counted(report.unsettled.len() as u64, "bag");
        let text = format!("{bags} changed just now: queries open them until the next run");
        context.printer.aside(&text);
    }
    Ok(())
}

fn line(path: &str, report: &IndexReport) -> String {
    let count = |names: &[String]| grouped(names.len() as u64);
    let mut text = format!(
        "{path}: {}: {} new, {} changed, {} unchanged, {} removed",
        counted(report.bags, "bag"),
        count(&report.added),
        count(&report.changed),
        grouped(report.unchanged),
        count(&report.removed),
    );
    if !report.unreadable.is_empty() {
        text.push_str(", ");
        text.push_str(&grouped(report.unreadable.len() as u64));
        text.push_str(" unreadable");
    }
    text
}

fn names(report: &IndexReport) -> String {
    let mut lines = vec![format!("{} in the table\n", size(report.catalog_bytes))];
    for (word, names) in [
        ("new", &report.added),
        ("changed", &report.changed),
        ("removed", &report.removed),
    ] {
        lines.extend(names.iter().map(|name| format!("{word:<8} {name}\n")));
    }
    lines.concat()
}

fn json(path: &str, report: &IndexReport) -> serde_json::Value {
    let pairs = |pairs: &[(String, String)], word: &str| -> Vec<serde_json::Value> {
        let object = |(bag, reason): &(String, String)| json!({ "bag": bag, word: reason });
        pairs.iter().map(object).collect()
    };
    json!({
        "catalog": path,
        "catalog_bytes": report.catalog_bytes,
        "written": report.is_saved,
        "bags": report.bags,
        "new": report.added,
        "changed": report.changed,
        "unchanged": report.unchanged,
        "removed": report.removed,
        "unreadable": pairs(&report.unreadable, "reason"),
        "damaged": pairs(&report.damaged, "damage"),
        "changed_just_now": report.unsettled,
        "opened": report.opened,
        "copied_from_other_catalogs": report.copied,
        "not_listed": report.unlisted,
        "rebuilt": report.rebuilt,
    })
}
