//! `convert --format csv` and `--format ndjson`, and the summary of all exports.

use timeloom_bag::export::{ExportOptions, ExportReport, ExportTarget, export};
use timeloom_bag::storage::FileInfo;
use timeloom_bag::{BagReader, Query, StorageReader as _, TopicId};
use timeloom_text::counted;

use super::conversion::warn_empty;
use super::{Arguments, Format, refuse_damage};
use crate::context::Context;
use crate::decode::decoder;
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::time_range::TimeRange;
use crate::topic_selection::TopicSelection;

pub(super) fn run(
    arguments: &Arguments,
    mut reader: BagReader,
    selection: &TopicSelection,
    range: TimeRange,
    context: &mut Context,
) -> anyhow::Result<Outcome> {
    refuse_bag_flags(arguments)?;
    refuse_damage(&reader, &arguments.inputs, arguments.on_damage())?;
    let info = reader.info().clone();
    let options = ExportOptions {
        query: query(&info, selection, range),
        times: arguments.time_format.into(),
        on_damage: arguments.on_damage(),
    };
    let mut progress = context.progress("exporting");
    let target = target(arguments, context)?;
    let report = export(
        &mut reader,
        &decoder(&info),
        target,
        &options,
        &mut |state| {
            progress.update(range.fraction(&info, state.log_time_ns), state.messages);
        },
    )?;
    drop(progress);
    Ok(summarize(arguments, &report, &info, context))
}

/// The messages of an export.
pub(super) fn query(info: &FileInfo, selection: &TopicSelection, range: TimeRange) -> Query {
    let taken = info.topics.iter().enumerate();
    let taken = taken.filter(|(_, topic)| selection.takes(topic));
    let topics = taken.filter_map(|(index, _)| TopicId::from_index(index));
    Query {
        topics: Some(topics.collect()),
        start_ns: range.start_ns,
        end_ns: range.end_ns,
        ..Query::default()
    }
}

/// Refuses flags that apply to bags only.
pub(super) fn refuse_bag_flags(arguments: &Arguments) -> Result<(), Failure> {
    let remap = (!arguments.remap.is_empty()).then_some("--remap");
    let given: Vec<&str> = arguments.writer.given_flags().chain(remap).collect();
    if given.is_empty() {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{} cannot be used with --format {}",
        given.join(", "),
        match arguments.format {
            Format::Parquet | Format::Arrow => "parquet or arrow",
            _ => "csv or ndjson",
        }
    )))
}

fn target<'a>(
    arguments: &'a Arguments,
    context: &'a mut Context,
) -> Result<ExportTarget<'a>, Failure> {
    let to_stdout = arguments.writes_to_stdout();
    match arguments.format {
        Format::Csv if to_stdout => {
            let text = "csv cannot be written to stdout: each topic has its own columns";
            Err(Failure::usage(text).hint("give -o a directory, or use --format ndjson"))
        }
        Format::Csv => Ok(ExportTarget::CsvDirectory(&arguments.output)),
        _ if to_stdout => Ok(ExportTarget::Stream(context.printer.data())),
        _ => Ok(ExportTarget::JsonLines(&arguments.output)),
    }
}

pub(super) fn summarize(
    arguments: &Arguments,
    report: &ExportReport,
    info: &FileInfo,
    context: &mut Context,
) -> Outcome {
    let is_table = matches!(arguments.format, Format::Parquet | Format::Arrow);
    if !arguments.writes_to_stdout() {
        let messages = counted(report.messages, "message");
        let files = counted(report.files, "file");
        let files = match arguments.format {
            Format::Csv => format!(" in {files}"),
            _ if is_table => format!(" in {files}, and the losses"),
            _ => String::new(),
        };
        let output = arguments.output.display();
        let text = format!("wrote {output}: {messages}{files}");
        context.printer.note(&text);
    }
    for undecoded in &report.undecoded {
        let messages = counted(undecoded.messages, "message");
        let (topic, reason) = (&undecoded.topic, &undecoded.reason);
        let text = format!("{topic}: {messages} could not be decoded: {reason}");
        context.printer.warning(&text);
    }
    context.printer.warnings(&report.damage);
    if report.messages == 0 && report.undecoded.is_empty() {
        warn_empty(info, context);
    }
    let reason = if is_table {
        "tables hold messages only"
    } else {
        "csv and ndjson hold messages only"
    };
    let left_out = crate::extras::warn_left_out(info.extras, reason, context);
    Outcome::lost_if(
        left_out || !report.undecoded.is_empty() || crate::damage::means_loss(&report.damage),
    )
}
