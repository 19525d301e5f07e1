//! Runs a query and prints its rows.

use std::fs::File;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::Path;
use std::sync::Arc;

use timeloom_bag::{BagReader, Place};
use timeloom_msg::TypeResolver;
use timeloom_query::{
    BagSource, Error, Findings, Format, Session, SessionOptions, TextLayout, Writer,
};
use timeloom_text::{counted, nearest};

use super::{Arguments, QueryFormat};
use crate::context::Context;
use crate::decode::resolver;
use crate::failure::Failure;
use crate::hint;
use crate::outcome::Outcome;

/// Bags as the other verbs open them, and types as they find them.
struct CliBags(Arc<dyn Place>);

impl BagSource for CliBags {
    fn open(&self, bag: &str) -> timeloom_bag::Result<BagReader> {
        BagReader::open_in(Arc::clone(&self.0), &[bag])
    }

    fn types(&self) -> TypeResolver {
        resolver()
    }
}

pub(super) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let options = SessionOptions {
        memory: usize::try_from(arguments.memory).ok(),
        ..SessionOptions::default()
    };
    let place = context.bags.place_of(&arguments.bags)?;
    let session =
        Session::open(Arc::new(CliBags(place)), &arguments.bags, options).map_err(explained)?;
    let mut answer = session.query(&arguments.sql).map_err(explained)?;
    let layout = TextLayout {
        width: terminal_width(),
    };
    let mut writer = Writer::new(format(arguments), layout, &answer.schema());
    let mut file = arguments.output.as_deref().map(create).transpose()?;
    for batch in &mut answer {
        let batch = batch.map_err(explained)?;
        let out: &mut dyn Write = match &mut file {
            Some(file) => file,
            None => context.printer.data(),
        };
        writer.write(&batch, out).map_err(explained)?;
    }
    match &mut file {
        Some(file) => {
            writer.finish(file).map_err(explained)?;
            file.flush()?;
        }
        None => writer.finish(context.printer.data()).map_err(explained)?,
    }
    tell(arguments, session.findings(), context);
    Ok(Outcome::lost_if(!session.findings().is_empty()))
}

fn format(arguments: &Arguments) -> Format {
    let by_name = || {
        let output = arguments.output.as_deref()?;
        match output.extension()?.to_str()? {
            "csv" => Some(QueryFormat::Csv),
            "json" | "jsonl" | "ndjson" => Some(QueryFormat::Json),
            _ => None,
        }
    };
    match arguments.format.or_else(by_name) {
        None | Some(QueryFormat::Text) => Format::Text,
        Some(QueryFormat::Json) => Format::Json,
        Some(QueryFormat::Csv) => Format::Csv,
    }
}

fn create(path: &Path) -> anyhow::Result<BufWriter<File>> {
    let file = File::create_new(path).map_err(|error| {
        let text = format!("cannot create {}: {error}", path.display());
        let exists = error.kind() == io::ErrorKind::AlreadyExists;
        let hint = exists.then(|| "choose another output: no file is overwritten".to_owned());
        Failure::new(text).hint_if(hint)
    })?;
    Ok(BufWriter::new(file))
}

/// Columns of the terminal; `None` when stdout is none, so that a file has whole lines.
fn terminal_width() -> Option<usize> {
    let out = io::stdout();
    if !out.is_terminal() {
        return None;
    }
    let size = rustix::termios::tcgetwinsize(out).ok()?;
    Some(usize::from(size.ws_col)).filter(|width| *width > 0)
}

/// The parts of the bags that are missing from the result.
fn tell(arguments: &Arguments, findings: &Findings, context: &mut Context) {
    context.printer.warnings(&findings.damage());
    for (bag, topic, count, reason) in findings.undecoded() {
        let messages = counted(count, "message");
        let text = format!(
            "{bag}: {messages} of {topic} could not be decoded, their fields are NULL: {reason}"
        );
        context.printer.warning(&text);
    }
    if let (Some(bag), false) = (arguments.bags.first(), findings.damage().is_empty()) {
        context.printer.hint(&hint::recover(Path::new(bag)));
    }
}

/// Errors of a query with what to do about them; wrong SQL is wrong usage.
fn explained(error: Error) -> anyhow::Error {
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
