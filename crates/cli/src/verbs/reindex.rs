//! `timeloom reindex`: rebuild `metadata.yaml`.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use timeloom_bag::bag::BagLayout;
use timeloom_bag::metadata::version_of;
use timeloom_text::counted;

use super::info::{Format, check_storage};
use crate::context::Context;
use crate::damage;
use crate::environment;
use crate::failure::Failure;
use crate::hint;
use crate::outcome::Outcome;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom reindex my_bag                     metadata.yaml from the files of the directory
  timeloom reindex my_bag --metadata-version 10
  timeloom reindex my_bag --format json

Every message is read, so counts, times and sizes are exact. The files of the bag are not touched; damaged ones are
for `timeloom recover`. Exit code 3: something could not be read, the count is printed.";

/// Rebuild metadata.yaml from the files of a bag
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The directory of the bag
    #[arg(value_name = "DIRECTORY")]
    bag: PathBuf,
    /// 4 to 10; 10 is refused by strict readers; every version holds the account [default: that of `ROS_DISTRO`, else 9]
    #[arg(long, value_name = "VERSION", value_parser = clap::value_parser!(u32).range(4..=10))]
    metadata_version: Option<u32>,
    /// Report format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    /// The storage that the files must have: mcap or sqlite3
    #[arg(
        short,
        long,
        value_name = "STORAGE",
        default_value = "",
        hide_default_value = true
    )]
    storage: String,
}

/// The requested version, or that of the distribution in the environment.
pub(crate) fn version(asked: Option<u32>) -> u32 {
    asked.unwrap_or_else(|| version_of(&environment::text("ROS_DISTRO")))
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let bag = &arguments.bag;
    crate::bags::check_writable(bag)?;
    if bag.is_file() {
        let text = format!(
            "{} is a file: only a directory has a metadata.yaml",
            bag.display()
        );
        return Err(Failure::new(text).hint(hint::recover(bag)).into());
    }
    let layout = BagLayout::find(bag)?;
    check_storage(
        &arguments.storage,
        layout.files.first().map_or("", |file| file.storage.name()),
    )?;
    let claimed = layout
        .metadata
        .as_ref()
        .map(|metadata| metadata.message_count);
    let report = timeloom_bag::reindex(bag, version(arguments.metadata_version))?;
    let metadata = &report.metadata;
    let missing = claimed.unwrap_or(0).saturating_sub(metadata.message_count);
    let lost = missing > 0 || !report.damage.is_empty();
    if arguments.format == Format::Json {
        let json = json!({
            "bag": bag.display().to_string(),
            "metadata_version": metadata.version,
            "files": metadata.relative_file_paths,
            "topic_count": metadata.topics.len(),
            "message_count": metadata.message_count,
            "missing_message_count": missing,
            "duration_ns": metadata.duration_ns,
            "damage": report.damage,
            "compatibility": report.compatibility,
        });
        writeln!(context.printer.data(), "{json:#}")?;
    } else {
        let (files, topics) = (metadata.files.len() as u64, metadata.topics.len() as u64);
        let (files, topics) = (counted(files, "file"), counted(topics, "topic"));
        let messages = counted(metadata.message_count, "message");
        writeln!(
            context.printer.data(),
            "{}: {messages} of {topics} in {files}",
            bag.display()
        )?;
    }
    context.printer.warnings(&report.damage);
    context.printer.warnings(&report.compatibility);
    if missing > 0 {
        let text = format!(
            "{} of the old metadata.yaml are not in the files",
            counted(missing, "message")
        );
        context.printer.warning(&text);
    }
    if !report.damage.is_empty() {
        context.printer.hint(&hint::recover(bag));
    } else if let Some(remedy) = damage::compatibility_remedy(bag, &report.compatibility) {
        context.printer.hint(&remedy);
    }
    Ok(Outcome::lost_if(lost))
}
