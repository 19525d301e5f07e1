use std::sync::Arc;

use bytes::Bytes;

use crate::channel::{Channel, ChannelId, ServiceId, ServiceInfo};
use crate::hub::Hub;
use crate::page_data::PageData;
use crate::protocol::Level;

/// The output of a source to all clients. Clones share the same output; no method blocks on a client.
#[derive(Clone)]
pub struct SourceOutput(Arc<Hub>);

impl SourceOutput {
    pub(crate) fn new(hub: Arc<Hub>) -> Self {
        Self(hub)
    }

    /// Advertises channels to all current and later clients; returns their ids in the same order.
    pub fn advertise(&self, channels: Vec<Channel>) -> Vec<ChannelId> {
        self.0.advertise(channels)
    }

    /// Whether the server itself decodes messages of a type (diagnostics, tracking tags); they are needed even without
    /// subscribers.
    pub fn is_looked_at(type_name: &str) -> bool {
        PageData::wants(type_name)
    }

    /// Withdraws channels.
    pub fn unadvertise(&self, channels: &[ChannelId]) {
        self.0.unadvertise(channels);
    }

    /// Sends a message to all subscribers. For a slow client it is dropped and counted.
    pub fn message(&self, channel: ChannelId, log_time_ns: i64, payload: Bytes) {
        self.0.message(channel, log_time_ns, payload);
    }

    /// Advertises services to all current and later clients.
    pub fn advertise_services(&self, services: Vec<ServiceInfo>) -> Vec<ServiceId> {
        self.0.advertise_services(services)
    }

    /// Withdraws services.
    pub fn unadvertise_services(&self, services: &[ServiceId]) {
        self.0.unadvertise_services(services);
    }

    /// Sends a notice to all current and later clients, until it is withdrawn or replaced by its id.
    pub fn notice(&self, id: &str, level: Level, text: &str) {
        self.0.notice(id, level, text);
    }

    /// Withdraws a notice.
    pub fn withdraw(&self, id: &str) {
        self.0.withdraw(id);
    }
}
