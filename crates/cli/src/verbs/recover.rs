//! `timeloom recover`: get back what a damaged bag holds.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use timeloom_bag::bag::BagLayout;
use timeloom_bag::recover::{RecoverReport, RecoveredFile};
use timeloom_bag::{Error, TopicStatistics};
use timeloom_text::counted;

use super::info::Format;
use super::reindex::version;
use crate::context::Context;
use crate::extras::described;
use crate::failure::Failure;
use crate::hint;
use crate::outcome::Outcome;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom recover my_bag              all files of a bag, and its metadata.yaml
  timeloom recover my_bag_0.mcap       a single file
  timeloom recover my_bag --format json

Each damaged file is rewritten under its name; the original stays as <file>.damaged. An MCAP file that is whole but that
`ros2 bag` does not read in full (see `timeloom info`) is rewritten too. Other files are not changed.
The recorder's counts of lost and left-out messages are kept; what came after the last saved account is unknown:
`timeloom info -v` shows both. Exit code 3: messages in the files could not be restored; the count is printed.";

/// Rescue the messages of a damaged bag: cut files, missing summaries, broken metadata
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The bag: a directory, or one .mcap or .db3 file
    #[arg(value_name = "BAG")]
    bag: PathBuf,
    /// 4 to 10; 10 is refused by strict readers; every version holds the account [default: that of `ROS_DISTRO`, else 9]
    #[arg(long, value_name = "VERSION", value_parser = clap::value_parser!(u32).range(4..=10))]
    metadata_version: Option<u32>,
    /// Report format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    crate::bags::check_writable(&arguments.bag)?;
    let claimed = claimed_messages(&arguments.bag);
    let report = timeloom_bag::recover(&arguments.bag, version(arguments.metadata_version));
    let report = report.map_err(|error| already_recovered(error, &arguments.bag))?;
    // Messages that the files or only the old metadata mention are lost.
    let lost = report
        .lost_messages()
        .max(claimed.saturating_sub(report.messages()));
    match arguments.format {
        Format::Json => writeln!(context.printer.data(), "{:#}", json(&report, lost))?,
        Format::Text => {
            for file in &report.files {
                writeln!(context.printer.data(), "{}", summary(file))?;
            }
            for (path, _) in &report.unreadable {
                writeln!(
                    context.printer.data(),
                    "{}: nothing can be read",
                    name(path)
                )?;
            }
        }
    }
    for file in &report.files {
        for damage in &file.damage {
            context
                .printer
                .warning(&format!("{}: {damage}", name(&file.path)));
        }
    }
    for (path, reason) in &report.unreadable {
        context
            .printer
            .warning(&format!("{}: {reason}", name(path)));
    }
    context.printer.note(&total(&report, lost));
    for line in recorded_account(&report.account) {
        context.printer.aside(&line);
    }
    Ok(Outcome::lost_if(lost > 0 || report.is_lossy()))
}

/// The losses and unknown messages of the recording itself, which the new bag keeps.
fn recorded_account(account: &TopicStatistics) -> Vec<String> {
    let mut lines = Vec::new();
    if account.messages_lost() > 0 {
        let places = [
            (account.messages_lost_in_transport, "in transport"),
            (account.messages_lost_in_recorder(), "in the recorder"),
        ];
        let known = |(messages, place)| Some(format!("{} {place}", account.known(messages)?));
        let places: Vec<_> = places.into_iter().filter_map(known).collect();
        let lost = counted(account.messages_lost(), "message");
        let places = places.join(" and ");
        lines.push(format!("the account of the bag: {lost} lost, {places}"));
    }
    if account.messages_left_out() > 0 {
        let left_out = counted(account.messages_left_out(), "message");
        lines.push(format!("the account of the bag: {left_out} left out"));
    }
    let unknown = account.unknown.sentences().into_iter();
    lines.extend(unknown.map(|sentence| format!("unknown: {sentence}")));
    lines
}

/// Number of messages in the metadata before it is rebuilt; 0 when it has none.
fn claimed_messages(bag: &Path) -> u64 {
    let layout = BagLayout::find(bag).ok();
    layout
        .and_then(|layout| layout.metadata)
        .map_or(0, |metadata| metadata.message_count)
}

/// The original of an earlier recovery is never overwritten.
fn already_recovered(error: Error, bag: &Path) -> anyhow::Error {
    match error {
        Error::Exists { path } => {
            let text = format!("{} is left from an earlier recovery", path.display());
            let hint = format!(
                "move it away, then run `timeloom recover {}` again",
                hint::quoted(bag)
            );
            Failure::new(text).hint(hint).into()
        }
        other => other.into(),
    }
}

fn name(path: &Path) -> String {
    path.file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned()
}

fn summary(file: &RecoveredFile) -> String {
    let (name, messages) = (name(&file.path), counted(file.messages, "message"));
    let Some(original) = &file.original else {
        return format!("{name}: whole, {messages}");
    };
    let salvaged = match file.salvaged {
        0 => String::new(),
        count => format!(", {count} of them out of a record that was cut off"),
    };
    let original = self::name(original);
    format!("{name}: recovered, {messages}{salvaged}; the original is {original}")
}

fn total(report: &RecoverReport, lost: u64) -> String {
    let readable = counted(report.messages(), "message");
    if lost == 0 && !report.is_lossy() {
        return format!("{readable} readable, none lost by the damage");
    }
    let bytes: u64 = report.files.iter().map(|file| file.lost_bytes).sum();
    let mut lost = vec![counted(lost, "message")];
    if bytes > 0 {
        lost.push(format!(
            "{} that belong to no message",
            counted(bytes, "byte")
        ));
    }
    let extras = report.lost_extras();
    if !extras.is_empty() {
        lost.push(described(extras));
    }
    if !report.unreadable.is_empty() {
        lost.push(format!(
            "{} of unknown content",
            counted(report.unreadable.len() as u64, "file")
        ));
    }
    format!("{readable} readable; lost: {}", lost.join(", "))
}

fn json(report: &RecoverReport, lost: u64) -> serde_json::Value {
    json!({
        "files": report.files,
        "unreadable": report.unreadable.iter().map(|(path, reason)| json!({ "path": path, "reason": reason })).collect::<Vec<_>>(),
        "message_count": report.messages(),
        "lost_message_count": lost,
        "lost_extras": report.lost_extras(),
        "unfinished": report.unfinished,
        "account": report.account,
        "lossy": lost > 0 || report.is_lossy(),
    })
}
