//! `timeloom-bench load`.

use clap::Args;
use timeloom_msg::qos::Reliability;
use timeloom_time::{Duration, WaitOptions};

use crate::direct::{self, DirectArguments};
use crate::ledger::Ledger;
use crate::network::{Network, NetworkArguments, wait_until};
use crate::output::{self, Format, Outcome, note, positive};
use crate::producers::{self, Producer};
use crate::profile::{Group, Profile};

const EXAMPLES: &str = "\
EXAMPLES
  timeloom-bench load 100MBs_raw                                       20 topics, 40 seconds
  timeloom-bench load automotive --scale 0.1                           the same topics at a tenth of the rates
  timeloom-bench load producers.yaml --duration 60 --format json > ledger.json
  timeloom-bench load 100MBs_raw --without-transport my_bag -s sqlite3     the recorder alone, without a network

The producers of rosbag2's benchmarks are built in: 100MBs_raw, 200MBs_raw, 300MBs_raw, automotive, mixed_110Mbs,
mixed_110Mbs_low_pubs_count. A file uses the same YAML. Every message carries its topic and its number, so that
`timeloom-bench verify` can check a bag byte by byte.";

/// A publisher discovers a subscription slightly before the subscription discovers the publisher.
const SETTLE: Duration = Duration::from_millis(500);
/// Timeout for reliable subscriptions to acknowledge the last messages.
const PATIENCE: Duration = Duration::from_secs(30);

/// Publish a load as rosbag2's benchmarks do, and print how many messages were published on each topic
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The name of a profile, or a YAML file of producers
    #[arg(value_name = "PROFILE")]
    profile: String,
    /// Multiply all rates; sizes and topics stay
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = positive)]
    scale: f64,
    /// Publish for this long instead of the time in the profile
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    duration: Option<f64>,
    /// Number of publishing threads [default: that of the profile, else one per processor]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// Start without waiting for subscriptions
    #[arg(long)]
    no_wait: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    direct: DirectArguments,
    #[command(flatten)]
    network: NetworkArguments,
}

impl Arguments {
    fn threads(&self, profile: &Profile) -> usize {
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads
            .map(usize::from)
            .or(profile.threads)
            .unwrap_or_else(processors)
    }
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let mut profile = Profile::find(&arguments.profile)?.scaled(arguments.scale);
    if let Some(seconds) = arguments.duration {
        profile = profile.lasting(seconds);
    }
    let threads = arguments.threads(&profile);
    note(&format!(
        "{} publishers, {:.1} MB/s",
        profile.publishers(),
        profile.bytes_per_second() / 1e6
    ));
    if let Some(directory) = &arguments.direct.without_transport {
        let (ledger, lost) = direct::run(&arguments.direct, directory, &profile, threads)?;
        print(&ledger, arguments.format)?;
        let outcome = summarise(&ledger);
        return Ok(if lost { Outcome::Missing } else { outcome });
    }
    let network = Network::join(&arguments.network)?;
    let producers = Producer::all(&*network.node, &profile)?;
    if profile.wait_for_subscriptions && !arguments.no_wait && !wait(&network, &producers) {
        anyhow::bail!("stopped before every publisher had a subscription");
    }
    let (producers, mut ledger) = producers::run(producers, threads, &network.clock, &network.stop);
    ledger.acknowledged = acknowledged(&network, &profile, &producers);
    // Printed while the publishers still exist: a script that waits for the ledger must not see them leave first.
    print(&ledger, arguments.format)?;
    Ok(summarise(&ledger))
}

fn print(ledger: &Ledger, format: Format) -> anyhow::Result<()> {
    Ok(output::result(
        format,
        || ledger.to_text(),
        || ledger.to_json(),
    )?)
}

/// Blocks until every publisher has a subscription; false at Ctrl-C.
fn wait(network: &Network, producers: &[Producer]) -> bool {
    let matched = || producers.iter().all(|one| one.publisher.matched() > 0);
    if !matched() {
        note("waiting for a subscription on every topic");
    }
    let ready = wait_until(&network.clock, &network.stop, matched);
    let options = WaitOptions::new().cancel(&network.stop);
    let _woke = network.clock.sleep_for_with(SETTLE, &options);
    ready
}

/// Waits until the reliable subscriptions have acknowledged everything.
fn acknowledged(network: &Network, profile: &Profile, producers: &[Producer]) -> bool {
    let reliable = |group: &Group| group.qos.reliability == Reliability::Reliable;
    let capable = network.participant.capabilities().acknowledgements;
    if !capable || !profile.groups.iter().any(reliable) {
        return true;
    }
    let end = network.clock.now().saturating_add(PATIENCE);
    producers.iter().all(|producer| {
        let left = end - network.clock.now();
        // A best-effort publisher has nothing to wait for.
        producer
            .publisher
            .wait_for_acknowledgements(left.max(Duration::from_millis(1)))
            .unwrap_or(true)
    })
}

fn summarise(ledger: &Ledger) -> Outcome {
    let total = ledger.total();
    note(&format!(
        "published {} messages on {} topics in {:.1} s, {:.1} MB/s, at most {:.0} ms late",
        total.published,
        ledger.topics.len(),
        ledger.seconds,
        total.bytes as f64 / 1e6 / ledger.seconds.max(1e-9),
        ledger.latest_seconds * 1e3,
    ));
    if total.refused > 0 {
        note(&format!(
            "warning: {} messages refused by the middleware: a reliable subscription is too slow",
            total.refused
        ));
    }
    if !ledger.acknowledged {
        note(&format!(
            "warning: not everything was acknowledged within {PATIENCE}"
        ));
    }
    Outcome::missing_if(total.refused > 0 || !ledger.acknowledged)
}
