use std::net::SocketAddr;
use std::sync::Arc;

use timeloom_time::sync::{Mutex, lock};
use timeloom_time::{Duration, Event};

use super::shared::Shared;
use crate::error::{Error, Result};

/// Interval at which a waiting look-up checks for cancellation.
const SLICE: Duration = Duration::from_millis(50);

/// The address of the device.
///
/// A look-up of a name cannot be ended, and takes long when the name server is not there; so it has a thread of its own,
/// which is left behind when the driver ends.
pub(super) fn resolve(shared: &Shared) -> Result<SocketAddr> {
    let settings = shared.settings();
    let answer = Arc::new((Mutex::new(None), Event::new(&shared.base)));
    let inside = Arc::clone(&answer);
    let ask = move || {
        let found = settings.resolve();
        *lock(&inside.0) = Some(found);
        inside.1.set();
    };
    let thread = std::thread::Builder::new().name("pf_lookup".to_owned());
    thread.spawn(ask).map_err(Error::Thread)?;
    loop {
        answer.1.wait_for(SLICE);
        let mut place = lock(&answer.0);
        if let Some(found) = place.take() {
            return found;
        }
        if shared.cancel.is_cancelled() {
            return Err(Error::Network {
                doing: "cannot find",
                host: shared.settings().host.clone(),
                source: std::io::ErrorKind::Interrupted.into(),
            });
        }
    }
}
