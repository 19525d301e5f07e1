//! The verbs: each holds its arguments and what it does with them.

pub(crate) mod burst;
pub(crate) mod cat;
pub(crate) mod check;
pub(crate) mod clock;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod fleet;
pub(crate) mod info;
pub(crate) mod list;
pub(crate) mod manual;
pub(crate) mod node;
pub(crate) mod play;
pub(crate) mod query;
pub(crate) mod record;
pub(crate) mod recover;
pub(crate) mod reindex;
pub(crate) mod service;
pub(crate) mod sync;
pub(crate) mod topic;
pub(crate) mod trace;
pub(crate) mod view;
