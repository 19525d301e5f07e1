//! The tables of a set of bags.

mod bag_rows;
mod catalog;
mod lazy_table;
mod lineage;
mod message_table;
mod robot;
mod topic_tables;

#[cfg(feature = "cluster")]
pub(crate) use bag_rows::BagRowsExec;
pub(crate) use bag_rows::BagTable;
pub(crate) use catalog::{
    bags_table, host_clock_table, loss_times_table, losses_table, topics_table,
};
pub(crate) use lazy_table::LazyTable;
pub(crate) use message_table::MessageTable;
#[cfg(feature = "cluster")]
pub(crate) use message_table::message_columns;
#[cfg(feature = "cluster")]
pub(crate) use topic_tables::topic_columns;
pub(crate) use topic_tables::topic_tables;
