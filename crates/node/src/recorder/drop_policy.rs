use std::fmt;
use std::str::FromStr;

use crate::Error;

/// Which message is dropped when the queue between receiving and writing is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum DropPolicy {
    /// The arriving message: the recording has no gaps in its past.
    #[default]
    Newest,
    /// The oldest queued messages of the same topic.
    Oldest,
    /// None: the middleware's receive thread blocks, and with it reliable publishers.
    Block,
}

impl fmt::Display for DropPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Newest => "newest",
            Self::Oldest => "oldest",
            Self::Block => "block",
        })
    }
}

impl FromStr for DropPolicy {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        [Self::Newest, Self::Oldest, Self::Block]
            .into_iter()
            .find(|policy| policy.to_string() == text)
            .ok_or_else(|| Error::Option {
                option: "drop policy",
                reason: format!("`{text}` is not newest, oldest or block"),
            })
    }
}
