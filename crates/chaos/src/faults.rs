//! The faults, one file per family.

pub(crate) mod clock;
pub(crate) mod disk;
pub(crate) mod kill;
pub(crate) mod left_out;
pub(crate) mod link;
pub(crate) mod peers;
pub(crate) mod zenoh;
