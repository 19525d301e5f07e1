use bytes::Bytes;

use crate::channel::ChannelId;
use crate::command::Command;
use crate::error::{Error, Result};
use crate::protocol::{ConnectionGraph, PlaybackStatus};
use crate::snapshot::Snapshot;
use crate::stage::Stage;

/// What stands behind a server: a player, a recorder, a live graph.
///
/// The server asks and commands it from several threads, with no lock held. A slow answer delays who asked, nobody
/// else. Messages go the other way: the source pushes them onto its [`Stage`], which never blocks.
pub trait Source: Send + Sync + 'static {
    /// Who it is and what it can do; asked for each client.
    fn description(&self) -> Description;

    /// Called once, before the first client: here channels, messages and services go.
    ///
    /// # Errors
    /// When it cannot begin; the server then does not start.
    fn attach(&self, stage: Stage) -> Result<()>;

    /// The time of what is shown, in nanoseconds; `None` if it has none of its own. Asked up to 60 times a second.
    fn time_ns(&self) -> Option<i64> {
        None
    }

    /// How the playback goes, for what can be played.
    fn playback(&self) -> Option<Playback> {
        None
    }

    /// Does what somebody asked for; returns when it is done.
    ///
    /// # Errors
    /// When it is refused, in words for whoever asked.
    fn command(&self, command: Command) -> Result<()> {
        Err(Error::Unsupported {
            what: format!("{command:?}"),
        })
    }

    /// All that a page shows of it, as it is now. Asked up to ten times a second while a page is open.
    fn snapshot(&self) -> Snapshot;

    /// The first client wants the messages of a channel, or the last one no longer does.
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
    /// When there is nobody to publish to, or the type is not known.
    fn publish(&self, topic: &str, _type_name: &str, _payload: Bytes) -> Result<()> {
        Err(Error::Unsupported {
            what: format!("publishing on {topic}"),
        })
    }

    /// Who publishes, subscribes and serves what.
    fn graph(&self) -> Option<ConnectionGraph> {
        None
    }
}

/// Who a source is and what it can do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// Its name, for people: a bag's, a domain's.
    pub name: String,
    /// The first and the last moment of what can be played, in nanoseconds.
    pub range_ns: Option<(i64, i64)>,
    /// Whether it has a time of its own.
    pub time: Ability,
    /// Whether its services can be called.
    pub services: Ability,
    /// Whether clients may publish.
    pub publish: Ability,
    /// Whether it knows a graph.
    pub graph: Ability,
}

/// Whether something can be done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ability {
    /// It cannot.
    #[default]
    No,
    /// It can.
    Yes,
}

/// Whether anybody wants a channel's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// Somebody does.
    Wanted,
    /// Nobody does.
    Unwanted,
}

/// How a playback goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Playback {
    /// What it does.
    pub status: PlaybackStatus,
    /// Where it is, in nanoseconds.
    pub time_ns: i64,
    /// How fast, or how fast it will be when it goes on.
    pub rate: f64,
    /// How often it went to another place, by whomever.
    pub seeks: u64,
}
