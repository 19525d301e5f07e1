//! Runs a query and prints its rows.

use std::path::Path;
use std::sync::Arc;

use timeloom_columns::{FileMetadata, RowOrder};
use timeloom_query::{Error, Findings, Session, SessionOptions};
use timeloom_text::{counted, nearest};

use super::Arguments;
use super::bag_list::{BagList, CliBags};
use crate::context::Context;
use crate::failure::Failure;
use crate::hint;
use crate::outcome::Outcome;
use crate::table_output::TableOutput;

/// A session over bags, as the command line names them.
pub(crate) fn session(
    bags: &[String],
    options: SessionOptions,
    context: &Context,
) -> anyhow::Result<Session> {
    let place = context.bags.place_of(bags)?;
    Session::open(Arc::new(CliBags::new(place)), bags, options).map_err(explained)
}

pub(super) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let options = SessionOptions {
        memory: usize::try_from(arguments.memory).ok(),
        ..SessionOptions::default()
    };
    // A wrong name of the output is reported before bags are opened.
    arguments.table.form()?;
    let BagList {
        bags,
        source,
        unlisted,
    } = BagList::expand(&arguments.bags, context)?;
    let session = Session::open(Arc::new(source), &bags, options).map_err(explained)?;
    let answer = session.query(&arguments.sql).map_err(explained)?;
    let metadata = vec![("timeloom.query".to_owned(), arguments.sql.clone())];
    let schema = answer.schema();
    let mut output = TableOutput::create(&arguments.table, &schema, RowOrder::Any, metadata)?;
    for batch in answer {
        output.write(&batch.map_err(explained)?, context)?;
    }
    output.finish(missing(session.findings()), context)?;
    for text in &unlisted {
        context.printer.warning(&format!("not listed: {text}"));
    }
    tell(&bags, session.findings(), context);
    let is_whole = session.findings().is_empty() && unlisted.is_empty();
    Ok(Outcome::lost_if(!is_whole))
}

/// The parts of the bags that are missing from the result, for the metadata of the file.
fn missing(findings: &Findings) -> FileMetadata {
    let undecoded = findings.undecoded();
    let undecoded: u64 = undecoded.iter().map(|(_, _, count, _)| *count).sum();
    let pair = |name: &str, text: String| (format!("timeloom.{name}"), text);
    vec![
        pair("damage", findings.damage().join("; ")),
        pair("undecoded", undecoded.to_string()),
    ]
}

/// The parts of the bags that are missing from the result.
fn tell(bags: &[String], findings: &Findings, context: &mut Context) {
    context.printer.warnings(&findings.damage());
    for (bag, topic, count, reason) in findings.undecoded() {
        let messages = counted(count, "message");
        let text = format!(
            "{bag}: {messages} of {topic} could not be decoded, their fields are NULL: {reason}"
        );
        context.printer.warning(&text);
    }
    let damage = findings.damage();
    let Some(first) = damage.first() else {
        return;
    };
    // Damage begins with the name of the bag: the last part of its path, or all of it.
    let is_damaged = |bag: &&String| {
        let name = bag.trim_end_matches('/').rsplit('/').next();
        let begins = |name: &str| {
            first
                .strip_prefix(name)
                .is_some_and(|it| it.starts_with(": "))
        };
        begins(bag) || name.is_some_and(begins)
    };
    if let Some(bag) = bags.iter().find(is_damaged) {
        context.printer.hint(&hint::recover(Path::new(bag)));
    }
}

/// Errors of a query with what to do about them; wrong SQL is wrong usage.
pub(crate) fn explained(error: Error) -> anyhow::Error {
    match error {
        Error::UnknownTable { name, tables } => unknown_table(&name, &tables).into(),
        Error::SeveralTypes { topic, tables } => {
            let text = format!("topic {topic} has {} types in these bags", tables.len());
            let names: Vec<String> = tables.iter().map(|name| format!("\"{name}\"")).collect();
            let hint = format!("ask one of its tables: {}", names.join(", "));
            Failure::usage(text).hint(hint).into()
        }
        Error::Sql { message } => Failure::usage(message)
            .hint("`SHOW TABLES` and `DESCRIBE \"/topic\"` tell the names; topics stand in double quotes, texts in single ones")
            .into(),
        Error::Memory { message } => Failure::new(message)
            .hint("give it more with --memory, or ask for less: fewer columns, a shorter time, no sort")
            .into(),
        Error::Bag { source, .. } => source.into(),
        Error::Io(source) => source.into(),
        error => error.into(),
    }
}

fn unknown_table(name: &str, tables: &[String]) -> Failure {
    let known = tables.iter().map(String::as_str);
    let with_slash = format!("/{name}");
    let near = nearest(name, known.clone()).or_else(|| nearest(&with_slash, known));
    let text = format!("there is no table {name}");
    let hint = if let Some(near) = near {
        format!("did you mean \"{near}\"? `SHOW TABLES` lists all")
    } else {
        let few: Vec<&str> = tables.iter().take(8).map(String::as_str).collect();
        let more = if tables.len() > few.len() {
            ", …"
        } else {
            ""
        };
        let few = few.join(", ");
        format!("there are {few}{more}; `SHOW TABLES` lists all")
    };
    Failure::usage(text).hint(hint)
}
