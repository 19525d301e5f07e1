//! Which lidar, and how to work with it: flags of `sync pf`.

use std::net::IpAddr;

use clap::{Args, ValueEnum};
use timeloom_node::{Incomplete, LidarOptions};
use timeloom_pf::{LidarSettings, PacketType, TimesyncMethod, TimesyncSettings, Transport};
use timeloom_sync::{Averaging, Limits};
use timeloom_time::Duration;

use crate::failure::Failure;

/// How packets come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum TransportChoice {
    /// Datagrams: right where time matters
    #[default]
    Udp,
    /// A connection: nothing is lost, but packets wait for each other
    Tcp,
}

/// What the vendor's averages take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AveragingChoice {
    /// The mean offset
    Mean,
    /// A least-squares line
    Regression,
}

/// The device, its packets and its clock.
#[derive(Debug, Args)]
pub(crate) struct LidarArguments {
    /// Name or address of the device, with :PORT if it is not 80
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// Name of the node
    #[arg(long, value_name = "NAME", default_value = "pf_driver")]
    pub(crate) node_name: String,
    /// Where scans are published; layers of an R2300 have _0, _1, … behind it
    #[arg(long, value_name = "TOPIC", default_value = "/scan")]
    topic: String,
    /// Frame of the scans
    #[arg(long, value_name = "FRAME", default_value = "scanner_link")]
    frame_id: String,
    /// Leave out scans with points missing; otherwise these points are not a number
    #[arg(long)]
    drop_incomplete: bool,
    /// How packets come
    #[arg(
        long,
        value_enum,
        default_value_t,
        value_name = "HOW",
        help_heading = "Device"
    )]
    transport: TransportChoice,
    /// What each point holds: A, B, C or C1 [default: C, or C1 of an R2300]
    #[arg(long, value_name = "TYPE", value_parser = packet_type, help_heading = "Device")]
    packet_type: Option<PacketType>,
    /// Set a parameter of the device, such as `scan_frequency=20`; may be repeated
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = assignment, help_heading = "Device")]
    parameters: Vec<(String, String)>,
    /// Angle of the first point, in 1/10000 degree
    #[arg(
        long,
        value_name = "ANGLE",
        allow_negative_numbers = true,
        help_heading = "Device"
    )]
    start_angle: Option<i32>,
    /// The most points of a scan
    #[arg(long, value_name = "COUNT", help_heading = "Device")]
    max_points: Option<u32>,
    /// Scans to leave out after each
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 0,
        help_heading = "Device"
    )]
    skip_scans: u16,
    /// The device stops without a sign of life for this many milliseconds; 0 turns it off
    #[arg(
        long,
        value_name = "MILLISECONDS",
        default_value_t = 60_000,
        help_heading = "Device"
    )]
    watchdog: u32,
    /// Where datagrams are received [default: the address that the device can reach]
    #[arg(long, value_name = "ADDRESS", help_heading = "Device")]
    receive_address: Option<IpAddr>,
    /// Port for datagrams; 0 for any
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 0,
        help_heading = "Device"
    )]
    receive_port: u16,
    #[command(flatten)]
    clock: ClockArguments,
}

/// How the clocks are related.
#[derive(Debug, Args)]
#[command(next_help_heading = "Clock")]
struct ClockArguments {
    /// envelope, psle, hull; or as the vendor's driver: average, requests, simple, off [default: envelope]
    #[arg(long, value_name = "NAME", value_parser = method_name)]
    method: Option<String>,
    /// What average and requests take [default: mean]; alone it asks for average
    #[arg(long, value_enum, value_name = "HOW")]
    averaging: Option<AveragingChoice>,
    /// From one request for the device's time to the next; 0 for none
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 250)]
    interval: u32,
    /// How long samples count for average and requests [default: 10000]; 0 alone asks for simple
    #[arg(long, value_name = "MILLISECONDS")]
    period: Option<u32>,
    /// Added to every stamp
    #[arg(
        long,
        value_name = "MICROSECONDS",
        default_value_t = 0,
        allow_negative_numbers = true
    )]
    offset: i64,
    /// No packet takes less than this many microseconds; it is taken off every stamp
    #[arg(long, value_name = "MICROSECONDS", default_value_t = 0)]
    least_delay: u32,
    /// Take `iq_timestamp_raw` of the packets for the time of sending
    #[arg(long)]
    send_stamps: bool,
}

impl LidarArguments {
    /// The settings of the driver.
    pub(crate) fn settings(&self, host: String) -> anyhow::Result<LidarSettings> {
        let mut settings = LidarSettings::new(host);
        settings.transport = match self.transport {
            TransportChoice::Udp => Transport::Udp,
            TransportChoice::Tcp => Transport::Tcp,
        };
        settings.packet_type = self.packet_type;
        settings.parameters.clone_from(&self.parameters);
        settings.start_angle = self.start_angle;
        settings.max_num_points_scan = self.max_points;
        settings.skip_scans = self.skip_scans;
        settings.receive_address = self.receive_address;
        settings.receive_port = self.receive_port;
        let watchdog = Duration::from_millis(i64::from(self.watchdog));
        settings.watchdog = (self.watchdog > 0).then_some(watchdog);
        settings.timesync = self.clock.settings()?;
        let checked = settings.check();
        checked.map_err(|error| Failure::usage(error.to_string()))?;
        Ok(settings)
    }

    /// The options of the node.
    pub(crate) fn options(&self, host: String) -> anyhow::Result<LidarOptions> {
        let mut options = LidarOptions::new(self.settings(host)?);
        options.topic.clone_from(&self.topic);
        options.frame_id.clone_from(&self.frame_id);
        if self.drop_incomplete {
            options.incomplete = Incomplete::Drop;
        }
        Ok(options)
    }
}

impl ClockArguments {
    fn settings(&self) -> anyhow::Result<TimesyncSettings> {
        let averaging = match self.averaging {
            None | Some(AveragingChoice::Mean) => Averaging::Mean,
            Some(AveragingChoice::Regression) => Averaging::Regression,
        };
        let own = match (self.averaging, self.period) {
            (Some(_), _) => "average",
            (None, Some(0)) => "simple",
            (None, _) => "envelope",
        };
        let method = self.method.as_deref().unwrap_or(own);
        let method = TimesyncMethod::named(method, averaging)?;
        // The node would take zero for a wish for another method, and the estimators have no use for it.
        let averages = !matches!(method, TimesyncMethod::Estimator(_));
        let period = self.period.filter(|_| averages).unwrap_or(10_000);
        Ok(TimesyncSettings {
            method,
            interval: Duration::from_millis(i64::from(self.interval)),
            period: Duration::from_millis(i64::from(period)),
            offset: Duration::from_micros(self.offset),
            send_stamps: self.send_stamps,
            limits: Limits {
                least_delay: Duration::from_micros(i64::from(self.least_delay)),
                ..Limits::default()
            },
        })
    }
}

fn packet_type(text: &str) -> Result<PacketType, String> {
    text.parse()
        .map_err(|error: timeloom_pf::Error| error.to_string())
}

fn method_name(text: &str) -> Result<String, String> {
    let known = TimesyncMethod::named(text, Averaging::Mean);
    known
        .map(|_| text.to_owned())
        .map_err(|error| error.to_string())
}

fn assignment(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let (name, value) = pair.ok_or("name=value is expected")?;
    Ok((name.to_owned(), value.to_owned()))
}
