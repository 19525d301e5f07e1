/// How a transport comes to know of samples that were lost on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LossKnowledge {
    /// It does not.
    None,
    /// From gaps in each writer's sequence numbers: exact between the first and the last sample received.
    SequenceGaps,
    /// From the middleware's own count.
    Status,
}

/// What a transport can do, so that nobody promises more than it knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts, read one at a time"
)]
pub struct Capabilities {
    /// How losses are known.
    pub loss: LossKnowledge,
    /// Samples carry their writer's sequence number.
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
