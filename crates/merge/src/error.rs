//! The errors of this crate.

/// The result of a merge.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Errors of merging.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nothing relates the clock of a host to that of another one.
    #[error("no evidence of the offset between the clocks of {host} and {reference}: {reason}")]
    NoEvidence {
        /// The host.
        host: String,
        /// The host of the timeline.
        reference: String,
        /// The requested bag.
        reason: String,
    },
    /// Two pieces of evidence exclude each other.
    #[error("evidence of the offset between {host} and {other} contradicts itself: {reason}")]
    Contradiction {
        /// The host.
        host: String,
        /// The other host.
        other: String,
        /// Both pieces.
        reason: String,
    },
    /// Messages reach the recorder of the host that is said to publish them before they are sent.
    #[error(
        "{topic} is not published on the host of {host}: its messages reach the recorder there {early} before they are sent"
    )]
    Misplaced {
        /// The topic.
        topic: String,
        /// The host.
        host: String,
        /// By how much the quickest of them is early.
        early: String,
    },
    /// An input is a merged bag whose hosts have clocks of their own.
    #[error(
        "{name} is a merged bag whose times are by several clocks: merge the bags that it was made of"
    )]
    Merged {
        /// The input.
        name: String,
    },
    /// Less than two bags.
    #[error("a merge needs two bags or more, not {count}")]
    TooFew {
        /// Their number.
        count: usize,
    },
    /// A bag that is not among the inputs.
    #[error("bag {place} of {count} does not exist")]
    NoSuchBag {
        /// Its place.
        place: usize,
        /// Their number.
        count: usize,
    },
    /// A bag cannot be read or written.
    #[error(transparent)]
    Bag(#[from] timeloom_bag::Error),
    /// A time that no clock shows.
    #[error(transparent)]
    Sync(#[from] timeloom_sync::Error),
}
