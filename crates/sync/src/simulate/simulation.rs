//! The samples of a simulated case, one after the other.

use std::collections::VecDeque;

use timeloom_time::{Duration, Steady, Time};

use super::device_model::DeviceClock;
use super::path_model::{Passage, Path};
use super::random::Random;
use super::scenario::Scenario;
use crate::estimator::DeviceStatus;
use crate::sample::{ActiveSample, PassiveSample, Sample, StampSource};

/// The steady time at which every simulation starts, in nanoseconds.
const HOST_START: i64 = 1_000_000_000_000;

/// A sample and the truth about it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Simulated {
    /// The sample, stamped by the steady clock.
    pub sample: Sample,
    /// The true time of the event, by the steady clock.
    pub truth: Time<Steady>,
    /// Offset of the system clock from the steady clock when the sample arrives.
    pub system_step: Duration,
    /// The state that the device reports.
    pub status: DeviceStatus,
    /// Time of the event, in seconds since the start of the simulation.
    pub at_s: f64,
}

/// The samples of a simulated case, in the order of their arrival; it holds a few of them at a time.
#[derive(Debug, Clone)]
pub struct Simulation {
    scenario: Scenario,
    clock: DeviceClock,
    path: Path,
    random: Random,
    packets: u64,
    requests: u64,
    rebooted: bool,
    /// Packets of a group that is not complete, and how many are still to come.
    group: Vec<Simulated>,
    group_left: u32,
    /// Packets still in flight at the time of the newest event, in order of arrival.
    pending: VecDeque<Simulated>,
}

impl Simulation {
    pub(crate) fn new(scenario: &Scenario, seed: u64) -> Self {
        Self {
            clock: DeviceClock::new(scenario.device, seed),
            path: Path::new(scenario.path, seed),
            random: Random::new(seed, 5),
            scenario: *scenario,
            packets: 0,
            requests: 0,
            rebooted: false,
            group: Vec::new(),
            group_left: 0,
            pending: VecDeque::new(),
        }
    }

    /// Times of the next packet's event and of the next request.
    fn next_times(&self) -> (f64, f64) {
        let packet = self
            .scenario
            .rate_hz
            .map_or(f64::INFINITY, |rate| (self.packets as f64 + 1.0) / rate);
        let request = self.scenario.requests.map_or(f64::INFINITY, |requests| {
            (self.requests as f64 + 0.5) * requests.every_s
        });
        (packet, request)
    }

    fn make_next(&mut self, packet: f64, request: f64) {
        if packet <= request {
            self.packets += 1;
            self.reboot_if_due(packet);
            if self.is_heard(packet) {
                self.make_packet(packet);
            }
        } else {
            self.requests += 1;
            self.reboot_if_due(request);
            if self.is_heard(request) {
                self.make_request(request);
            }
        }
    }

    fn reboot_if_due(&mut self, t: f64) {
        let due = self.scenario.disturbances.reboot;
        if let Some(window) = due.filter(|window| !self.rebooted && t >= window.from_s) {
            self.rebooted = true;
            self.clock.restart(window.from_s);
        }
    }

    fn is_heard(&mut self, t: f64) -> bool {
        let disturbances = self.scenario.disturbances;
        let off = disturbances.reboot.is_some_and(|window| window.holds(t));
        let gap = disturbances
            .gaps
            .is_some_and(|(every, length)| t >= every && t % every < length);
        let lost = disturbances
            .lose_one_in
            .is_some_and(|one_in| self.random.unit() * f64::from(one_in) < 1.0);
        !(off || gap || lost)
    }

    fn make_packet(&mut self, t: f64) {
        let extra = match self.scenario.disturbances.longer_path {
            Some((window, extra)) if window.holds(t) => extra,
            _ => 0.0,
        };
        let device_event = self.clock.stamp(t);
        let passage = self.path.send(t, extra);
        let device_tx = self.scenario.path.send_stamps.then(|| {
            // Read a moment ahead of the walk, which the clock allows: it only interpolates there.
            self.clock.clone().stamp(passage.sent).max(device_event)
        });
        let sample = Sample::Passive(PassiveSample {
            device_event,
            device_tx,
            host_rx: self.host_time(passage.read),
            source: StampSource::User,
        });
        let simulated = self.with_truth(sample, t, &passage);
        self.coalesce(simulated);
    }

    /// Holds packets back until their group is complete, as TCP does.
    fn coalesce(&mut self, simulated: Simulated) {
        if self.group_left == 0 {
            let most = f64::from(self.scenario.path.coalesce.max(1));
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a small whole number"
            )]
            let size = self.random.between(1.0, most + 1.0).floor() as u32;
            self.group_left = size.max(1);
        }
        self.group_left -= 1;
        let arrival = simulated.sample.host_rx();
        self.group.push(simulated);
        if self.group_left == 0 {
            for mut held in std::mem::take(&mut self.group) {
                held.sample = held.sample.shifted(arrival - held.sample.host_rx());
                self.arrive(held);
            }
        }
    }

    fn make_request(&mut self, t: f64) {
        let Some(requests) = self.scenario.requests else {
            return;
        };
        let (read, back) = requests.ask(t, &mut self.random);
        let sample = Sample::Active(ActiveSample {
            host_tx: self.host_time(t),
            // The next event may come before this reading: do not advance the shared walk.
            device: self.clock.clone().stamp(read),
            host_rx: self.host_time(back),
        });
        let passage = Passage {
            sent: read,
            read: back,
        };
        let simulated = self.with_truth(sample, read, &passage);
        self.arrive(simulated);
    }

    fn with_truth(&self, sample: Sample, t: f64, passage: &Passage) -> Simulated {
        let disturbances = self.scenario.disturbances;
        let stepped = disturbances
            .system_steps
            .filter(|(every, _)| (passage.read / every) % 2.0 >= 1.0)
            .map_or(0.0, |(_, step)| step);
        let unsettled = disturbances
            .status
            .is_some_and(|(every, length)| t >= every && t % every < length);
        Simulated {
            sample,
            truth: self.host_time(t),
            system_step: Duration::try_from_secs_f64(stepped).unwrap_or_default(),
            status: if unsettled {
                DeviceStatus::Unsettled
            } else {
                DeviceStatus::Normal
            },
            at_s: t,
        }
    }

    /// Simulated seconds on the host's steady clock.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "simulated times are far below 2^62 ns, and a float cast saturates"
    )]
    fn host_time(&self, t: f64) -> Time<Steady> {
        let slewed = self
            .scenario
            .disturbances
            .slewing
            .map_or(0.0, |(window, ppm)| {
                (t.min(window.until_s) - window.from_s).max(0.0) * ppm * 1e-6
            });
        Time::from_nanos(HOST_START.saturating_add(((t + slewed) * 1e9).round() as i64))
    }

    fn arrive(&mut self, simulated: Simulated) {
        let twice = self.scenario.disturbances.duplicate_one_in;
        let copies = match twice {
            Some(one_in) if self.random.unit() * f64::from(one_in) < 1.0 => 2,
            _ => 1,
        };
        let arrival = simulated.sample.host_rx();
        let later = self.pending.iter().rev();
        let behind = later.take_while(|other| other.sample.host_rx() > arrival);
        let place = self.pending.len() - behind.count();
        for _ in 0..copies {
            self.pending.insert(place, simulated);
        }
    }
}

impl Iterator for Simulation {
    type Item = Simulated;

    fn next(&mut self) -> Option<Simulated> {
        loop {
            let (packet, request) = self.next_times();
            let next = packet.min(request);
            let over = next > self.scenario.duration_s;
            let ready = self.pending.front().is_some_and(|first| {
                // A later packet never overtakes, so what arrived before the next event is next.
                over || (self.group.is_empty() && first.sample.host_rx() <= self.host_time(next))
            });
            if ready {
                return self.pending.pop_front();
            }
            if over {
                return None;
            }
            self.make_next(packet, request);
        }
    }
}
