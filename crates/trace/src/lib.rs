#![doc = include_str!("../README.md")]

mod analysis;
mod capture;
mod cursor;
mod error;
mod export;
mod feed;
mod infer;
mod moment;
mod notification;
mod plan;
mod published_time;
mod tag;
mod topics;

pub use analysis::{
    AccountOf, AccountScope, ClockDifference, ClockDomain, ClockReport, ClockStep, Confidence,
    Deadline, DeadlineEvent, DeadlineReport, Engine, EngineOptions, Evidence, Flow, FlowRecord,
    FlowStep, FoundBy, Histogram, HopReport, Input, InputRecord, LinkRecord, Outcome, Outcomes,
    PathChange, PathReport, PathStep, Publication, RecordKind, RecorderAccount, Report,
    SourceReport, SourceTiming, Summary, Suspicion, TargetReport, diff,
};
pub use capture::{
    InputSet, MatchRule, Matched, Received, Synchronizer, TrackedInput, TrackedOutput, Tracker,
    TrackerOptions, Used,
};
pub use error::{Error, Result};
pub use export::{MessageTrace, dot, html, junit, mermaid};
pub use feed::{
    Arrival, BagFeed, BagObserver, Content, Feed, FeedCounts, Intake, LinkSearch, Sink,
};
pub use infer::{
    Direction, LinkRule, Linked, Linker, ModelNode, NodeModel, ObservedEndpoint, ObservedGraph,
    Origin, PlainMessage,
};
pub use moment::Moment;
pub use notification::{
    DeadlineNotification, NOTIFICATION_TOPIC, NOTIFICATION_TYPE, NotifiedSource,
};
pub use plan::{Budget, Limits, Plan, Verdict, parse_span, span_text};
pub use published_time::PublishedTime;
pub use tag::{
    AnyTag, InputInfo, InputView, Inputs, MessageTrackingTag, OutputInfo, TAG_TYPE, TagView,
};
pub use topics::{
    PUBLISHED_TIME_SUFFIX, PUBLISHED_TIME_TYPE, TAG_SUFFIX, is_lineage_type, lineage_topics,
    main_topic, tag_topic,
};
