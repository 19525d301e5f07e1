//! Delays of packets from a simulated device to a program.

use super::random::Random;

/// Mean height of a wandering floor above its limit, in deviations, so that it is seldom clipped.
const WANDER_MEAN: f64 = 0.0;

/// Times in which nothing moves: they come at random, `every_s` seconds apart on average.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stalls {
    /// The mean time from one to the next, in seconds.
    pub every_s: f64,
    /// The shortest, in seconds.
    pub shortest_s: f64,
    /// The longest, in seconds.
    pub longest_s: f64,
}

/// The delays of packets: device, network and host each add to them, and none reorders packets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathModel {
    /// Least delay in the device from the event to the hand-over of the packet, in seconds.
    pub device_s: f64,
    /// The height of the sawtooth that comes on top of it, in seconds.
    pub sawtooth_s: f64,
    /// The period of the sawtooth, in packets.
    pub sawtooth_packets: f64,
    /// Least delay of the network, in seconds.
    pub network_s: f64,
    /// The mean of what the network adds, in seconds.
    pub network_mean_s: f64,
    /// The share of packets that are late, and their mean lateness in seconds.
    pub late: (f64, f64),
    /// The mean of what the host adds, in seconds.
    pub host_mean_s: f64,
    /// Stalls of the network.
    pub network_stalls: Option<Stalls>,
    /// Stalls of the host.
    pub host_stalls: Option<Stalls>,
    /// Packets are handed over in groups of one to this many (TCP).
    pub coalesce: u32,
    /// A wandering floor: its deviation and its time constant, in seconds.
    pub wander: Option<(f64, f64)>,
    /// Whether the device stamps the time of sending.
    pub send_stamps: bool,
}

impl PathModel {
    /// A quiet network and an idle host.
    pub const QUIET: Self = Self {
        device_s: 200e-6,
        sawtooth_s: 850e-6,
        sawtooth_packets: 6.7,
        network_s: 100e-6,
        network_mean_s: 30e-6,
        late: (0.002, 2e-3),
        host_mean_s: 20e-6,
        network_stalls: None,
        host_stalls: None,
        coalesce: 1,
        wander: None,
        send_stamps: false,
    };

    /// A network with other traffic and a busy host.
    pub const LOADED: Self = Self {
        network_mean_s: 100e-6,
        host_mean_s: 50e-6,
        late: (0.05, 2e-3),
        network_stalls: Some(Stalls {
            every_s: 50.0,
            shortest_s: 0.02,
            longest_s: 0.1,
        }),
        host_stalls: Some(Stalls {
            every_s: 10.0,
            shortest_s: 0.02,
            longest_s: 0.2,
        }),
        ..Self::QUIET
    };

    /// The smallest delay from event to arrival, in seconds; of a wandering floor, its mean.
    pub fn floor_s(&self) -> f64 {
        let wander = self
            .wander
            .map_or(0.0, |(deviation, _)| WANDER_MEAN * deviation);
        self.device_s + self.network_s + wander
    }
}

/// Times when a packet was sent, reached the kernel, and reached the program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Passage {
    pub(crate) sent: f64,
    pub(crate) read: f64,
}

/// A path in use.
#[derive(Debug, Clone)]
pub(crate) struct Path {
    model: PathModel,
    random: Random,
    network: Stalling,
    host: Stalling,
    packets: f64,
    arrived: f64,
    read: f64,
    wander: (f64, f64),
}

impl Path {
    pub(crate) fn new(model: PathModel, seed: u64) -> Self {
        Self {
            network: Stalling::new(model.network_stalls, Random::new(seed, 3)),
            host: Stalling::new(model.host_stalls, Random::new(seed, 4)),
            random: Random::new(seed, 2),
            model,
            packets: 0.0,
            arrived: 0.0,
            read: 0.0,
            wander: (0.0, 0.0),
        }
    }

    /// Sends a packet whose event was at `t`, over a path that is `extra` seconds longer than usual.
    pub(crate) fn send(&mut self, t: f64, extra: f64) -> Passage {
        let model = self.model;
        let tooth = (self.packets / model.sawtooth_packets.max(1.0)).fract();
        self.packets += 1.0;
        let sent = t + model.device_s + model.sawtooth_s * tooth;
        let late = if self.random.unit() < model.late.0 {
            self.random.exponential(model.late.1)
        } else {
            0.0
        };
        let queued = self.random.exponential(model.network_mean_s) + late + self.wander(t);
        let arrived = sent + model.network_s + extra + queued;
        self.arrived = self.network.release(arrived).max(self.arrived);
        let read = self.arrived + self.random.exponential(model.host_mean_s);
        self.read = self.host.release(read).max(self.read);
        Passage {
            sent,
            read: self.read,
        }
    }

    /// The extra floor at `t`: a first-order process, never below zero.
    fn wander(&mut self, t: f64) -> f64 {
        let Some((deviation, constant)) = self.model.wander else {
            return 0.0;
        };
        let (at, value) = self.wander;
        let keep = (-(t - at).max(0.0) / constant).exp();
        let value = value * keep + (1.0 - keep * keep).sqrt() * self.random.normal();
        self.wander = (t, value);
        (deviation * (value + WANDER_MEAN)).max(0.0)
    }
}

/// A stage of the path that stalls now and then.
#[derive(Debug, Clone)]
struct Stalling {
    stalls: Option<Stalls>,
    random: Random,
    from: f64,
    until: f64,
}

impl Stalling {
    fn new(stalls: Option<Stalls>, random: Random) -> Self {
        let mut stalling = Self {
            stalls,
            random,
            from: 0.0,
            until: 0.0,
        };
        stalling.plan();
        stalling
    }

    fn plan(&mut self) {
        if let Some(stalls) = self.stalls {
            self.from = self.until + self.random.exponential(stalls.every_s);
            self.until = self.from + self.random.between(stalls.shortest_s, stalls.longest_s);
        }
    }

    /// The time when a packet that is ready at `t` passes.
    fn release(&mut self, t: f64) -> f64 {
        if self.stalls.is_none() {
            return t;
        }
        while self.until <= t {
            self.plan();
        }
        if t < self.from { t } else { self.until }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_keep_their_order_and_the_floor() {
        for model in [PathModel::QUIET, PathModel::LOADED] {
            let mut path = Path::new(model, 1);
            let mut before = 0.0;
            let mut least = f64::MAX;
            for packet in 0..200_000 {
                let t = f64::from(packet) / 640.0;
                let read = path.send(t, 0.0).read;
                assert!(read >= before);
                before = read;
                least = least.min(read - t);
            }
            assert!(least >= model.floor_s(), "{least}");
            assert!(least < model.floor_s() + 10e-6, "{least}");
        }
    }
}
