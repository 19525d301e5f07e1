//! `convert --to parquet` and `--to arrow`.

use std::path::Path;

use timeloom_bag::{BagReader, StorageReader as _};
use timeloom_columns::{
    ExportTablesOptions, FileMetadata, RowOrder, TableFile, TableFormat, export_tables,
};
use timeloom_query::SessionOptions;

use super::conversion::{warn_unfinished, with_remedy};
use super::export::{query, refuse_bag_flags, summarize};
use super::{Arguments, Format, refuse_damage};
use crate::context::Context;
use crate::decode::decoder;
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::table_output::explained;
use crate::time_range::TimeRange;
use crate::topic_selection::TopicSelection;
use crate::verbs::query::answer;

/// The tables of `query` that go beside those of the topics.
const ACCOUNTS: [&str; 2] = ["losses", "loss_times"];

pub(super) fn run(
    arguments: &Arguments,
    mut reader: BagReader,
    selection: &TopicSelection,
    range: TimeRange,
    context: &mut Context,
) -> anyhow::Result<Outcome> {
    refuse_bag_flags(arguments)?;
    if arguments.writes_to_stdout() {
        let text = "tables cannot be written to stdout: each topic has its own file";
        return Err(Failure::usage(text).hint("give -o a directory").into());
    }
    refuse_damage(&reader, &arguments.inputs, arguments.on_damage())?;
    let info = reader.info().clone();
    let output = &arguments.output;
    if output.exists() {
        let path = output.clone();
        return Err(timeloom_bag::Error::Exists { path }.into());
    }
    let options = ExportTablesOptions {
        query: query(&info, selection, range),
        on_damage: arguments.on_damage(),
        format: match arguments.format {
            Format::Arrow => TableFormat::Arrow,
            _ => TableFormat::Parquet,
        },
        reserved: ACCOUNTS.map(str::to_owned).to_vec(),
    };
    let mut progress = context.progress("exporting");
    let exported = export_tables(
        &mut reader,
        &decoder(&info),
        output,
        &options,
        &mut |state| progress.update(range.fraction(&info, state.log_time_ns), state.messages),
    );
    drop(progress);
    let exported = exported.map_err(|error| match error {
        timeloom_columns::Error::Bag(error) => with_remedy(error, &arguments.inputs),
        error => explained(error),
    });
    let report = exported.and_then(|report| {
        write_accounts(arguments, options.format, context)?;
        Ok(report)
    });
    let report = report.inspect_err(|_| warn_unfinished(std::slice::from_ref(output), context))?;
    Ok(summarize(arguments, &report, &info, context))
}

/// The tables `losses` and `loss_times` of the whole bags, as `query` has them.
fn write_accounts(
    arguments: &Arguments,
    format: TableFormat,
    context: &Context,
) -> anyhow::Result<()> {
    let bags = arguments.inputs.paths().into_iter();
    let bags: Vec<String> = bags.map(|path| path.display().to_string()).collect();
    let session = answer::session(&bags, SessionOptions::default(), context)?;
    for name in ACCOUNTS {
        let rows = session.query(&format!("SELECT * FROM {name}"));
        let rows = rows.map_err(answer::explained)?;
        let path = arguments.output.join(name);
        let path = path.with_extension(format.extension());
        write_rows(rows, &path, format)?;
    }
    Ok(())
}

fn write_rows(
    rows: timeloom_query::Answer<'_>,
    path: &Path,
    format: TableFormat,
) -> anyhow::Result<()> {
    let file = TableFile::create(
        path,
        format,
        &rows.schema(),
        RowOrder::Any,
        FileMetadata::new(),
    );
    let mut file = file.map_err(explained)?;
    for batch in rows {
        let batch = batch.map_err(answer::explained)?;
        file.write(&batch).map_err(explained)?;
    }
    file.finish(FileMetadata::new()).map_err(explained)
}
