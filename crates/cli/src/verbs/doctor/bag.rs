//! `timeloom doctor bag`: every message is read, decoded and compared with the bag's account of itself.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use timeloom_bag::Query;
use timeloom_bag::storage::StorageReader as _;
use timeloom_doctor::BagExamination;
use timeloom_text::{counted, grouped};

use super::text::Sentences;
use crate::context::Context;
use crate::damage;
use crate::decode::decoder;
use crate::outcome::Outcome;
use crate::verbs::info::Format;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom doctor bag my_bag
  timeloom doctor bag my_bag --format json | jq -r '.problems[]'

EXIT CODES
  0 no problem found   1 a problem was found";

/// Check a bag: every message is read and decoded
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The bag: a directory, or one .mcap or .db3 file
    #[arg(value_name = "BAG")]
    bag: PathBuf,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let examination = examine(&arguments.bag, context)?;
    let sentences = Sentences::new(&examination.check());
    let compatibility = &examination.info().compatibility;
    let rewrite = || damage::compatibility_remedy(&arguments.bag, compatibility);
    let remedy = damage::remedy(&arguments.bag, examination.damage()).or_else(rewrite);
    let out = context.printer.data();
    match arguments.format {
        Format::Text => {
            write!(out, "{}", head(&examination))?;
            write!(out, "{}", sentences.lines(remedy.as_deref()))?;
        }
        Format::Json => {
            let info = examination.info();
            let report = json!({
                "storage_identifier": info.storage_identifier,
                "files": info.files,
                "ros_distro": info.ros_distro,
                "messages": examination.messages(),
                "undecoded": examination.undecoded(),
                "advice": sentences.advice,
                "remedy": remedy,
                "problems": sentences.problems,
            });
            writeln!(out, "{report}")?;
        }
    }
    Ok(sentences.outcome())
}

/// Reads the bag to its end; an error of the reader is a finding.
fn examine(bag: &Path, context: &Context) -> anyhow::Result<BagExamination> {
    let info = context.bags.info(bag)?;
    let mut reader = context.bags.open(bag)?;
    let held = reader.info().clone();
    let decoder = decoder(&held);
    let mut progress = context.progress("read");
    let total = held.message_count().max(1);
    let mut examination = BagExamination::new(info, held.topics);
    let mut count = 0;
    reader.start(&Query::default())?;
    loop {
        match reader.next_message() {
            Ok(Some(message)) => {
                count += 1;
                let value = decoder.decode(&message);
                examination.take(&message, &value.map_err(|error| error.to_string()));
                progress.update(count as f64 / total as f64, count);
            }
            Ok(None) => return Ok(examination),
            Err(error) => examination.take_error(&error),
        }
    }
}

fn head(examination: &BagExamination) -> String {
    let info = examination.info();
    let messages = examination.messages();
    format!(
        "Bag: {}, {}, recorded by {}\nRead: {} of {}, {} decoded\n",
        info.storage_identifier,
        counted(info.files.len() as u64, "file"),
        info.ros_distro,
        counted(messages, "message"),
        counted(examination.topic_count() as u64, "topic"),
        grouped(messages - examination.undecoded())
    )
}
