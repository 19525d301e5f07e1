use bytes::Bytes;

use crate::channel::ChannelId;
use crate::frame::{FrameHead, FrameKind};
use crate::protocol;

/// A message on its way to one client.
#[derive(Clone, Debug)]
pub(crate) struct Outgoing {
    pub(crate) head: FrameHead,
    pub(crate) payload: Bytes,
    pub(crate) class: Class,
}

/// What may happen to a message while it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// It must arrive.
    Control,
    /// It may be left out, and is counted then.
    Data(ChannelId),
    /// A newer one of the same kind takes its place.
    Latest(Latest),
}

/// What only the newest one is of interest of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Latest {
    Time,
    Snapshot,
}

impl Outgoing {
    fn framed(kind: FrameKind, payload: Bytes, class: Class) -> Self {
        Self {
            head: FrameHead::new(kind, payload.len()),
            payload,
            class,
        }
    }

    pub(crate) fn text(text: String) -> Self {
        Self::framed(FrameKind::Text, text.into(), Class::Control)
    }

    pub(crate) fn binary(data: Vec<u8>) -> Self {
        Self::framed(FrameKind::Binary, data.into(), Class::Control)
    }

    pub(crate) fn time(time_ns: u64) -> Self {
        let data = Bytes::copy_from_slice(&protocol::time(time_ns));
        Self::framed(FrameKind::Binary, data, Class::Latest(Latest::Time))
    }

    pub(crate) fn snapshot(text: Bytes) -> Self {
        Self::framed(FrameKind::Text, text, Class::Latest(Latest::Snapshot))
    }

    pub(crate) fn ping() -> Self {
        Self::framed(FrameKind::Ping, Bytes::new(), Class::Control)
    }

    /// The end of the conversation: the code and its reason.
    pub(crate) fn close(code: u16, reason: &str) -> Self {
        let mut data = code.to_be_bytes().to_vec();
        data.extend(reason.bytes().take(100));
        Self::framed(FrameKind::Close, data.into(), Class::Control)
    }

    /// What the WebSocket itself answers: it is framed already.
    pub(crate) fn raw(bytes: &[u8]) -> Self {
        Self {
            head: FrameHead::default(),
            payload: Bytes::copy_from_slice(bytes),
            class: Class::Control,
        }
    }

    pub(crate) fn message(
        channel: ChannelId,
        subscription: u32,
        log_time_ns: u64,
        payload: Bytes,
    ) -> Self {
        let front = protocol::message_head(subscription, log_time_ns);
        Self {
            head: FrameHead::new(FrameKind::Binary, front.len() + payload.len()).with(&front),
            payload,
            class: Class::Data(channel),
        }
    }

    /// What it takes of a queue.
    pub(crate) fn size(&self) -> usize {
        self.head.as_bytes().len() + self.payload.len()
    }
}
