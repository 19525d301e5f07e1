use std::collections::BTreeMap;

use crate::channel::ChannelId;
use crate::error::{Error, Result};
use crate::protocol::{ClientChannel, ConnectionGraph};

const MOST_SUBSCRIPTIONS: usize = 10_000;
const MOST_CHANNELS: usize = 1_000;

/// The requests of one client: subscriptions, channels, calls.
#[derive(Debug, Default)]
pub(crate) struct ClientState {
    subscriptions: BTreeMap<u32, ChannelId>,
    channels: BTreeMap<u32, ClientChannel>,
    graph: Option<ConnectionGraph>,
    calls: usize,
}

impl ClientState {
    /// Adds a subscription.
    pub(crate) fn subscribe(&mut self, id: u32, channel: ChannelId) -> Result<()> {
        if self.subscriptions.contains_key(&id) {
            return Err(Error::Refused(format!(
                "there is a subscription {id} already"
            )));
        }
        check(
            "subscriptions",
            self.subscriptions.len(),
            MOST_SUBSCRIPTIONS,
        )?;
        self.subscriptions.insert(id, channel);
        Ok(())
    }

    /// Removes a subscription; returns its channel.
    pub(crate) fn unsubscribe(&mut self, id: u32) -> Option<ChannelId> {
        self.subscriptions.remove(&id)
    }

    /// Removes all subscriptions, or those of one channel.
    pub(crate) fn forget(&mut self, channel: ChannelId) {
        self.subscriptions.retain(|_, known| *known != channel);
    }

    /// Adds a channel of the client.
    pub(crate) fn advertise(&mut self, channel: ClientChannel) -> Result<()> {
        if channel.encoding != "cdr" {
            return Err(Error::Refused(format!(
                "{} can't be published as {}: only cdr is taken",
                channel.topic, channel.encoding
            )));
        }
        check("published channels", self.channels.len(), MOST_CHANNELS)?;
        self.channels.insert(channel.id, channel);
        Ok(())
    }

    pub(crate) fn unadvertise(&mut self, id: u32) -> bool {
        self.channels.remove(&id).is_some()
    }

    pub(crate) fn channel(&self, id: u32) -> Option<&ClientChannel> {
        self.channels.get(&id)
    }

    /// Sets whether the client gets graph changes; it starts with an empty graph.
    pub(crate) fn follow_graph(&mut self, follow: bool) {
        self.graph = follow.then(ConnectionGraph::default);
    }

    /// The graph that the client knows, if it is subscribed to it.
    pub(crate) fn graph(&mut self) -> Option<&mut ConnectionGraph> {
        self.graph.as_mut()
    }

    /// Whether one more call may run; [`end_call`](Self::end_call) releases its slot.
    pub(crate) fn begin_call(&mut self, most: usize) -> Result<()> {
        check("calls at once", self.calls, most)?;
        self.calls += 1;
        Ok(())
    }

    pub(crate) fn end_call(&mut self) {
        self.calls = self.calls.saturating_sub(1);
    }
}

fn check(what: &'static str, have: usize, limit: usize) -> Result<()> {
    if have >= limit {
        return Err(Error::TooMany {
            what,
            count: have + 1,
            limit,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(id: u32, encoding: &str) -> ClientChannel {
        ClientChannel {
            id,
            topic: "/t".into(),
            encoding: encoding.into(),
            schema_name: "a/msg/B".into(),
        }
    }

    #[test]
    fn subscription_ids_are_unique() {
        let mut session = ClientState::default();
        session.subscribe(1, ChannelId(5)).unwrap();
        assert!(session.subscribe(1, ChannelId(6)).is_err());
        assert_eq!(session.unsubscribe(1), Some(ChannelId(5)));
        assert_eq!(session.unsubscribe(1), None);
        session.subscribe(1, ChannelId(6)).unwrap();
        session.forget(ChannelId(6));
        assert_eq!(session.unsubscribe(1), None);
    }

    #[test]
    fn subscriptions_channels_and_calls_are_limited() {
        let mut session = ClientState::default();
        for id in 0..10_000 {
            session.subscribe(id, ChannelId(1)).unwrap();
        }
        let error = session.subscribe(10_000, ChannelId(1)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "too many subscriptions: 10001, the limit is 10000"
        );
        session.begin_call(1).unwrap();
        assert!(session.begin_call(1).is_err());
        session.end_call();
        session.begin_call(1).unwrap();
    }

    #[test]
    fn client_channels_must_use_cdr() {
        let mut session = ClientState::default();
        assert!(session.advertise(channel(1, "json")).is_err());
        session.advertise(channel(1, "cdr")).unwrap();
        assert!(session.channel(1).is_some());
        assert!(session.unadvertise(1) && !session.unadvertise(1));
    }
}
