//! One table per topic, with its fields as columns.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use timeloom_bag::{TopicId, TopicInfo};
use timeloom_msg::Schema;
use timeloom_msg::schema::StructType;

use super::message_rows::MessageRows;
use crate::bag_set::{Bag, BagSet};
use crate::field::FieldNode;
use crate::scan::{Column, Source};

/// A topic's table, and what it is called.
pub(crate) struct TopicTable {
    pub(crate) topic: String,
    pub(crate) name: String,
    pub(crate) rows: MessageRows,
}

/// A topic with one layout, in all bags that have it so.
struct Variant {
    type_name: String,
    schema: Option<Arc<Schema>>,
    topics: Vec<Vec<TopicId>>,
}

impl Variant {
    fn layout(&self) -> Option<&StructType> {
        self.schema.as_ref().map(|schema| schema.root().as_ref())
    }
}

/// The tables of all topics. A topic with several types is several tables: `topic@type`.
pub(crate) fn topic_tables(set: &BagSet) -> Vec<TopicTable> {
    let mut tables = Vec::new();
    for (topic, variants) in variants(set) {
        let alone = variants.len() == 1;
        let names = names(&topic, &variants);
        for (variant, name) in variants.into_iter().zip(names) {
            let name = if alone { topic.clone() } else { name };
            let columns = topic_columns(variant.schema.as_deref());
            let (schema, topics) = (variant.schema, variant.topics);
            tables.push(TopicTable {
                rows: MessageRows::new(&name, columns, schema, topics),
                topic: topic.clone(),
                name,
            });
        }
    }
    tables
}

/// A topic and the place of its variant.
type Place = (String, usize);

fn variants(set: &BagSet) -> BTreeMap<String, Vec<Variant>> {
    let mut all: BTreeMap<String, Vec<Variant>> = BTreeMap::new();
    // Bags by a catalogue share their topics: each definition is parsed once.
    let mut known: HashMap<(*const TopicInfo, &str), Vec<Place>> = HashMap::new();
    for (number, bag) in set.bags.iter().enumerate() {
        let key = (bag.info.topics.as_ptr(), bag.info.ros_distro.as_str());
        let places = known
            .entry(key)
            .or_insert_with(|| places(set, bag, &mut all));
        for (index, (topic, at)) in places.iter().enumerate() {
            let variant = all.get_mut(topic).and_then(|them| them.get_mut(*at));
            let ids = variant.and_then(|variant| variant.topics.get_mut(number));
            if let (Some(ids), Some(id)) = (ids, TopicId::from_index(index)) {
                ids.push(id);
            }
        }
    }
    all
}

/// The variant of each topic of a bag; new ones are added.
fn places(set: &BagSet, bag: &Bag, all: &mut BTreeMap<String, Vec<Variant>>) -> Vec<Place> {
    let types = set.source.types().for_distro(&bag.info.ros_distro);
    let place = |topic: &TopicInfo| {
        let schema = topic.schema(&types).ok();
        let variants = all.entry(topic.name.clone()).or_default();
        let same = variants.iter().position(|known| {
            known.type_name == topic.type_name
                && known.layout() == schema.as_ref().map(|schema| schema.root().as_ref())
        });
        let at = same.unwrap_or_else(|| {
            variants.push(Variant {
                type_name: topic.type_name.clone(),
                schema: schema.map(Arc::new),
                topics: vec![Vec::new(); set.bags.len()],
            });
            variants.len() - 1
        });
        (topic.name.clone(), at)
    };
    bag.info.topics.iter().map(place).collect()
}

/// Table names that distinguish the types of a topic, and the layouts of a type.
fn names(topic: &str, variants: &[Variant]) -> Vec<String> {
    let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
    let mut names = Vec::new();
    for variant in variants {
        let number = uses.entry(&variant.type_name).or_default();
        *number += 1;
        names.push(match *number {
            1 => format!("{topic}@{}", variant.type_name),
            number => format!("{topic}@{}@{number}", variant.type_name),
        });
    }
    names
}

/// The columns of a topic: bag and times, then the fields; the payload itself where the type is not known.
pub(crate) fn topic_columns(schema: Option<&Schema>) -> Vec<Column> {
    let mut columns = vec![
        Column::new("bag", Source::Bag),
        Column::new("log_time", Source::LogTime),
        Column::new("publish_time", Source::PublishTime),
    ];
    let Some(schema) = schema else {
        columns.push(Column::new("data", Source::Data));
        return columns;
    };
    for (name, node) in FieldNode::columns(schema) {
        // A field that is called like a column of ours gets another name: ours mean the same everywhere.
        let taken = matches!(name.as_str(), "bag" | "log_time" | "publish_time");
        let name = if taken { name + "_" } else { name };
        columns.push(Column::new(&name, Source::Field(node)));
    }
    columns
}
