use bytes::Bytes;
use serde::Deserialize;

use super::playback_request::PlaybackRequest;

/// What a client says.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientMessage {
    /// Wants the messages of channels.
    Subscribe(Vec<Subscription>),
    /// Ends subscriptions, by their numbers.
    Unsubscribe(Vec<u32>),
    /// Is about to publish on topics.
    Advertise(Vec<ClientChannel>),
    /// Will publish no more on these of its channels.
    Unadvertise(Vec<u32>),
    /// Publishes a message on one of its channels.
    Publish {
        /// The client's number of the channel.
        channel: u32,
        /// The message.
        payload: Bytes,
    },
    /// Calls a service.
    Call(ServiceCall),
    /// Steers the playback.
    Playback(PlaybackRequest),
    /// Wants to hear of changes of the graph.
    SubscribeGraph,
    /// Wants no more of that.
    UnsubscribeGraph,
    /// Something that only a server with more capabilities understands; its `op`.
    Unsupported(String),
}

/// A client's wish for the messages of one channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Subscription {
    /// The client's number, which comes back with each message.
    pub id: u32,
    /// The server's number of the channel.
    pub channel_id: u64,
}

/// A topic that a client publishes on.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClientChannel {
    /// The client's number.
    pub id: u32,
    /// The topic.
    pub topic: String,
    /// How its messages are encoded.
    pub encoding: String,
    /// Their type.
    #[serde(default)]
    pub schema_name: String,
}

/// A call of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceCall {
    /// The server's number of the service.
    pub service: u32,
    /// The client's number of the call.
    pub call: u32,
    /// How the request is encoded, and the response shall be.
    pub encoding: String,
    /// The request.
    pub payload: Bytes,
}
