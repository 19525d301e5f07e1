//! The families of the issue, as cases with a name.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small simulated numbers"
)]

use super::world::{Device, Dice, Happening, Jitter, Packets, Requests, World};

/// A case: its world, and whether the smallest delay is stable.
pub(crate) struct Case {
    pub(crate) world: World,
    pub(crate) stable: bool,
}

/// Names of all cases.
pub(crate) const NAMES: &[&str] = &[
    "quiet-100hz",
    "quiet-1khz",
    "quiet-10hz",
    "quiet-twice-100hz",
    "quiet-normal-100hz",
    "quiet-lognormal-100hz",
    "loaded-10hz",
    "loaded-40hz",
    "loaded-100hz",
    "loaded-640hz",
    "loaded-1khz",
    "congested-50hz",
    "tcp-100hz",
    "tcp-640hz",
    "path-shift-100hz",
    "path-shift-back-40hz",
    "thermal-up-100hz",
    "thermal-down-40hz",
    "thermal-wave-100hz",
    "reboot-100hz",
    "gaps-100hz",
    "host-step-100hz",
    "host-step-back-100hz",
    "wander-100hz",
    "thermal-fast-100hz",
    "thermal-step-100hz",
    "path-small-100hz",
    "path-shorter-100hz",
    "host-step-small-100hz",
    "host-step-small-back-100hz",
    "bursts-100hz",
    "active-symmetric-1hz",
    "active-symmetric-4hz",
    "active-symmetric-10hz",
    "active-fast-1hz",
    "active-asymmetric-1hz",
    "active-asymmetric-4hz",
    "active-asymmetric-thermal-1hz",
    "active-forth-heavy-1hz",
    "active-reboot-1hz",
    "active-host-step-1hz",
    "both-100hz",
    "both-40hz-asymmetric",
    "both-10hz-loaded",
];

/// The case of a name, with a device of this seed.
pub(crate) fn case(name: &str, seed: u64) -> Case {
    let mut dice = Dice::new(seed.wrapping_add(77));
    let device = Device {
        skew_ppm: 200.0 * dice.unit() - 100.0,
        ramp_ppm_per_minute: 0.0,
        wave: (0.6, 240.0),
        grain_ns: [1.0, 1_000.0, 2_560.0][(dice.unit() * 3.0) as usize],
        start_s: 4_000.0 * dice.unit(),
    };
    let mut world = World::new(device);
    world.packets = packets(name);
    world.requests = requests(name);
    disturb(name, &mut world);
    if rate(name) > 500.0 {
        // Enough samples, and tests end in time.
        world.duration_s = 120.0;
    }
    Case {
        stable: !name.starts_with("wander") && !name.starts_with("congested"),
        world,
    }
}

fn rate(name: &str) -> f64 {
    let word = name
        .split('-')
        .find(|word| word.ends_with("hz"))
        .unwrap_or("1hz");
    let number = word.trim_end_matches("khz").trim_end_matches("hz");
    let scale = if word.ends_with("khz") { 1_000.0 } else { 1.0 };
    scale * number.parse::<f64>().expect("a rate")
}

fn packets(name: &str) -> Option<Packets> {
    let rate = rate(name);
    let (quiet, loaded) = (Packets::quiet(rate), Packets::loaded(rate));
    let jitter = |jitter| Packets { jitter, ..quiet };
    Some(match name {
        "quiet-twice-100hz" => jitter(Jitter::Twice(100e-6)),
        "quiet-normal-100hz" => jitter(Jitter::HalfNormal(80e-6)),
        "quiet-lognormal-100hz" => jitter(Jitter::LogNormal(60e-6, 0.7)),
        "congested-50hz" => Packets {
            jitter: Jitter::Twice(4e-3),
            ..loaded
        },
        "tcp-100hz" | "tcp-640hz" => Packets { group: 3, ..loaded },
        "wander-100hz" => Packets {
            wander: Some((0.5e-3, 20.0)),
            ..loaded
        },
        "bursts-100hz" => Packets {
            group: 12,
            ..loaded
        },
        "both-100hz" => quiet,
        _ if name.starts_with("quiet") => quiet,
        _ if name.starts_with("active") => return None,
        _ => loaded,
    })
}

fn requests(name: &str) -> Option<Requests> {
    let rate_hz = if name.starts_with("both") {
        1.0
    } else {
        rate(name)
    };
    let ways = |forth, back| Requests {
        rate_hz,
        forth,
        back,
    };
    Some(match name {
        "active-fast-1hz" => ways((0.15e-3, 0.2e-3), (0.15e-3, 0.2e-3)),
        "active-forth-heavy-1hz" => ways((0.5e-3, 8e-3), (0.3e-3, 0.4e-3)),
        _ if name.starts_with("active-asymmetric") || name.ends_with("asymmetric") => {
            ways((0.3e-3, 2e-3), (0.3e-3, 10e-3))
        }
        _ if name.starts_with("active") || name.starts_with("both") => {
            ways((0.3e-3, 1e-3), (0.3e-3, 1e-3))
        }
        _ => return None,
    })
}

fn disturb(name: &str, world: &mut World) {
    let happenings = &mut world.happenings;
    match name {
        "path-shift-100hz" => happenings.push(Happening::LongerPath(120.0, 1e9, 2e-3)),
        "path-shift-back-40hz" => happenings.push(Happening::LongerPath(100.0, 200.0, 2e-3)),
        "thermal-up-100hz" => world.device.ramp_ppm_per_minute = 5.0,
        "thermal-down-40hz" => world.device.ramp_ppm_per_minute = -5.0,
        "thermal-fast-100hz" => world.device.ramp_ppm_per_minute = 12.0,
        "thermal-step-100hz" => world.device.wave = (10.0, 200.0),
        "path-small-100hz" => happenings.push(Happening::LongerPath(120.0, 1e9, 150e-6)),
        "path-shorter-100hz" => happenings.push(Happening::LongerPath(0.0, 100.0, 2e-3)),
        "host-step-small-100hz" => happenings.push(Happening::HostStep(150.0, 0.03)),
        "host-step-small-back-100hz" => happenings.push(Happening::HostStep(150.0, -0.03)),
        "active-asymmetric-thermal-1hz" => world.device.ramp_ppm_per_minute = 3.0,
        "thermal-wave-100hz" => world.device.wave = (5.0, 400.0),
        "reboot-100hz" | "active-reboot-1hz" => happenings.push(Happening::Reboot(150.0, 154.0)),
        "host-step-100hz" | "active-host-step-1hz" => {
            happenings.push(Happening::HostStep(150.0, 0.5));
        }
        "host-step-back-100hz" => happenings.push(Happening::HostStep(150.0, -0.5)),
        "gaps-100hz" => {
            for at in (20..300).step_by(20) {
                happenings.push(Happening::Silence(f64::from(at), f64::from(at) + 1.2));
            }
        }
        _ => {}
    }
}
