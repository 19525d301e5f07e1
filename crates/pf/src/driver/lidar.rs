use std::sync::Arc;
use std::thread::JoinHandle;

use timeloom_time::TimeBase;

use super::control::Control;
use super::lookup;
use super::shared::Shared;
use super::sink::LidarSink;
use super::status::LidarStatus;
use crate::client::Client;
use crate::error::{Error, Result};
use crate::pfsdp::{Command, Reply};
use crate::settings::LidarSettings;

/// The driver of a lidar: connects, starts the output, keeps it alive and reconnects, until it is dropped.
///
/// Dropping it stops the output of the device and waits for the threads, for less than a second if the device answers.
pub struct Lidar {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Lidar {
    /// Starts the driver of a device; returns at once, even if the device cannot be reached.
    ///
    /// # Errors
    ///
    /// [`Error::ImpossibleSetting`] for invalid settings, [`Error::Thread`] without a thread.
    pub fn start(
        settings: LidarSettings,
        base: &TimeBase,
        sink: Arc<dyn LidarSink>,
    ) -> Result<Self> {
        settings.check()?;
        let shared = Arc::new(Shared::new(settings, base, sink)?);
        let control = Control::new(Arc::clone(&shared));
        // Not by the time base: a thread that waits for sockets must not hold up virtual time.
        let thread = std::thread::Builder::new()
            .name("pf_control".to_owned())
            .spawn(move || control.run())
            .map_err(Error::Thread)?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Changes the settings. Settings of the device are applied after a short interruption of the scans, settings of
    /// stamps at once. The address of the device stays the same.
    ///
    /// # Errors
    ///
    /// [`Error::ImpossibleSetting`] for invalid settings; nothing changes then.
    pub fn reconfigure(&self, mut settings: LidarSettings) -> Result<()> {
        settings.check()?;
        settings.host.clone_from(&self.shared.settings().host);
        self.shared.set_settings(settings);
        Ok(())
    }

    /// Asks the device over a connection of its own. Blocks until it answers, for `request_timeout` at most.
    ///
    /// # Errors
    ///
    /// As [`Client::call`].
    pub fn ask(&self, command: &Command) -> Result<Reply> {
        let address = lookup::resolve(&self.shared)?;
        let timeout = self.shared.settings().request_timeout;
        Client::new(address, timeout, &self.shared.base, &self.shared.cancel).call(command)
    }

    /// The current status.
    pub fn status(&self) -> LidarStatus {
        self.shared.status()
    }
}

impl Drop for Lidar {
    fn drop(&mut self) {
        self.shared.cancel.cancel();
        self.shared.wake.set();
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}

impl std::fmt::Debug for Lidar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lidar")
            .field("host", &self.shared.settings().host)
            .finish_non_exhaustive()
    }
}
