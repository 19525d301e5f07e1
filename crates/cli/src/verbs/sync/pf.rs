//! `timeloom sync pf`: a Pepperl+Fuchs lidar as a ROS node, and its clock live.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use timeloom_lidar::LidarNode;
use timeloom_node::{NodeOptions, ParameterValue, RosNode, Severity};
use timeloom_pf::simulator::SimulatedLidar;
use timeloom_pf::{Lidar, LidarEvent, LidarSink, LidarStatus, LinkState, Scan, ScanStamp};
use timeloom_text::{counted, grouped};
use timeloom_time::{Clock, Duration, Steady, TimeBase, WaitOptions};

use super::pf_arguments::LidarArguments;
use super::pf_device::DeviceArguments;
use super::pf_lines::Lines;
use crate::context::Context;
use crate::failure::Failure;
use crate::live::{Interrupt, Live, LiveArguments, Notices, seconds};
use crate::outcome::Outcome;
use crate::params_file::NodeFlags;
use crate::verbs::info::Format;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom sync pf --host 10.0.10.9                           publish /scan, /r2000_header and /diagnostics
  timeloom sync pf --host 10.0.10.9 --set scan_frequency=20 --set samples_per_scan=3600
  timeloom sync pf --host 10.0.10.9 --no-publish              only look at its clock
  timeloom sync pf --simulate                                 without a device: a simulated one, and the truth
  timeloom sync pf --params-file R2000_Default_params.yaml --node-name pf_r2000     as the vendor's driver is started
  timeloom sync pf --host 10.0.10.9 --method average --period 10000     stamps as the vendor's driver makes them

Stamps are the time of the first point. The node's parameters and services have the names of the vendor's driver;
--ros-args -p and --params-file set parameters; flags take precedence.
The exit code is 3 when packets were lost, or the connection broke; the count is printed.";

/// Refresh interval of the view.
const INTERVAL: Duration = Duration::from_secs(1);

/// Drive a Pepperl+Fuchs lidar: scans with true stamps on ROS, and its clock live
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    lidar: LidarArguments,
    /// Only drive the device and show its clock, without a ROS node
    #[arg(long)]
    no_publish: bool,
    /// Drive a simulated device instead of a real one, and show the true error
    #[arg(long, conflicts_with = "host")]
    simulate: bool,
    /// Stamps follow /clock
    #[arg(long)]
    use_sim_time: bool,
    /// Stop after this many lines
    #[arg(short = 'n', long, value_name = "COUNT")]
    limit: Option<u64>,
    /// Stop after this many seconds
    #[arg(short, long, value_name = "SECONDS", value_parser = seconds)]
    duration: Option<Duration>,
    /// Output format
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    /// YAML files with parameters of the vendor's driver; the last one wins, flags take precedence
    #[arg(long, value_name = "FILE")]
    params_file: Vec<PathBuf>,
    #[command(flatten)]
    live: LiveArguments,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let device = if arguments.simulate {
        let options = DeviceArguments::default().options();
        Some(SimulatedLidar::start(options, &TimeBase::machine())?)
    } else {
        None
    };
    let mut node = node_options(arguments, context)?;
    if device.is_some() {
        node.parameters.remove("scanner_ip");
    }
    let named = match node.parameters.get("scanner_ip") {
        Some(ParameterValue::String(host)) if !host.is_empty() => Some(host.clone()),
        _ => None,
    };
    let host = match (&arguments.lidar.host, &device, &named) {
        (_, Some(device), _) => device.address().to_string(),
        (Some(host), None, _) | (None, None, Some(host)) => host.clone(),
        (None, None, None) => {
            return Err(Failure::usage("which lidar?")
                .hint("name it with --host 10.0.10.9 or --ros-args -p scanner_ip:=10.0.10.9, or try --simulate")
                .into());
        }
    };
    let driven = Driven::start(arguments, host, node, context)?;
    let lost = driven.show(arguments, device.as_ref(), context)?;
    let status = driven.status();
    if let Some(why) = status.last_error.filter(|_| status.scans.packets == 0) {
        let text = format!("no packet came: {why}");
        return Err(Failure::new(text).hint(way_out(&why)).into());
    }
    Ok(Outcome::lost_if(lost))
}

/// The node with its parameters; those that flags have set are left out.
fn node_options(arguments: &Arguments, context: &mut Context) -> anyhow::Result<NodeOptions> {
    let flags = NodeFlags {
        node: NodeOptions::new(&arguments.lidar.node_name),
        params_files: &arguments.params_file,
        log_level: None,
    };
    let mut node = flags.read(context)?;
    node.use_sim_time |= arguments.use_sim_time;
    if arguments.use_sim_time {
        node.parameters.remove("use_sim_time");
    }
    for name in arguments.lidar.given() {
        node.parameters.remove(name);
    }
    Ok(node)
}

/// What to check when no scans arrive for this reason.
fn way_out(why: &str) -> &'static str {
    if why.contains("the device says") {
        "the device refuses one of these values; `timeloom sync pf --help` has what can be asked for"
    } else if why.contains("cannot receive packets") {
        "--receive-address must be an address of this host, and --receive-port a free port"
    } else if why.contains("HTTP") || why.contains("not pfsdp") {
        "another kind of device answers at this address; check the address"
    } else {
        "check power and address, with `ping` and http://HOST/cmd/get_protocol_info in a browser"
    }
}

/// Passes the events of the driver's threads on.
struct Events(Notices);

impl LidarSink for Events {
    fn scan(&self, _scan: Scan, _stamp: ScanStamp) {}

    fn event(&self, event: &LidarEvent) {
        let severity = match event.severity() {
            timeloom_pf::Severity::Normal => Severity::Info,
            timeloom_pf::Severity::Warning => Severity::Warn,
            timeloom_pf::Severity::Error => Severity::Error,
        };
        self.0.add(severity, event.to_string());
    }
}

/// A lidar that runs, on ROS or without it.
struct Driven {
    kind: Kind,
    notices: Notices,
    interrupt: Interrupt,
}

enum Kind {
    Node {
        lidar: LidarNode,
        // Ends after the lidar.
        _live: Box<Live>,
    },
    Bare(Lidar),
}

impl Driven {
    fn start(
        arguments: &Arguments,
        host: String,
        node: NodeOptions,
        context: &mut Context,
    ) -> anyhow::Result<Self> {
        let notices = Notices::default();
        if arguments.no_publish {
            let parameters = node.parameters.keys().map(String::as_str);
            let unused: Vec<&str> = parameters.filter(|name| *name != "scanner_ip").collect();
            if !unused.is_empty() {
                let text = format!(
                    "--no-publish makes no node, so its parameters change nothing: {}",
                    unused.join(", ")
                );
                context.printer.warning(&text);
            }
            let settings = arguments.lidar.settings(host)?;
            let sink = Arc::new(Events(notices.clone()));
            return Ok(Self {
                kind: Kind::Bare(Lidar::start(settings, &TimeBase::machine(), sink)?),
                notices,
                interrupt: Interrupt::new()?,
            });
        }
        let live = Live::join_beside(&arguments.live, context)?;
        let node = RosNode::new(Arc::clone(live.participant()), node)?;
        let reported = notices.clone();
        node.set_reporter(move |severity, text| reported.add(severity, text));
        let lidar = LidarNode::new(&node, arguments.lidar.options(host)?)?;
        let interrupt = live.interrupt().clone();
        let kind = Kind::Node {
            lidar,
            _live: Box::new(live),
        };
        Ok(Self {
            kind,
            notices,
            interrupt,
        })
    }

    fn status(&self) -> LidarStatus {
        match &self.kind {
            Kind::Node { lidar, .. } => lidar.status(),
            Kind::Bare(lidar) => lidar.status(),
        }
    }

    /// Shows the clock until it is enough; whether packets were lost.
    fn show(
        &self,
        arguments: &Arguments,
        device: Option<&SimulatedLidar>,
        context: &mut Context,
    ) -> anyhow::Result<bool> {
        let clock = Clock::<Steady>::new();
        let wait = WaitOptions::new().cancel(self.interrupt.token());
        let end = arguments
            .duration
            .map(|duration| clock.now().saturating_add(duration));
        let mut lines = Lines::new(arguments.format);
        let mut next = clock.now();
        for shown in 1_u64.. {
            next = next.saturating_add(INTERVAL).max(clock.now());
            let until = end.map_or(next, |end| next.min(end));
            let interrupted = !clock.sleep_until_with(until, &wait).is_reached();
            self.notices.print(context);
            lines.show(&self.status(), device, context)?;
            context.printer.flush()?;
            let over = interrupted || end.is_some_and(|end| clock.now() >= end);
            if over || arguments.limit.is_some_and(|limit| shown >= limit) {
                break;
            }
        }
        Ok(self.report(context))
    }

    fn report(&self, context: &mut Context) -> bool {
        let status = self.status();
        if let Kind::Node { lidar, .. } = &self.kind {
            let scans = counted(lidar.published(), "scan");
            let topic = lidar.options().topic;
            context
                .printer
                .note(&format!("published {scans} on {topic}"));
            if lidar.unpublished() > 0 {
                let messages = counted(lidar.unpublished(), "message");
                let text = format!("{messages} were left out or could not be published");
                context.printer.warning(&text);
            }
        }
        let unpublished = match &self.kind {
            Kind::Node { lidar, .. } => lidar.unpublished(),
            Kind::Bare(_) => 0,
        };
        unpublished > 0 || report_lost(&status, context)
    }
}

/// Says what was lost between the device and us; false if nothing was.
fn report_lost(status: &LidarStatus, context: &mut Context) -> bool {
    let (scans, packets) = (&status.scans, &status.packets);
    let packets_lost = scans.packets_lost + packets.bad > 0;
    if packets_lost {
        context.printer.loss(&format!(
            "{} lost of {}, {} damaged; {} incomplete, {} lost",
            counted(scans.packets_lost, "packet"),
            grouped(scans.packets + scans.packets_lost),
            grouped(packets.bad),
            counted(scans.scans_incomplete, "scan"),
            grouped(scans.scans_lost),
        ));
    }
    if packets.skipped_bytes > 0 {
        let bytes = counted(packets.skipped_bytes, "byte");
        let text = format!("{bytes} of the stream belonged to no packet");
        context.printer.loss(&text);
    }
    if scans.scans_missed > 0 {
        let missed = counted(scans.scans_missed, "scan");
        let text = format!("{missed} missed while the device was not connected");
        context.printer.loss(&text);
    }
    let broken = status.connections.saturating_sub(1 + status.reconnections);
    if broken > 0 {
        let text = format!("the connection broke {}", counted(broken, "time"));
        context.printer.loss(&text);
    }
    let gone = scans.packets > 0 && status.link != LinkState::Running;
    if gone {
        let why = status.last_error.as_deref().unwrap_or("connecting");
        let text = format!("the device is not connected at the end: {why}");
        context.printer.loss(&text);
    }
    packets_lost || packets.skipped_bytes + scans.scans_missed + broken > 0 || gone
}
