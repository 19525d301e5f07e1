//! The small tables that are known once the bags are open: `bags`, `topics`, `losses`, `loss_times` and `host_clock`.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringViewArray,
    TimestampNanosecondArray, UInt64Array,
};
use datafusion::arrow::datatypes::{Field, Schema};
use datafusion::datasource::MemTable;
use datafusion::error::{DataFusionError, Result};
use timeloom_bag::{
    HostClockRecord, LeftOutCause, LossCause, LossInterval, LossTimeline, TopicInfo,
    TopicStatistics,
};
use timeloom_msg::QosProfile;
use timeloom_msg::qos::parse_profiles;

use crate::bag_set::{Bag, BagSet, Details, try_map};
use crate::field::UTC;

/// Puts columns together.
#[derive(Default)]
struct Columns {
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
}

impl Columns {
    fn add(&mut self, name: &str, array: ArrayRef) {
        let field = Field::new(name, array.data_type().clone(), true);
        self.fields.push(field);
        self.arrays.push(array);
    }

    fn text<'a>(&mut self, name: &str, values: impl Iterator<Item = Option<&'a str>>) {
        let values = values.map(|value| value.filter(|value| !value.is_empty()));
        self.add(name, Arc::new(values.collect::<StringViewArray>()));
    }

    fn number(&mut self, name: &str, values: impl Iterator<Item = Option<u64>>) {
        self.add(name, Arc::new(values.collect::<UInt64Array>()));
    }

    fn real(&mut self, name: &str, values: impl Iterator<Item = Option<f64>>) {
        self.add(name, Arc::new(values.collect::<Float64Array>()));
    }

    fn signed(&mut self, name: &str, values: impl Iterator<Item = Option<i64>>) {
        self.add(name, Arc::new(values.collect::<Int64Array>()));
    }

    fn time(&mut self, name: &str, values: impl Iterator<Item = Option<i64>>) {
        let array = values.collect::<TimestampNanosecondArray>();
        self.add(name, Arc::new(array.with_timezone(UTC)));
    }

    fn table(self) -> Result<MemTable> {
        let schema = Arc::new(Schema::new(self.fields));
        let batch = RecordBatch::try_new(Arc::clone(&schema), self.arrays)?;
        MemTable::try_new(schema, vec![vec![batch]])
    }
}

/// The table `bags`: one row per bag.
pub(crate) fn bags_table(set: &BagSet) -> Result<MemTable> {
    let bags = || set.bags.iter();
    let duration = |bag: &Bag| {
        let (start, end) = (bag.info.start_time_ns?, bag.info.end_time_ns?);
        Some(end.saturating_sub(start) as f64 / 1e9)
    };
    let topics = |bag: &Bag| u64::try_from(bag.info.topics.len()).ok();
    let mut columns = Columns::default();
    columns.text("bag", bags().map(|bag| Some(bag.name.as_str())));
    columns.text("path", bags().map(|bag| Some(bag.uri.as_str())));
    columns.text("storage", bags().map(|bag| Some(bag.storage())));
    columns.text(
        "ros_distro",
        bags().map(|bag| Some(bag.info.ros_distro.as_str())),
    );
    columns.time("start_time", bags().map(|bag| bag.info.start_time_ns));
    columns.time("end_time", bags().map(|bag| bag.info.end_time_ns));
    columns.real("duration_s", bags().map(duration));
    columns.number("messages", bags().map(|bag| Some(bag.info.message_count())));
    columns.number("topics", bags().map(topics));
    columns.number("files", bags().map(|bag| Some(bag.info.files)));
    columns.number("size", bags().map(|bag| Some(bag.info.file_size)));
    let damaged: BooleanArray = bags().map(|bag| Some(bag.is_damaged)).collect();
    columns.add("damaged", Arc::new(damaged));
    columns.table()
}

/// A topic of a bag.
struct Entry<'a> {
    bag: &'a Bag,
    topic: &'a TopicInfo,
    messages: u64,
    statistics: Option<TopicStatistics>,
    qos: Option<QosProfile>,
}

fn entries(set: &BagSet) -> Vec<Entry<'_>> {
    let mut entries = Vec::new();
    for bag in &set.bags {
        let counts = bag.info.message_counts.iter().copied();
        for (index, (topic, messages)) in bag.info.topics.iter().zip(counts).enumerate() {
            entries.push(Entry {
                statistics: bag.info.statistics.get(index).copied().flatten(),
                qos: qos(topic),
                bag,
                topic,
                messages,
            });
        }
    }
    entries
}

/// The first of the offered profiles.
fn qos(topic: &TopicInfo) -> Option<QosProfile> {
    let profiles = parse_profiles(&topic.offered_qos_profiles).ok()?;
    profiles.into_iter().next()
}

/// The table `topics`: one row per bag and topic.
pub(crate) fn topics_table<'a>(set: &'a BagSet) -> Result<MemTable> {
    let all: Vec<Entry<'a>> = entries(set);
    let all = || all.iter();
    let rate = |entry: &Entry<'_>| match &entry.statistics {
        Some(statistics) => Some(statistics.messages_rate()),
        None => mean_rate(entry.bag, entry.messages),
    };
    let mut columns = Columns::default();
    columns.text("bag", all().map(|entry| Some(entry.bag.name.as_str())));
    columns.text("topic", all().map(|entry| Some(entry.topic.name.as_str())));
    columns.text(
        "type",
        all().map(|entry| Some(entry.topic.type_name.as_str())),
    );
    columns.number("messages", all().map(|entry| Some(entry.messages)));
    columns.real("hz", all().map(rate));
    columns.number(
        "bytes",
        all().map(|entry| Some(entry.statistics?.bytes_written)),
    );
    columns.time(
        "first_time",
        all().map(|entry| entry.statistics?.first_time_ns),
    );
    columns.time(
        "last_time",
        all().map(|entry| entry.statistics?.last_time_ns),
    );
    columns.text(
        "reliability",
        all().map(|entry| Some(entry.qos.as_ref()?.reliability.name())),
    );
    columns.text(
        "durability",
        all().map(|entry| Some(entry.qos.as_ref()?.durability.name())),
    );
    columns.text(
        "format",
        all().map(|entry| Some(entry.topic.serialization_format.as_str())),
    );
    let hash = |entry: &Entry<'a>| Some(entry.topic.type_description_hash.as_str());
    columns.text("type_hash", all().map(hash));
    columns.table()
}

/// Messages per second of the whole bag, where the bag says nothing of the topic's own times.
fn mean_rate(bag: &Bag, messages: u64) -> Option<f64> {
    let span = bag.info.end_time_ns?.checked_sub(bag.info.start_time_ns?)?;
    (span > 0 && messages > 1).then(|| (messages - 1) as f64 / (span as f64 / 1e9))
}

/// The table `losses`: the account of each topic that a recorder kept one of.
pub(crate) fn losses_table(set: &BagSet) -> Result<MemTable> {
    let all = entries(set);
    let all: Vec<(&Entry<'_>, TopicStatistics)> = all
        .iter()
        .filter_map(|entry| Some((entry, entry.statistics?)))
        .collect();
    let all = || all.iter();
    let number = |columns: &mut Columns, name: &str, value: fn(&TopicStatistics) -> u64| {
        columns.number(name, all().map(|(_, it)| Some(value(it))));
    };
    let missing = |columns: &mut Columns, name: &str, value: fn(&TopicStatistics) -> u64| {
        columns.number(name, all().map(|(_, it)| it.known(value(it))));
    };
    let mut columns = Columns::default();
    columns.text("bag", all().map(|(entry, _)| Some(entry.bag.name.as_str())));
    columns.text(
        "topic",
        all().map(|(entry, _)| Some(entry.topic.name.as_str())),
    );
    let published = all().map(|(_, it)| it.known_published());
    columns.number("published", published);
    number(&mut columns, "recorded", |s| s.messages_recorded);
    missing(&mut columns, "lost", TopicStatistics::messages_lost);
    missing(&mut columns, "lost_in_transport", |s| {
        s.messages_lost_in_transport
    });
    missing(
        &mut columns,
        "lost_in_recorder",
        TopicStatistics::messages_lost_in_recorder,
    );
    for cause in LossCause::ALL {
        let count = |statistics: &TopicStatistics| statistics.lost_in_recorder.get(cause);
        let name = format!("lost_in_{}", cause.name());
        columns.number(&name, all().map(|(_, it)| it.known(count(it))));
    }
    let percent = |it: &TopicStatistics| it.known_published().map(|_| it.percent_lost());
    columns.real("percent_lost", all().map(|(_, it)| percent(it)));
    missing(&mut columns, "left_out", TopicStatistics::messages_left_out);
    for cause in LeftOutCause::ALL {
        let count = |statistics: &TopicStatistics| statistics.left_out.get(cause);
        let name = format!("left_out_{}", cause.name());
        columns.number(&name, all().map(|(_, it)| it.known(count(it))));
    }
    number(&mut columns, "unknown_before_first", |s| {
        s.unknown.before_first
    });
    number(&mut columns, "open_publishers", |s| {
        s.unknown.open_publishers
    });
    number(&mut columns, "unknown_unplaced", |s| s.unknown.unplaced);
    let interrupted: BooleanArray = all().map(|(_, it)| Some(it.unknown.interrupted)).collect();
    columns.add("interrupted", Arc::new(interrupted));
    let uncounted: BooleanArray = all().map(|(_, it)| Some(it.unknown.uncounted)).collect();
    columns.add("uncounted", Arc::new(uncounted));
    columns.table()
}

/// The table `loss_times`: when messages of a topic were lost or left out, and why.
pub(crate) fn loss_times_table(set: &BagSet) -> Result<MemTable> {
    let mut all: Vec<(&Bag, &TopicInfo, LossInterval)> = Vec::new();
    for (bag, details) in set.bags.iter().zip(details(set)?) {
        for (topic, account) in bag.info.topics.iter().zip(&details.accounts) {
            let timeline = account.as_ref().map(|account| &account.timeline);
            let intervals = timeline.into_iter().flat_map(LossTimeline::intervals);
            all.extend(intervals.map(|interval| (bag, topic, interval)));
        }
    }
    let all = || all.iter();
    let mut columns = Columns::default();
    columns.text("bag", all().map(|(bag, _, _)| Some(bag.name.as_str())));
    columns.text("topic", all().map(|(_, it, _)| Some(it.name.as_str())));
    columns.time("start_time", all().map(|(_, _, it)| Some(it.start_ns)));
    columns.time("end_time", all().map(|(_, _, it)| Some(it.end_ns)));
    columns.text("cause", all().map(|(_, _, it)| Some(it.cause.name())));
    let lost: BooleanArray = all().map(|(_, _, it)| Some(it.cause.is_loss())).collect();
    columns.add("lost", Arc::new(lost));
    columns.number("messages", all().map(|(_, _, it)| Some(it.messages)));
    columns.table()
}

/// The table `host_clock`: the clock of the recording host at the start, every minute and at each step.
pub(crate) fn host_clock_table(set: &BagSet) -> Result<MemTable> {
    let mut all: Vec<(&str, &HostClockRecord)> = Vec::new();
    for (bag, details) in set.bags.iter().zip(details(set)?) {
        let records = details.host_clock.iter();
        all.extend(records.map(|record| (bag.name.as_str(), record)));
    }
    let all = || all.iter().copied();
    let mut columns = Columns::default();
    columns.text("bag", all().map(|(bag, _)| Some(bag)));
    columns.time("time", all().map(|(_, it)| Some(it.system_ns)));
    columns.text("reason", all().map(|(_, it)| Some(it.reason.as_str())));
    columns.text("source", all().map(|(_, it)| Some(it.source.as_str())));
    let synchronised: BooleanArray = all().map(|(_, it)| Some(it.synchronised)).collect();
    columns.add("synchronised", Arc::new(synchronised));
    columns.text("reference", all().map(|(_, it)| it.reference.as_deref()));
    columns.signed("offset_ns", all().map(|(_, it)| it.offset_ns));
    columns.signed("error_ns", all().map(|(_, it)| it.error_ns));
    columns.signed("step_ns", all().map(|(_, it)| it.step_ns));
    columns.signed("tai_offset_s", all().map(|(_, it)| it.tai_s));
    columns.table()
}

/// What the summaries do not have, of each bag.
fn details(set: &BagSet) -> Result<Vec<&Details>> {
    try_map(&set.bags, |bag| {
        let details = set.details(bag);
        details.map_err(|error| DataFusionError::Execution(format!("{}: {error}", bag.name)))
    })
}
