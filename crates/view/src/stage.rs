use std::sync::Arc;

use bytes::Bytes;

use crate::channel::{Channel, ChannelId, ServiceId, ServiceInfo};
use crate::hub::Hub;
use crate::insight::Insight;
use crate::protocol::Level;

/// The output of a source. Clones are the same stage; no method blocks on a client.
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

    /// Removes channels.
    pub fn unadvertise(&self, channels: &[ChannelId]) {
        self.0.unadvertise(channels);
    }

    /// Sends a message to all subscribers. For a client that is too slow it is dropped and counted.
    pub fn message(&self, channel: ChannelId, log_time_ns: i64, payload: Bytes) {
        self.0.message(channel, log_time_ns, payload);
    }

    /// Offers services to all clients, and to those that come later.
    pub fn advertise_services(&self, services: Vec<ServiceInfo>) -> Vec<ServiceId> {
        self.0.advertise_services(services)
    }

    /// Removes services.
    pub fn unadvertise_services(&self, services: &[ServiceId]) {
        self.0.unadvertise_services(services);
    }

    /// Sends a notice to all clients, also to later ones, until it is withdrawn or replaced by its id.
    pub fn notice(&self, id: &str, level: Level, text: &str) {
        self.0.notice(id, level, text);
    }

    /// Removes a notice.
    pub fn withdraw(&self, id: &str) {
        self.0.withdraw(id);
    }
}
