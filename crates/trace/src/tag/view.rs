use timeloom_time::{Ros, Time};

use super::{InputInfo, MessageTrackingTag, OutputInfo};
use crate::cursor::Cursor;
use crate::error::Result;
use crate::moment::Moment;

/// The least number of bytes of an input without its name.
const LEAST_INPUT: usize = 32;

/// A tag that is read in place, without copies or allocation.
#[derive(Clone, Debug)]
pub struct TagView<'a> {
    /// The time at which the tag was written.
    pub header_stamp: Time<Ros>,
    /// The topic of the message that was published.
    pub topic: &'a str,
    /// The node that published it; empty if TILDE itself wrote the tag.
    pub node: &'a str,
    /// The publisher's number of the message.
    pub sequence: i64,
    /// The time of its publication.
    pub published: Moment,
    /// Its stamp, if it has one.
    pub stamp: Option<Time<Ros>>,
    inputs: Inputs<'a>,
}

/// One input of a tag, read in place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputView<'a> {
    /// The topic of the message that was used.
    pub topic: &'a str,
    /// The time of its reception; unknown if only its stamp is known.
    pub received: Moment,
    /// Its stamp, if it has one.
    pub stamp: Option<Time<Ros>>,
}

/// The inputs of a tag, in the order of the payload.
#[derive(Clone, Debug)]
pub struct Inputs<'a> {
    cursor: Cursor<'a>,
    left: usize,
}

/// A tag of either kind with this type name.
#[derive(Clone, Debug)]
pub enum AnyTag<'a> {
    /// A tag of TILDE.
    Full(TagView<'a>),
    /// A tag of `tilde_lite`: the same type name, but only a header.
    HeaderOnly {
        /// The stamp of the header.
        stamp: Time<Ros>,
    },
}

impl<'a> AnyTag<'a> {
    /// Reads a payload; one that ends after its header is a tag of `tilde_lite`.
    ///
    /// # Errors
    /// When it is too short, not plain CDR, or a name is not UTF-8.
    pub fn parse(payload: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new(payload)?;
        let stamp = Time::from_nanos(cursor.nanos("header.stamp")?);
        cursor.text("header.frame_id")?;
        // A serialiser may pad to four bytes; a name of TILDE takes at least five.
        if cursor.remaining() < 4 {
            return Ok(Self::HeaderOnly { stamp });
        }
        TagView::behind_header(cursor, stamp).map(Self::Full)
    }
}

impl<'a> TagView<'a> {
    /// Reads a payload and checks all of it.
    ///
    /// # Errors
    /// When it is too short, not plain CDR, or a name is not UTF-8.
    pub fn parse(payload: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new(payload)?;
        let stamp = Time::from_nanos(cursor.nanos("header.stamp")?);
        cursor.text("header.frame_id")?;
        Self::behind_header(cursor, stamp)
    }

    fn behind_header(mut cursor: Cursor<'a>, header_stamp: Time<Ros>) -> Result<Self> {
        let topic = cursor.text("output_info.topic_name")?;
        let node = cursor.text("output_info.node_fqn")?;
        let sequence = cursor.long("output_info.seq")?;
        let published = moment(&mut cursor, "output_info.pub_time")?;
        let stamp = optional_stamp(&mut cursor, "output_info.header_stamp")?;
        let left = cursor.length("input_infos", LEAST_INPUT)?;
        let inputs = Inputs { cursor, left };
        let mut check = inputs.clone();
        while check.left > 0 {
            check.read()?;
        }
        Ok(Self {
            header_stamp,
            topic,
            node,
            sequence,
            published,
            stamp,
            inputs,
        })
    }

    /// The inputs, in the order of the payload.
    pub fn inputs(&self) -> Inputs<'a> {
        self.inputs.clone()
    }

    /// A copy that owns its names.
    pub fn to_owned(&self) -> MessageTrackingTag {
        let inputs = self.inputs().map(|input| InputInfo {
            topic: input.topic.to_owned(),
            received: input.received,
            stamp: input.stamp,
        });
        MessageTrackingTag {
            header_stamp: self.header_stamp,
            output: OutputInfo {
                topic: self.topic.to_owned(),
                node: self.node.to_owned(),
                sequence: self.sequence,
                published: self.published,
                stamp: self.stamp,
            },
            inputs: inputs.collect(),
        }
    }
}

impl<'a> Inputs<'a> {
    fn read(&mut self) -> Result<InputView<'a>> {
        self.left = self.left.saturating_sub(1);
        Ok(InputView {
            topic: self.cursor.text("input_infos.topic_name")?,
            received: moment(&mut self.cursor, "input_infos.sub_time")?,
            stamp: optional_stamp(&mut self.cursor, "input_infos.header_stamp")?,
        })
    }
}

impl<'a> Iterator for Inputs<'a> {
    type Item = InputView<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        // All inputs were read once when the tag was parsed.
        self.read().ok()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.left))
    }
}

fn moment(cursor: &mut Cursor<'_>, what: &'static str) -> Result<Moment> {
    Ok(Moment::from_nanos(cursor.nanos(what)?, cursor.nanos(what)?))
}

fn optional_stamp(cursor: &mut Cursor<'_>, what: &'static str) -> Result<Option<Time<Ros>>> {
    let has = cursor.boolean(what)?;
    let stamp = Time::from_nanos(cursor.nanos(what)?);
    Ok(has.then_some(stamp))
}
