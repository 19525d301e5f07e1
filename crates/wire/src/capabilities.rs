/// The features that a transport has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts, read one at a time"
)]
pub struct Capabilities {
    /// Samples carry their writer's sequence number, whose gaps are lost samples: see [`LossTracker`](crate::LossTracker).
    pub sequence_numbers: bool,
    /// Samples carry the time at which they were sent.
    pub source_times: bool,
    /// Peers see our type hashes.
    pub type_hashes: bool,
    /// Deadlines are enforced.
    pub deadlines: bool,
    /// Liveliness is enforced.
    pub liveliness: bool,
    /// A publisher can wait until its samples are acknowledged.
    pub acknowledgements: bool,
}
