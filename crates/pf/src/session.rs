//! The way from nothing to packets and back, as a state machine without sockets.

use std::net::IpAddr;

use timeloom_time::{Duration, Steady, Time};

use crate::device_info::DeviceInfo;
use crate::error::{Error, Result};
use crate::packet::PacketType;
use crate::pfsdp::{Command, ErrorCode, Handle, Reply};
use crate::settings::{LidarSettings, Transport};

/// Number of requests to a silent device before the connection is closed.
const PROBES: i64 = 8;
/// Longest silence before the first of them.
const LONGEST_PROBE: Duration = Duration::from_millis(250);

/// The next action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Ask this; then [`Session::replied`] or [`Session::failed`].
    Call(Command),
    /// Ask for the device's time, stamped; then [`Session::time_received`] or [`Session::failed`].
    AskTime,
    /// Open a socket for datagrams; then [`Session::opened`] or [`Session::failed`].
    Open,
    /// Connect to this port for packets; then [`Session::connected`] or [`Session::failed`].
    Connect(u16),
    /// Close what was opened or connected.
    Close,
    /// Nothing until then, or until something comes.
    Wait(Time<Steady>),
    /// No packet came for too long; then [`Session::failed`].
    GiveUp(Duration),
}

/// The state of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum LinkState {
    /// It waits for the next try.
    #[default]
    Waiting,
    /// It queries and configures the device.
    Connecting,
    /// Packets come.
    Running,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    Waiting(Time<Steady>),
    Protocol,
    List,
    Get(Vec<String>),
    Set(Vec<(String, String)>),
    FirstTime,
    Open,
    Handle(Option<(IpAddr, u16)>),
    Connect(u16),
    Start,
    Running,
    Releasing(String),
}

/// The session with a device: queries, opens, starts, keeps alive, and restarts after a failure. Sans-IO.
///
/// Call [`next`](Self::next), perform the action, and pass its result back.
#[derive(Debug)]
pub struct Session {
    settings: LidarSettings,
    state: State,
    info: DeviceInfo,
    handle: Option<Handle>,
    failures: u32,
    close: bool,
    last_packet: Time<Steady>,
    next_feed: Time<Steady>,
    next_time: Time<Steady>,
    next_probe: Time<Steady>,
}

impl Session {
    /// A session that begins at once.
    pub fn new(settings: LidarSettings, now: Time<Steady>) -> Self {
        Self {
            settings,
            state: State::Waiting(now),
            info: DeviceInfo::default(),
            handle: None,
            failures: 0,
            close: false,
            last_packet: now,
            next_feed: now,
            next_time: now,
            next_probe: now,
        }
    }

    /// Applies other settings; true if the device must be reconfigured.
    pub fn reconfigure(&mut self, settings: LidarSettings, now: Time<Steady>) -> bool {
        let same_output = LidarSettings {
            timesync: settings.timesync,
            ..self.settings.clone()
        } == settings;
        self.settings = settings;
        self.next_time = now;
        if same_output || matches!(self.state, State::Waiting(_) | State::Releasing(_)) {
            return false;
        }
        self.failures = 0;
        self.close = true;
        match self.handle.take() {
            Some(handle) => self.state = State::Releasing(handle.handle),
            None => self.state = State::Waiting(now),
        }
        true
    }

    /// The next action.
    pub fn next(&mut self, now: Time<Steady>) -> Step {
        if std::mem::take(&mut self.close) {
            return Step::Close;
        }
        if let State::Waiting(until) = self.state {
            if now < until {
                return Step::Wait(until);
            }
            self.state = State::Protocol;
        }
        match &self.state {
            State::Waiting(until) => Step::Wait(*until),
            State::Protocol => Step::Call(Command::GetProtocolInfo),
            State::List => Step::Call(Command::ListParameters),
            State::Get(names) => Step::Call(Command::GetParameters(names.clone())),
            State::Set(values) => Step::Call(Command::SetParameters(values.clone())),
            State::FirstTime => Step::AskTime,
            State::Open => Step::Open,
            State::Handle(to) => Step::Call(self.request_handle(*to)),
            State::Connect(port) => Step::Connect(*port),
            State::Start => Step::Call(Command::StartScanOutput(self.handle_name())),
            State::Running => self.next_running(now),
            State::Releasing(handle) => Step::Call(Command::ReleaseHandle(handle.clone())),
        }
    }

    /// Takes the reply to a [`Step::Call`].
    ///
    /// # Errors
    ///
    /// [`Error::BadReply`] and [`Error::OtherProtocol`]; pass them to [`failed`](Self::failed).
    pub fn replied(&mut self, now: Time<Steady>, reply: &Reply) -> Result<()> {
        match &self.state {
            State::Protocol => {
                let protocol = reply.protocol()?;
                if protocol.name != "pfsdp" {
                    return Err(Error::OtherProtocol {
                        host: self.settings.host.clone(),
                        protocol: protocol.name,
                    });
                }
                self.info.protocol = Some(protocol);
                self.state = State::List;
            }
            State::List => {
                let names = self.info.wanted(&reply.list("parameters")?);
                self.check_time()?;
                self.state = if names.is_empty() {
                    self.configured()
                } else {
                    State::Get(names)
                };
            }
            State::Get(_) => {
                self.info.read(reply);
                self.state = self.configured();
            }
            State::Set(_) => self.state = self.first_time(),
            State::Handle(_) => {
                let handle = reply.handle()?;
                let port = handle.port;
                self.handle = Some(handle);
                self.state = match self.settings.transport {
                    Transport::Tcp => State::Connect(port.ok_or_else(|| reply.missing("port"))?),
                    Transport::Udp => State::Start,
                };
            }
            State::Start => {
                self.state = State::Running;
                self.last_packet = now;
                self.next_feed = now.saturating_add(self.feed_interval());
                self.next_time = now.saturating_add(self.settings.timesync.interval);
                self.next_probe = now.saturating_add(self.probe_interval());
            }
            State::Running => self.next_feed = now.saturating_add(self.feed_interval()),
            State::Releasing(_) => self.wait(now),
            State::Waiting(_) | State::FirstTime | State::Open | State::Connect(_) => {}
        }
        Ok(())
    }

    /// Takes the time of the device.
    pub fn time_received(&mut self, now: Time<Steady>) {
        self.next_time = now.saturating_add(self.settings.timesync.interval);
        if self.state == State::FirstTime {
            self.state = self.way();
        }
    }

    /// Datagrams can come to this address.
    pub fn opened(&mut self, address: IpAddr, port: u16) {
        if self.state == State::Open {
            self.state = State::Handle(Some((address, port)));
        }
    }

    /// The connection for packets stands.
    pub fn connected(&mut self) {
        if matches!(self.state, State::Connect(_)) {
            self.state = State::Start;
        }
    }

    /// A packet came: all is well.
    pub fn packet(&mut self, at: Time<Steady>) {
        self.last_packet = self.last_packet.max(at);
        if self.state == State::Running {
            self.failures = 0;
        }
    }

    /// Handles a failure; true if the session restarts, false if it continues while packets arrive.
    pub fn failed(&mut self, now: Time<Steady>, error: &Error) -> bool {
        if let State::Releasing(_) = self.state {
            self.wait(now);
            return false;
        }
        if self.state == State::FirstTime && !matches!(error, Error::Network { .. }) {
            // The time at the start only shows a restart early: packets and later requests show it, too.
            self.state = self.way();
            return false;
        }
        if self.state == State::Running && is_bearable(error) {
            self.next_feed = self
                .next_feed
                .max(now.saturating_add(self.retry_interval()));
            let interval = self.settings.timesync.interval.max(self.retry_interval());
            self.next_time = now.saturating_add(interval);
            return false;
        }
        self.failures = self.failures.saturating_add(1);
        self.close = true;
        let handle = self.handle.take();
        // An unreachable device gets no request to release the handle; its watchdog does so.
        let reachable = !matches!(error, Error::Timeout { .. } | Error::Network { .. });
        match handle.filter(|_| reachable && !is_invalid_handle(error)) {
            Some(handle) => self.state = State::Releasing(handle.handle),
            None => self.wait(now),
        }
        true
    }

    /// Restarts the session at once: a request has shown that the device restarted and lost its handles.
    pub fn restarted(&mut self, now: Time<Steady>) {
        if self.state == State::Running {
            self.close = true;
            self.handle = None;
            self.state = State::Waiting(now);
        }
    }

    /// Whether packets have been missing for so long that the device is queried.
    pub fn is_silent(&self, now: Time<Steady>) -> bool {
        self.state == State::Running && now - self.last_packet >= self.probe_interval()
    }

    /// Restarts the session: the packet connection broke.
    pub fn data_failed(&mut self, now: Time<Steady>) {
        self.failures = self.failures.saturating_add(1);
        self.close = true;
        match self.handle.take() {
            Some(handle) => self.state = State::Releasing(handle.handle),
            None => self.wait(now),
        }
    }

    /// The final requests at shutdown.
    pub fn end(&mut self) -> Vec<Command> {
        let handle = self.handle.take();
        handle.map_or_else(Vec::new, |handle| {
            vec![
                Command::StopScanOutput(handle.handle.clone()),
                Command::ReleaseHandle(handle.handle),
            ]
        })
    }

    /// The state.
    pub const fn link(&self) -> LinkState {
        match self.state {
            State::Waiting(_) | State::Releasing(_) => LinkState::Waiting,
            State::Running => LinkState::Running,
            _ => LinkState::Connecting,
        }
    }

    /// The delay after the last failure.
    pub fn retry_in(&self) -> Duration {
        self.settings.back_off.after(self.failures)
    }

    /// The description of the device.
    pub const fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// Reports an error if requests are configured but the device does not support them.
    fn check_time(&self) -> Result<()> {
        let method = self.settings.timesync.method;
        if self.info.has_time || method.uses_packets() {
            return Ok(());
        }
        Err(Error::ImpossibleSetting {
            name: "timesync_method",
            value: method.to_string(),
            why: "the device has no system_time_raw",
        })
    }

    /// The action after the device was identified.
    fn configured(&self) -> State {
        if self.settings.parameters.is_empty() {
            self.first_time()
        } else {
            State::Set(self.settings.parameters.clone())
        }
    }

    fn first_time(&self) -> State {
        if self.info.has_time {
            State::FirstTime
        } else {
            self.way()
        }
    }

    const fn way(&self) -> State {
        match self.settings.transport {
            Transport::Udp => State::Open,
            Transport::Tcp => State::Handle(None),
        }
    }

    fn next_running(&mut self, now: Time<Steady>) -> Step {
        let silence = now - self.last_packet;
        if silence >= self.settings.data_timeout {
            return Step::GiveUp(silence);
        }
        if let Some(probe) = self.probe().filter(|_| self.is_silent(now)) {
            if now >= self.next_probe {
                self.next_probe = now.saturating_add(self.probe_interval());
                return probe;
            }
        } else {
            self.next_probe = self.last_packet.saturating_add(self.probe_interval());
        }
        if self.settings.watchdog.is_some() && now >= self.next_feed {
            return Step::Call(Command::FeedWatchdog(self.handle_name()));
        }
        let asks = self.settings.timesync.asks() && self.info.has_time;
        if asks && now >= self.next_time {
            return Step::AskTime;
        }
        let mut until = self.last_packet.saturating_add(self.settings.data_timeout);
        if self.settings.watchdog.is_some() {
            until = until.min(self.next_feed);
        }
        if asks {
            until = until.min(self.next_time);
        }
        if self.probe().is_some() {
            until = until.min(self.next_probe);
        }
        Step::Wait(until)
    }

    /// A request that shows whether the handle is still valid: without it, a restart would be detected only after
    /// `data_timeout` without packets.
    fn probe(&self) -> Option<Step> {
        if self.settings.watchdog.is_some() {
            return Some(Step::Call(Command::FeedWatchdog(self.handle_name())));
        }
        self.info.has_time.then_some(Step::AskTime)
    }

    /// The time from the last packet to the first request, and between requests.
    fn probe_interval(&self) -> Duration {
        Duration::from_nanos(self.settings.data_timeout.nanos() / PROBES).min(LONGEST_PROBE)
    }

    fn wait(&mut self, now: Time<Steady>) {
        self.state = State::Waiting(now.saturating_add(self.retry_in()));
    }

    /// Half the watchdog timeout, and every half minute at least, as in the vendor's driver.
    fn feed_interval(&self) -> Duration {
        let minute = Duration::from_secs(60);
        let timeout = self.settings.watchdog.unwrap_or(minute).min(minute);
        Duration::from_nanos(timeout.nanos() / 2)
    }

    /// A request that failed is repeated a little later, within the watchdog timeout.
    fn retry_interval(&self) -> Duration {
        Duration::from_nanos(self.feed_interval().nanos() / 4).min(Duration::from_secs(1))
    }

    fn request_handle(&self, to: Option<(IpAddr, u16)>) -> Command {
        let packet_type = self.packet_type();
        let request = self.settings.handle_request(packet_type);
        match to {
            Some((address, port)) => Command::RequestHandleUdp(address, port, request),
            None => Command::RequestHandleTcp(request),
        }
    }

    fn packet_type(&self) -> PacketType {
        let own = if self.info.is_r2300() {
            PacketType::C1
        } else {
            PacketType::C
        };
        self.settings.packet_type.unwrap_or(own)
    }

    fn handle_name(&self) -> String {
        let handle = self.handle.as_ref();
        handle.map_or_else(String::new, |handle| handle.handle.clone())
    }
}

/// Whether packets may go on coming in spite of it.
fn is_bearable(error: &Error) -> bool {
    match error {
        Error::NoData { .. } => false,
        _ => !is_invalid_handle(error),
    }
}

/// Whether the device does not know the handle any more: its watchdog ended it, or it was restarted.
fn is_invalid_handle(error: &Error) -> bool {
    matches!(error, Error::Refused { code, .. } if *code == ErrorCode::INVALID_HANDLE)
}
