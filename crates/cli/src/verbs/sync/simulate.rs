//! `timeloom sync simulate`: samples of a simulated device, with the truth beside them.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use timeloom_sync::simulate::{Family, HostClock};
use timeloom_sync::table::{SAMPLE_HEADER, sample_line};
use timeloom_text::counted;

use super::output::Output;
use crate::context::Context;
use crate::failure::Failure;
use crate::outcome::Outcome;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom sync simulate --list                                   all families, a line each
  timeloom sync simulate p2 --seed 7 -o samples.csv               UDP over a loaded network, 640 Hz
  timeloom sync simulate r1 --host-clock both | timeloom sync fit -
  timeloom sync simulate p4 --duration 60 --rate 100

truth_ns is the true host time of what device_ns stamps; floor_ns is the smallest delay that its packets ever have.
The same family and seed give the same samples on every machine.";

/// Make samples of a simulated device, network and host, with the truth
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The family, by name or by the part before the first dash, such as `p2`
    #[arg(value_name = "FAMILY", required_unless_present = "list", value_parser = family)]
    family: Option<Family>,
    /// List the families
    #[arg(long)]
    list: bool,
    /// Number of the case in the family
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// Seconds to simulate [default: those of the family]
    #[arg(long, value_name = "SECONDS")]
    duration: Option<f64>,
    /// Packets per second [default: that of the family]
    #[arg(long, value_name = "HZ")]
    rate: Option<f64>,
    /// Which clock stamps arrivals
    #[arg(long, value_enum, default_value_t, value_name = "CLOCK")]
    host_clock: Clock,
    /// The CSV file; `-` for stdout
    #[arg(
        short,
        long,
        value_name = "FILE",
        default_value = "-",
        allow_hyphen_values = true
    )]
    output: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum Clock {
    /// It is never set
    #[default]
    Steady,
    /// It is stepped where the family says so
    System,
    /// The system clock, and the steady clock beside it in `host_steady_ns`
    Both,
}

fn family(text: &str) -> Result<Family, String> {
    text.parse()
        .map_err(|error: timeloom_sync::Error| error.to_string())
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let family = match arguments.family {
        Some(family) if !arguments.list => family,
        _ => return list(context),
    };
    let mut scenario = family.scenario();
    if let Some(seconds) = in_range(arguments.duration, "--duration", 1e7)? {
        scenario.duration_s = seconds;
    }
    if let Some(rate) = in_range(arguments.rate, "--rate", 1e6)? {
        if scenario.rate_hz.is_none() {
            let text = format!("{family} has no packets, so no rate");
            return Err(Failure::usage(text).into());
        }
        scenario.rate_hz = Some(rate);
    }
    let clock = match arguments.host_clock {
        Clock::Steady => HostClock::Steady,
        Clock::System | Clock::Both => HostClock::System,
    };
    let beside = arguments.host_clock == Clock::Both;
    let floor = scenario.floor_ns();
    let mut output = Output::create(&arguments.output, Path::new(""))?;
    let header = if beside { ",host_steady_ns" } else { "" };
    output.line(
        &format!("{SAMPLE_HEADER}{header},truth_ns,floor_ns"),
        context,
    )?;
    let mut rows = 0;
    for simulated in scenario.simulate(arguments.seed) {
        let step = clock.step(&simulated);
        let sample = sample_line(&simulated.sample.shifted(step));
        let truth = simulated.truth.saturating_add(step).nanos();
        let steady = if beside {
            format!(",{}", simulated.sample.host_rx().nanos())
        } else {
            String::new()
        };
        output.line(&format!("{sample}{steady},{truth},{floor:.0}"), context)?;
        rows += 1;
    }
    let is_file = matches!(output, Output::File(_));
    output.finish()?;
    if is_file {
        let rows = counted(rows, "sample");
        let text = format!("wrote {}: {rows} of {family}", arguments.output.display());
        context.printer.note(&text);
    }
    Ok(Outcome::Done)
}

fn in_range(number: Option<f64>, name: &str, most: f64) -> Result<Option<f64>, Failure> {
    match number {
        Some(number) if !(number > 0.0 && number <= most) => {
            let text = format!("{name} {number}: expected a number above 0 and up to {most}");
            Err(Failure::usage(text))
        }
        number => Ok(number),
    }
}

fn list(context: &mut Context) -> anyhow::Result<Outcome> {
    for family in Family::ALL {
        let line = format!(
            "{:28} {}",
            family.name(),
            family.about().trim_end_matches('.')
        );
        writeln!(context.printer.data(), "{line}")?;
    }
    Ok(Outcome::Done)
}
