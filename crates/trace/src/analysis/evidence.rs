use std::collections::BTreeMap;

use serde::Serialize;

/// The evidence of a link between two messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// A tag names the input by its stamp.
    Tag,
    /// A tag names the input, which has no stamp: the last message published before its reception.
    TagAndTime,
    /// Both messages have the same stamp, and the node that published one subscribes to the topic of the other.
    EqualStamp,
    /// The newest message, when the node published, of the only topic that it subscribes to.
    OnlyInput,
    /// A declared node model.
    Declared,
    /// The newest message, when the node published, of one of several topics that it subscribes to.
    LatestBefore,
    /// Both messages have the same stamp; their nodes are not known.
    StampAlone,
}

impl Evidence {
    /// All kinds, the most certain first.
    pub const ALL: [Self; 7] = [
        Self::Tag,
        Self::TagAndTime,
        Self::EqualStamp,
        Self::OnlyInput,
        Self::Declared,
        Self::LatestBefore,
        Self::StampAlone,
    ];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tag => "tag",
            Self::TagAndTime => "tag + time",
            Self::EqualStamp => "equal stamp",
            Self::OnlyInput => "only input",
            Self::Declared => "declared",
            Self::LatestBefore => "latest before",
            Self::StampAlone => "stamp alone",
        }
    }

    /// The confidence in such a link.
    pub fn confidence(self) -> Confidence {
        match self {
            Self::Tag => Confidence::Certain,
            Self::TagAndTime | Self::EqualStamp | Self::OnlyInput | Self::Declared => {
                Confidence::Likely
            }
            Self::LatestBefore | Self::StampAlone => Confidence::Guess,
        }
    }
}

/// The confidence in a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confidence {
    /// The node itself named it.
    Certain,
    /// The node is known, and the messages fit.
    Likely,
    /// Nothing contradicts it.
    Guess,
}

impl Confidence {
    /// The confidence in most of the links with these kinds of evidence.
    pub fn of(known_by: &BTreeMap<Evidence, u64>) -> Self {
        let mut links = BTreeMap::new();
        for (evidence, count) in known_by {
            *links.entry(evidence.confidence()).or_insert(0) += count;
        }
        let most = links.iter().max_by_key(|(_, count)| **count);
        most.map_or(Self::Guess, |(confidence, _)| *confidence)
    }

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Certain => "certain",
            Self::Likely => "likely",
            Self::Guess => "guess",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hop_has_the_confidence_of_most_of_its_links() {
        let of = |known: &[(Evidence, u64)]| Confidence::of(&known.iter().copied().collect());
        assert_eq!(of(&[(Evidence::Tag, 5)]), Confidence::Certain);
        let mixed = [(Evidence::EqualStamp, 5), (Evidence::LatestBefore, 2)];
        assert_eq!(of(&mixed), Confidence::Likely);
        let mixed = [(Evidence::EqualStamp, 1), (Evidence::LatestBefore, 2)];
        assert_eq!(of(&mixed), Confidence::Guess);
        assert_eq!(of(&[]), Confidence::Guess);
    }

    #[test]
    fn kinds_are_ordered_by_confidence() {
        assert!(Evidence::ALL.is_sorted());
        assert!(Evidence::ALL.map(Evidence::confidence).is_sorted());
    }
}
