//! The leaves of a plan as text: addresses of bags, names of topics and definitions of types, so that a process can
//! read them that has not opened a bag before.

use serde::{Deserialize, Serialize};

use crate::bag_set::PlannedBag;

/// One of our parts of a plan.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum WirePlan {
    /// Messages as rows.
    Scan(WireScan),
    /// A table that is read bag by bag.
    BagRows(WireBagRows),
    /// Partitions one behind the other; the input is not a part of it.
    InOrder,
}

/// A scan of messages.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WireScan {
    /// The name of the table.
    pub(super) table: String,
    pub(super) rows: WireRows,
    pub(super) columns: Vec<WireColumn>,
    /// The definitions in the bags, each once.
    pub(super) definitions: Vec<WireDefinition>,
    pub(super) bags: Vec<WireBag>,
    pub(super) partitions: Vec<Vec<WirePiece>>,
    /// Bounds of the log time that conditions gave, for `EXPLAIN`.
    pub(super) start_ns: Option<i64>,
    pub(super) end_ns: Option<i64>,
    pub(super) limit: Option<usize>,
}

/// What a row is.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum WireRows {
    /// A message of any topic, not decoded.
    AnyMessage,
    /// A message whose type is not known: its payload.
    Payload,
    /// A message of this type.
    Message(WireType),
}

/// A type with its definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WireType {
    pub(super) name: String,
    pub(super) definition: WireDefinition,
}

/// The text of a definition.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WireDefinition {
    /// `ros2msg` or `ros2idl`.
    pub(super) encoding: String,
    pub(super) text: String,
}

/// A column: its name, and the way to it from the columns of the table.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WireColumn {
    pub(super) name: String,
    pub(super) path: Vec<String>,
}

/// A bag, as the asker opened it.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WireBag {
    /// In column `bag`.
    pub(super) name: String,
    pub(super) address: String,
    pub(super) planned: PlannedBag,
    pub(super) topics: Vec<WireTopic>,
}

/// A topic of a bag.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WireTopic {
    pub(super) name: String,
    pub(super) type_name: String,
    /// The definition in the bag, by its place in the list; none where no field is read.
    pub(super) definition: Option<usize>,
}

/// A stretch of a bag of the same list.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WirePiece {
    pub(super) bag: usize,
    pub(super) start_ns: Option<i64>,
    pub(super) end_ns: Option<i64>,
}

/// A table that is read bag by bag.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WireBagRows {
    pub(super) table: String,
    pub(super) projection: Option<Vec<usize>>,
    pub(super) bags: Vec<WireBag>,
    /// The bags of each partition, by their place in the list.
    pub(super) partitions: Vec<Vec<usize>>,
}
