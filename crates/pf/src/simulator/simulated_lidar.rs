use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;

use timeloom_time::sync::{Mutex, MutexGuard, lock};
use timeloom_time::{CancelToken, Clock, Duration, Steady, Time, TimeBase, WaitOptions};

use super::clock_model::SimulatedClock;
use super::device::Device;
use super::faults::Faults;
use super::http_server;
use super::options::SimulatorOptions;
use super::output::Sent;
use crate::error::{Error, Result};

/// The last part of a wait, which is not slept.
const AWAKE: Duration = Duration::from_micros(300);
/// More looks at a clock that runs than that time has room for.
const MOST_LOOKS: u32 = 20_000;

/// State shared by the threads of a simulated lidar.
pub(super) struct Shared {
    device: Mutex<Device>,
    listeners: Mutex<BTreeMap<String, TcpListener>>,
    sent: Mutex<Sent>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    pub(super) stop: CancelToken,
    pub(super) clock: Clock<Steady>,
}

/// A simulated lidar on 127.0.0.1: HTTP, packets over UDP and TCP, a clock, a watchdog, and faults on demand.
///
/// It runs in threads of its own, on the given time base, until it is dropped. Its output is a function of its
/// options and of the times of requests; only the delay of the loopback interface depends on the machine.
///
/// ```
/// use timeloom_pf::simulator::{SimulatedLidar, SimulatorOptions};
/// use timeloom_time::TimeBase;
///
/// let lidar = SimulatedLidar::start(SimulatorOptions::default(), &TimeBase::machine())?;
/// assert!(lidar.address().port() > 0);
/// # Ok::<_, timeloom_pf::Error>(())
/// ```
pub struct SimulatedLidar {
    shared: Arc<Shared>,
    address: SocketAddr,
}

impl SimulatedLidar {
    /// Switches a device on.
    ///
    /// # Errors
    ///
    /// [`Error::ImpossibleSetting`] for invalid options, [`Error::Network`] if its port is taken.
    pub fn start(options: SimulatorOptions, base: &TimeBase) -> Result<Self> {
        options.check()?;
        let wanted = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
        let failed = |source| Error::Network {
            doing: "cannot listen on",
            host: wanted.to_string(),
            source,
        };
        let listener = TcpListener::bind(wanted).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let clock = Clock::on(base);
        let shared = Arc::new(Shared {
            device: Mutex::new(Device::new(options, clock.now())),
            listeners: Mutex::default(),
            sent: Mutex::default(),
            threads: Mutex::default(),
            stop: CancelToken::new(),
            clock,
        });
        let inside = Arc::clone(&shared);
        shared.spawn("pf_http", move || http_server::run(&inside, &listener))?;
        Ok(Self { shared, address })
    }

    /// The address that it listens on.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its clock since the last start, with the true times of its stamps.
    pub fn clock(&self) -> SimulatedClock {
        self.shared.device().clock
    }

    /// Number of starts.
    pub fn boots(&self) -> u32 {
        self.shared.device().boots
    }

    /// Counters of its output so far.
    pub fn sent(&self) -> Sent {
        *lock(&self.shared.sent)
    }

    /// Applies `faults` from now on.
    pub fn set_faults(&self, faults: Faults) {
        self.shared.device().options.faults = faults;
    }

    /// Switches it off for a while. All handles are gone then, and its clock starts at zero.
    pub fn reboot(&self, off_for: Duration) {
        self.shared.reboot(off_for);
    }
}

impl Drop for SimulatedLidar {
    fn drop(&mut self) {
        self.shared.stop.cancel();
        // Wakes the thread that waits for connections.
        let _woken = TcpStream::connect(self.address);
        let threads = std::mem::take(&mut *lock(&self.shared.threads));
        for thread in threads {
            let _panicked = thread.join();
        }
    }
}

impl std::fmt::Debug for SimulatedLidar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimulatedLidar")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

impl Shared {
    pub(super) fn device(&self) -> MutexGuard<'_, Device> {
        lock(&self.device)
    }

    pub(super) fn count(&self, change: impl FnOnce(&mut Sent)) {
        change(&mut lock(&self.sent));
    }

    /// A port for the connection of a handle.
    pub(super) fn open_port(&self, handle: &str) -> Option<u16> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).ok()?;
        listener.set_nonblocking(true).ok()?;
        let port = listener.local_addr().ok()?.port();
        lock(&self.listeners).insert(handle.to_owned(), listener);
        Some(port)
    }

    pub(super) fn take_listener(&self, handle: &str) -> Option<TcpListener> {
        lock(&self.listeners).remove(handle)
    }

    pub(super) fn reboot(&self, off_for: Duration) {
        let now = self.clock.now();
        self.device().reboot(now, off_for);
        lock(&self.listeners).clear();
    }

    /// Starts a thread that is waited for at the end.
    pub(super) fn spawn(&self, name: &str, run: impl FnOnce() + Send + 'static) -> Result<()> {
        // Not by the time base: threads that wait for sockets must not hold up virtual time.
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(run);
        let thread = thread.map_err(Error::Thread)?;
        let mut threads = lock(&self.threads);
        threads.retain(|thread| !thread.is_finished());
        threads.push(thread);
        Ok(())
    }

    /// Waits until then; false if the device is to stop.
    ///
    /// A thread wakes up some 100 µs late, which would look like a delay of the device: the last part of the wait is
    /// spent looking at the clock.
    pub(super) fn sleep_until(&self, until: Time<Steady>) -> bool {
        let options = WaitOptions::new().cancel(&self.stop);
        let early = until.saturating_sub(AWAKE);
        if !self.clock.sleep_until_with(early, &options).is_reached() {
            return false;
        }
        // A virtual clock stands still meanwhile: it is waited for as usual.
        for _ in 0..MOST_LOOKS {
            if self.clock.now() >= until {
                break;
            }
            std::hint::spin_loop();
        }
        self.clock.sleep_until_with(until, &options).is_reached()
    }
}
