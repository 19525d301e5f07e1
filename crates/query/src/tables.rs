//! The tables of a set of bags.

mod catalog;
mod lazy_table;
mod lineage;
mod message_table;
mod robot;
mod topic_tables;

pub(crate) use catalog::{
    bags_table, host_clock_table, loss_times_table, losses_table, topics_table,
};
pub(crate) use lazy_table::LazyTable;
pub(crate) use lineage::{latency_table, lineage_table};
pub(crate) use message_table::MessageTable;
pub(crate) use robot::{graph_table, parameters_table, publishers_table};
pub(crate) use topic_tables::topic_tables;
