use bytes::Bytes;
use timeloom_node::player::Control;
use timeloom_trace::HopReport;

use crate::channel::ChannelId;
use crate::error::{Error, Result};
use crate::protocol::{ConnectionGraph, PlaybackStatus};
use crate::snapshot::Snapshot;
use crate::source_output::SourceOutput;

/// The content of a server: a player, a live graph, or your own source.
///
/// The server calls it from several threads, without holding a lock. A slow answer delays only the client that asked.
/// The source pushes messages to its [`SourceOutput`], which never blocks.
pub trait Source: Send + Sync + 'static {
    /// Its name and capabilities; called for each client.
    fn description(&self) -> Description;

    /// Called once, before the first client, with the output for channels, messages and services.
    ///
    /// # Errors
    /// When it cannot start; the server then does not start.
    fn attach(&self, output: SourceOutput) -> Result<()>;

    /// The current time of the source in nanoseconds; `None` if it has none. Called up to 60 times a second.
    fn time_ns(&self) -> Option<i64> {
        None
    }

    /// The playback state, for sources that can be played.
    fn playback(&self) -> Option<Playback> {
        None
    }

    /// Executes a control of the page or of a client; returns when it is done.
    ///
    /// # Errors
    /// When it is refused; clients see the error.
    fn control(&self, control: Control) -> Result<()> {
        Err(Error::Unsupported {
            what: format!("{control:?}"),
        })
    }

    /// The current state for the page. Called up to ten times a second while a page is open.
    fn snapshot(&self) -> Snapshot;

    /// The hops of the lineage graph, if the source knows them; otherwise the page shows those of the tags that passed.
    fn hops(&self) -> Option<Vec<HopReport>> {
        None
    }

    /// Called when the first client subscribes to a channel, and when the last one unsubscribes.
    fn demand(&self, _channel: ChannelId, _demand: Demand) {}

    /// Calls a service by its name with a CDR request; blocks until the response is there.
    ///
    /// # Errors
    /// When there is no such service, or it does not answer.
    fn call(&self, service: &str, _request: Bytes) -> Result<Bytes> {
        Err(Error::Unsupported {
            what: format!("calling {service}"),
        })
    }

    /// A client publishes a CDR message.
    ///
    /// # Errors
    /// When publishing is not supported, or the type is not known.
    fn publish(&self, topic: &str, _type_name: &str, _payload: Bytes) -> Result<()> {
        Err(Error::Unsupported {
            what: format!("publishing on {topic}"),
        })
    }

    /// The graph of publishers, subscriptions and services.
    fn graph(&self) -> Option<ConnectionGraph> {
        None
    }
}

/// The name and capabilities of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// Its name, for example of the bag or the domain.
    pub name: String,
    /// The playable time range in nanoseconds.
    pub range_ns: Option<(i64, i64)>,
    /// Whether it has its own time.
    pub time: Ability,
    /// Whether clients can call services.
    pub services: Ability,
    /// Whether clients can publish.
    pub publish: Ability,
    /// Whether it provides a graph.
    pub graph: Ability,
}

/// Whether a feature is supported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ability {
    /// Not supported.
    #[default]
    No,
    /// Supported.
    Yes,
}

/// Whether a channel has subscribers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// It has subscribers.
    Wanted,
    /// It has none.
    Unwanted,
}

/// The state of a playback.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Playback {
    /// The status.
    pub status: PlaybackStatus,
    /// The current time in nanoseconds.
    pub time_ns: i64,
    /// The rate, also while paused.
    pub rate: f64,
    /// The number of seeks.
    pub seeks: u64,
}
