use bytes::Bytes;
use serde::Deserialize;

use super::playback_request::PlaybackRequest;

/// A request of a client.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientMessage {
    /// Subscribes to channels.
    Subscribe(Vec<Subscription>),
    /// Ends subscriptions, by id.
    Unsubscribe(Vec<u32>),
    /// Advertises topics to publish on.
    Advertise(Vec<ClientChannel>),
    /// Withdraws advertised topics.
    Unadvertise(Vec<u32>),
    /// Publishes a message on one of its channels.
    Publish {
        /// The client's id of the channel.
        channel: u32,
        /// The message.
        payload: Bytes,
    },
    /// Calls a service.
    Call(ServiceCall),
    /// Controls the playback.
    Playback(PlaybackRequest),
    /// Subscribes to changes of the graph.
    SubscribeGraph,
    /// Ends that subscription.
    UnsubscribeGraph,
    /// An operation that this server does not support, with its `op`.
    Unsupported(String),
}

/// A subscription of a client to one channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Subscription {
    /// The client's id, which is sent with each message.
    pub id: u32,
    /// The id of the channel.
    pub channel_id: u64,
}

/// A topic that a client publishes on.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClientChannel {
    /// The client's id.
    pub id: u32,
    /// The topic.
    pub topic: String,
    /// The encoding of its messages.
    pub encoding: String,
    /// Their type.
    #[serde(default)]
    pub schema_name: String,
}

/// A call of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceCall {
    /// The id of the service.
    pub service: u32,
    /// The client's id of the call.
    pub call: u32,
    /// The encoding of request and response.
    pub encoding: String,
    /// The request.
    pub payload: Bytes,
}
