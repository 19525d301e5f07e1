//! `timeloom bench load`.

use clap::Args;
use timeloom_msg::qos::Reliability;
use timeloom_text::{counted, grouped};
use timeloom_time::{Duration, WaitOptions};

use super::direct::{self, DirectArguments};
use super::ledger::Ledger;
use super::producers::{self, Producer};
use super::profile::Profile;
use crate::context::Context;
use crate::failure::Failure;
use crate::live::{Live, LiveArguments, hertz, seconds};
use crate::outcome::Outcome;
use crate::verbs::info::Format;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom bench load 100MBs_raw                                       20 topics, 40 seconds
  timeloom bench load automotive --scale 0.1                           the same topics, a tenth of the rates
  timeloom bench load producers.yaml --duration 60 --format json > ledger.json
  timeloom bench load 100MBs_raw --without-transport my_bag -s sqlite3     the recorder alone, without a network

Built in are the producers of rosbag2's benchmarks: 100MBs_raw, 200MBs_raw, 300MBs_raw, automotive, mixed_110Mbs,
mixed_110Mbs_low_pubs_count. A file has the same YAML as theirs. Every message says its topic and its number, so
that `timeloom bench verify` can check a bag byte by byte.";

/// How often the number of subscriptions is looked at.
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// A publisher knows a subscription a little before that one knows it.
const SETTLE: Duration = Duration::from_millis(500);
/// How long reliable subscriptions may take to acknowledge the last messages.
const PATIENCE: Duration = Duration::from_secs(30);

/// Publish a load as rosbag2's benchmarks do, and print how many messages each topic had
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The name of a profile, or a YAML file of producers
    #[arg(value_name = "PROFILE")]
    profile: String,
    /// Multiply all rates; sizes and topics stay
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = hertz)]
    scale: f64,
    /// Publish for so long, whatever the profile says
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    duration: Option<Duration>,
    /// How many threads publish [default: as the profile says, else one for each processor]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: Option<u16>,
    /// Begin at once, whoever listens
    #[arg(long)]
    no_wait: bool,
    /// Form of the output
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    direct: DirectArguments,
    #[command(flatten)]
    live: LiveArguments,
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

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let mut profile = Profile::find(&arguments.profile)?.scaled(arguments.scale);
    if let Some(duration) = arguments.duration {
        profile = profile.lasting(duration.as_secs_f64());
    }
    let threads = arguments.threads(&profile);
    context.printer.aside(&format!(
        "{} with {:.1} MB a second",
        counted(profile.publishers(), "publisher"),
        profile.bytes_per_second() / 1e6
    ));
    if let Some(directory) = &arguments.direct.without_transport {
        let (ledger, lost) = direct::run(&arguments.direct, directory, &profile, threads, context)?;
        print(&ledger, arguments.format, context)?;
        let outcome = tell(&ledger, context);
        return Ok(if lost { Outcome::DataLost } else { outcome });
    }
    let live = Live::join_as("timeloom_bench", &arguments.live, context)?;
    let producers = Producer::all(live.node(), &profile)?;
    if profile.wait_for_subscriptions && !arguments.no_wait && !wait(&live, &producers, context) {
        return Err(Failure::new("ended before every publisher had a subscription").into());
    }
    let token = live.interrupt().token();
    let (producers, mut ledger) = producers::run(producers, threads, &live.clock(), token);
    ledger.acknowledged = acknowledged(&live, &profile, &producers);
    // Before anything is torn down: whoever waits for the ledger must not see a publisher leave first.
    print(&ledger, arguments.format, context)?;
    Ok(tell(&ledger, context))
}

fn print(ledger: &Ledger, format: Format, context: &mut Context) -> anyhow::Result<()> {
    let text = match format {
        Format::Text => ledger.to_text(),
        Format::Json => format!("{:#}\n", ledger.to_json()),
    };
    context.printer.data().write_all(text.as_bytes())?;
    context.printer.flush()?;
    Ok(())
}

/// Blocks until every publisher has a subscription, or Ctrl-C.
fn wait(live: &Live, producers: &[Producer], context: &mut Context) -> bool {
    let options = WaitOptions::new().cancel(live.interrupt().token());
    let missing = || {
        producers
            .iter()
            .filter(|p| p.publisher.matched() == 0)
            .count()
    };
    if missing() > 0 {
        let text = "waiting for a subscription of every publisher";
        context.printer.aside(text);
    }
    while missing() > 0 {
        if live.interrupt().happened() {
            return false;
        }
        let _woke = live.clock().sleep_for_with(LOOK_AGAIN, &options);
    }
    let _woke = live.clock().sleep_for_with(SETTLE, &options);
    true
}

/// Waits for the reliable receivers of everything.
fn acknowledged(live: &Live, profile: &Profile, producers: &[Producer]) -> bool {
    let reliable = |group: &super::profile::Group| group.qos.reliability == Reliability::Reliable;
    if !live.participant().capabilities().acknowledgements || !profile.groups.iter().any(reliable) {
        return true;
    }
    let end = live.clock().now().saturating_add(PATIENCE);
    producers.iter().all(|producer| {
        let left = end - live.clock().now();
        // One that is not reliable has nothing to wait for.
        producer
            .publisher
            .wait_for_acknowledgements(left.max(Duration::from_millis(1)))
            .unwrap_or(true)
    })
}

fn tell(ledger: &Ledger, context: &mut Context) -> Outcome {
    let total = ledger.total();
    context.printer.note(&format!(
        "published {} on {} in {:.1} s, {:.1} MB a second, at worst {:.0} ms late",
        counted(total.published, "message"),
        counted(ledger.topics.len() as u64, "topic"),
        ledger.seconds,
        total.bytes as f64 / 1e6 / ledger.seconds.max(1e-9),
        ledger.latest_seconds * 1e3,
    ));
    if total.refused > 0 {
        let text = format!(
            "{} refused by the middleware: a reliable subscription is too slow",
            grouped(total.refused)
        );
        context.printer.warning(&text);
    }
    if !ledger.acknowledged {
        let text = format!("not everything was acknowledged within {PATIENCE}");
        context.printer.warning(&text);
    }
    Outcome::lost_if(total.refused > 0 || !ledger.acknowledged)
}
