//! Tags in short form: times and stamps are milliseconds.

use timeloom_time::{Duration, Time};
use timeloom_trace::{
    Deadline, Engine, EngineOptions, InputInfo, MessageTrackingTag, Moment, OutputInfo, PathReport,
    Report, SourceReport, TagView, TargetReport,
};

pub(crate) const MS: i64 = 1_000_000;

/// An input: topic, stamp, reception.
pub(crate) type In<'a> = (&'a str, i64, i64);

pub(crate) struct World {
    pub(crate) engine: Engine,
    pub(crate) sequence: std::collections::HashMap<String, i64>,
}

pub(crate) fn ms(ms: i64) -> Moment {
    Moment::from_nanos((1_000_000 + ms) * MS, (7_000 + ms) * MS)
}

pub(crate) fn tag(
    topic: &str,
    stamp: i64,
    published: i64,
    inputs: &[In<'_>],
) -> MessageTrackingTag {
    let inputs = inputs.iter().map(|(topic, stamp, received)| InputInfo {
        topic: (*topic).to_owned(),
        received: ms(*received),
        stamp: Some(Time::from_nanos(*stamp * MS)),
    });
    MessageTrackingTag {
        header_stamp: ms(published).ros,
        output: OutputInfo {
            topic: topic.to_owned(),
            node: format!("/node_of{topic}"),
            sequence: 0,
            published: ms(published),
            stamp: Some(Time::from_nanos(stamp * MS)),
        },
        inputs: inputs.collect(),
    }
}

impl World {
    pub(crate) fn new(options: EngineOptions) -> Self {
        Self {
            engine: Engine::new(options),
            sequence: std::collections::HashMap::new(),
        }
    }

    pub(crate) fn deadline(source: Option<&str>, target: &str, limit: Duration) -> Self {
        Self::new(EngineOptions {
            deadlines: vec![Deadline {
                name: "path".into(),
                source: source.map(str::to_owned),
                via: Vec::new(),
                target: target.into(),
                limit,
            }],
            ..EngineOptions::default()
        })
    }

    /// A tag with the next number of its topic, which arrives when it is sent.
    pub(crate) fn tag(&mut self, topic: &str, stamp: i64, published: i64, inputs: &[In<'_>]) {
        self.late_tag(topic, stamp, published, inputs, published);
    }

    /// A tag that arrives at another time.
    pub(crate) fn late_tag(
        &mut self,
        topic: &str,
        stamp: i64,
        published: i64,
        inputs: &[In<'_>],
        now: i64,
    ) {
        let mut tag = tag(topic, stamp, published, inputs);
        let sequence = self.sequence.entry(topic.to_owned()).or_default();
        tag.output.sequence = *sequence;
        *sequence += 1;
        self.feed(&tag, now);
    }

    pub(crate) fn feed(&mut self, tag: &MessageTrackingTag, now: i64) {
        let payload = tag.encode();
        self.engine
            .tag(&TagView::parse(&payload).unwrap(), now * MS);
    }

    /// Skips a number: a tag that never arrives.
    pub(crate) fn lose(&mut self, topic: &str) {
        *self.sequence.entry(topic.to_owned()).or_default() += 1;
    }
}

pub(crate) fn target<'a>(report: &'a Report, topic: &str) -> &'a TargetReport {
    let found = report.targets.iter().find(|target| target.topic == topic);
    found.unwrap_or_else(|| panic!("no {topic} in {:?}", report.targets))
}

pub(crate) fn source<'a>(target: &'a TargetReport, topic: &str) -> &'a SourceReport {
    let found = target.sources.iter().find(|source| source.topic == topic);
    found.unwrap_or_else(|| panic!("no {topic} in {:?}", target.sources))
}

pub(crate) fn path<'a>(target: &'a TargetReport, topics: &[&str]) -> &'a PathReport {
    let found = target.paths.iter().find(|path| path.topics == topics);
    found.unwrap_or_else(|| panic!("no {topics:?} in {:?}", target.paths))
}
