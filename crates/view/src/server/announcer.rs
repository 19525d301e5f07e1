use std::sync::{Mutex, MutexGuard, TryLockError};

use crate::hub::Hub;
use crate::outgoing::Outgoing;
use crate::peer::lock;
use crate::protocol::PlaybackState;
use crate::source::Playback;

/// Sends the playback state to clients: once for each change.
///
/// Whoever changes something holds the lock from before the change until it is told, so that the pulse does not tell
/// the same in between, without the id that the client waits for.
pub(super) struct Announcer(Mutex<Option<Playback>>);

pub(super) struct Turn<'a>(MutexGuard<'a, Option<Playback>>);

impl Announcer {
    /// Clients that come are told how it is; what differs from `now` later is told to all.
    pub(super) fn new(now: Option<Playback>) -> Self {
        Self(Mutex::new(now))
    }

    /// Waits for the turn to change something.
    pub(super) fn turn(&self) -> Turn<'_> {
        Turn(lock(&self.0))
    }

    /// The turn, if it is free.
    pub(super) fn try_turn(&self) -> Option<Turn<'_>> {
        match self.0.try_lock() {
            Ok(guard) => Some(Turn(guard)),
            Err(TryLockError::Poisoned(poisoned)) => Some(Turn(poisoned.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

impl Turn<'_> {
    /// Answers a request.
    pub(super) fn answer(&mut self, hub: &Hub, playback: Playback, did_seek: bool, id: String) {
        hub.broadcast(&state(&playback, did_seek, Some(id)));
        *self.0 = Some(playback);
    }

    /// Sends the state if it has changed.
    pub(super) fn notice(&mut self, hub: &Hub, playback: Playback) {
        let told = self.0.replace(playback);
        let Some(told) = told else {
            return;
        };
        let did_seek = told.seeks != playback.seeks;
        let same_rate = (told.rate - playback.rate).abs() < f64::EPSILON;
        if did_seek || told.status != playback.status || !same_rate {
            hub.broadcast(&state(&playback, did_seek, None));
        }
    }
}

/// The message about a playback.
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
