use std::collections::BTreeMap;
use std::ops::ControlFlow;

use timeloom_bag::{BagReader, Query, StorageReader as _, TopicId};
use timeloom_msg::{StampProgram, TypeResolver};
use timeloom_time::Time;

use super::survey::Survey;
use super::{Arrival, Content, Feed, LinkScope, PlainMessages, Sink};
use crate::analysis::{AccountOf, AccountScope, ClockDomain, Engine, RecorderAccount};
use crate::error::{Error, Result};
use crate::infer::{Linker, NodeModel, ObservedGraph};
use crate::tag::TAG_TYPE;
use crate::topics::{is_lineage_type, main_topic};

/// The way of finding the links of a bag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkSearch {
    /// By tags, and by the model for topics without tags. In a bag without tags: by the model and the recorded graph, or
    /// by equal stamps if the bag has neither.
    #[default]
    Auto,
    /// By tags only.
    Tags,
    /// By equal stamps.
    Stamp,
    /// By the model.
    Model,
    /// By the model and the recorded graph; tags are ignored.
    Graph,
}

/// Receives progress and damage while a bag is read.
pub trait BagObserver {
    /// A message was read: its log time, and the number of messages in this pass.
    fn progress(&mut self, _log_time_ns: i64, _messages: u64) {}
    /// A part of the bag could not be read. Each part is reported once.
    fn damage(&mut self, _error: &timeloom_bag::Error) {}
}

impl BagObserver for () {}

/// The content of a bag for the analysis, and the parts that could not be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Intake {
    /// Tags in the bag.
    pub tags: u64,
    /// Tags of `tilde_lite`, which name no inputs.
    pub header_only: u64,
    /// Payloads that could not be decoded.
    pub broken: u64,
    /// Parts of the bag that could not be read.
    pub damaged: u64,
    /// Whether the tags carry simulated time and the messages system time.
    pub sim_time: bool,
    /// The way of finding links, if not by tags.
    pub inferred: Option<&'static str>,
    /// Messages with several possible inputs: they have no links.
    pub not_known: u64,
    /// Topics without tags that the recorded graph could link, in a bag with tags.
    pub graph_only_topics: usize,
}

impl Intake {
    /// Notes for a report.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(how) = self.inferred {
            let why = if self.tags == 0 {
                "there are no tags: "
            } else {
                ""
            };
            notes.push(format!("{why}links are found by {how}"));
        }
        let plural = |count: u64| if count == 1 { "" } else { "s" };
        if self.not_known > 0 {
            let s = plural(self.not_known);
            notes.push(format!(
                "{} message{s} with several possible input topics or nodes: not linked",
                self.not_known
            ));
        }
        if self.graph_only_topics > 0 {
            let s = plural(self.graph_only_topics as u64);
            notes.push(format!(
                "{} topic{s} without tags not linked; `--links graph` links all topics by the recorded graph",
                self.graph_only_topics
            ));
        }
        if self.sim_time {
            notes.push(
                "tags are in simulated time: topics without tags count from their reception"
                    .to_owned(),
            );
        }
        if self.header_only > 0 {
            let s = plural(self.header_only);
            notes.push(format!(
                "{} tag{s} of tilde_lite name no inputs",
                self.header_only
            ));
        }
        if self.broken > 0 {
            let s = plural(self.broken);
            notes.push(format!("{} tag{s} could not be decoded", self.broken));
        }
        notes
    }
}

/// Reads the lineage of a bag into a sink.
///
/// ```no_run
/// use std::path::Path;
/// use timeloom_bag::BagReader;
/// use timeloom_trace::{BagFeed, Engine, EngineOptions};
///
/// let mut reader = BagReader::open(Path::new("my_bag"))?;
/// let mut engine = Engine::new(EngineOptions::default());
/// BagFeed::default().run(&mut reader, &mut engine, &mut ())?;
/// println!("{} hops", engine.report().hops.len());
/// # Ok::<_, timeloom_trace::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct BagFeed {
    /// The way of finding links.
    pub links: LinkSearch,
    /// Declared nodes.
    pub model: NodeModel,
    /// Messages with an earlier log time are left out.
    pub start_ns: Option<i64>,
    /// Messages with a later log time are left out.
    pub end_ns: Option<i64>,
    /// The resolver for types that the bag does not define.
    pub types: TypeResolver,
}

/// The two times a bag is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pass {
    /// For the names in the tags.
    Survey,
    /// For everything.
    Feed,
}

struct RecordedMessage<'a> {
    topic: usize,
    log_time_ns: i64,
    publish_time_ns: i64,
    payload: &'a [u8],
}

/// Without a model and a graph.
const BY_STAMPS: &str =
    "equal stamps, which are guesses: the bag does not say which node made what";

impl BagFeed {
    /// Reads a bag twice: first the tags, for the names of topics; then the tags and the topics that they name.
    ///
    /// # Errors
    /// When the bag cannot be read, has no recorded graph ([`LinkSearch::Graph`]) or no tags ([`LinkSearch::Tags`]), or
    /// when the model is empty ([`LinkSearch::Model`]). Damage goes to the observer instead.
    pub fn run(
        &self,
        reader: &mut BagReader,
        sink: &mut dyn Sink,
        observer: &mut dyn BagObserver,
    ) -> Result<Intake> {
        let graph = self.graph(reader)?;
        let custom_data = reader.info().metadata.as_ref().map(|it| &it.custom_data);
        let hosts = custom_data.map(|data| ClockDomain::of_merged_bag(data));
        sink.engine().declare_hosts(hosts.unwrap_or_default());
        let mut input = Input {
            feed: self,
            reader,
            observer,
            damaged: 0,
        };
        let topics = input.topics();
        let survey = input.survey(&topics)?;
        if survey.tags == 0 && self.links == LinkSearch::Tags {
            return Err(Error::NoTags);
        }
        let infers = match self.links {
            LinkSearch::Tags => false,
            LinkSearch::Auto => survey.tags == 0,
            LinkSearch::Stamp | LinkSearch::Model | LinkSearch::Graph => true,
        };
        let mut intake = Intake {
            tags: survey.tags,
            sim_time: survey.is_sim_time(),
            ..Intake::default()
        };
        if !infers {
            let untagged = topics
                .iter()
                .filter(|(name, _)| !survey.tagged.contains(name) && graph.at_any_time_makes(name));
            intake.graph_only_topics = untagged.count();
        }
        let (linker, how) = self.linker(infers, graph).unzip();
        intake.inferred = how.filter(|_| infers);
        let contents = input.contents(&topics, &survey, linker.as_ref(), infers);
        let mut feed = if infers {
            Feed {
                linker,
                heard: topics.iter().map(|(name, _)| name.clone()).collect(),
                ..Feed::default()
            }
        } else {
            beside_tags(linker, survey)
        };
        let name = |topic: &usize| topics.get(*topic).map_or("", |(name, _)| name.as_str());
        for (topic, content) in &contents {
            // In simulated time, a message's own times do not apply: its outputs count from its reception.
            let comes = matches!(content, Content::Tags) || !intake.sim_time;
            if let Some(main) = content.main_topic(name(topic)).filter(|_| comes) {
                sink.engine().expect_topic(main);
            }
        }
        let wanted: Vec<usize> = contents.keys().copied().collect();
        input.read(&wanted, Pass::Feed, &mut |message| {
            if let Some(content) = contents.get(&message.topic) {
                let arrival = Arrival {
                    topic: name(&message.topic),
                    payload: message.payload,
                    sent: Time::from_nanos(message.publish_time_ns),
                    now: message.log_time_ns,
                };
                feed.take(content, &arrival, sink);
            }
            if sink.is_done() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        let counts = feed.counts();
        (intake.header_only, intake.broken) = (counts.header_only, counts.broken);
        intake.not_known = feed.not_known();
        intake.damaged = input.damaged;
        Ok(intake)
    }

    /// Adds the recorder's counts for each topic and its tags. Call it before the report.
    pub fn add_accounts(&self, reader: &BagReader, engine: &mut Engine) {
        let scope = if self.start_ns.is_some() || self.end_ns.is_some() {
            AccountScope::Part
        } else {
            AccountScope::Whole
        };
        for (info, account) in reader.info().topics.iter().zip(reader.accounts()) {
            let name = info.name.as_str();
            let (topic, of) = match main_topic(name) {
                Some(main) if is_lineage_type(&info.type_name) => (main, AccountOf::Tags),
                _ => (name, AccountOf::Messages),
            };
            let statistics = account.as_ref().map(|it| it.statistics);
            if let Some(statistics) = statistics.filter(|it| !it.unknown.uncounted) {
                let account = RecorderAccount {
                    recorded: statistics.messages_recorded,
                    in_transport: statistics.messages_lost_in_transport,
                    in_recorder: statistics.messages_lost_in_recorder(),
                };
                engine.recorder_account(topic, of, account, scope);
            }
        }
    }

    fn graph(&self, reader: &mut BagReader) -> Result<ObservedGraph> {
        match self.links {
            LinkSearch::Model if self.model.nodes.is_empty() => return Err(Error::NoModel),
            LinkSearch::Tags | LinkSearch::Stamp | LinkSearch::Model => {
                return Ok(ObservedGraph::default());
            }
            LinkSearch::Auto | LinkSearch::Graph => {}
        }
        let graph = ObservedGraph::from(&reader.graph()?);
        if self.links == LinkSearch::Graph && graph.is_empty() {
            return Err(Error::NoGraph);
        }
        Ok(graph)
    }

    /// The linker for messages without tags, and its name.
    fn linker(&self, infers: bool, graph: ObservedGraph) -> Option<(Linker, &'static str)> {
        let has_model = !self.model.nodes.is_empty();
        Some(match self.links {
            LinkSearch::Tags => return None,
            LinkSearch::Stamp => (Linker::by_stamp(), BY_STAMPS),
            LinkSearch::Auto | LinkSearch::Graph if infers && !graph.is_empty() => {
                let how = if has_model {
                    "a node model and the recorded graph"
                } else {
                    "the recorded graph"
                };
                (Linker::with_graph(self.model.clone(), graph), how)
            }
            _ if has_model => (Linker::with_model(self.model.clone()), "a node model"),
            _ if infers => (Linker::by_stamp(), BY_STAMPS),
            _ => return None,
        })
    }
}

/// A feed of a bag with tags, which links only topics of the model.
fn beside_tags(linker: Option<Linker>, survey: Survey) -> Feed {
    Feed {
        linker,
        scope: LinkScope::Modelled,
        plain_messages: if survey.is_sim_time() {
            PlainMessages::Leave
        } else {
            PlainMessages::Take
        },
        tagged: survey.tagged.into_iter().collect(),
        ..Feed::default()
    }
}

/// A bag that is being read.
struct Input<'a> {
    feed: &'a BagFeed,
    reader: &'a mut BagReader,
    observer: &'a mut dyn BagObserver,
    damaged: u64,
}

impl Input<'_> {
    /// Name and type of each topic.
    fn topics(&self) -> Vec<(String, String)> {
        let topics = self.reader.info().topics.iter();
        topics
            .map(|topic| (topic.name.clone(), topic.type_name.clone()))
            .collect()
    }

    fn survey(&mut self, topics: &[(String, String)]) -> Result<Survey> {
        let tags = topics.iter().enumerate();
        let tags = tags.filter(|(_, (_, type_name))| type_name == TAG_TYPE);
        let tags: Vec<usize> = tags.map(|(place, _)| place).collect();
        let mut survey = Survey::default();
        if !tags.is_empty() {
            self.read(&tags, Pass::Survey, &mut |message| {
                survey.take(message.payload, message.log_time_ns);
                ControlFlow::Continue(())
            })?;
        }
        Ok(survey)
    }

    /// The topics to read, and their contents.
    fn contents(
        &self,
        topics: &[(String, String)],
        survey: &Survey,
        linker: Option<&Linker>,
        infers: bool,
    ) -> BTreeMap<usize, Content> {
        let has_model = linker.is_some_and(Linker::has_model);
        let all = topics.iter().enumerate();
        let wanted = all.filter(|(_, (_, type_name))| !infers || type_name != TAG_TYPE);
        let contents = wanted.filter_map(|(place, (name, type_name))| {
            if is_lineage_type(type_name) {
                return Some((place, Content::of_lineage(name, type_name)?));
            }
            let is_known = survey.named.contains(name) || linker.is_some_and(|it| it.knows(name));
            // A model or a graph has all topics that it links.
            let is_wanted = is_known || (infers && !has_model);
            let stamp = is_wanted.then(|| self.stamp(place))?;
            // Messages without stamp are linked by tags, a model or a graph only.
            let is_of_use = stamp.is_some() || !infers || has_model;
            is_of_use.then_some((place, Content::Messages(stamp)))
        });
        contents.collect()
    }

    fn stamp(&self, topic: usize) -> Option<StampProgram> {
        let info = self.reader.info();
        let types = self.feed.types.for_distro(&info.ros_distro);
        let schema = info.topics.get(topic)?.schema(&types);
        StampProgram::compile(&schema.ok()?)
    }

    fn read(
        &mut self,
        topics: &[usize],
        pass: Pass,
        take: &mut dyn FnMut(&RecordedMessage<'_>) -> ControlFlow<()>,
    ) -> Result<()> {
        let topics = topics.iter().copied().filter_map(TopicId::from_index);
        self.reader.start(&Query {
            topics: Some(topics.collect()),
            start_ns: self.feed.start_ns,
            end_ns: self.feed.end_ns,
            ..Query::default()
        })?;
        let mut count = 0;
        loop {
            let message = match self.reader.next_message() {
                Ok(Some(message)) => message,
                Ok(None) => return Ok(()),
                Err(error) if !error.is_damage() => return Err(error.into()),
                Err(error) => {
                    // Damage is found in both passes.
                    if pass == Pass::Feed {
                        self.observer.damage(&error);
                        self.damaged += 1;
                    }
                    continue;
                }
            };
            count += 1;
            self.observer.progress(message.log_time_ns, count);
            let recorded = RecordedMessage {
                topic: message.topic.index(),
                log_time_ns: message.log_time_ns,
                publish_time_ns: message.publish_time_ns,
                payload: message.data,
            };
            if take(&recorded).is_break() {
                return Ok(());
            }
        }
    }
}
