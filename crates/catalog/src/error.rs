//! The one error type of this crate.

use std::path::PathBuf;

/// What went wrong with a catalogue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A folder cannot be listed, or a file of it cannot be read.
    #[error(transparent)]
    Bag(#[from] timeloom_bag::Error),
    /// The table cannot be read: it is damaged, or no catalogue.
    #[error("{reason}")]
    Damaged {
        /// The reason.
        reason: String,
    },
    /// The table is of a later version of this program.
    #[error("the catalogue has format {found}, and this timeloom knows formats up to {known}")]
    Version {
        /// The format of the table.
        found: u64,
        /// The latest format that is known.
        known: u64,
    },
    /// The table cannot be encoded.
    #[error("cannot encode the catalogue: {reason}")]
    Encode {
        /// The reason.
        reason: String,
    },
    /// The path is a bag, not a folder of bags.
    #[error("{} is a bag", path.display())]
    IsABag {
        /// The path.
        path: PathBuf,
    },
    /// A file of this machine cannot be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried, as a verb.
        action: &'static str,
        /// The reason of the operating system.
        source: std::io::Error,
    },
    /// The store of the catalogue failed.
    #[error("{reason}")]
    Store {
        /// The reason.
        reason: String,
    },
    /// Other writers replaced the catalogue each time.
    #[error("the catalogue was replaced by others {tries} times in a row")]
    Contended {
        /// The number of attempts.
        tries: u32,
    },
}

/// Shorthand for this crate's results.
pub type Result<T, E = Error> = std::result::Result<T, E>;
