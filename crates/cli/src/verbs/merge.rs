//! `timeloom merge`: bags of several hosts in one, with the offsets of their clocks.

use std::path::{Path, PathBuf};

use clap::Args;
use timeloom_bag::convert::OnDamage;
use timeloom_bag::{BagReader, StorageReader as _};
use timeloom_merge::{Duplicates, Error, Hosts, MergeOptions, MergeReport, Stamps, survey, write};
use timeloom_text::{counted, grouped};

use super::convert::writer_settings::WriterArguments;
use super::info::Format;
use crate::context::Context;
use crate::extras::warn_left_out;
use crate::failure::Failure;
use crate::outcome::Outcome;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom merge car arm -o both                            times as recorded, offsets noted in the metadata
  timeloom merge car arm -o both --correct                  log and publish times by the clock of car
  timeloom merge car arm base -o all --reference base --correct --dedupe
  timeloom merge car arm -o both --published-on car=/imu,/tf --published-on arm=/joint_states
  timeloom merge car arm --format json                      only compare the clocks

OFFSETS
  A message arrives after it was sent: messages from one host that the recorder of another host received bound the
  offset of the clocks on one side, messages in both directions on both sides. Used are publish and log times of topics
  whose host is known (--published-on, tags, or a delay that excludes all other hosts), message tracking tags, and the
  state of chrony and PTP that `record` writes into its bags. Without evidence nothing is written.
  Header stamps are not changed: a node may have copied them from a message of another host.

EXIT CODES
  0 merged   1 failed: no evidence, contradicting evidence, an unreadable bag   2 wrong usage   3 merged, but damaged
  parts of an input were skipped";

/// Merge bags of several hosts into one and estimate the offsets between their clocks
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The bags, one for each host
    #[arg(value_name = "BAG", required = true, num_args = 2..)]
    bags: Vec<PathBuf>,
    /// The new bag; without it, the clocks are only compared
    #[arg(short, long, value_name = "OUTPUT")]
    output: Option<PathBuf>,
    /// The bag of the host whose clock is the timeline [default: the first bag]
    #[arg(long, value_name = "BAG")]
    reference: Option<PathBuf>,
    /// Write log and publish times by the clock of the reference
    #[arg(long, requires = "output")]
    correct: bool,
    /// Keep one copy of a message that several recorders have
    #[arg(long, requires = "output")]
    dedupe: bool,
    /// Topics that are published on the host of a bag
    #[arg(long, value_name = "BAG=TOPIC,…")]
    published_on: Vec<String>,
    /// Largest rate difference of the clocks, in ppm
    #[arg(long, value_name = "PPM", default_value_t = 500.0)]
    max_skew: f64,
    /// Skip damaged parts of an input
    #[arg(long)]
    skip_damage: bool,
    /// Format of the clock report
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    writer: WriterArguments,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let options = arguments.options()?;
    let bag = arguments.writer.settings().bag_options()?;
    if let Some(output) = &arguments.output {
        crate::bags::check_writable(output)?;
        if output.exists() {
            let path = output.clone();
            return Err(timeloom_bag::Error::Exists { path }.into());
        }
    }
    let mut reader = context.bags.open_all(&arguments.bags)?;
    refuse_damage(&reader, &options, &arguments.bags)?;
    check_topics(&reader, &options)?;
    let hosts = arguments.compare(&mut reader, &options, context)?;
    match arguments.format {
        Format::Json => {
            let json = serde_json::to_string_pretty(&hosts)?;
            writeln!(context.printer.data(), "{json}")?;
        }
        Format::Text => context.printer.text(&hosts.text())?,
    }
    let Some(output) = &arguments.output else {
        return Ok(Outcome::Done);
    };
    let mut progress = context.progress("merging");
    let result = write(reader, &hosts, output, bag, &options, &mut |state| {
        let fraction = state.messages as f64 / state.total.max(1) as f64;
        progress.update(fraction, state.messages);
    });
    drop(progress);
    let report = result.inspect_err(|_| {
        if output.exists() {
            let text = format!(
                "{} is unfinished: remove it before you try again",
                output.display()
            );
            context.printer.warning(&text);
        }
    })?;
    Ok(summarize(output, &report, context))
}

impl Arguments {
    fn options(&self) -> anyhow::Result<MergeOptions> {
        if !(self.max_skew.is_finite() && self.max_skew > 0.0) {
            let text = format!(
                "--max-skew {} is not a positive number of ppm",
                self.max_skew
            );
            return Err(Failure::usage(text).into());
        }
        for (place, bag) in self.bags.iter().enumerate() {
            if self.bags.iter().take(place).any(|earlier| earlier == bag) {
                let text = format!("{} is given twice", bag.display());
                return Err(Failure::usage(text).into());
            }
        }
        let reference = self
            .reference
            .as_deref()
            .map_or(Ok(0), |bag| self.place(bag))?;
        let mut published_on = Vec::new();
        for text in &self.published_on {
            let (bag, topics) = text.split_once('=').ok_or_else(|| {
                Failure::usage(format!("--published-on {text}: expected BAG=TOPIC,TOPIC"))
            })?;
            let place = self.place(Path::new(bag))?;
            let topics = topics.split(',').filter(|topic| !topic.is_empty());
            published_on.extend(topics.map(|topic| (topic.to_owned(), place)));
        }
        Ok(MergeOptions {
            reference,
            stamps: if self.correct {
                Stamps::Corrected
            } else {
                Stamps::Left
            },
            duplicates: if self.dedupe {
                Duplicates::Remove
            } else {
                Duplicates::Keep
            },
            skew_ppm: self.max_skew,
            published_on,
            on_damage: if self.skip_damage {
                OnDamage::Skip
            } else {
                OnDamage::Fail
            },
        })
    }

    /// The place of a bag by its path or its name.
    fn place(&self, bag: &Path) -> Result<usize, Failure> {
        let names = self.names();
        let is_bag = |(path, name): (&PathBuf, &String)| path == bag || Path::new(name) == bag;
        let place = self.bags.iter().zip(&names).position(is_bag);
        place.ok_or_else(|| {
            let text = format!("{} is not one of the bags", bag.display());
            Failure::usage(text).hint(format!("the bags are {}", names.join(", ")))
        })
    }

    /// The name of each host: that of its bag, or the whole path where two are the same.
    fn names(&self) -> Vec<String> {
        let short = |path: &PathBuf| {
            let name = path
                .file_name()
                .map(|name| name.to_string_lossy().into_owned());
            name.unwrap_or_else(|| path.display().to_string())
        };
        let all: Vec<String> = self.bags.iter().map(short).collect();
        let is_unique = |name: &String| all.iter().filter(|other| *other == name).count() == 1;
        let names = self.bags.iter().zip(&all);
        names
            .map(|(path, name)| {
                if is_unique(name) {
                    name.clone()
                } else {
                    path.display().to_string()
                }
            })
            .collect()
    }

    fn compare(
        &self,
        reader: &mut BagReader,
        options: &MergeOptions,
        context: &mut Context,
    ) -> anyhow::Result<Hosts> {
        let mut progress = context.progress("comparing clocks");
        let found = survey(reader, &self.names(), options, &mut |state| {
            let fraction = state.messages as f64 / state.total.max(1) as f64;
            progress.update(fraction, state.messages);
        });
        drop(progress);
        found
            .and_then(|found| found.solve(options))
            .map_err(|error| self.hinted(error))
    }

    fn hinted(&self, error: Error) -> anyhow::Error {
        let paths: Vec<String> = self
            .bags
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        let hint = match &error {
            Error::NoEvidence { .. } => format!(
                "record a topic of each host on both, or run chrony or PTP; `timeloom convert {} -o OUTPUT` merges them as they are",
                paths.join(" ")
            ),
            Error::Contradiction { .. } => {
                "name the host of a topic with --published-on, or raise --max-skew if the clocks differ that much".to_owned()
            }
            Error::Misplaced { .. } => "check --published-on".to_owned(),
            _ => return error.into(),
        };
        Failure::new(error.to_string()).hint(hint).into()
    }
}

fn refuse_damage(
    reader: &BagReader,
    options: &MergeOptions,
    bags: &[PathBuf],
) -> Result<(), Failure> {
    let damage = &reader.info().damage;
    let (OnDamage::Fail, Some(first)) = (options.on_damage, damage.first()) else {
        return Ok(());
    };
    let is_damaged = |place: usize| {
        let mut files = reader.file_infos();
        let in_files = files.any(|(bag, info)| bag == place && !info.damage.is_empty());
        in_files
            || reader
                .bags()
                .get(place)
                .is_some_and(|bag| !bag.damage.is_empty())
    };
    let bag = bags
        .iter()
        .enumerate()
        .find(|(place, _)| is_damaged(*place));
    let bag = bag.map_or(Path::new("."), |(_, bag)| bag.as_path());
    let remedy = crate::damage::remedy(bag, damage).unwrap_or_default();
    let hint = format!("{remedy}, or skip what is damaged with --skip-damage");
    Err(Failure::new(format!("an input is damaged: {first}")).hint(hint))
}

fn check_topics(reader: &BagReader, options: &MergeOptions) -> Result<(), Failure> {
    let topics = &reader.info().topics;
    for (topic, _) in &options.published_on {
        if !topics.iter().any(|known| known.name == *topic) {
            let text = format!("--published-on: no bag has the topic {topic}");
            let known = topics.iter().map(|topic| topic.name.as_str());
            return Err(Failure::usage(text)
                .suggest(topic, known)
                .or_hint("`timeloom info` lists the topics of a bag"));
        }
    }
    Ok(())
}

fn summarize(output: &Path, report: &MergeReport, context: &mut Context) -> Outcome {
    let messages = counted(report.messages_written, "message");
    context
        .printer
        .note(&format!("wrote {}: {messages}", output.display()));
    if report.copies_removed > 0 {
        let (copies, have) = match report.copies_removed {
            1 => ("1 copy".to_owned(), "was"),
            count => (format!("{} copies", grouped(count)), "were"),
        };
        context.printer.note(&format!(
            "{copies} of messages that several recorders have {have} left out"
        ));
    }
    if report.publish_times_left > 0 {
        let times = counted(report.publish_times_left, "publish time");
        context.printer.warning(&format!(
            "{times} not corrected: it is not known on which host the topics are published; name it with --published-on"
        ));
    }
    let reason = format!("{} does not hold them", output.display());
    let left_out = warn_left_out(report.not_carried_over, &reason, context);
    context.printer.warnings(&report.damage);
    Outcome::lost_if(left_out || crate::damage::means_loss(&report.damage))
}
