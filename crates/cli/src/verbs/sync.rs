//! `timeloom sync`: the clocks of sensors, on the clock of the host.

mod bag_samples;
mod calibrate;
mod convert;
mod device_field;
mod fit;
mod limits_arguments;
mod lines;
mod output;
mod pf;
mod pf_arguments;
mod pf_device;
mod pf_lines;
mod relay;
mod retime;
mod simulate;
mod summary;
mod watch;

use clap::{Args, Subcommand};

use crate::context::Context;
use crate::outcome::Outcome;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom sync fit samples.csv                                  offset, drift, jitter, bound, epochs
  timeloom sync fit samples.csv --causal --output fitted.csv     every row as it would have been seen live
  timeloom sync fit my_bag --topic /scan --plot scan.html        the clock behind header.stamp
  timeloom sync retime my_bag -o better --topic /scan            header.stamp on the host's clock
  timeloom sync calibrate samples.csv                            the constant delay, for --least-delay
  timeloom sync convert fitted.csv events.csv                    other device times by the same mapping
  timeloom sync simulate p2 --seed 7 -o samples.csv              samples with the truth beside them
  timeloom sync watch /scan                                      live: offset, drift, bound
  timeloom sync relay /imu --output /imu/synced                  the topic again, with corrected stamps
  timeloom sync pf --host 10.0.10.9                              drive a lidar: scans with true stamps";

/// Relate a sensor's clock to the host's: fit, calibrate, convert, retime, simulate, watch, relay, pf, pf-device
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Fit(Box<fit::Arguments>),
    Calibrate(Box<calibrate::Arguments>),
    Convert(convert::Arguments),
    Retime(Box<retime::Arguments>),
    Simulate(simulate::Arguments),
    Watch(Box<watch::Arguments>),
    Relay(Box<relay::Arguments>),
    Pf(Box<pf::Arguments>),
    PfDevice(pf_device::Arguments),
}

pub(crate) fn run(arguments: Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    match arguments.verb {
        Verb::Fit(arguments) => fit::run(&arguments, context),
        Verb::Calibrate(arguments) => calibrate::run(&arguments, context),
        Verb::Convert(arguments) => convert::run(&arguments, context),
        Verb::Retime(arguments) => retime::run(&arguments, context),
        Verb::Simulate(arguments) => simulate::run(&arguments, context),
        Verb::Watch(arguments) => watch::run(&arguments, context),
        Verb::Relay(arguments) => relay::run(&arguments, context),
        Verb::Pf(arguments) => pf::run(&arguments, context),
        Verb::PfDevice(arguments) => pf_device::run(&arguments, context),
    }
}
