//! A sink that keeps what comes, and waits for it.

use std::sync::{Arc, Mutex};

use timeloom_pf::simulator::{SimulatedLidar, SimulatorOptions};
use timeloom_pf::{
    BackOff, Lidar, LidarEvent, LidarSettings, LidarSink, LidarStatus, Scan, ScanStamp,
};
use timeloom_time::{Clock, Duration, Event, Steady, TimeBase};

/// Far longer than anything takes on a busy machine: only a test that fails waits for it.
const PATIENCE: Duration = Duration::from_secs(50);

/// Keeps scans and events.
pub(crate) struct Watcher {
    pub(crate) scans: Mutex<Vec<(Scan, ScanStamp)>>,
    pub(crate) events: Mutex<Vec<LidarEvent>>,
    news: Event,
}

impl LidarSink for Watcher {
    fn scan(&self, scan: Scan, stamp: ScanStamp) {
        self.scans.lock().unwrap().push((scan, stamp));
        self.news.set();
    }

    fn event(&self, event: &LidarEvent) {
        self.events.lock().unwrap().push(event.clone());
        self.news.set();
    }
}

impl Watcher {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            scans: Mutex::default(),
            events: Mutex::default(),
            news: Event::new(&TimeBase::machine()),
        })
    }

    /// Waits until so many scans have come in all.
    pub(crate) fn wait_for_scans(&self, count: usize) {
        self.wait_until("scans", || self.scans.lock().unwrap().len() >= count);
    }

    /// Waits until an event of this kind has come.
    pub(crate) fn wait_for(&self, what: &str, wanted: impl Fn(&LidarEvent) -> bool) {
        self.wait_until(what, || self.events.lock().unwrap().iter().any(&wanted));
    }

    /// Waits for a trouble or an end whose text has this in it.
    pub(crate) fn wait_for_error(&self, text: &str) {
        self.wait_for(text, |event| match event {
            LidarEvent::Disconnected { why, .. } | LidarEvent::Trouble(why) => why.contains(text),
            _ => false,
        });
    }

    fn wait_until(&self, what: &str, condition: impl Fn() -> bool) {
        let clock = Clock::<Steady>::new();
        let end = clock.now().saturating_add(PATIENCE);
        while !condition() {
            assert!(
                clock.now() < end,
                "no {what}: {:?}",
                self.events.lock().unwrap()
            );
            self.news.wait_for(Duration::from_millis(100));
            self.news.clear();
        }
    }

    pub(crate) fn count(&self, wanted: impl Fn(&LidarEvent) -> bool) -> usize {
        let events = self.events.lock().unwrap();
        events.iter().filter(|event| wanted(event)).count()
    }
}

/// A small, quick device.
pub(crate) fn options() -> SimulatorOptions {
    SimulatorOptions {
        scan_frequency: 50.0,
        samples_per_scan: 720,
        ..SimulatorOptions::default()
    }
}

pub(crate) fn simulate(options: SimulatorOptions) -> SimulatedLidar {
    SimulatedLidar::start(options, &TimeBase::machine()).unwrap()
}

/// Settings that do not wait for long.
pub(crate) fn settings(device: &SimulatedLidar) -> LidarSettings {
    let mut settings = LidarSettings::new(device.address().to_string());
    settings.data_timeout = Duration::from_millis(500);
    settings.request_timeout = Duration::from_millis(500);
    settings.back_off = BackOff {
        first: Duration::from_millis(20),
        most: Duration::from_millis(100),
    };
    settings.timesync.interval = Duration::from_millis(50);
    settings
}

pub(crate) fn drive(settings: LidarSettings, watcher: &Arc<Watcher>) -> Lidar {
    let sink: Arc<dyn LidarSink> = Arc::clone(watcher) as Arc<dyn LidarSink>;
    Lidar::start(settings, &TimeBase::machine(), sink).unwrap()
}

/// Waits until the status is so.
pub(crate) fn status_when(lidar: &Lidar, condition: impl Fn(&LidarStatus) -> bool) -> LidarStatus {
    let clock = Clock::<Steady>::new();
    let end = clock.now().saturating_add(PATIENCE);
    loop {
        let status = lidar.status();
        if condition(&status) {
            return status;
        }
        assert!(clock.now() < end, "stays at {status:?}");
        assert!(clock.sleep_for(Duration::from_millis(10)).is_reached());
    }
}
