//! The tables of a set of bags.

mod bag_rows;
mod catalog;
mod lineage;
mod message_rows;
mod robot;
mod set_table;
mod topic_tables;

pub(crate) use bag_rows::BagTable;
#[cfg(feature = "cluster")]
pub(crate) use bag_rows::{BagRows, BagRowsExec};
pub(crate) use catalog::{
    bags_table, host_clock_table, loss_times_table, losses_table, topics_table,
};
pub(crate) use message_rows::MessageRows;
#[cfg(feature = "cluster")]
pub(crate) use message_rows::message_columns;
pub(crate) use set_table::{Rows, SetTable};
#[cfg(feature = "cluster")]
pub(crate) use topic_tables::topic_columns;
pub(crate) use topic_tables::topic_tables;
