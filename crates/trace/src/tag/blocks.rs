//! Tags as bytes: blocks that are laid out once and patched for each message.
//!
//! Every part of a tag except its head begins and ends at a multiple of four, so that the block of an input is the same
//! at any offset. A tag then costs a copy and a few stores, without allocation.

use timeloom_time::{Ros, Time};

use crate::moment::Moment;

const ENCAPSULATION: [u8; 4] = [0, 1, 0, 0];
const NANOS_PER_SECOND: i64 = 1_000_000_000;
/// Times, flag with padding, stamp: the fields behind the name of an input.
const INPUT_TAIL: usize = 8 + 8 + 4 + 8;
/// The same behind the sequence number of the output, and the number of inputs.
const HEAD_TAIL: usize = 8 + INPUT_TAIL + 4;

/// The fields of the head that change from message to message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    pub(crate) header_stamp: Time<Ros>,
    pub(crate) sequence: i64,
    pub(crate) published: Moment,
    pub(crate) stamp: Option<Time<Ros>>,
    pub(crate) inputs: usize,
}

/// Encapsulation, header, output, number of inputs.
#[derive(Clone, Debug)]
pub(crate) struct HeadBlock(Box<[u8]>);

/// One input.
#[derive(Clone, Debug)]
pub(crate) struct InputBlock(Box<[u8]>);

impl HeadBlock {
    pub(crate) fn new(topic: &str, node: &str) -> Self {
        let mut bytes = ENCAPSULATION.to_vec();
        bytes.extend([0; 8]);
        text(&mut bytes, "");
        text(&mut bytes, topic);
        text(&mut bytes, node);
        let body = bytes.len() - ENCAPSULATION.len();
        bytes.resize(
            ENCAPSULATION.len() + body.next_multiple_of(8) + HEAD_TAIL,
            0,
        );
        Self(bytes.into())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Writes the head and returns the rest of `out`, which is at least [`len`](Self::len) long.
    #[inline]
    pub(crate) fn write<'a>(&self, out: &'a mut [u8], head: &Head) -> &'a mut [u8] {
        let (block, rest) = out.split_at_mut(self.0.len());
        block.copy_from_slice(&self.0);
        let (front, tail) = block.split_at_mut(self.0.len() - HEAD_TAIL);
        put_time(front, ENCAPSULATION.len(), head.header_stamp.nanos());
        put(tail, 0, head.sequence.to_le_bytes());
        put_time(tail, 8, head.published.ros.nanos());
        put_time(tail, 16, head.published.steady.nanos());
        put_stamp(tail, 24, head.stamp);
        let count = u32::try_from(head.inputs).unwrap_or(u32::MAX);
        put(tail, 36, count.to_le_bytes());
        rest
    }
}

impl InputBlock {
    pub(crate) fn new(topic: &str) -> Self {
        let mut bytes = Vec::with_capacity(topic.len() + 8 + INPUT_TAIL);
        text(&mut bytes, topic);
        bytes.resize(bytes.len().next_multiple_of(4) + INPUT_TAIL, 0);
        Self(bytes.into())
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Writes the input and returns the rest of `out`, which is at least [`len`](Self::len) long.
    #[inline]
    pub(crate) fn write<'a>(
        &self,
        out: &'a mut [u8],
        received: Moment,
        stamp: Option<Time<Ros>>,
    ) -> &'a mut [u8] {
        let (block, rest) = out.split_at_mut(self.0.len());
        block.copy_from_slice(&self.0);
        let (_, tail) = block.split_at_mut(self.0.len() - INPUT_TAIL);
        put_time(tail, 0, received.ros.nanos());
        put_time(tail, 8, received.steady.nanos());
        put_stamp(tail, 16, stamp);
        rest
    }
}

/// Lengths are at multiples of four: of the payload here, which is the same as of the body.
fn text(bytes: &mut Vec<u8>, text: &str) {
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    let length = u32::try_from(text.len() + 1).unwrap_or(u32::MAX);
    bytes.extend(length.to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes.push(0);
}

#[inline]
fn put<const N: usize>(block: &mut [u8], at: usize, bytes: [u8; N]) {
    block[at..at + N].copy_from_slice(&bytes);
}

#[inline]
fn put_time(block: &mut [u8], at: usize, nanos: i64) {
    let seconds = nanos.div_euclid(NANOS_PER_SECOND);
    let rest = nanos.rem_euclid(NANOS_PER_SECOND);
    // A message has 32 bits of seconds; steady clocks and ROS times before 2038 fit.
    let seconds = i32::try_from(seconds).unwrap_or(if seconds < 0 { i32::MIN } else { i32::MAX });
    let rest = u32::try_from(rest).unwrap_or(0);
    put(block, at, seconds.to_le_bytes());
    put(block, at + 4, rest.to_le_bytes());
}

#[inline]
fn put_stamp(block: &mut [u8], at: usize, stamp: Option<Time<Ros>>) {
    block[at] = u8::from(stamp.is_some());
    put_time(block, at + 4, stamp.map_or(0, Time::nanos));
}
