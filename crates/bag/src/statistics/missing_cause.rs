//! The causes why a message is not in the bag, under one type.

use serde::{Serialize, Serializer};

use super::{LeftOutCause, LossCause};

/// The cause why a message is not in the bag.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MissingCause {
    /// Lost on the wire.
    Transport,
    /// Lost by the recorder.
    Recorder(LossCause),
    /// Left out on purpose.
    LeftOut(LeftOutCause),
}

impl MissingCause {
    /// All causes.
    pub fn all() -> impl Iterator<Item = Self> {
        [Self::Transport]
            .into_iter()
            .chain(LossCause::ALL.map(Self::Recorder))
            .chain(LeftOutCause::ALL.map(Self::LeftOut))
    }

    /// The name in metadata, JSON and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Transport => "transport",
            Self::Recorder(cause) => cause.name(),
            Self::LeftOut(cause) => cause.name(),
        }
    }

    /// The cause of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|cause| cause.name() == name)
    }

    /// Whether such a message is lost; otherwise it was left out on purpose.
    pub const fn is_loss(self) -> bool {
        !matches!(self, Self::LeftOut(_))
    }
}

impl Serialize for MissingCause {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_has_a_distinct_name() {
        for cause in MissingCause::all() {
            assert_eq!(MissingCause::from_name(cause.name()), Some(cause));
        }
        assert_eq!(MissingCause::all().count(), 10);
    }
}
