//! From text to a plan.

use std::sync::Arc;

use datafusion::error::{DataFusionError, Result};
use datafusion::physical_plan::ExecutionPlan;
use timeloom_bag::{MessageDefinition, TopicInfo};

use super::super::in_order::{AtOnce, InOrderExec};
use super::super::wire_plan::{
    WireBag, WireBagRows, WireColumn, WireDefinition, WirePlan, WireRows, WireScan, WireTopic,
};
use super::WorkerBags;
use super::encode::parsed;
use crate::bag_set::{Bag, BagSet};
use crate::scan::{Bounds, Column, Piece, RowKind, Scan, ScanExec};
use crate::tables::{BagRowsExec, BagTable, message_columns, topic_columns};

pub(super) fn decode(
    plan: WirePlan,
    inputs: &[Arc<dyn ExecutionPlan>],
    bags: &WorkerBags,
) -> Result<Arc<dyn ExecutionPlan>> {
    match plan {
        WirePlan::Scan(wire) => Ok(Arc::new(ScanExec::leaf(scan(wire, bags)?))),
        WirePlan::BagRows(wire) => Ok(Arc::new(bag_rows(wire, bags)?)),
        WirePlan::InOrder => match inputs {
            [input] => Ok(Arc::new(InOrderExec::new(
                Arc::clone(input),
                AtOnce::Threads,
            ))),
            _ => Err(wrong("InOrder has one input")),
        },
    }
}

fn wrong(text: impl Into<String>) -> DataFusionError {
    let text = text.into();
    DataFusionError::Plan(format!("the plan cannot be read: {text}"))
}

fn bag_set(
    wire: Vec<WireBag>,
    definitions: &[WireDefinition],
    bags: &WorkerBags,
) -> Result<Arc<BagSet>> {
    let wire = wire.into_iter().map(|wire| bag(wire, definitions));
    Ok(Arc::new(BagSet {
        bags: wire.collect::<Result<_>>()?,
        source: Arc::clone(&bags.source),
        findings: Arc::clone(&bags.findings),
    }))
}

fn bag(wire: WireBag, definitions: &[WireDefinition]) -> Result<Bag> {
    let topics = wire.topics.into_iter().map(|wire| topic(wire, definitions));
    let topics = topics.collect::<Result<_>>()?;
    let (name, address) = (&wire.name, &wire.address);
    Ok(Bag::planned(name, address, wire.planned, topics))
}

fn topic(wire: WireTopic, definitions: &[WireDefinition]) -> Result<TopicInfo> {
    let mut topic = TopicInfo::new(wire.name, wire.type_name);
    if let Some(place) = wire.definition {
        let definition = definitions.get(place);
        let definition = definition.ok_or_else(|| wrong("a topic without definition"))?;
        topic.definition = MessageDefinition {
            encoding: definition.encoding.clone(),
            text: definition.text.clone(),
        };
    }
    Ok(topic)
}

fn scan(wire: WireScan, bags: &WorkerBags) -> Result<Scan> {
    let message_schema = match &wire.rows {
        WireRows::AnyMessage | WireRows::Payload => None,
        WireRows::Message(ty) => {
            let schema = parsed(&ty.name, &ty.definition);
            Some(Arc::new(schema.map_err(|error| wrong(error.to_string()))?))
        }
    };
    let (table, rows) = match wire.rows {
        WireRows::AnyMessage => (message_columns(), RowKind::AnyMessage),
        WireRows::Payload | WireRows::Message(_) => {
            (topic_columns(message_schema.as_deref()), RowKind::OfTopic)
        }
    };
    let column = |wire: &WireColumn| {
        let column = Column::at(&table, &wire.path, &wire.name);
        column.ok_or_else(|| wrong(format!("there is no field {}", wire.path.join("."))))
    };
    let columns = wire.columns.iter().map(column).collect::<Result<_>>()?;
    let count = wire.bags.len();
    let mut partitions = Vec::with_capacity(wire.partitions.len());
    for pieces in wire.partitions {
        if pieces.iter().any(|piece| piece.bag >= count) {
            return Err(wrong("a piece of no bag"));
        }
        let pieces = pieces.into_iter().map(|piece| Piece {
            bag: piece.bag,
            start_ns: piece.start_ns,
            end_ns: piece.end_ns,
        });
        partitions.push(pieces.collect());
    }
    Ok(Scan {
        set: bag_set(wire.bags, &wire.definitions, bags)?,
        table: wire.table.into(),
        columns,
        message_schema,
        topics: Arc::new(vec![Vec::new(); count]),
        bounds: Bounds {
            start_ns: wire.start_ns,
            end_ns: wire.end_ns,
            ..Bounds::default()
        },
        partitions: Arc::new(partitions),
        limit: wire.limit,
        is_part: true,
        rows,
    })
}

fn bag_rows(wire: WireBagRows, bags: &WorkerBags) -> Result<BagRowsExec> {
    let table = BagTable::ALL.into_iter().find(|it| it.name() == wire.table);
    let table = table.ok_or_else(|| wrong(format!("there is no table {}", wire.table)))?;
    let count = wire.bags.len();
    if wire.partitions.iter().flatten().any(|bag| *bag >= count) {
        return Err(wrong("rows of no bag"));
    }
    let set = bag_set(wire.bags, &[], bags)?;
    BagRowsExec::new(&set, table, wire.projection, wire.partitions)
}
