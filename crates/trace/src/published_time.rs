use timeloom_time::{Ros, Time};

use crate::cursor::Cursor;
use crate::error::Result;

/// Autoware's time of publication of a message: `autoware_internal_msgs/msg/PublishedTime`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublishedTime {
    /// The stamp of the message.
    pub stamp: Time<Ros>,
    /// The time of its publication.
    pub published: Time<Ros>,
}

impl PublishedTime {
    /// Reads a payload.
    ///
    /// # Errors
    /// When it is too short, not plain CDR, or its frame is not UTF-8.
    pub fn decode(payload: &[u8]) -> Result<Self> {
        let mut cursor = Cursor::new(payload)?;
        let stamp = Time::from_nanos(cursor.nanos("header.stamp")?);
        cursor.text("header.frame_id")?;
        let published = Time::from_nanos(cursor.nanos("published_stamp")?);
        Ok(Self { stamp, published })
    }
}
