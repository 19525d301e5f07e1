//! Rewrites bags: slice, filter, rename, split, compress, change the storage, merge.

use std::path::{Path, PathBuf};

use crate::mcap::CarryOver;
use crate::metadata::METADATA_FILE;
use crate::storage::{ExtraCounts, StorageReader};
use crate::{
    BagOptions, BagReader, BagWriter, Error, Message, MessagePublishers, Order, Query, Result,
    RobotGraph, RobotParameters, StatePart, TopicId, TopicInfo, UnknownMessages,
};

/// Selects the topics of an output, by their description and number of messages.
pub type TopicFilter = Box<dyn Fn(&TopicInfo, u64) -> bool>;

/// Changes a message of a bag, which is given by its place among the inputs, or leaves it out by returning `false`.
pub type MessageEdit = Box<dyn FnMut(usize, &mut Message<'_>) -> bool>;

/// One bag to be written.
pub struct ConvertOutput {
    /// Its directory; it must not exist.
    pub directory: PathBuf,
    /// Its options.
    pub options: BagOptions,
    /// Its topics.
    pub topics: TopicFilter,
    /// Topics that get another name: from, to.
    pub remap: Vec<(String, String)>,
    /// Earliest log time, inclusive.
    pub start_ns: Option<i64>,
    /// Latest log time, inclusive.
    pub end_ns: Option<i64>,
    /// Changes each message of the inputs before it is written; topics are those of the reader.
    pub edit: Option<MessageEdit>,
}

impl ConvertOutput {
    /// An output with all topics and all times.
    pub fn new(directory: impl Into<PathBuf>, options: BagOptions) -> Self {
        Self {
            directory: directory.into(),
            options,
            topics: Box::new(|_, _| true),
            remap: Vec::new(),
            start_ns: None,
            end_ns: None,
            edit: None,
        }
    }
}

/// The reaction to a damaged input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnDamage {
    /// Stop with the error.
    #[default]
    Fail,
    /// Continue behind it; the report names it.
    Skip,
}

/// The progress of a conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Messages read so far.
    pub messages: u64,
    /// Messages that the inputs claim to hold.
    pub total: u64,
    /// Log time of the current message.
    pub log_time_ns: i64,
}

/// The result of a conversion.
#[derive(Debug, Default)]
pub struct ConvertReport {
    /// Messages read.
    pub messages_read: u64,
    /// Messages written, by output.
    pub messages_written: Vec<u64>,
    /// Attachments and metadata records of the inputs that an output does not hold, by output.
    pub not_carried_over: Vec<ExtraCounts>,
    /// Descriptions of damage of the inputs.
    pub damage: Vec<String>,
}

/// Reads the inputs as one bag in log-time order and writes the outputs.
///
/// `progress` is called about every thousand messages. Any message that cannot be written is an error.
///
/// ```no_run
/// use timeloom_bag::BagOptions;
/// use timeloom_bag::convert::{ConvertOutput, OnDamage, convert};
///
/// let mut output = ConvertOutput::new("only_imu", BagOptions::default());
/// output.topics = Box::new(|topic, _messages| topic.name.starts_with("/imu"));
/// let report = convert(&["monday", "tuesday"], vec![output], OnDamage::Fail, &mut |_| {})?;
/// println!("{} of {} messages", report.messages_written[0], report.messages_read);
/// # Ok::<(), timeloom_bag::Error>(())
/// ```
pub fn convert<P: AsRef<Path>>(
    inputs: &[P],
    outputs: Vec<ConvertOutput>,
    on_damage: OnDamage,
    progress: &mut dyn FnMut(Progress),
) -> Result<ConvertReport> {
    convert_from(BagReader::open_all(inputs)?, outputs, on_damage, progress)
}

/// Like [`convert`], from open bags.
pub fn convert_from(
    mut reader: BagReader,
    outputs: Vec<ConvertOutput>,
    on_damage: OnDamage,
    progress: &mut dyn FnMut(Progress),
) -> Result<ConvertReport> {
    let mut report = ConvertReport {
        damage: reader.info().damage.clone(),
        ..ConvertReport::default()
    };
    if let (OnDamage::Fail, Some(damage)) = (on_damage, report.damage.first()) {
        return Err(Error::Damaged {
            reason: damage.clone(),
        });
    }
    let total = reader.info().message_count();
    let robot = Robot::read(&mut reader, on_damage, &mut report.damage)?;
    let mut targets = outputs
        .into_iter()
        .map(|output| {
            let mut extras = carry_over(&reader)?;
            let target = Target::create(output, &reader, &robot, &mut extras)?;
            report.not_carried_over.push(extras.left);
            match extras.error {
                Some(error) if on_damage == OnDamage::Fail => return Err(error),
                _ => {}
            }
            // Every output has the same damage of the inputs.
            extras.damage.retain(|text| !report.damage.contains(text));
            report.damage.append(&mut extras.damage);
            Ok(target)
        })
        .collect::<Result<Vec<_>>>()?;
    reader.start(&common_query(&targets, reader.info().topics.len()))?;
    loop {
        let next = reader.advance();
        match next.map(|more| more.then(|| reader.message()).flatten()) {
            Ok(None) => break,
            Ok(Some(message)) => {
                if report.messages_read.is_multiple_of(1000) {
                    progress(Progress {
                        messages: report.messages_read,
                        total,
                        log_time_ns: message.log_time_ns,
                    });
                }
                report.messages_read += 1;
                let bag = reader.location().map_or(0, |(bag, _)| bag);
                for target in &mut targets {
                    target.write(bag, &message)?;
                }
            }
            Err(error) if on_damage == OnDamage::Skip && error.is_damage() => {
                report.damage.push(error.to_string());
            }
            Err(error) => return Err(error),
        }
    }
    for mut target in targets {
        if report.damage.iter().any(costs_messages) {
            target.leave_open();
        }
        let (summary, outcome) = target.writer.finish()?;
        outcome.into_result()?;
        report.messages_written.push(summary.metadata.message_count);
    }
    Ok(report)
}

/// The files whose attachments and metadata records every output gets: they belong to the recording, not to a time.
fn carry_over(reader: &BagReader) -> Result<CarryOver> {
    let mut extras = CarryOver::default();
    for (path, info) in reader.files() {
        if !info.extras.is_empty() {
            extras.add(reader.place().as_ref(), path)?;
        }
    }
    Ok(extras)
}

/// The state of the robot in the inputs.
#[derive(Default)]
struct Robot {
    graph: RobotGraph,
    parameters: RobotParameters,
    publishers: MessagePublishers,
}

impl Robot {
    /// Reads all parts; one that cannot be read is noted, or is the error.
    fn read(reader: &mut BagReader, on_damage: OnDamage, damage: &mut Vec<String>) -> Result<Self> {
        let mut noted = |error: Error| match on_damage {
            OnDamage::Skip if error.is_damage() => {
                damage.push(error.to_string());
                Ok(())
            }
            _ => Err(error),
        };
        let mut robot = Self::default();
        match reader.graph() {
            Ok(graph) => robot.graph = graph,
            Err(error) => noted(error)?,
        }
        match reader.parameters() {
            Ok(parameters) => robot.parameters = parameters,
            Err(error) => noted(error)?,
        }
        match reader.publishers() {
            Ok(publishers) => robot.publishers = publishers,
            Err(error) => noted(error)?,
        }
        Ok(robot)
    }
}

/// A `metadata.yaml` or a state of the robot that is missing or wrong costs no message.
#[expect(clippy::ptr_arg, reason = "the predicate of an iterator over strings")]
fn costs_messages(damage: &String) -> bool {
    let mut parts = StatePart::ALL.into_iter();
    !damage.starts_with(METADATA_FILE) && !parts.any(|part| damage.contains(part.record_name()))
}

/// The smallest query that covers all outputs.
fn common_query(targets: &[Target], topics: usize) -> Query {
    let wanted = (0..topics).filter(|at| {
        targets
            .iter()
            .any(|target| target.topics.get(*at).is_some_and(Option::is_some))
    });
    let start = targets
        .iter()
        .map(|target| target.start_ns.unwrap_or(i64::MIN))
        .min();
    let end = targets
        .iter()
        .map(|target| target.end_ns.unwrap_or(i64::MAX))
        .max();
    Query {
        order: Order::LogTime,
        topics: Some(wanted.filter_map(TopicId::from_index).collect()),
        start_ns: start.filter(|time| *time != i64::MIN),
        end_ns: end.filter(|time| *time != i64::MAX),
    }
}

/// An output that is being written.
struct Target {
    writer: BagWriter,
    /// Topic of the output by topic of the input; `None` where it is not selected.
    topics: Vec<Option<TopicId>>,
    start_ns: Option<i64>,
    end_ns: Option<i64>,
    edit: Option<MessageEdit>,
}

impl Target {
    fn create(
        output: ConvertOutput,
        reader: &BagReader,
        robot: &Robot,
        extras: &mut CarryOver,
    ) -> Result<Self> {
        let mut options = output.options;
        let source = reader.info();
        if options.ros_distro.is_empty() {
            options.ros_distro.clone_from(&source.ros_distro);
        }
        if let (true, Some(metadata)) = (options.custom_data.is_empty(), &source.metadata) {
            options.custom_data.clone_from(&metadata.custom_data);
        }
        options.interrupted |= reader.is_interrupted();
        let mut writer = BagWriter::create_with(&output.directory, options, Some(extras))?;
        // The whole graph: it stays true when topics or times are left out.
        writer
            .update_graph(&robot.graph.clone().renamed(&output.remap))
            .into_result()?;
        writer.update_parameters(&robot.parameters).into_result()?;
        writer
            .update_publishers(&robot.publishers.clone().renamed(&output.remap))
            .into_result()?;
        let mut topics = Vec::with_capacity(source.topics.len());
        for (topic, messages) in source.topics.iter().zip(&source.message_counts) {
            let wanted = (output.topics)(topic, *messages);
            let id = wanted
                .then(|| writer.add_topic(&renamed(topic, &output.remap)))
                .transpose()?;
            topics.push(id);
        }
        let mut target = Self {
            writer,
            topics,
            start_ns: output.start_ns,
            end_ns: output.end_ns,
            edit: output.edit,
        };
        target.keep_missing(reader);
        Ok(target)
    }

    /// The output keeps the account of messages that are missing in the inputs; that of a part has the messages of the
    /// part, or counts them as unknown.
    fn keep_missing(&mut self, reader: &BagReader) {
        let is_part = self.start_ns.is_some() || self.end_ns.is_some();
        let start = self.start_ns.unwrap_or(i64::MIN);
        let end = self.end_ns.unwrap_or(i64::MAX);
        for (account, topic) in reader.accounts().iter().zip(&self.topics) {
            let Some(topic) = topic else { continue };
            let Some(account) = account else {
                self.writer.leave_open(*topic, UnknownMessages::UNCOUNTED);
                continue;
            };
            let part = is_part.then(|| account.missing_within(start, end));
            self.writer
                .add_missing(*topic, part.as_ref().unwrap_or(account));
        }
    }

    /// Messages were skipped with the damage of the inputs: it is unknown which.
    fn leave_open(&mut self) {
        let unknown = UnknownMessages {
            interrupted: true,
            ..UnknownMessages::default()
        };
        for topic in self.topics.iter().flatten() {
            self.writer.leave_open(*topic, unknown);
        }
    }

    fn write(&mut self, bag: usize, message: &Message<'_>) -> Result<()> {
        let mut message = *message;
        if let Some(edit) = &mut self.edit
            && !edit(bag, &mut message)
        {
            return Ok(());
        }
        let time = message.log_time_ns;
        let inside = self.start_ns.is_none_or(|start| time >= start)
            && self.end_ns.is_none_or(|end| time <= end);
        let topic = self.topics.get(message.topic.index()).copied().flatten();
        let (true, Some(topic)) = (inside, topic) else {
            return Ok(());
        };
        // No time passes: a conversion has no reason to seal half-full chunks.
        self.writer
            .write(&[Message { topic, ..message }], 0)
            .into_result()
    }
}

fn renamed(topic: &TopicInfo, remap: &[(String, String)]) -> TopicInfo {
    let to = remap
        .iter()
        .find(|(from, _)| *from == topic.name)
        .map(|(_, to)| to.clone());
    TopicInfo {
        name: to.unwrap_or_else(|| topic.name.clone()),
        ..topic.clone()
    }
}
