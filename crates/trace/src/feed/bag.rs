use std::collections::BTreeMap;
use std::ops::ControlFlow;

use timeloom_msg::StampProgram;
use timeloom_time::Time;

use super::survey::Survey;
use super::{Arrival, Content, Feed, LinkScope, PlainMessages, Sink};
use crate::infer::{Linker, NodeModel, ObservedGraph};
use crate::tag::TAG_TYPE;
use crate::topics::is_lineage_type;

/// Messages that were recorded: what a bag is to lineage.
pub trait Recording {
    /// Why reading failed.
    type Error;

    /// Name and type of each topic.
    fn topics(&self) -> Vec<(String, String)>;

    /// How the stamp of a topic's messages is found, by the topic's place; none where they have none.
    fn stamp(&self, topic: usize) -> Option<StampProgram>;

    /// Reads all messages of some topics, by their places, in the order of their log times.
    ///
    /// # Errors
    /// When nothing more can be read. Damage that ends only a part is the recording's own to count, in the second pass.
    fn read(
        &mut self,
        topics: &[usize],
        pass: Pass,
        take: &mut dyn FnMut(&RecordedMessage<'_>) -> ControlFlow<()>,
    ) -> Result<(), Self::Error>;
}

/// Which time a recording is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// For the names in the tags.
    Survey,
    /// For everything.
    Feed,
}

/// A message of a recording.
#[derive(Clone, Copy, Debug)]
pub struct RecordedMessage<'a> {
    /// The place of its topic.
    pub topic: usize,
    /// When it was recorded, in nanoseconds.
    pub log_time_ns: i64,
    /// When it was published, in nanoseconds.
    pub publish_time_ns: i64,
    /// The payload.
    pub payload: &'a [u8],
}

/// How the links of a recording are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkSearch {
    /// By tags; without any, by the model and the graph, or by equal stamps. Beside tags, a model links what has none.
    #[default]
    Auto,
    /// By tags only.
    Tags,
    /// By equal stamps.
    Stamp,
    /// By the model.
    Model,
    /// By the model and the graph, also where there are tags.
    Graph,
}

/// What there was, and what could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Intake {
    /// How many tags there were.
    pub tags: u64,
    /// Tags of `tilde_lite`: they name no inputs.
    pub header_only: u64,
    /// Payloads that could not be decoded.
    pub broken: u64,
    /// Tags carry simulated time, messages the machine's.
    pub sim_time: bool,
    /// How links were found, when not by tags.
    pub inferred: Option<&'static str>,
    /// Messages that may come from several topics or nodes: which is not known.
    pub not_known: u64,
}

/// Reads the lineage of a recording into a sink.
#[derive(Clone, Debug, Default)]
pub struct RecordingFeed {
    /// How links are found.
    pub links: LinkSearch,
    /// What somebody declared of nodes that do not tag.
    pub model: NodeModel,
    /// What the recorder saw of them.
    pub graph: ObservedGraph,
}

/// How links are found where nothing is known of the nodes.
const BY_STAMPS: &str =
    "equal stamps, which are guesses: the bag does not say which node made what";

impl RecordingFeed {
    /// Reads a recording twice: its tags for the names of topics, so that main topics that matter, and no others, are
    /// then read with them.
    ///
    /// # Errors
    /// Those of the recording.
    pub fn run<R: Recording>(
        &self,
        recording: &mut R,
        sink: &mut dyn Sink,
    ) -> Result<Intake, R::Error> {
        let topics = recording.topics();
        let survey = survey(recording, &topics)?;
        let infers = match self.links {
            LinkSearch::Tags => false,
            LinkSearch::Auto => survey.tags == 0,
            LinkSearch::Stamp | LinkSearch::Model | LinkSearch::Graph => true,
        };
        let (linker, how) = self.linker(infers).unzip();
        let mut intake = Intake {
            tags: survey.tags,
            sim_time: survey.is_sim_time(),
            inferred: how.filter(|_| infers),
            ..Intake::default()
        };
        let contents = contents(recording, &topics, &survey, linker.as_ref(), infers);
        let mut feed = Feed {
            linker,
            ..Feed::default()
        };
        if infers {
            feed.heard = topics.iter().map(|(name, _)| name.clone()).collect();
        } else {
            feed.scope = LinkScope::Modelled;
            feed.tagged = survey.tagged.into_iter().collect();
            if intake.sim_time {
                feed.plain_messages = PlainMessages::Leave;
            }
        }
        let name = |topic: &usize| topics.get(*topic).map_or("", |(name, _)| name.as_str());
        for (topic, content) in &contents {
            // In simulated time, a message's own times say nothing: what it makes counts from its reception.
            let comes = matches!(content, Content::Tags) || !intake.sim_time;
            if let Some(main) = content.main_topic(name(topic)).filter(|_| comes) {
                sink.expect(main);
            }
        }
        let wanted: Vec<usize> = contents.keys().copied().collect();
        recording.read(&wanted, Pass::Feed, &mut |message| {
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
        Ok(intake)
    }

    /// What links messages without tags, and its name.
    fn linker(&self, infers: bool) -> Option<(Linker, &'static str)> {
        let has_model = !self.model.nodes.is_empty();
        Some(match self.links {
            LinkSearch::Tags => return None,
            LinkSearch::Stamp => (Linker::by_stamp(), BY_STAMPS),
            LinkSearch::Auto | LinkSearch::Graph if infers && !self.graph.is_empty() => {
                let how = if has_model {
                    "a node model and the recorded graph"
                } else {
                    "the recorded graph"
                };
                let linker = Linker::with_graph(self.model.clone(), self.graph.clone());
                (linker, how)
            }
            _ if has_model => (Linker::with_model(self.model.clone()), "a node model"),
            _ if infers => (Linker::by_stamp(), BY_STAMPS),
            _ => return None,
        })
    }
}

fn survey<R: Recording>(
    recording: &mut R,
    topics: &[(String, String)],
) -> Result<Survey, R::Error> {
    let tags = topics.iter().enumerate();
    let tags = tags.filter(|(_, (_, type_name))| type_name == TAG_TYPE);
    let tags: Vec<usize> = tags.map(|(place, _)| place).collect();
    let mut survey = Survey::default();
    if !tags.is_empty() {
        recording.read(&tags, Pass::Survey, &mut |message| {
            survey.take(message.payload, message.log_time_ns);
            ControlFlow::Continue(())
        })?;
    }
    Ok(survey)
}

/// The topics that are read, and what they mean.
fn contents<R: Recording>(
    recording: &R,
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
        // A model or a graph knows all topics that it links.
        let is_wanted = is_known || (infers && !has_model);
        let stamp = is_wanted.then(|| recording.stamp(place))?;
        // Without stamp, only tags, a model or a graph link.
        let is_of_use = stamp.is_some() || !infers || has_model;
        is_of_use.then_some((place, Content::Messages(stamp)))
    });
    contents.collect()
}
