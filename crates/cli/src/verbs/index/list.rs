//! The bags of a catalogue, compared with those that are there.

use std::collections::BTreeMap;

use serde_json::json;
use timeloom_bag::{BagSummary, TopicStatistics};
use timeloom_catalog::{BagFolder, Catalog, Content, Entry, FoundBag};
use timeloom_text::{Table, duration, grouped, rfc3339, size};

use super::Arguments;
use crate::catalogs::{explained, store};
use crate::context::Context;
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::verbs::info::Format;

/// A bag of the catalogue, of the folder, or of both.
struct Line<'a> {
    name: &'a str,
    state: &'static str,
    entry: Option<&'a Entry>,
}

pub(super) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let place = context.bags.place_of(&[&arguments.folder])?;
    let stored = store(&arguments.folder)?.load().map_err(explained)?;
    let Some(stored) = stored else {
        let folder = arguments.folder.display();
        let text = format!("{folder}: there is no catalogue");
        let hint = format!("`timeloom index {folder}` writes one");
        return Err(Failure::new(text).hint(hint).into());
    };
    let catalog = Catalog::from_bytes(stored.bytes).map_err(explained)?;
    let folder = BagFolder::list(place.as_ref(), &arguments.folder).map_err(explained)?;
    let lines = lines(&catalog, &folder.bags);
    match arguments.format {
        Format::Text => context.printer.text(&text(&lines))?,
        Format::Json => {
            for line in &lines {
                writeln!(context.printer.data(), "{}", json(line))?;
            }
        }
    }
    for text in &folder.unlisted {
        context.printer.warning(&format!("not listed: {text}"));
    }
    let stale = lines.iter().filter(|line| line.state != "current").count();
    if stale > 0 {
        let text = format!(
            "`timeloom index {}` brings it up to date",
            arguments.folder.display()
        );
        context.printer.hint(&text);
    }
    Ok(Outcome::lost_if(!folder.unlisted.is_empty()))
}

fn lines<'a>(catalog: &'a Catalog, bags: &'a [FoundBag]) -> Vec<Line<'a>> {
    let mut lines: BTreeMap<&str, Line<'a>> = BTreeMap::new();
    for (name, entry) in &catalog.entries {
        let line = Line {
            name,
            state: "gone",
            entry: Some(entry),
        };
        lines.insert(name, line);
    }
    for bag in bags {
        let entry = catalog.entries.get(&bag.name);
        let line = Line {
            name: &bag.name,
            state: state(entry, bag),
            entry,
        };
        lines.insert(&bag.name, line);
    }
    lines.into_values().collect()
}

fn state(entry: Option<&Entry>, bag: &FoundBag) -> &'static str {
    match entry {
        None => "new",
        Some(entry) if entry.identity != bag.identity || !entry.is_settled => "changed",
        Some(entry) => match &entry.content {
            Content::Unreadable(_) => "unreadable",
            Content::Bag(_) => "current",
        },
    }
}

impl Line<'_> {
    fn summary(&self) -> Option<&BagSummary> {
        match &self.entry?.content {
            Content::Bag(summary) => Some(summary),
            Content::Unreadable(_) => None,
        }
    }

    fn reason(&self) -> Option<&str> {
        match &self.entry?.content {
            Content::Bag(_) => None,
            Content::Unreadable(reason) => Some(reason),
        }
    }
}

/// The accounts of all topics together; `None` if a topic has none, so that its losses are not known.
fn account(summary: &BagSummary) -> Option<TopicStatistics> {
    let mut total = TopicStatistics::default();
    for statistics in &summary.statistics {
        total.merge(statistics.as_ref()?);
    }
    Some(total)
}

fn span_ns(summary: &BagSummary) -> Option<i64> {
    let (start, end) = (summary.start_time_ns?, summary.end_time_ns?);
    Some(end.saturating_sub(start))
}

fn text(lines: &[Line<'_>]) -> String {
    let heads = [
        "bag", "state", "start", "duration", "topics", "messages", "size", "lost", "left out",
        "unknown", "damage",
    ];
    let mut table = Table::new("", &heads);
    for line in lines {
        let mut cells = vec![line.name.to_owned(), line.state.to_owned()];
        if let Some(summary) = line.summary() {
            cells.extend(cells_of(line.name, summary));
        } else if let Some(reason) = line.reason() {
            cells.resize(heads.len() - 1, String::new());
            cells.push(reason.to_owned());
        }
        table.row(cells);
    }
    table.text()
}

fn cells_of(bag: &str, summary: &BagSummary) -> Vec<String> {
    let account = account(summary);
    let count = |count: fn(&TopicStatistics) -> u64| {
        account
            .as_ref()
            .and_then(|account| {
                let (missing, is_least) =
                    (account.known(count(account))?, account.unknown.uncounted);
                Some(format!(
                    "{}{}",
                    if is_least { "≥" } else { "" },
                    grouped(missing)
                ))
            })
            .unwrap_or_else(|| "?".to_owned())
    };
    let unknown = account.as_ref().map_or("?".to_owned(), |account| {
        let unknown = &account.unknown;
        match (unknown.is_open(), unknown.at_most()) {
            (true, _) => "open".to_owned(),
            (false, 0) => "0".to_owned(),
            (false, most) => format!("≤{}", grouped(most)),
        }
    });
    vec![
        summary.start_time_ns.map(rfc3339).unwrap_or_default(),
        span_ns(summary).map(duration).unwrap_or_default(),
        grouped(summary.topics.len() as u64),
        grouped(summary.message_count()),
        size(summary.file_size),
        count(TopicStatistics::messages_lost),
        count(TopicStatistics::messages_left_out),
        unknown,
        summary
            .costly_damage(bag)
            .next()
            .unwrap_or_default()
            .to_owned(),
    ]
}

fn json(line: &Line<'_>) -> serde_json::Value {
    let summary = line.summary();
    let account = summary.and_then(account);
    json!({
        "bag": line.name,
        "state": line.state,
        "start_time_ns": summary.and_then(|it| it.start_time_ns),
        "end_time_ns": summary.and_then(|it| it.end_time_ns),
        "topics": summary.map(|it| it.topics.len()),
        "messages": summary.map(BagSummary::message_count),
        "size": summary.map(|it| it.file_size),
        "lost": account.as_ref().and_then(|it| it.known(it.messages_lost())),
        "left_out": account.as_ref().and_then(|it| it.known(it.messages_left_out())),
        "unknown": account.as_ref().map(|it| it.unknown),
        "damage": summary.map(|it| it.damage.clone()),
        "reason": line.reason(),
    })
}
