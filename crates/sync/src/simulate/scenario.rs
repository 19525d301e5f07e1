//! A simulated case: clock, path, requests and what goes wrong.

use super::simulation::Simulation;
use super::{DeviceModel, PathModel, RequestModel};

/// A piece of the simulated time, in seconds since its start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// The start.
    pub from_s: f64,
    /// The end.
    pub until_s: f64,
}

impl Window {
    /// Whether `t` lies in it.
    pub fn holds(&self, t: f64) -> bool {
        (self.from_s..self.until_s).contains(&t)
    }
}

/// A disturbance of a simulated case.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Disturbances {
    /// The path is this many seconds longer during a time.
    pub longer_path: Option<(Window, f64)>,
    /// The device restarts: it is silent during this time, and then counts from zero.
    pub reboot: Option<Window>,
    /// Every so many seconds nothing comes for so many seconds.
    pub gaps: Option<(f64, f64)>,
    /// The device reports "unsettled" periodically: period and duration in seconds.
    pub status: Option<(f64, f64)>,
    /// Every so many seconds the system clock (not the steady clock) is stepped by so many, there and back.
    pub system_steps: Option<(f64, f64)>,
    /// Both clocks of the host are slewed by so many ppm during a time.
    pub slewing: Option<(Window, f64)>,
    /// One packet in so many comes twice.
    pub duplicate_one_in: Option<u32>,
    /// One packet in so many is lost.
    pub lose_one_in: Option<u32>,
}

/// A simulated case: all that is needed, with a seed, to make its samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scenario {
    /// The duration, in seconds.
    pub duration_s: f64,
    /// Packets per second; none if the device only answers requests.
    pub rate_hz: Option<f64>,
    /// The device's clock.
    pub device: DeviceModel,
    /// The way of its packets.
    pub path: PathModel,
    /// Requests, if there are any.
    pub requests: Option<RequestModel>,
    /// The disturbances.
    pub disturbances: Disturbances,
}

impl Default for Scenario {
    /// Ten minutes of 640 packets per second over a loaded network.
    fn default() -> Self {
        Self {
            duration_s: 600.0,
            rate_hz: Some(640.0),
            device: DeviceModel::default(),
            path: PathModel::LOADED,
            requests: None,
            disturbances: Disturbances::default(),
        }
    }
}

impl Scenario {
    /// The error of a perfect estimate, in nanoseconds: the smallest delay of packets.
    ///
    /// Requests alone show the middle, in which half the difference of the two ways' floors is left. With both,
    /// nothing has to be left.
    pub fn floor_ns(&self) -> f64 {
        let left = match (self.rate_hz, self.requests) {
            (Some(_), None) => self.path.floor_s(),
            (None, Some(requests)) => requests.asymmetry_s(),
            _ => 0.0,
        };
        left * 1e9
    }

    /// The samples of this case for `seed`, in the order of their arrival.
    pub fn simulate(&self, seed: u64) -> Simulation {
        Simulation::new(self, seed)
    }
}
