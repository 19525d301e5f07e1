use std::sync::{Mutex, MutexGuard, TryLockError};

use crate::hub::Hub;
use crate::outgoing::Outgoing;
use crate::peer::lock;
use crate::protocol::PlaybackState;
use crate::source::Playback;

/// Sends the playback state to clients: once for each change.
///
/// A request holds the lock from before its change until the reply is sent, so that the pulse does not announce the
/// change first, without the id that the client waits for.
pub(super) struct Announcer(Mutex<Option<Playback>>);

pub(super) struct AnnouncerGuard<'a>(MutexGuard<'a, Option<Playback>>);

impl Announcer {
    /// New clients get the current state; all clients get changes after `now`.
    pub(super) fn new(now: Option<Playback>) -> Self {
        Self(Mutex::new(now))
    }

    /// Waits for the lock.
    pub(super) fn lock(&self) -> AnnouncerGuard<'_> {
        AnnouncerGuard(lock(&self.0))
    }

    /// The lock, if it is free.
    pub(super) fn try_lock(&self) -> Option<AnnouncerGuard<'_>> {
        match self.0.try_lock() {
            Ok(guard) => Some(AnnouncerGuard(guard)),
            Err(TryLockError::Poisoned(poisoned)) => Some(AnnouncerGuard(poisoned.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

impl AnnouncerGuard<'_> {
    /// Replies to a request.
    pub(super) fn answer(&mut self, hub: &Hub, playback: Playback, did_seek: bool, id: String) {
        hub.broadcast(&state(&playback, did_seek, Some(id)));
        *self.0 = Some(playback);
    }

    /// Sends the state if it has changed.
    pub(super) fn notice(&mut self, hub: &Hub, playback: Playback) {
        let Some(announced) = self.0.replace(playback) else {
            return;
        };
        let did_seek = announced.seeks != playback.seeks;
        let same_rate = (announced.rate - playback.rate).abs() < f64::EPSILON;
        if did_seek || announced.status != playback.status || !same_rate {
            hub.broadcast(&state(&playback, did_seek, None));
        }
    }
}

/// Encodes the state of a playback.
pub(super) fn state(playback: &Playback, did_seek: bool, id: Option<String>) -> Outgoing {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the protocol has rates as single precision"
    )]
    let speed = playback.rate as f32;
    let state = PlaybackState {
        status: playback.status,
        time_ns: u64::try_from(playback.time_ns).unwrap_or(0),
        speed,
        did_seek,
        id,
    };
    Outgoing::binary(state.encode())
}
