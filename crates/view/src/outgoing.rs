use bytes::Bytes;

use crate::channel::ChannelId;
use crate::frame::{FrameHead, FrameKind};
use crate::protocol;

/// A message for one client.
#[derive(Clone, Debug)]
pub(crate) struct Outgoing {
    pub(crate) head: FrameHead,
    pub(crate) payload: Bytes,
    pub(crate) class: Class,
}

/// Drop rule of a queued message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// It must be delivered.
    Control,
    /// It may be dropped, and is counted then.
    Data(ChannelId),
    /// A newer message of the same kind replaces it.
    Latest(Latest),
}

/// Kinds of messages where only the newest matters.
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

    /// A close frame with code and reason.
    pub(crate) fn close(code: u16, reason: &str) -> Self {
        let mut data = code.to_be_bytes().to_vec();
        data.extend(reason.bytes().take(100));
        Self::framed(FrameKind::Close, data.into(), Class::Control)
    }

    /// A frame that the WebSocket library produced.
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

    /// Its size in the queue.
    pub(crate) fn size(&self) -> usize {
        self.head.as_bytes().len() + self.payload.len()
    }
}
