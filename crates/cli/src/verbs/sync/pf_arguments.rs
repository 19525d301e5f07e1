//! Which lidar, and how to work with it: flags of `sync pf`.

use std::net::IpAddr;

use clap::{Args, ValueEnum};
use timeloom_lidar::{Incomplete, Layers, LidarOptions};
use timeloom_pf::{LidarSettings, PacketType, TimesyncMethod, TimesyncSettings, Transport};
use timeloom_sync::{Averaging, Limits};
use timeloom_time::Duration;

use super::limits_arguments::positive;
use crate::failure::Failure;

/// Transport of packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum TransportChoice {
    /// Datagrams: right where time matters
    #[default]
    Udp,
    /// A connection: nothing is lost, but packets wait for each other
    Tcp,
}

/// Input of the vendor's averaging.
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
    /// Topic of the scans [default: /scan]; for an R2300 the topic of the cloud, and its layers have the suffixes _1, _2, …
    #[arg(long, value_name = "TOPIC")]
    topic: Option<String>,
    /// Frame of the scans [default: `scanner_link`]
    #[arg(long, value_name = "FRAME")]
    frame_id: Option<String>,
    /// Points of an R2300's layers lie where the manufacturer has measured them, not on a plane
    #[arg(long)]
    apply_correction: bool,
    /// Leave out scans with points missing; otherwise these points are not a number
    #[arg(long)]
    drop_incomplete: bool,
    /// Transport of packets [default: udp]
    #[arg(long, value_enum, value_name = "HOW", help_heading = "Device")]
    transport: Option<TransportChoice>,
    /// Packet type: A, B, C or C1 [default: C, or C1 for an R2300]
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
    /// Largest number of points in a scan
    #[arg(long, value_name = "COUNT", help_heading = "Device")]
    max_points: Option<u32>,
    /// Scans to leave out after each [default: 0]
    #[arg(long, value_name = "COUNT", help_heading = "Device")]
    skip_scans: Option<u16>,
    /// Watchdog: the device stops after this many milliseconds without contact [default: 60000]; 0 turns it off
    #[arg(long, value_name = "MILLISECONDS", help_heading = "Device")]
    watchdog: Option<u32>,
    /// Address on which datagrams are received [default: the one that the device can reach]
    #[arg(long, value_name = "ADDRESS", help_heading = "Device")]
    receive_address: Option<IpAddr>,
    /// Port for datagrams [default: any]
    #[arg(long, value_name = "PORT", help_heading = "Device")]
    receive_port: Option<u16>,
    #[command(flatten)]
    clock: ClockArguments,
}

/// Method of clock synchronisation.
#[derive(Debug, Args)]
#[command(next_help_heading = "Clock")]
struct ClockArguments {
    /// envelope, psle, hull; or as the vendor's driver: average, requests, simple, off [default: envelope]
    #[arg(long, value_name = "NAME", value_parser = method_name)]
    method: Option<String>,
    /// Estimate of average and requests [default: mean]; without --method it selects requests if there is an --interval,
    /// else for average
    #[arg(long, value_enum, value_name = "HOW")]
    averaging: Option<AveragingChoice>,
    /// From one request for the device's time to the next [default: 250]; 0 for none
    #[arg(long, value_name = "MILLISECONDS")]
    interval: Option<u32>,
    /// Age limit of samples for average and requests [default: 10000]; 0 without --method selects simple
    #[arg(long, value_name = "MILLISECONDS")]
    period: Option<u32>,
    /// Added to every stamp [default: 0]
    #[arg(long, value_name = "MICROSECONDS", allow_negative_numbers = true)]
    offset: Option<i64>,
    /// Least delay of a packet in microseconds; it is subtracted from every stamp
    #[arg(long, value_name = "MICROSECONDS", default_value_t = 0)]
    least_delay: u32,
    /// Take `iq_timestamp_raw` of the packets for the time of sending
    #[arg(long)]
    send_stamps: bool,
    /// The clocks never differ by more than this
    #[arg(long, value_name = "PPM", default_value_t = Limits::default().skew_ppm, value_parser = positive)]
    max_skew: f64,
    /// The rate of the clocks never changes faster than this, in ppm per minute
    #[arg(long, value_name = "PPM", default_value_t = Limits::default().drift_ppm_per_minute, value_parser = positive)]
    max_drift: f64,
}

impl LidarArguments {
    /// The settings of the driver.
    pub(crate) fn settings(&self, host: String) -> anyhow::Result<LidarSettings> {
        let mut settings = LidarSettings::new(host);
        settings.transport = match self.transport.unwrap_or_default() {
            TransportChoice::Udp => Transport::Udp,
            TransportChoice::Tcp => Transport::Tcp,
        };
        settings.packet_type = self.packet_type;
        settings.parameters.clone_from(&self.parameters);
        settings.start_angle = self.start_angle;
        settings.max_num_points_scan = self.max_points;
        settings.skip_scans = self.skip_scans.unwrap_or_default();
        settings.receive_address = self.receive_address;
        settings.receive_port = self.receive_port.unwrap_or_default();
        let watchdog = self.watchdog.unwrap_or(60_000);
        let patience = Duration::from_millis(i64::from(watchdog));
        settings.watchdog = (watchdog > 0).then_some(patience);
        settings.timesync = self.clock.settings()?;
        let checked = settings.check();
        checked.map_err(|error| Failure::usage(error.to_string()))?;
        Ok(settings)
    }

    /// The parameters of the node that flags have set: a flag counts more than a parameter.
    pub(crate) fn given(&self) -> impl Iterator<Item = &'static str> {
        let clock = &self.clock;
        [
            ("scanner_ip", self.host.is_some()),
            ("transport", self.transport.is_some()),
            ("packet_type", self.packet_type.is_some()),
            ("start_angle", self.start_angle.is_some()),
            ("max_num_points_scan", self.max_points.is_some()),
            ("skip_scans", self.skip_scans.is_some()),
            ("watchdog", self.watchdog.is_some()),
            ("watchdogtimeout", self.watchdog.is_some()),
            ("port", self.receive_port.is_some()),
            ("scan_topic", self.topic.is_some()),
            ("frame_id", self.frame_id.is_some()),
            ("apply_correction", self.apply_correction),
            ("timesync_method", clock.method.is_some()),
            ("timesync_averaging", clock.averaging.is_some()),
            ("timesync_regression", clock.averaging.is_some()),
            ("timesync_interval", clock.interval.is_some()),
            ("timesync_period", clock.period.is_some()),
            ("timesync_offset_usec", clock.offset.is_some()),
            ("timesync_send_stamps", clock.send_stamps),
        ]
        .into_iter()
        .filter_map(|(name, given)| given.then_some(name))
    }

    /// The options of the node.
    pub(crate) fn options(&self, host: String) -> anyhow::Result<LidarOptions> {
        let mut options = LidarOptions::new(self.settings(host)?);
        if let Some(topic) = &self.topic {
            options.topic.clone_from(topic);
        }
        if let Some(frame_id) = &self.frame_id {
            options.frame_id.clone_from(frame_id);
        }
        if self.apply_correction {
            options.layers = Layers::Corrected;
        }
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
        // As with the parameters of the node: an interval means requests.
        let requests = self.interval.is_some_and(|interval| interval > 0);
        let own = match (self.averaging, self.period) {
            (Some(_), _) if requests => "requests",
            (Some(_), _) => "average",
            (None, Some(0)) if !requests => "simple",
            (None, _) => "envelope",
        };
        let method = self.method.as_deref().unwrap_or(own);
        let method = TimesyncMethod::named(method, averaging)?;
        // The node would take zero for a wish for another method, and the estimators have no use for it.
        let averages = !matches!(method, TimesyncMethod::Estimator(_));
        let period = self.period.filter(|_| averages).unwrap_or(10_000);
        Ok(TimesyncSettings {
            method,
            interval: Duration::from_millis(i64::from(self.interval.unwrap_or(250))),
            period: Duration::from_millis(i64::from(period)),
            offset: Duration::from_micros(self.offset.unwrap_or_default()),
            send_stamps: self.send_stamps,
            limits: Limits {
                least_delay: Duration::from_micros(i64::from(self.least_delay)),
                skew_ppm: self.max_skew,
                drift_ppm_per_minute: self.max_drift,
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
    let (name, value) = pair.ok_or("expected name=value")?;
    Ok((name.to_owned(), value.to_owned()))
}
