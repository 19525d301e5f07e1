//! Runs a query and prints its rows.

use std::path::Path;
use std::sync::Arc;

use timeloom_columns::{FileMetadata, RowOrder};
#[cfg(feature = "cluster")]
use timeloom_query::BagSource;
use timeloom_query::{Error, Findings, Session, SessionOptions};
use timeloom_text::{counted, nearest};

use super::Arguments;
use super::bag_list::{BagList, CliBags};
use crate::context::Context;
use crate::failure::Failure;
use crate::hint;
use crate::outcome::Outcome;
use crate::table_output::TableOutput;

/// Opens any bag that a plan names, as the other verbs do.
#[cfg(feature = "cluster")]
pub(crate) fn source(context: &Context) -> Arc<dyn BagSource> {
    Arc::new(CliBags::new(context.bags.place()))
}

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
    if !arguments.cluster.is_empty() {
        return on_cluster(arguments, options, context);
    }
    let list = BagList::expand(&arguments.bags, context)?;
    let source = Arc::new(list.source);
    let session = Session::open(source, &list.bags, options).map_err(explained)?;
    print(arguments, &session, &list.bags, &list.unlisted, context)
}

#[cfg(feature = "cluster")]
fn on_cluster(
    arguments: &Arguments,
    options: SessionOptions,
    context: &mut Context,
) -> anyhow::Result<Outcome> {
    let cluster = super::cluster::cluster(arguments)?;
    let list = BagList::expand(&arguments.bags, context)?;
    let source = Arc::new(list.source);
    let session = Session::open_on(cluster, source, &list.bags, options).map_err(explained)?;
    let outcome = print(arguments, &session, &list.bags, &list.unlisted, context);
    context.printer.warnings(&session.notices());
    outcome
}

#[cfg(not(feature = "cluster"))]
fn on_cluster(
    _arguments: &Arguments,
    _options: SessionOptions,
    _context: &mut Context,
) -> anyhow::Result<Outcome> {
    Err(super::no_cluster().into())
}

/// Runs the query and prints its rows, and what could not be read.
fn print(
    arguments: &Arguments,
    session: &Session,
    bags: &[String],
    unlisted: &[String],
    context: &mut Context,
) -> anyhow::Result<Outcome> {
    let answer = session.query(&arguments.sql).map_err(explained)?;
    let metadata = vec![("timeloom.query".to_owned(), arguments.sql.clone())];
    let schema = answer.schema();
    let mut output = TableOutput::create(&arguments.table, &schema, RowOrder::Any, metadata)?;
    for batch in answer {
        output.write(&batch.map_err(explained)?, context)?;
    }
    output.finish(missing(session.findings()), context)?;
    for text in unlisted {
        context.printer.warning(&format!("not listed: {text}"));
    }
    report(bags, session.findings(), context);
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
fn report(bags: &[String], findings: &Findings, context: &mut Context) {
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
        Error::WorkerRefused { .. } | Error::NoWorkers { .. } | Error::OpenWorker { .. } | Error::Secret { .. } | Error::WorkerAddress { .. } => {
            cluster_failure(&error).into()
        }
        Error::Run { message } if message.contains("lost worker ") => Failure::new(format!("the query failed: {message}"))
            .hint("start the query again; a worker that is gone is left out, and one that ran out of memory needs less with --memory")
            .into(),
        Error::Bag { source, .. } => source.into(),
        Error::Io(source) => source.into(),
        error => error.into(),
    }
}

/// An error of a cluster, with what to do about it.
fn cluster_failure(error: &Error) -> Failure {
    let text = error.to_string();
    match error {
        Error::WorkerRefused { reason, .. } if reason.contains("secret") => Failure::new(text)
            .hint("the query and all workers need the same secret: --secret-file, or TIMELOOM_SECRET"),
        Error::WorkerRefused { .. } => {
            Failure::new(text).hint("install the same version of timeloom everywhere")
        }
        Error::NoWorkers { .. } => Failure::new(text)
            .hint("start `timeloom worker` there; it listens on its own machine only, unless --listen says otherwise"),
        Error::OpenWorker { .. } => Failure::usage(text)
            .hint("give it a secret: --secret-file, or TIMELOOM_SECRET; `openssl rand -hex 32` makes one"),
        _ => Failure::usage(text),
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
