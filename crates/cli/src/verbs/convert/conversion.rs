//! Output bags: what goes where, and the summary of what was done.

use std::path::{Path, PathBuf};

use timeloom_bag::convert::{ConvertOutput, ConvertReport, OnDamage, convert_from};
use timeloom_bag::metadata::read_metadata_file;
use timeloom_bag::storage::FileInfo;
use timeloom_bag::{BagOptions, BagReader, StorageReader as _};
use timeloom_text::{counted, seconds};

use super::inputs::InputArguments;
use super::refuse_damage;
use crate::context::Context;
use crate::extras::warn_left_out;
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::time_range::TimeRange;
use crate::topic_selection::TopicSelection;

/// One bag to be written.
pub(super) struct Conversion {
    pub(super) directory: PathBuf,
    pub(super) options: BagOptions,
    pub(super) selection: TopicSelection,
    /// Topics that get another name: from, to.
    pub(super) remap: Vec<(String, String)>,
    pub(super) range: TimeRange,
}

impl Conversion {
    fn into_output(self) -> ConvertOutput {
        let selection = self.selection;
        ConvertOutput {
            topics: Box::new(move |topic, _| selection.takes(topic)),
            remap: self.remap,
            start_ns: self.range.start_ns,
            end_ns: self.range.end_ns,
            ..ConvertOutput::new(self.directory, self.options)
        }
    }
}

/// Writes the conversions and says what came out.
pub(super) fn convert(
    reader: BagReader,
    inputs: &InputArguments,
    conversions: Vec<Conversion>,
    on_damage: OnDamage,
    context: &mut Context,
) -> anyhow::Result<Outcome> {
    refuse_damage(&reader, inputs, on_damage)?;
    let info = reader.info().clone();
    for plan in &conversions {
        crate::bags::check_writable(&plan.directory)?;
    }
    if let Some(plan) = conversions.iter().find(|plan| plan.directory.exists()) {
        return Err(timeloom_bag::Error::Exists {
            path: plan.directory.clone(),
        }
        .into());
    }
    let directories: Vec<PathBuf> = conversions
        .iter()
        .map(|plan| plan.directory.clone())
        .collect();
    let range = whole_range(&conversions);
    let outputs = conversions
        .into_iter()
        .map(Conversion::into_output)
        .collect();
    let mut progress = context.progress("converting");
    let result = convert_from(reader, outputs, on_damage, &mut |state| {
        progress.update(range.fraction(&info, state.log_time_ns), state.messages);
    });
    drop(progress);
    let report = result.map_err(|error| {
        warn_unfinished(&directories, context);
        with_remedy(error, inputs)
    })?;
    summarize(&directories, &report, &info, context)
}

/// The range that holds those of all conversions.
fn whole_range(conversions: &[Conversion]) -> TimeRange {
    let start = conversions
        .iter()
        .map(|plan| plan.range.start_ns.unwrap_or(i64::MIN))
        .min();
    let end = conversions
        .iter()
        .map(|plan| plan.range.end_ns.unwrap_or(i64::MAX))
        .max();
    TimeRange {
        start_ns: start.filter(|start| *start != i64::MIN),
        end_ns: end.filter(|end| *end != i64::MAX),
    }
}

pub(super) fn warn_unfinished(directories: &[PathBuf], context: &mut Context) {
    for directory in directories.iter().filter(|directory| directory.exists()) {
        context.printer.warning(&format!(
            "{} is unfinished: remove it before you try again",
            directory.display()
        ));
    }
}

/// Damage that shows while reading is damage of the input.
pub(super) fn with_remedy(error: timeloom_bag::Error, inputs: &InputArguments) -> anyhow::Error {
    use timeloom_bag::Error::{Compression, Crc, Record, Sqlite, Truncated};
    match &error {
        Truncated { path, .. }
        | Record { path, .. }
        | Crc { path, .. }
        | Compression { path, .. }
        | Sqlite { path, .. }
            if inputs.paths().iter().any(|input| path.starts_with(input)) =>
        {
            let remedy = crate::hint::recover(inputs.first());
            let hint = format!("{remedy}, or skip what is damaged with --skip-damage");
            Failure::new(format!("the input is damaged: {error}"))
                .hint(hint)
                .into()
        }
        _ => error.into(),
    }
}

fn summarize(
    directories: &[PathBuf],
    report: &ConvertReport,
    info: &FileInfo,
    context: &mut Context,
) -> anyhow::Result<Outcome> {
    for (directory, messages) in directories.iter().zip(&report.messages_written) {
        context.printer.note(&written(directory, *messages)?);
        if *messages == 0 {
            warn_empty(info, context);
        }
    }
    let mut left_out = false;
    for (directory, left) in directories.iter().zip(&report.not_carried_over) {
        let reason = format!("{} does not hold them", directory.display());
        left_out |= warn_left_out(*left, &reason, context);
    }
    if report.damage.is_empty() {
        return Ok(Outcome::lost_if(left_out));
    }
    context.printer.warnings(&report.damage);
    let places = counted(report.damage.len() as u64, "damaged place");
    context.printer.warning(&format!(
        "{places} skipped; {} could be read",
        counted(report.messages_read, "message")
    ));
    Ok(Outcome::lost_if(
        left_out || crate::damage::means_loss(&report.damage),
    ))
}

fn written(directory: &Path, messages: u64) -> anyhow::Result<String> {
    let metadata = read_metadata_file(directory)?;
    let (files, topics) = (metadata.files.len() as u64, metadata.topics.len() as u64);
    let (messages, topics, files) = (
        counted(messages, "message"),
        counted(topics, "topic"),
        counted(files, "file"),
    );
    Ok(format!(
        "wrote {}: {messages} of {topics} in {files}",
        directory.display()
    ))
}

/// An empty output is usually a wrong time.
pub(super) fn warn_empty(info: &FileInfo, context: &mut Context) {
    if let (Some(start), Some(end)) = (info.start_time_ns, info.end_time_ns) {
        let (start, end) = (seconds(start), seconds(end));
        context.printer.warning(&format!(
            "nothing was selected: the bag runs from {start} to {end}"
        ));
    }
}
