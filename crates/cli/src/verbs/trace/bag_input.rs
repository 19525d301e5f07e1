//! The lineage that a bag holds, message by message.

use std::collections::{BTreeMap, BTreeSet};

use timeloom_bag::{BagReader, Message, Query, StorageReader as _, TopicId, TopicInfo};
use timeloom_msg::StampProgram;
use timeloom_time::{Ros, Time};
use timeloom_trace::{
    AnyTag, Linker, Moment, NodeModel, ObservedGraph, PUBLISHED_TIME_TYPE, PlainMessage,
    PublishedTime, TAG_TYPE, main_topic,
};

use super::analysis::Links;
use super::sink::Sink;
use crate::context::Context;
use crate::decode::Decoders;
use crate::time_range::TimeRange;

/// Tags that are this far from when they were recorded do not show the time of the machine.
const SIM_TIME: i64 = 60_000_000_000;

/// How links are found where nothing is known of the nodes.
const BY_STAMPS: &str =
    "equal stamps, which are guesses: the bag does not say which node made what";

/// What a topic of a bag means.
enum Role {
    Tags,
    /// Publish times of this main topic.
    Notes(String),
    /// The same, in place of messages that are not in the bag.
    NotesOnly(String),
    Messages(Option<StampProgram>),
}

/// What there was, and what could not be read.
#[derive(Debug, Default)]
pub(super) struct Intake {
    pub(super) tags: u64,
    /// Tags of `tilde_lite`: they name no inputs.
    pub(super) header_only: u64,
    pub(super) broken: u64,
    pub(super) damaged: u64,
    /// The end of a file is missing, and nobody knows what was in it.
    pub(super) cut: bool,
    /// Tags carry simulated time, messages the machine's.
    pub(super) sim_time: bool,
    /// How links were found, when there were no tags.
    pub(super) inferred: Option<&'static str>,
    /// Messages that may come from several topics or nodes: which is not known.
    pub(super) not_known: u64,
}

impl Intake {
    /// Whether something of the bag is not in the result.
    pub(super) fn is_incomplete(&self) -> bool {
        self.unread() > 0 || self.cut
    }

    /// Messages and stretches that were there and could not be read.
    pub(super) fn unread(&self) -> u64 {
        self.broken + self.damaged
    }
}

/// The topics that tags name.
struct Named {
    /// Outputs and inputs.
    all: BTreeSet<String>,
    /// Outputs.
    tagged: BTreeSet<String>,
}

/// Who knows the inputs of a message that says nothing of them.
struct LinkSource<'a> {
    linker: Option<&'a mut Linker>,
    /// Topics whose tags say more.
    tagged: &'a BTreeSet<String>,
    beside_tags: bool,
}

/// Reads a bag's lineage into a sink.
pub(super) struct BagInput<'a> {
    pub(super) reader: &'a mut BagReader,
    pub(super) range: TimeRange,
    pub(super) links: Links,
    /// What the plan declares of nodes.
    pub(super) model: NodeModel,
    /// What the recorder saw of nodes.
    pub(super) graph: ObservedGraph,
}

impl BagInput<'_> {
    pub(super) fn run(
        &mut self,
        sink: &mut dyn Sink,
        context: &mut Context,
    ) -> anyhow::Result<Intake> {
        let info = self.reader.info().clone();
        let decoders = Decoders::new(&info.topics, &info.ros_distro);
        let mut intake = Intake::default();
        let named = self.look_ahead(&info.topics, &mut intake)?;
        let has_tags = intake.tags > 0;
        let infers = match self.links {
            Links::Tags => false,
            Links::Auto => !has_tags,
            Links::Stamp | Links::Model | Links::Graph => true,
        };
        let mut linker = self.linker(infers, &mut intake);
        let mut named = named;
        if infers {
            named.tagged.clear();
        } else if let Some(linker) = &linker {
            let topics = info.topics.iter().map(|topic| topic.name.clone());
            named.all.extend(topics.filter(|topic| linker.knows(topic)));
        }
        let roles = roles(&info.topics, &named.all, infers, linker.as_ref(), &decoders);
        for (index, role) in &roles {
            // In simulated time, a message's own times say nothing: what it makes counts from its reception.
            let comes = matches!(role, Role::Tags) || !intake.sim_time;
            let name = info.topics.get(*index).map(|topic| topic.name.as_str());
            if let Some(name) = name.filter(|_| comes) {
                let main = match role {
                    Role::Tags => main_topic(name),
                    Role::Notes(main) | Role::NotesOnly(main) => Some(main.as_str()),
                    Role::Messages(_) => Some(name),
                };
                if let Some(main) = main {
                    sink.expect(main);
                }
            }
        }
        let wanted = roles.keys().copied().filter_map(TopicId::from_index);
        self.start(wanted.collect())?;
        let mut progress = context.progress("tracing");
        let (mut count, range) = (0, self.range);
        loop {
            let message = match self.reader.next_message() {
                Ok(Some(message)) => message,
                Ok(None) => break,
                Err(error) if !error.is_damage() => return Err(error.into()),
                Err(error) => {
                    context.printer.warning(&error.to_string());
                    intake.damaged += 1;
                    continue;
                }
            };
            count += 1;
            progress.update(range.fraction(&info, message.log_time_ns), count);
            let Some((role, topic)) = roles
                .get(&message.topic.index())
                .zip(info.topics.get(message.topic.index()))
            else {
                continue;
            };
            if let Some(linker) = &mut linker {
                linker.at(message.log_time_ns);
            }
            let mut links = LinkSource {
                linker: linker.as_mut(),
                tagged: &named.tagged,
                beside_tags: !infers,
            };
            take(role, &topic.name, &message, &mut links, &mut intake, sink);
        }
        intake.not_known = linker.map_or(0, |linker| linker.not_known());
        Ok(intake)
    }

    /// Who knows the inputs of messages without tags: the plan, the recorder, or nobody.
    fn linker(&mut self, infers: bool, intake: &mut Intake) -> Option<Linker> {
        let model = std::mem::take(&mut self.model);
        let graph = std::mem::take(&mut self.graph);
        let declared = !model.nodes.is_empty();
        let (linker, how) = match self.links {
            Links::Tags => return None,
            Links::Stamp => (Linker::by_stamp(), BY_STAMPS),
            Links::Auto | Links::Graph if infers && !graph.is_empty() => {
                let how = if declared {
                    "a node model and the recorded graph"
                } else {
                    "the recorded graph"
                };
                (Linker::with_graph(model, graph), how)
            }
            // With tags, a model links what is not tagged.
            _ if declared => (Linker::with_model(model), "a node model"),
            _ if infers => (Linker::by_stamp(), BY_STAMPS),
            _ => return None,
        };
        intake.inferred = infers.then_some(how);
        Some(linker)
    }

    fn start(&mut self, topics: Vec<TopicId>) -> anyhow::Result<()> {
        let query = Query {
            topics: Some(topics),
            start_ns: self.range.start_ns,
            end_ns: self.range.end_ns,
            ..Query::default()
        };
        Ok(self.reader.start(&query)?)
    }

    /// Reads all tags once for the names of topics, so that main topics that matter, and no others, are read with them.
    fn look_ahead(&mut self, topics: &[TopicInfo], intake: &mut Intake) -> anyhow::Result<Named> {
        let is_tag = |(_, topic): &(usize, &TopicInfo)| topic.type_name == TAG_TYPE;
        let tags = topics.iter().enumerate().filter(is_tag);
        let tags = tags.filter_map(|(index, _)| TopicId::from_index(index));
        self.start(tags.collect())?;
        let (mut names, mut tagged) = (BTreeSet::new(), BTreeSet::new());
        let mut distances = Vec::new();
        loop {
            let message = match self.reader.next_message() {
                Ok(Some(message)) => message,
                Ok(None) => break,
                Err(error) if !error.is_damage() => return Err(error.into()),
                // What is damaged is told in the second pass.
                Err(_) => continue,
            };
            if let Ok(AnyTag::Full(tag)) = AnyTag::parse(message.data) {
                intake.tags += 1;
                if !tagged.contains(tag.topic) {
                    tagged.insert(tag.topic.to_owned());
                }
                for name in std::iter::once(tag.topic).chain(tag.inputs().map(|input| input.topic))
                {
                    if !names.contains(name) {
                        names.insert(name.to_owned());
                    }
                }
                if distances.len() < 1000 {
                    distances.push(tag.published.ros.nanos().abs_diff(message.log_time_ns));
                }
            }
        }
        distances.sort_unstable();
        let middle = distances.get(distances.len() / 2).copied().unwrap_or(0);
        intake.sim_time = middle > SIM_TIME.unsigned_abs();
        intake.tags = if names.is_empty() { 0 } else { intake.tags };
        Ok(Named { all: names, tagged })
    }
}

fn roles(
    topics: &[TopicInfo],
    named: &BTreeSet<String>,
    infers: bool,
    linker: Option<&Linker>,
    decoders: &Decoders,
) -> BTreeMap<usize, Role> {
    let model = linker.filter(|linker| linker.has_model());
    let is_known = |topic: &str| model.is_none_or(|model| model.knows(topic));
    let mut roles = BTreeMap::new();
    for (index, topic) in topics.iter().enumerate() {
        let role = match topic.type_name.as_str() {
            TAG_TYPE if infers => continue,
            TAG_TYPE => Role::Tags,
            PUBLISHED_TIME_TYPE => match main_topic(&topic.name) {
                Some(main) if infers && !topics.iter().any(|topic| topic.name == main) => {
                    Role::NotesOnly(main.to_owned())
                }
                Some(main) => Role::Notes(main.to_owned()),
                None => continue,
            },
            _ if infers && is_known(&topic.name) || named.contains(&topic.name) => {
                let schema = decoders.schema(index).ok();
                let program = schema.and_then(StampProgram::compile);
                if infers && program.is_none() && model.is_none() {
                    continue;
                }
                Role::Messages(program)
            }
            _ => continue,
        };
        roles.insert(index, role);
    }
    roles
}

fn take(
    role: &Role,
    topic: &str,
    message: &Message<'_>,
    links: &mut LinkSource<'_>,
    intake: &mut Intake,
    sink: &mut dyn Sink,
) {
    let now = message.log_time_ns;
    match role {
        Role::Tags => match AnyTag::parse(message.data) {
            Ok(AnyTag::Full(tag)) => {
                tag.with_publication(|publication| sink.publication(publication, true, now));
            }
            Ok(AnyTag::HeaderOnly { .. }) => intake.header_only += 1,
            Err(_) => intake.broken += 1,
        },
        Role::Notes(main) => match PublishedTime::decode(message.data) {
            Ok(note) => sink.note(main, note, now),
            Err(_) => intake.broken += 1,
        },
        Role::NotesOnly(main) => match (PublishedTime::decode(message.data), &mut links.linker) {
            (Ok(note), Some(linker)) => {
                let plain = PlainMessage {
                    topic: main,
                    stamp: Some(note.stamp),
                    published: Moment {
                        ros: note.published,
                        ..Moment::UNKNOWN
                    },
                };
                linker.publication(&plain, |publication| {
                    sink.publication(publication, false, now);
                });
            }
            (Ok(note), None) => sink.note(main, note, now),
            (Err(_), _) => intake.broken += 1,
        },
        Role::Messages(program) => {
            let stamp = program.as_ref().and_then(|program| {
                let stamp = program.read(message.data).ok()?;
                Some(Time::<Ros>::from_nanos(stamp.nanos()))
            });
            let published = Moment {
                ros: Time::from_nanos(message.publish_time_ns),
                ..Moment::UNKNOWN
            };
            let plain = PlainMessage {
                topic,
                stamp,
                published,
            };
            match &mut links.linker {
                Some(linker) if !links.beside_tags => linker.publication(&plain, |publication| {
                    sink.publication(publication, false, now);
                }),
                // Simulated and real time cannot be joined.
                _ if intake.sim_time => {}
                Some(linker) if linker.publishes(topic) && !links.tagged.contains(topic) => {
                    linker.publication(&plain, |publication| {
                        sink.publication(publication, false, now);
                    });
                }
                linker => {
                    // What is made of it may be linked by the model.
                    let _linked = linker.as_mut().map(|linker| linker.link(&plain));
                    sink.message(topic, stamp, published, now);
                }
            }
        }
    }
}
