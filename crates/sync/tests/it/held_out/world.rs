//! A world that shares nothing with the crate's simulator: clocks, delays and disturbances written from the words.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small simulated numbers"
)]

use timeloom_sync::{ActiveSample, DeviceTime, PassiveSample, Sample};
use timeloom_time::Time;

/// Where the host's steady clock stands at the start, in seconds.
const HOST_START: f64 = 1_000.0;

/// What a delay has on top of its least value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Jitter {
    /// One exponential part of this mean, in seconds: the least value is often nearly reached.
    Exponential(f64),
    /// Two of them: the least value is seldom reached.
    Twice(f64),
    /// A log-normal part: median in seconds, and deviation of the logarithm.
    LogNormal(f64, f64),
    /// The absolute value of a normal part of this deviation, in seconds.
    HalfNormal(f64),
}

/// Packets that the device sends by itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packets {
    pub(crate) rate_hz: f64,
    pub(crate) least_s: f64,
    pub(crate) jitter: Jitter,
    /// The share of packets that are late, and by how much on average, in seconds.
    pub(crate) late: (f64, f64),
    /// Seconds from one stall to the next on average, and the longest.
    pub(crate) stalls: Option<(f64, f64)>,
    /// Packets are handed over in groups of up to so many.
    pub(crate) group: u32,
    /// The least delay wanders by this much (deviation, time constant), in seconds.
    pub(crate) wander: Option<(f64, f64)>,
}

impl Packets {
    pub(crate) const fn quiet(rate_hz: f64) -> Self {
        Self {
            rate_hz,
            least_s: 300e-6,
            jitter: Jitter::Exponential(50e-6),
            late: (0.002, 2e-3),
            stalls: None,
            group: 1,
            wander: None,
        }
    }

    pub(crate) const fn loaded(rate_hz: f64) -> Self {
        Self {
            jitter: Jitter::Exponential(150e-6),
            late: (0.05, 2e-3),
            stalls: Some((10.0, 0.15)),
            ..Self::quiet(rate_hz)
        }
    }
}

/// Requests of the host: rate, and the two ways as least and mean of the exponential rest, in seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Requests {
    pub(crate) rate_hz: f64,
    pub(crate) forth: (f64, f64),
    pub(crate) back: (f64, f64),
}

/// How the device's clock runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Device {
    pub(crate) skew_ppm: f64,
    /// A steady change of the rate, in ppm per minute.
    pub(crate) ramp_ppm_per_minute: f64,
    /// A wave of the rate: height in ppm, period in seconds.
    pub(crate) wave: (f64, f64),
    pub(crate) grain_ns: f64,
    pub(crate) start_s: f64,
}

/// What happens, at a host time since the start, in seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Happening {
    /// Packets take longer by so much until the second time.
    LongerPath(f64, f64, f64),
    /// The device restarts from zero, and is silent until the second time.
    Reboot(f64, f64),
    /// The host's clock is set ahead by so much.
    HostStep(f64, f64),
    /// Nothing arrives until the second time.
    Silence(f64, f64),
}

#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) duration_s: f64,
    pub(crate) device: Device,
    pub(crate) packets: Option<Packets>,
    pub(crate) requests: Option<Requests>,
    pub(crate) happenings: Vec<Happening>,
}

/// A sample with what is true of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    pub(crate) sample: Sample,
    /// The true host time of the device's stamp, in nanoseconds.
    pub(crate) truth: f64,
    /// When it arrived, in seconds since the start, whatever the clocks say.
    pub(crate) at_s: f64,
    /// Seconds since the start or since the last jump of a clock.
    pub(crate) since_s: f64,
    /// How many jumps there have been.
    pub(crate) jumps: u32,
}

/// Random numbers (xorshift64*): the same on every machine for one seed.
///
/// A generator of its own, because this simulation shares no code with the crate's; not `fastrand`, because the
/// thresholds of the tests belong to seeds, and it does not promise the same numbers in later versions.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        let mut dice = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        for _ in 0..16 {
            dice.unit();
        }
        dice
    }

    pub(crate) fn unit(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let bits = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11;
        (bits as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * self.unit().ln()
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.unit().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    fn jitter(&mut self, jitter: Jitter) -> f64 {
        match jitter {
            Jitter::Exponential(mean) => self.exponential(mean),
            Jitter::Twice(mean) => self.exponential(mean / 2.0) + self.exponential(mean / 2.0),
            Jitter::LogNormal(median, deviation) => median * (deviation * self.normal()).exp(),
            Jitter::HalfNormal(deviation) => deviation * self.normal().abs(),
        }
    }
}

impl World {
    pub(crate) fn new(device: Device) -> Self {
        Self {
            duration_s: 300.0,
            device,
            packets: None,
            requests: None,
            happenings: Vec::new(),
        }
    }

    /// What the estimate of a perfect estimator is later than the truth, in nanoseconds: least and most.
    ///
    /// Packets do not show their least delay, requests not the difference of the two ways; with both, anything
    /// between the truth and the packets' least delay is right.
    pub(crate) fn unknowable(&self) -> (f64, f64) {
        let packets = self.packets.map(|packets| packets.least_s * 1e9);
        let requests = self
            .requests
            .map(|requests| (requests.back.0 - requests.forth.0) * 0.5e9);
        match (packets, requests) {
            (Some(floor), None) => (floor, floor),
            (None, Some(middle)) => (middle, middle),
            (floor, _) => (0.0, floor.unwrap_or(0.0)),
        }
    }

    /// All samples in the order of their arrival.
    pub(crate) fn rows(&self, seed: u64) -> Vec<Row> {
        let mut dice = Dice::new(seed);
        let phase = std::f64::consts::TAU * dice.unit();
        let mut rows = Vec::new();
        if let Some(packets) = &self.packets {
            self.packet_rows(packets, phase, &mut dice, &mut rows);
        }
        if let Some(requests) = &self.requests {
            self.request_rows(requests, phase, &mut dice, &mut rows);
        }
        rows.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        rows
    }

    fn packet_rows(&self, packets: &Packets, phase: f64, dice: &mut Dice, rows: &mut Vec<Row>) {
        let (mut wander, mut last_arrival) = (0.0, 0.0_f64);
        let mut stalled_until = 0.0_f64;
        let mut next_stall = packets
            .stalls
            .map_or(f64::INFINITY, |(every, _)| dice.exponential(every));
        let mut group: Vec<(f64, f64)> = Vec::new();
        let mut group_size = 1;
        let steps = (self.duration_s * packets.rate_hz) as u64;
        for step in 0..steps {
            let event = step as f64 / packets.rate_hz;
            if let Some((deviation, constant)) = packets.wander {
                let keep = (-1.0 / (packets.rate_hz * constant)).exp();
                wander = keep * wander + (1.0 - keep * keep).sqrt() * deviation * dice.normal();
            }
            let mut arrival = event + packets.least_s + wander.abs() + dice.jitter(packets.jitter);
            if dice.unit() < packets.late.0 {
                arrival += dice.exponential(packets.late.1);
            }
            arrival += self.longer_path(event);
            if arrival >= next_stall {
                let (every, longest) = packets.stalls.unwrap_or_default();
                stalled_until = next_stall + longest * (0.1 + 0.9 * dice.unit());
                next_stall = stalled_until + dice.exponential(every);
            }
            if arrival < stalled_until {
                arrival = stalled_until;
            }
            arrival = arrival.max(last_arrival + 1e-6);
            last_arrival = arrival;
            group.push((event, arrival));
            if group.len() < group_size {
                continue;
            }
            for (place, (event, _)) in group.drain(..).enumerate() {
                let sent = PassiveSample::new(DeviceTime::default(), Time::default());
                self.add(
                    event,
                    arrival + 1e-6 * place as f64,
                    None,
                    Sample::Passive(sent),
                    phase,
                    rows,
                );
            }
            group_size = 1 + (dice.unit() * f64::from(packets.group)) as usize;
        }
    }

    fn request_rows(&self, requests: &Requests, phase: f64, dice: &mut Dice, rows: &mut Vec<Row>) {
        let steps = (self.duration_s * requests.rate_hz) as u64;
        let mut free = 0.0_f64;
        for step in 0..steps {
            let sent = (step as f64 / requests.rate_hz).max(free);
            let read = sent + requests.forth.0 + dice.exponential(requests.forth.1);
            let arrival = read + requests.back.0 + dice.exponential(requests.back.1);
            free = arrival;
            let asked = Sample::Active(ActiveSample {
                host_tx: Time::default(),
                device: DeviceTime::default(),
                host_rx: Time::default(),
            });
            self.add(read, arrival, Some(sent), asked, phase, rows);
        }
    }

    fn longer_path(&self, at: f64) -> f64 {
        let extra = |happening: &Happening| match *happening {
            Happening::LongerPath(from, until, extra) if (from..until).contains(&at) => extra,
            _ => 0.0,
        };
        self.happenings.iter().map(extra).sum()
    }

    /// Adds a row unless it falls into a silence.
    fn add(
        &self,
        event: f64,
        arrival: f64,
        sent: Option<f64>,
        kind: Sample,
        phase: f64,
        rows: &mut Vec<Row>,
    ) {
        let (mut zero, mut step, mut since, mut jumps) = (None, 0.0, 0.0, 0);
        let mut sent_step = 0.0;
        for happening in &self.happenings {
            match *happening {
                Happening::Silence(from, until) if event >= from && event < until => return,
                Happening::Reboot(from, until) => {
                    // What is on its way when the device goes down is lost.
                    if event < until && arrival >= from {
                        return;
                    }
                    if event >= until {
                        (zero, since, jumps) = (Some(from), until, jumps + 1);
                    }
                }
                Happening::HostStep(at, by) => {
                    if sent.is_some_and(|sent| sent >= at) {
                        sent_step += by;
                    }
                    if arrival >= at {
                        step += by;
                        since = f64::max(since, at);
                        jumps += 1;
                    }
                }
                _ => {}
            }
        }
        let nanos = |at: f64| ((HOST_START + at) * 1e9).round() as i64;
        let device = DeviceTime::from_nanos(self.stamp(event, zero, phase));
        let host_rx = Time::from_nanos(nanos(arrival + step));
        let sample = match kind {
            Sample::Passive(_) => Sample::Passive(PassiveSample::new(device, host_rx)),
            Sample::Active(_) => Sample::Active(ActiveSample {
                host_tx: Time::from_nanos(nanos(sent.unwrap_or(event) + sent_step)),
                device,
                host_rx,
            }),
        };
        if sample.check().is_ok() {
            rows.push(Row {
                sample,
                truth: (HOST_START + event + step) * 1e9,
                at_s: arrival,
                since_s: arrival - since,
                jumps,
            });
        }
    }

    /// What the device's clock shows at a true time.
    fn stamp(&self, t: f64, zero: Option<f64>, phase: f64) -> i64 {
        let device = &self.device;
        let (height, period) = device.wave;
        let omega = std::f64::consts::TAU / period;
        let waved = height / omega * (phase.cos() - (omega * t + phase).cos());
        let ramped = device.ramp_ppm_per_minute / 120.0 * t * t;
        let gained = (device.skew_ppm * t + waved + ramped) * 1e-6;
        let shown = match zero {
            Some(zero) => t - zero + gained,
            None => device.start_s + t + gained,
        };
        ((shown * 1e9 / device.grain_ns).floor() * device.grain_ns) as i64
    }
}
