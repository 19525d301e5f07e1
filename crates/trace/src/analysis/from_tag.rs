//! A tag as a publication.

use super::evidence::Evidence;
use super::message::{Input, Publication};
use crate::moment::Moment;
use crate::tag::{InputView, TagView};

/// Most nodes have few inputs; more cost one allocation.
const FEW: usize = 8;

impl TagView<'_> {
    /// Calls `take` with the tag as a publication.
    pub(crate) fn with_publication<R>(&self, take: impl FnOnce(&Publication<'_>) -> R) -> R {
        let mut few = [EMPTY; FEW];
        let mut many = Vec::new();
        let count = self.inputs().count();
        let inputs = if count <= FEW {
            for (place, input) in few.iter_mut().zip(self.inputs()) {
                *place = from_tag(&input);
            }
            few.get(..count).unwrap_or_default()
        } else {
            many.extend(self.inputs().map(|input| from_tag(&input)));
            &many
        };
        take(&Publication {
            topic: self.topic,
            node: self.node,
            sequence: Some(self.sequence),
            stamp: self.stamp,
            published: self.published,
            inputs,
        })
    }
}

const EMPTY: Input<'static> = Input {
    topic: "",
    stamp: None,
    received: Moment::UNKNOWN,
    arrived: None,
    evidence: Evidence::Tag,
};

fn from_tag<'a>(input: &InputView<'a>) -> Input<'a> {
    Input {
        topic: input.topic,
        stamp: input.stamp,
        received: input.received,
        arrived: None,
        evidence: if input.stamp.is_some() {
            Evidence::Tag
        } else {
            Evidence::TagAndTime
        },
    }
}
