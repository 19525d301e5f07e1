//! The message tracking tag: the inputs of one output.

mod blocks;
mod view;

pub(crate) use blocks::{Head, HeadBlock, InputBlock};
pub use view::{AnyTag, InputView, Inputs, TagView};

use timeloom_time::{Ros, Time};

use crate::error::Result;
use crate::moment::Moment;

/// The ROS type of a tag.
pub const TAG_TYPE: &str = "tilde_msg/msg/MessageTrackingTag";

/// An owned tag: `tilde_msg/msg/MessageTrackingTag`.
///
/// Not used on the hot path: [`Tracker`](crate::Tracker) writes the bytes, [`TagView`] reads them.
///
/// ```
/// use timeloom_time::Time;
/// use timeloom_trace::{InputInfo, MessageTrackingTag, Moment, OutputInfo, TagView};
///
/// let tag = MessageTrackingTag {
///     header_stamp: Time::from_nanos(20),
///     output: OutputInfo {
///         topic: "/filtered".into(),
///         published: Moment::from_nanos(20, 20),
///         stamp: Some(Time::from_nanos(10)),
///         ..OutputInfo::default()
///     },
///     inputs: vec![InputInfo {
///         topic: "/points".into(),
///         ..InputInfo::default()
///     }],
/// };
/// let payload = tag.encode();
/// assert_eq!(TagView::parse(&payload)?.to_owned(), tag);
/// # Ok::<(), timeloom_trace::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageTrackingTag {
    /// The time at which the tag was written.
    pub header_stamp: Time<Ros>,
    /// The message that was published.
    pub output: OutputInfo,
    /// The messages it was made of.
    pub inputs: Vec<InputInfo>,
}

/// The output of a tag: `tilde_msg/msg/PubTopicTimeInfo`.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct OutputInfo {
    /// The full name of the topic.
    pub topic: String,
    /// The full name of the node; TILDE itself leaves it empty.
    pub node: String,
    /// The publisher's number of the message, from 0.
    pub sequence: i64,
    /// The time of its publication.
    pub published: Moment,
    /// `header.stamp` or `stamp` of the message, if it has one.
    pub stamp: Option<Time<Ros>>,
}

/// An input of a tag: `tilde_msg/msg/SubTopicTimeInfo`.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct InputInfo {
    /// The full name of the topic.
    pub topic: String,
    /// The start of its callback; unknown if the node only knew its stamp.
    pub received: Moment,
    /// `header.stamp` or `stamp` of the message, if it has one.
    pub stamp: Option<Time<Ros>>,
}

impl MessageTrackingTag {
    /// The payload, with its encapsulation header: little-endian CDR, as every ROS 2 reads it.
    pub fn encode(&self) -> Vec<u8> {
        let head = HeadBlock::new(&self.output.topic, &self.output.node);
        let blocks: Vec<_> = self
            .inputs
            .iter()
            .map(|input| InputBlock::new(&input.topic))
            .collect();
        let length = head.len() + blocks.iter().map(InputBlock::len).sum::<usize>();
        let mut payload = vec![0; length];
        let mut rest = head.write(
            &mut payload,
            &Head {
                header_stamp: self.header_stamp,
                sequence: self.output.sequence,
                published: self.output.published,
                stamp: self.output.stamp,
                inputs: self.inputs.len(),
            },
        );
        for (block, input) in blocks.iter().zip(&self.inputs) {
            rest = block.write(rest, input.received, input.stamp);
        }
        payload
    }

    /// Reads a payload.
    ///
    /// # Errors
    /// When it is too short, not plain CDR, or a name is not UTF-8; also for the header-only tag of `tilde_lite`, which
    /// has no output ([`AnyTag::parse`] accepts both).
    pub fn decode(payload: &[u8]) -> Result<Self> {
        Ok(TagView::parse(payload)?.to_owned())
    }
}
