//! From a plan to text.

use std::collections::BTreeSet;
use std::sync::Arc;

use datafusion::error::{DataFusionError, Result};
use datafusion::physical_plan::ExecutionPlan;
use timeloom_bag::{MessageDefinition, TopicInfo};
use timeloom_msg::Schema;

use super::super::in_order::InOrderExec;
use super::super::wire_plan::{
    WireBag, WireBagRows, WireColumn, WireDefinition, WirePiece, WirePlan, WireRows, WireScan,
    WireTopic, WireType,
};
use crate::bag_set::{Bag, BagSet, PlannedBag};
use crate::scan::{RowKind, Scan, ScanExec};
use crate::tables::{BagRows, BagRowsExec};

pub(super) fn encode(node: &Arc<dyn ExecutionPlan>) -> Result<WirePlan> {
    if let Some(scan) = node.downcast_ref::<ScanExec>() {
        return wire_scan(&scan.work).map(WirePlan::Scan);
    }
    if let Some(rows) = node.downcast_ref::<BagRowsExec>() {
        return Ok(WirePlan::BagRows(wire_bag_rows(&rows.work)));
    }
    if node.is::<InOrderExec>() {
        return Ok(WirePlan::InOrder);
    }
    // An error, so that a plan that cannot be sent is never an empty answer.
    let text = format!(
        "a worker cannot run this part of the query: {}",
        node.name()
    );
    Err(DataFusionError::NotImplemented(text))
}

fn wire_scan(scan: &Scan) -> Result<WireScan> {
    let mut definitions = Definitions::default();
    let numbers = scan.partitions.iter().flatten().map(|piece| piece.bag);
    let bags = UsedBags::new(&scan.set, numbers, |number, bag| {
        let ids = scan.topics.get(number).map(Vec::as_slice);
        let topics = ids.unwrap_or_default().iter();
        let topics = topics.filter_map(|id| bag.info.topics.get(id.index()));
        let wire = |topic: &TopicInfo| WireTopic {
            name: topic.name.clone(),
            type_name: topic.type_name.clone(),
            definition: match scan.rows {
                RowKind::AnyMessage => None,
                RowKind::OfTopic => Some(definitions.place(&topic.definition)),
            },
        };
        topics.map(wire).collect()
    });
    let partitions = scan.partitions.iter().map(|pieces| {
        let pieces = pieces.iter().filter_map(|piece| {
            Some(WirePiece {
                bag: bags.place(piece.bag)?,
                start_ns: piece.start_ns,
                end_ns: piece.end_ns,
            })
        });
        pieces.collect()
    });
    let columns = scan.columns.iter().map(|column| WireColumn {
        name: column.name.clone(),
        path: column.path.clone(),
    });
    Ok(WireScan {
        table: scan.table.to_string(),
        rows: wire_rows(scan, &definitions.0)?,
        columns: columns.collect(),
        partitions: partitions.collect(),
        definitions: definitions.0,
        bags: bags.wire,
        start_ns: scan.bounds.start_ns,
        end_ns: scan.bounds.end_ns,
        limit: scan.limit,
    })
}

fn wire_rows(scan: &Scan, definitions: &[WireDefinition]) -> Result<WireRows> {
    Ok(match (&scan.message_schema, scan.rows) {
        (Some(schema), _) => WireRows::Message(wire_type(schema, definitions)?),
        (None, RowKind::AnyMessage) => WireRows::AnyMessage,
        (None, RowKind::OfTopic) => WireRows::Payload,
    })
}

/// The definition of a type: one that a worker reads the same layout out of.
fn wire_type(schema: &Schema, definitions: &[WireDefinition]) -> Result<WireType> {
    let name = schema.name().to_string();
    let own = schema.ros2msg().ok().map(|text| WireDefinition {
        encoding: "ros2msg".to_owned(),
        text,
    });
    let mut all = own.into_iter().chain(definitions.iter().cloned());
    let definition = all.find(|definition| {
        let read = parsed(&name, definition);
        read.is_ok_and(|read| read.root() == schema.root())
    });
    match definition {
        Some(definition) => Ok(WireType { name, definition }),
        None => Err(DataFusionError::NotImplemented(format!(
            "the definition of {name} cannot be sent to a worker"
        ))),
    }
}

/// The layout of a definition.
pub(super) fn parsed(name: &str, definition: &WireDefinition) -> timeloom_msg::Result<Schema> {
    match definition.encoding.as_str() {
        "ros2idl" => Schema::parse_ros2idl(name, &definition.text),
        _ => Schema::parse_ros2msg(name, &definition.text),
    }
}

/// Definitions, each once.
#[derive(Default)]
struct Definitions(Vec<WireDefinition>);

impl Definitions {
    fn place(&mut self, definition: &MessageDefinition) -> usize {
        let same = |known: &WireDefinition| {
            known.encoding == definition.encoding && known.text == definition.text
        };
        self.0.iter().position(same).unwrap_or_else(|| {
            self.0.push(WireDefinition {
                encoding: definition.encoding.clone(),
                text: definition.text.clone(),
            });
            self.0.len() - 1
        })
    }
}

fn wire_bag_rows(rows: &BagRows) -> WireBagRows {
    let numbers = rows.partitions.iter().flatten().copied();
    let bags = UsedBags::new(&rows.set, numbers, |_, _| Vec::new());
    let partitions = rows.partitions.iter().map(|partition| {
        let places = partition.iter().filter_map(|bag| bags.place(*bag));
        places.collect()
    });
    WireBagRows {
        table: rows.table.name().to_owned(),
        projection: rows.projection.clone(),
        partitions: partitions.collect(),
        bags: bags.wire,
    }
}

/// The bags that a part of a plan reads, and no others.
struct UsedBags {
    numbers: Vec<usize>,
    wire: Vec<WireBag>,
}

impl UsedBags {
    fn new(
        set: &BagSet,
        numbers: impl Iterator<Item = usize>,
        mut topics: impl FnMut(usize, &Bag) -> Vec<WireTopic>,
    ) -> Self {
        let numbers: BTreeSet<usize> = numbers.collect();
        let known = numbers.into_iter();
        let known = known.filter_map(|number| Some((number, set.bags.get(number)?)));
        let (numbers, wire) = known
            .map(|(number, bag)| {
                let wire = WireBag {
                    name: bag.name.clone(),
                    address: bag.uri.clone(),
                    planned: PlannedBag::of(&bag.info),
                    topics: topics(number, bag),
                };
                (number, wire)
            })
            .unzip();
        Self { numbers, wire }
    }

    /// The place of a bag in the list.
    fn place(&self, number: usize) -> Option<usize> {
        self.numbers.binary_search(&number).ok()
    }
}
