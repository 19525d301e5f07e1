//! `timeloom sync pf-device`: a simulated lidar for drivers of all kinds.

use clap::{Args, ValueEnum};
use timeloom_pf::packet::HeaderForm;
use timeloom_pf::simulator::{ClockModel, Faults, Product, Sent, SimulatedLidar, SimulatorOptions};
use timeloom_text::{counted, grouped};
use timeloom_time::{Clock, Duration, Steady, TimeBase, WaitOptions};

use crate::context::Context;
use crate::failure::Failure;
use crate::live::{Interrupt, seconds};
use crate::outcome::Outcome;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom sync pf-device --port 8080                        an R2000 at http://127.0.0.1:8080
  timeloom sync pf --host 127.0.0.1:8080                     and a driver for it, in another terminal
  timeloom sync pf-device --product r2300 --skew -80 --drift 3
  timeloom sync pf-device --lose 100 --reboot-every 30       one packet in 100 lost, off and on every 30 s

It listens on 127.0.0.1 only. The first line is its address. Any driver that speaks PFSDP can use it.";

/// Which device is simulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum ProductChoice {
    /// One layer, packets A, B and C
    #[default]
    R2000,
    /// Four layers, packets C1
    R2300,
}

/// Simulate a Pepperl+Fuchs lidar on 127.0.0.1, with a clock of its own and faults on demand
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    device: DeviceArguments,
    /// Restart it every so many seconds, off for half a second
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    reboot_every: Option<Duration>,
    /// Stop after this many seconds
    #[arg(short, long, value_name = "SECONDS", value_parser = seconds)]
    duration: Option<Duration>,
}

/// Properties of the device.
#[derive(Debug, Args)]
pub(crate) struct DeviceArguments {
    /// Port to listen on; 0 for any free port
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
    /// Which device
    #[arg(long, value_enum, default_value_t, value_name = "PRODUCT")]
    product: ProductChoice,
    /// Seed of the random numbers
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// Scans per second [default: 35, or 50 of an R2300]
    #[arg(long, value_name = "HERTZ")]
    frequency: Option<f64>,
    /// Points of a scan [default: 3600, or 1000 of an R2300]
    #[arg(long, value_name = "COUNT")]
    samples: Option<u16>,
    /// Rate error of its clock against the host's, in ppm
    #[arg(
        long,
        value_name = "PPM",
        default_value_t = 50.0,
        allow_negative_numbers = true
    )]
    skew: f64,
    /// Change of that error, in ppm per minute
    #[arg(
        long,
        value_name = "PPM",
        default_value_t = 0.0,
        allow_negative_numbers = true
    )]
    drift: f64,
    /// Headers of 60 bytes and connections that close, as old firmware has them
    #[arg(long)]
    old_firmware: bool,
    /// One packet in so many is lost
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    lose: u32,
    /// One packet in so many is sent twice
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    duplicate: u32,
    /// One packet in so many is cut short
    #[arg(long, value_name = "COUNT", default_value_t = 0)]
    damage: u32,
}

impl Default for DeviceArguments {
    fn default() -> Self {
        Self {
            port: 0,
            product: ProductChoice::R2000,
            seed: 1,
            frequency: None,
            samples: None,
            skew: 50.0,
            drift: 0.0,
            old_firmware: false,
            lose: 0,
            duplicate: 0,
            damage: 0,
        }
    }
}

impl DeviceArguments {
    /// The options of the simulator.
    pub(crate) fn options(&self) -> SimulatorOptions {
        let (product, frequency, samples) = match self.product {
            ProductChoice::R2000 => (Product::R2000, 35.0, 3_600),
            ProductChoice::R2300 => (Product::R2300, 50.0, 1_000),
        };
        SimulatorOptions {
            port: self.port,
            seed: self.seed,
            product,
            clock: ClockModel {
                skew_ppm: self.skew,
                drift_ppm_per_minute: self.drift,
                ..ClockModel::default()
            },
            scan_frequency: self.frequency.unwrap_or(frequency),
            samples_per_scan: self.samples.unwrap_or(samples),
            header: if self.old_firmware {
                HeaderForm::Old
            } else {
                HeaderForm::Full
            },
            keep_alive: !self.old_firmware,
            faults: Faults {
                lose_one_in: self.lose,
                duplicate_one_in: self.duplicate,
                damage_one_in: self.damage,
                ..Faults::default()
            },
            ..SimulatorOptions::default()
        }
    }
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let interrupt = Interrupt::new()?;
    let options = arguments.device.options();
    let checked = options.check();
    checked.map_err(|error| Failure::usage(error.to_string()))?;
    let product = options.product.name();
    let device = SimulatedLidar::start(options, &TimeBase::machine())?;
    writeln!(context.printer.data(), "{}", device.address())?;
    context.printer.flush()?;
    context
        .printer
        .aside(&format!("{product} is on; end with Ctrl-C"));
    let clock = Clock::<Steady>::new();
    let wait = WaitOptions::new().cancel(interrupt.token());
    let end = arguments
        .duration
        .map(|duration| clock.now().saturating_add(duration));
    loop {
        let step = arguments.reboot_every.unwrap_or(Duration::from_secs(3_600));
        let step = step.max(Duration::from_millis(1));
        let next = clock.now().saturating_add(step);
        let until = end.map_or(next, |end| next.min(end));
        let interrupted = !clock.sleep_until_with(until, &wait).is_reached();
        if interrupted || end.is_some_and(|end| clock.now() >= end) {
            break;
        }
        if arguments.reboot_every.is_some() {
            context.printer.aside("off and on again");
            device.reboot(Duration::from_millis(500));
        }
    }
    report(&device.sent(), context);
    Ok(Outcome::Done)
}

fn report(sent: &Sent, context: &mut Context) {
    context.printer.note(&format!(
        "{}, of these {} lost, {} sent twice, {} cut short; {}",
        counted(sent.packets, "packet"),
        grouped(sent.lost),
        grouped(sent.duplicated),
        grouped(sent.damaged),
        counted(sent.replies, "answer"),
    ));
}
