use std::net::SocketAddr;
use std::sync::Arc;

use timeloom_time::{CancelToken, Duration};

use super::data::{self, DataPath};
use super::event::LidarEvent;
use super::lookup;
use super::shared::Shared;
use crate::client::Client;
use crate::error::{Error, Result};
use crate::pfsdp::Command;
use crate::session::{LinkState, Session, Step};
use crate::settings::LidarSettings;

/// Timeout of the final requests at shutdown.
const FAREWELL: Duration = Duration::from_millis(300);

/// The thread that sends requests to the device, as the session decides.
pub(super) struct Control {
    shared: Arc<Shared>,
    session: Session,
    /// The settings that the session works with.
    settings: Arc<LidarSettings>,
    client: Option<(SocketAddr, Client)>,
    data: Option<DataPath>,
    link: LinkState,
    /// The problem that was reported last, while it persists.
    reported: Option<String>,
}

impl Control {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        let settings = shared.settings();
        let session = Session::new((*settings).clone(), shared.clock.now());
        Self {
            shared,
            session,
            settings,
            client: None,
            data: None,
            link: LinkState::Waiting,
            reported: None,
        }
    }

    /// Runs until the driver is dropped.
    pub(super) fn run(mut self) {
        while !self.shared.cancel.is_cancelled() {
            self.follow_settings();
            if let Some(at) = self.shared.last_packet() {
                self.session.packet(at);
            }
            if let Some(error) = self
                .shared
                .take_data_error()
                .filter(|_| self.data.is_some())
            {
                self.session.data_failed(self.shared.clock.now());
                self.tell_disconnected(&error);
            }
            let step = self.session.next(self.shared.clock.now());
            if let Err(error) = self.act(step) {
                self.fail(&error);
            }
            self.note_link();
        }
        self.leave();
    }

    fn act(&mut self, step: Step) -> Result<()> {
        match step {
            Step::Call(command) => {
                let reply = self.client()?.call(&command)?;
                self.session.replied(self.shared.clock.now(), &reply)?;
                self.reported = None;
            }
            Step::AskTime => self.ask_time()?,
            Step::Open => {
                self.shared.sink.device(self.session.info());
                let device = self.address()?;
                let (path, local) = data::open(&self.shared, device)?;
                self.data = Some(path);
                self.session.opened(local.ip(), local.port());
            }
            Step::Connect(port) => {
                self.shared.sink.device(self.session.info());
                let device = self.address()?;
                self.data = Some(data::connect(&self.shared, device, port)?);
                self.session.connected();
            }
            Step::Close => self.close(),
            Step::Wait(until) => {
                let left = until - self.shared.clock.now();
                if !left.is_negative() {
                    self.shared.wake.wait_for(left);
                }
                self.shared.wake.clear();
            }
            Step::GiveUp(silence) => {
                return Err(Error::NoData {
                    millis: silence.nanos() / 1_000_000,
                });
            }
        }
        Ok(())
    }

    /// Takes over settings that were changed while it runs.
    fn follow_settings(&mut self) {
        let settings = self.shared.settings();
        if settings == self.settings {
            return;
        }
        let mut work = self.shared.work();
        // They were checked before they were set.
        if let Err(error) = work.clock.reconfigure(&settings.timesync) {
            work.status.last_error = Some(error.to_string());
        }
        work.assembler.set_skip_scans(settings.skip_scans);
        let reconnected = self
            .session
            .reconfigure((*settings).clone(), self.shared.clock.now());
        work.status.reconnections += u64::from(reconnected);
        drop(work);
        self.settings = settings;
        self.shared.report_sync_events();
    }

    fn ask_time(&mut self) -> Result<()> {
        let doubtful = self.session.link() != LinkState::Running
            || self.session.is_silent(self.shared.clock.now());
        let answer = self.client()?.call_stamped(&Command::get_system_time())?;
        let raw = answer.reply.number("system_time_raw")?;
        let mut work = self.shared.work();
        let restarted = if doubtful {
            work.clock.connected(answer.sent, raw, answer.arrival)?
        } else {
            work.clock.request(answer.sent, raw, answer.arrival)?;
            false
        };
        work.status.requests_answered += 1;
        if restarted {
            work.assembler.restarted();
        }
        drop(work);
        if restarted {
            self.shared.event(&LidarEvent::DeviceRestarted);
        }
        self.shared.report_sync_events();
        self.session.time_received(self.shared.clock.now());
        if restarted {
            self.session.restarted(self.shared.clock.now());
        }
        self.reported = None;
        Ok(())
    }

    fn fail(&mut self, error: &Error) {
        if !matches!(error, Error::NoData { .. }) {
            self.shared.work().status.requests_failed += 1;
        }
        if self.session.failed(self.shared.clock.now(), error) {
            self.tell_disconnected(error);
            // The name may have another address next time.
            self.client = None;
        } else if !self.shared.cancel.is_cancelled() {
            let text = error.to_string();
            self.shared.work().status.last_error = Some(text.clone());
            // Once for as long as it lasts, not for each request.
            if self.reported.as_ref() != Some(&text) {
                self.shared.event(&LidarEvent::Trouble(text.clone()));
                self.reported = Some(text);
            }
        }
    }

    fn tell_disconnected(&self, error: &Error) {
        if self.shared.cancel.is_cancelled() {
            return;
        }
        let why = error.to_string();
        self.shared.work().status.last_error = Some(why.clone());
        self.shared.event(&LidarEvent::Disconnected {
            why,
            retry_in: self.session.retry_in(),
        });
    }

    fn note_link(&mut self) {
        let link = self.session.link();
        if link == self.link {
            return;
        }
        self.link = link;
        tracing::info!(host = self.settings.host, ?link, "lidar");
        let mut work = self.shared.work();
        work.status.link = link;
        work.status.device = self.session.info().clone();
        let begins = link == LinkState::Running;
        work.status.connections += u64::from(begins);
        drop(work);
        if begins {
            let info = self.session.info().clone();
            self.shared.event(&LidarEvent::Connected(info));
        }
    }

    /// Closes the packet connection and hands out the unfinished scan.
    fn close(&mut self) {
        self.data = None;
        // The last result of the reader belongs to the closed connection.
        let _old = self.shared.take_data_error();
        let mut work = self.shared.work();
        let Some(scan) = work.assembler.finish() else {
            return;
        };
        let stamp = work.clock.stamp(&scan);
        drop(work);
        self.shared.sink.scan(scan, stamp);
    }

    fn leave(&mut self) {
        let commands = self.session.end();
        if let Some((address, _)) = self.client.take().filter(|_| !commands.is_empty()) {
            let token = CancelToken::new();
            let mut client = Client::new(address, FAREWELL, &self.shared.base, &token);
            for command in commands {
                // If this fails, the device's watchdog releases the handle.
                if client.call(&command).is_err() {
                    break;
                }
            }
        }
        self.close();
    }

    fn address(&mut self) -> Result<SocketAddr> {
        if let Some((address, _)) = &self.client {
            return Ok(*address);
        }
        let address = lookup::resolve(&self.shared)?;
        let timeout = self.settings.request_timeout;
        let client = Client::new(address, timeout, &self.shared.base, &self.shared.cancel);
        self.client = Some((address, client));
        Ok(address)
    }

    fn client(&mut self) -> Result<&mut Client> {
        let address = self.address()?;
        let timeout = self.settings.request_timeout;
        let (_, client) = self.client.get_or_insert_with(|| {
            let client = Client::new(address, timeout, &self.shared.base, &self.shared.cancel);
            (address, client)
        });
        Ok(client)
    }
}
