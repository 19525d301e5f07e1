//! The cases that an estimator must stand.

use std::fmt;
use std::str::FromStr;

use super::{
    DeviceModel, Disturbances, HostClock, PathModel, RequestModel, Scenario, Stalls, Window,
};
use crate::error::Error;

macro_rules! families {
    ($(#[doc = $about:literal] $family:ident = $name:literal;)*) => {
        /// A family of simulated cases; each seed is one of them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Family {
            $(#[doc = $about] $family,)*
        }

        impl Family {
            /// All families, from quiet to strange.
            pub const ALL: &'static [Self] = &[$(Self::$family),*];

            /// The name, as in `sync simulate NAME`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$family => $name,)*
                }
            }

            /// A description in one sentence.
            pub const fn about(self) -> &'static str {
                match self {
                    $(Self::$family => $about.trim_ascii(),)*
                }
            }
        }
    };
}

families! {
    /// UDP over a quiet network into an idle host, 640 Hz.
    QuietUdp = "p1-udp-quiet-640hz";
    /// UDP over a loaded network into a busy host, 640 Hz.
    LoadedUdp = "p2-udp-loaded-640hz";
    /// The same over TCP: packets come in groups of up to three, and stalls are long.
    CoalescedTcp = "p3-tcp-coalesced-640hz";
    /// Loaded UDP, 40 Hz.
    Loaded40Hz = "p4-udp-loaded-40hz";
    /// Loaded UDP, 10 Hz.
    Loaded10Hz = "p5-udp-loaded-10hz";
    /// Loaded UDP, 1 kHz.
    Loaded1kHz = "p6-udp-loaded-1khz";
    /// A network whose queues are hardly ever empty, 50 Hz.
    Congested = "p7-udp-congested-50hz";
    /// The path grows by 2 ms for 150 s.
    PathShift = "p8-path-shift";
    /// Arrivals stamped by the kernel: the busy host does not show.
    KernelStamps = "p9-kernel-stamps";
    /// The device warms by 5 ppm per minute, 640 Hz.
    Warming640Hz = "p10-warming-640hz";
    /// The device cools by 5 ppm per minute, 40 Hz.
    Cooling40Hz = "p11-cooling-40hz";
    /// The device warms by 5 ppm per minute, 40 Hz.
    Warming40Hz = "p12-warming-40hz";
    /// The system clock is stepped by half a second, there and back; the steady clock is not.
    HostStep = "r1-host-step";
    /// The device restarts and counts from zero.
    Reboot = "r2-sensor-reboot";
    /// The device reports "unsettled" for half a second now and then; its clock runs on.
    StatusFlags = "r3-status-flags";
    /// Nothing comes for 1.2 s, again and again.
    Gaps = "r4-gaps";
    /// The smallest delay wanders by half a millisecond.
    WanderingFloor = "w1-wandering-floor";
    /// Requests to a device that answers quickly.
    FastRequests = "a1-requests-fast";
    /// Requests that take long to reach the device and come back quickly.
    AsymmetricRequests = "a2-requests-asymmetric";
    /// Requests that are slow on both ways.
    HeavyRequests = "a3-requests-heavy";
    /// Packets at 40 Hz and slow requests together.
    Mixed = "m1-packets-and-requests";
    /// Loaded UDP, 640 Hz, and requests that take long to reach the device.
    LoadedAndAsymmetric = "c1-loaded-and-asymmetric";
    /// Kernel stamps, and requests that take long to reach the device.
    KernelAndAsymmetric = "c2-kernel-and-asymmetric";
    /// Kernel stamps, and requests to a device that answers quickly.
    KernelAndFast = "c3-kernel-and-fast";
    /// TCP, and requests that are slow on both ways.
    TcpAndHeavy = "c4-tcp-and-heavy";
    /// A device whose clock is 600 ppm slow, 40 Hz.
    SlowDevice = "l1-skew-600ppm-slow";
    /// A device whose clock is 900 ppm fast, 40 Hz.
    FastDevice = "l2-skew-900ppm-fast";
    /// Stamps that are cut to milliseconds, 40 Hz.
    CoarseStamps = "l3-ticks-of-1ms";
    /// The rate of the device swings by 10 ppm in a minute, 100 Hz.
    Swinging = "l4-rate-swings";
    /// The host's clocks are slewed by 500 ppm for a minute, 100 Hz.
    Slewing = "l5-host-slewed";
    /// The system clock is stepped by 1 ms, there and back, 100 Hz.
    HostStep1ms = "s1-host-step-1ms";
    /// The system clock is stepped by 5 ms, there and back, 100 Hz.
    HostStep5ms = "s2-host-step-5ms";
    /// The system clock is stepped by an hour, there and back, 100 Hz.
    HostStep1h = "s3-host-step-1h";
    /// The system clock is stepped by 5 ms, there and back, with quick requests beside packets of 100 Hz.
    HostStepRequests = "s4-host-step-5ms-requests";
}

impl Family {
    /// Whether the smallest delay is constant and reached now and then, and the clocks keep to the usual limits, so
    /// that packets alone can be exact.
    pub const fn has_stable_floor(self) -> bool {
        !matches!(
            self,
            Self::WanderingFloor
                | Self::Congested
                | Self::SlowDevice
                | Self::FastDevice
                | Self::CoarseStamps
                | Self::Swinging
                | Self::Slewing
                | Self::HostStep1ms
                | Self::HostStep5ms
                | Self::HostStep1h
                | Self::HostStepRequests
        )
    }

    /// The clock of the host that its samples are meant to be stamped with.
    pub const fn host_clock(self) -> HostClock {
        match self {
            Self::HostStep1ms | Self::HostStep5ms | Self::HostStep1h | Self::HostStepRequests => {
                HostClock::System
            }
            _ => HostClock::Steady,
        }
    }

    /// The parameters of the simulation.
    pub fn scenario(self) -> Scenario {
        let loaded = Scenario::default();
        let disturbed = |disturbances| Scenario {
            disturbances,
            ..loaded
        };
        match self {
            Self::LoadedUdp => loaded,
            Self::QuietUdp | Self::CoalescedTcp | Self::Congested | Self::KernelStamps => {
                Scenario {
                    path: self.path(),
                    rate_hz: Some(if self == Self::Congested { 50.0 } else { 640.0 }),
                    ..loaded
                }
            }
            Self::WanderingFloor => Scenario {
                path: self.path(),
                ..loaded
            },
            Self::Loaded40Hz => at_rate(40.0, 0.0),
            Self::Loaded10Hz => at_rate(10.0, 0.0),
            Self::Loaded1kHz => at_rate(1_000.0, 0.0),
            Self::Warming640Hz => at_rate(640.0, 5.0),
            Self::Cooling40Hz => at_rate(40.0, -5.0),
            Self::Warming40Hz => at_rate(40.0, 5.0),
            Self::PathShift => disturbed(Disturbances {
                longer_path: Some((window(200.0, 350.0), 2e-3)),
                ..Disturbances::default()
            }),
            Self::HostStep => disturbed(Disturbances {
                system_steps: Some((120.0, 0.5)),
                ..Disturbances::default()
            }),
            Self::Reboot => disturbed(Disturbances {
                reboot: Some(window(300.0, 304.0)),
                ..Disturbances::default()
            }),
            Self::StatusFlags => disturbed(Disturbances {
                status: Some((60.0, 0.5)),
                ..Disturbances::default()
            }),
            Self::Gaps => disturbed(Disturbances {
                gaps: Some((20.0, 1.2)),
                ..Disturbances::default()
            }),
            Self::FastRequests | Self::AsymmetricRequests | Self::HeavyRequests => Scenario {
                rate_hz: None,
                requests: Some(self.requests()),
                ..loaded
            },
            Self::Mixed => Scenario {
                requests: Some(self.requests()),
                ..at_rate(40.0, 0.0)
            },
            Self::LoadedAndAsymmetric
            | Self::KernelAndAsymmetric
            | Self::KernelAndFast
            | Self::TcpAndHeavy => Scenario {
                path: self.path(),
                requests: Some(self.requests()),
                ..loaded
            },
            _ => self.beyond_limits(),
        }
    }

    /// Families in which clocks do not keep to the usual limits, or are set.
    fn beyond_limits(self) -> Scenario {
        let device = |rate_hz: f64, change: fn(&mut DeviceModel)| {
            let mut scenario = at_rate(rate_hz, 0.0);
            change(&mut scenario.device);
            scenario
        };
        let stepped = |by_s: f64| Scenario {
            disturbances: Disturbances {
                system_steps: Some((200.0, by_s)),
                ..Disturbances::default()
            },
            ..at_rate(100.0, 0.0)
        };
        match self {
            Self::SlowDevice => device(40.0, |device| device.skew_ppm = -600.0),
            Self::FastDevice => device(40.0, |device| device.skew_ppm = 900.0),
            Self::CoarseStamps => device(40.0, |device| device.quantum_ns = 1e6),
            Self::Swinging => device(100.0, |device| {
                (device.wave_ppm, device.wave_s) = (10.0, 60.0);
            }),
            Self::Slewing => Scenario {
                disturbances: Disturbances {
                    slewing: Some((window(200.0, 260.0), 500.0)),
                    ..Disturbances::default()
                },
                ..at_rate(100.0, 0.0)
            },
            Self::HostStep1ms => stepped(1e-3),
            Self::HostStep1h => stepped(3_600.0),
            Self::HostStepRequests => Scenario {
                requests: Some(RequestModel::FAST),
                ..stepped(5e-3)
            },
            _ => stepped(5e-3),
        }
    }

    fn path(self) -> PathModel {
        let loaded = PathModel::LOADED;
        match self {
            Self::QuietUdp => PathModel::QUIET,
            Self::CoalescedTcp | Self::TcpAndHeavy => PathModel {
                coalesce: 3,
                network_stalls: Some(Stalls {
                    every_s: 20.0,
                    shortest_s: 0.04,
                    longest_s: 0.04,
                }),
                ..loaded
            },
            Self::Congested => PathModel {
                network_mean_s: 2e-3,
                ..loaded
            },
            Self::KernelStamps | Self::KernelAndAsymmetric | Self::KernelAndFast => PathModel {
                host_mean_s: 3e-6,
                host_stalls: None,
                ..loaded
            },
            Self::WanderingFloor => PathModel {
                wander: Some((0.5e-3, 20.0)),
                ..loaded
            },
            _ => loaded,
        }
    }

    fn requests(self) -> RequestModel {
        match self {
            Self::AsymmetricRequests | Self::LoadedAndAsymmetric | Self::KernelAndAsymmetric => {
                RequestModel {
                    forward_s: (500e-6, 8e-3),
                    back_s: (300e-6, 400e-6),
                    ..RequestModel::FAST
                }
            }
            Self::HeavyRequests | Self::Mixed | Self::TcpAndHeavy => RequestModel {
                forward_s: (400e-6, 12e-3),
                back_s: (400e-6, 10e-3),
                late: (0.05, 30e-3),
                ..RequestModel::FAST
            },
            _ => RequestModel::FAST,
        }
    }
}

fn at_rate(rate_hz: f64, drift_ppm_per_minute: f64) -> Scenario {
    Scenario {
        rate_hz: Some(rate_hz),
        device: DeviceModel {
            drift_ppm_per_minute,
            ..DeviceModel::default()
        },
        ..Scenario::default()
    }
}

fn window(from_s: f64, until_s: f64) -> Window {
    Window { from_s, until_s }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Family {
    type Err = Error;

    /// The family of this name, or of the part of it before the first dash (`p2`).
    fn from_str(text: &str) -> Result<Self, Error> {
        let wanted = text.to_ascii_lowercase();
        let is_wanted = |family: &Self| {
            let name = family.name();
            name == wanted || name.split('-').next() == Some(wanted.as_str())
        };
        let found = Self::ALL.iter().copied().find(is_wanted);
        found.ok_or_else(|| Error::UnknownFamily {
            name: text.to_owned(),
            known: Self::ALL
                .iter()
                .map(|family| family.name())
                .collect::<Vec<_>>()
                .join(", "),
        })
    }
}
