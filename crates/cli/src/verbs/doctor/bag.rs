//! `timeloom doctor bag`: every message is read, decoded and held against what the bag says of itself.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use timeloom_bag::storage::StorageReader as _;
use timeloom_bag::{BagInfo, Query, TopicInfo};
use timeloom_text::{counted, grouped};

use super::topic_health::TopicHealth;
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
  0 nothing is wrong   1 a problem was found";

/// Check a bag: every message is read and decoded
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The bag: a directory, or one .mcap or .db3 file
    #[arg(value_name = "BAG")]
    bag: PathBuf,
    /// Form of the output
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
}

/// What was found.
struct Examination {
    info: BagInfo,
    topics: Vec<TopicInfo>,
    health: Vec<TopicHealth>,
    problems: Vec<String>,
    advice: Vec<String>,
    /// The command that repairs it.
    remedy: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let mut examination = examine(&arguments.bag, context)?;
    examination.judge(&arguments.bag);
    match arguments.format {
        Format::Text => examination.print(context)?,
        Format::Json => writeln!(context.printer.data(), "{}", examination.json())?,
    }
    Ok(if examination.problems.is_empty() {
        Outcome::Done
    } else {
        Outcome::ProblemFound
    })
}

/// Reads the bag to its end; what cannot be read is a problem and no error.
fn examine(bag: &Path, context: &Context) -> anyhow::Result<Examination> {
    let info = context.bags.info(bag)?;
    let mut reader = context.bags.open(bag)?;
    let held = reader.info().clone();
    let decoder = decoder(&held);
    let mut health = vec![TopicHealth::default(); held.topics.len()];
    let mut problems = info.damage.clone();
    let mut progress = context.progress("read");
    let total = held.message_count().max(1);
    let mut count = 0;
    reader.start(&Query::default())?;
    loop {
        match reader.next_message() {
            Ok(Some(message)) => {
                count += 1;
                if let Some(topic) = health.get_mut(message.topic.index()) {
                    let value = decoder.decode(&message);
                    topic.take(&message, &value.map_err(|error| error.to_string()));
                }
                progress.update(count as f64 / total as f64, count);
            }
            Ok(None) => break,
            Err(error) => problems.push(error.to_string()),
        }
    }
    problems.dedup();
    Ok(Examination {
        info,
        topics: held.topics,
        health,
        problems,
        advice: Vec::new(),
        remedy: None,
    })
}

impl Examination {
    fn judge(&mut self, bag: &Path) {
        let rewrite = || damage::compatibility_remedy(bag, &self.info.compatibility);
        self.remedy = damage::remedy(bag, &self.problems).or_else(rewrite);
        self.problems.extend_from_slice(&self.info.compatibility);
        self.judge_counts();
        self.judge_losses();
        self.judge_topics();
        self.judge_whole();
    }

    /// What the metadata claims, against what came out.
    fn judge_counts(&mut self) {
        for entry in &self.info.topics {
            let held: u64 = self.health_of(&entry.name).map(|one| one.messages).sum();
            if held != entry.message_count {
                self.problems.push(format!(
                    "{}: the bag claims {} and {} could be read",
                    entry.name,
                    counted(entry.message_count, "message"),
                    grouped(held)
                ));
            }
        }
    }

    fn judge_losses(&mut self) {
        let topics = self.info.topics.iter().map(|it| (&it.name, it.statistics));
        let services = self.info.services.iter();
        let services = services.map(|it| (&it.name, it.statistics));
        for (name, statistics) in topics.chain(services) {
            let Some(statistics) = statistics.filter(|one| one.messages_lost() > 0) else {
                continue;
            };
            self.problems.push(format!(
                "{name}: {} of {} messages were lost while recording ({} in transport, {} in the recorder)",
                grouped(statistics.messages_lost()),
                grouped(statistics.messages_published()),
                grouped(statistics.messages_lost_in_transport),
                grouped(statistics.messages_lost_in_recorder())
            ));
        }
    }

    fn judge_topics(&mut self) {
        let start = self.info.start_time_ns.unwrap_or(0);
        let simulated = self.health_of("/clock").any(|one| one.messages > 0);
        for (topic, health) in self.topics.iter().zip(&self.health) {
            if let Some(reason) = &health.reason {
                self.problems.push(format!(
                    "{}: {} of {} cannot be decoded: {reason}",
                    topic.name,
                    grouped(health.undecoded),
                    counted(health.messages, "message"),
                ));
            }
            let advice = health.advice(start, simulated);
            self.advice
                .extend(advice.iter().map(|text| format!("{}: {text}", topic.name)));
            if health.messages > 0 && topic.offered_qos_profiles.trim().is_empty() {
                self.advice.push(format!(
                    "{}: the bag does not say its QoS, so it is played with the default one",
                    topic.name
                ));
            }
        }
    }

    /// What only shows when the topics are seen together.
    fn judge_whole(&mut self) {
        let has = |name: &str| self.health_of(name).any(|one| one.messages > 0);
        let (moving, fixed) = (has("/tf"), has("/tf_static"));
        if moving && !fixed {
            let text = "/tf is there and /tf_static is not: frames that never move are missing, record both";
            self.advice.push(text.to_owned());
        }
        if self.health.iter().all(|one| one.messages == 0) {
            self.problems.push(
                "the bag holds no message: were the topics published while it was recorded? `timeloom doctor net` \
                 tells whether QoS or the network kept them away"
                    .to_owned(),
            );
        }
    }

    /// A topic may have several types, and then several accounts.
    fn health_of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a TopicHealth> {
        let both = self.topics.iter().zip(&self.health);
        both.filter(move |(topic, _)| topic.name == name)
            .map(|(_, health)| health)
    }

    fn read(&self) -> (u64, u64) {
        let messages = self.health.iter().map(|one| one.messages).sum();
        let undecoded: u64 = self.health.iter().map(|one| one.undecoded).sum();
        (messages, undecoded)
    }

    fn print(&self, context: &mut Context) -> anyhow::Result<()> {
        let (messages, undecoded) = self.read();
        let info = &self.info;
        let out = context.printer.data();
        writeln!(
            out,
            "Bag: {}, {}, recorded by {}",
            info.storage_identifier,
            counted(info.files.len() as u64, "file"),
            info.ros_distro
        )?;
        writeln!(
            out,
            "Read: {} of {}, {} decoded",
            counted(messages, "message"),
            counted(self.topics.len() as u64, "topic"),
            grouped(messages - undecoded)
        )?;
        for text in &self.advice {
            writeln!(out, "Advice: {text}")?;
        }
        for text in &self.problems {
            writeln!(out, "Problem: {text}")?;
        }
        if let Some(text) = &self.remedy {
            writeln!(out, "Remedy: {text}")?;
        }
        if self.problems.is_empty() {
            writeln!(out, "No problem found")?;
        }
        Ok(())
    }

    fn json(&self) -> serde_json::Value {
        let (messages, undecoded) = self.read();
        json!({
            "storage_identifier": self.info.storage_identifier,
            "files": self.info.files,
            "ros_distro": self.info.ros_distro,
            "messages": messages,
            "undecoded": undecoded,
            "advice": self.advice,
            "remedy": self.remedy,
            "problems": self.problems,
        })
    }
}
