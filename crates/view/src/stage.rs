use std::sync::Arc;

use bytes::Bytes;

use crate::channel::{Channel, ChannelId, ServiceId, ServiceInfo};
use crate::hub::Hub;
use crate::insight::Insight;
use crate::protocol::Level;

/// Where a source puts what it shows. Clones are the same stage; nothing here blocks on a client.
#[derive(Clone)]
pub struct Stage(Arc<Hub>);

impl Stage {
    pub(crate) fn new(hub: Arc<Hub>) -> Self {
        Self(hub)
    }

    /// Shows channels to all clients, and to those that come later; their numbers, in the same order.
    pub fn advertise(&self, channels: Vec<Channel>) -> Vec<ChannelId> {
        self.0.advertise(channels)
    }

    /// Whether the server itself looks at messages of a type (diagnostics, tracking tags): they are of use even
    /// while no client wants them.
    pub fn is_looked_at(type_name: &str) -> bool {
        Insight::wants(type_name)
    }

    /// Takes channels back.
    pub fn unadvertise(&self, channels: &[ChannelId]) {
        self.0.unadvertise(channels);
    }

    /// Hands a message to all who want it. For a client that is too slow it is left out and counted.
    pub fn message(&self, channel: ChannelId, log_time_ns: i64, payload: Bytes) {
        self.0.message(channel, log_time_ns, payload);
    }

    /// Offers services to all clients, and to those that come later.
    pub fn advertise_services(&self, services: Vec<ServiceInfo>) -> Vec<ServiceId> {
        self.0.advertise_services(services)
    }

    /// Takes services back.
    pub fn unadvertise_services(&self, services: &[ServiceId]) {
        self.0.unadvertise_services(services);
    }

    /// Tells everybody something, also those that come later, until it is withdrawn or replaced by its id.
    pub fn notice(&self, id: &str, level: Level, text: &str) {
        self.0.notice(id, level, text);
    }

    /// Takes a notice back.
    pub fn withdraw(&self, id: &str) {
        self.0.withdraw(id);
    }
}
