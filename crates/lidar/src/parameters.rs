//! The node's parameters, with the names of the vendor's driver.

use std::collections::BTreeSet;

use timeloom_node::{ParameterAccess, ParameterValue, RosNode, Severity};
use timeloom_pf::{LidarSettings, PacketType, TimesyncMethod, TimesyncSettings, Transport};
use timeloom_sync::Averaging;
use timeloom_time::Duration;

use crate::lidar_options::{Layers, LidarOptions};
use crate::{Error, Result};

/// The watchdog timeout of the device itself.
const DEVICES_OWN: Duration = Duration::from_secs(60);

/// Parameters that can be set while the node runs, as with the vendor's driver.
pub(crate) const WRITABLE: [&str; 14] = [
    "pfsdp_init",
    "port",
    "transport",
    "watchdog",
    "watchdogtimeout",
    "timesync_method",
    "timesync_averaging",
    "timesync_interval",
    "timesync_period",
    "timesync_offset_usec",
    "start_angle",
    "max_num_points_scan",
    "skip_scans",
    "packet_type",
];

/// Declares the parameters with the options as defaults. Returns the options by the parameters, and the names of the
/// parameters that were set explicitly.
pub(crate) fn declare(
    node: &RosNode,
    options: &LidarOptions,
) -> Result<(LidarOptions, BTreeSet<String>)> {
    let names = METHOD_NAMES.iter();
    let given = names.filter(|name| node.parameter(name).is_some());
    let given: BTreeSet<String> = given.map(|name| (*name).to_owned()).collect();
    let declare = |name: &str, default: ParameterValue, text: &str| {
        let access = if WRITABLE.contains(&name) {
            ParameterAccess::Writable
        } else {
            ParameterAccess::ReadOnly
        };
        Ok(node.declare_parameter_with(name, default, text, access)?)
    };
    let source = Source {
        value: &declare,
        given: &given,
    };
    let read = source.read(options)?;
    if let Some(why) = source.other_method(options, &read) {
        node.log(Severity::Warn, &why);
    }
    Ok((read, given))
}

/// The options by the parameters with these changes; `given` are the names that were set explicitly so far.
pub(crate) fn changed(
    node: &RosNode,
    options: &LidarOptions,
    given: &BTreeSet<String>,
    changes: &[(String, ParameterValue)],
) -> Result<LidarOptions> {
    let value = |name: &str, default: ParameterValue, _text: &str| {
        let change = changes.iter().find(|(changed, _)| changed == name);
        let change = change.map(|(_, value)| value.clone());
        Ok(change.or_else(|| node.parameter(name)).unwrap_or(default))
    };
    Source {
        value: &value,
        given,
    }
    .read(options)
}

/// Parameters that choose a method.
const METHOD_NAMES: [&str; 5] = [
    "timesync_method",
    "timesync_averaging",
    "timesync_regression",
    "timesync_interval",
    "timesync_period",
];

type ValueOf<'a> = dyn Fn(&str, ParameterValue, &str) -> Result<ParameterValue> + 'a;

/// Reads parameters: name, default and description in, value out.
struct Source<'a> {
    value: &'a ValueOf<'a>,
    /// The parameters of [`METHOD_NAMES`] that were set explicitly.
    given: &'a BTreeSet<String>,
}

impl Source<'_> {
    fn read(&self, options: &LidarOptions) -> Result<LidarOptions> {
        let mut settings = options.settings.clone();
        self.device(&mut settings)?;
        self.handle(&mut settings)?;
        self.timesync(&mut settings)?;
        settings.check()?;
        let text = "Expected product family, such as R2000; another one gives a warning";
        let device = self.text("device", &options.device, text)?;
        let corrected = options.layers == Layers::Corrected;
        let text = "Whether to apply the manufacturer's correction to points of layers";
        let corrected = self.boolean("apply_correction", corrected, text)?;
        Ok(LidarOptions {
            topic: self.text("scan_topic", &options.topic, "Topic of the scans")?,
            frame_id: self.text("frame_id", &options.frame_id, "Frame of the scans")?,
            device,
            layers: if corrected {
                Layers::Corrected
            } else {
                Layers::Plane
            },
            settings,
            ..options.clone()
        })
    }

    /// A warning if older parameters have chosen another method.
    fn other_method(&self, asked: &LidarOptions, read: &LidarOptions) -> Option<String> {
        let meant = read.settings.timesync.method;
        let chosen = self.given.contains("timesync_method");
        if chosen || meant == asked.settings.timesync.method {
            return None;
        }
        let names: Vec<&str> = self.given.iter().map(String::as_str).collect();
        Some(format!(
            "{} without timesync_method selects the method {meant}, as in the vendor's driver; set timesync_method to \
             choose another",
            names.join(", ")
        ))
    }

    fn device(&self, settings: &mut LidarSettings) -> Result<()> {
        settings.host = self.text(
            "scanner_ip",
            &settings.host,
            "Name or address of the device",
        )?;
        let transport = settings.transport.to_string();
        let transport = self.text("transport", &transport, "Transport of packets: udp or tcp")?;
        settings.transport = transport.parse::<Transport>()?;
        let port = i64::from(settings.receive_port);
        let port = self.number("port", port, "UDP port to receive on; 0 for any")?;
        settings.receive_port = within("port", port)?;
        let pairs = settings.parameters.iter();
        let pairs: Vec<String> = pairs
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let text = "Parameters to set on the device, as name=value";
        // Those of the command line come first.
        for pair in self.texts("pfsdp_init", &pairs, text)? {
            if !pairs.contains(&pair) {
                settings.parameters.push(assignment(&pair)?);
            }
        }
        Ok(())
    }

    fn handle(&self, settings: &mut LidarSettings) -> Result<()> {
        let own = settings.packet_type.map_or("", PacketType::name);
        let packet_type = self.text(
            "packet_type",
            own,
            "A, B, C or C1; empty for the device's own",
        )?;
        settings.packet_type = match packet_type.as_str() {
            "" => None,
            name => Some(name.parse()?),
        };
        let start = i64::from(settings.start_angle.unwrap_or(-1_800_000));
        let start = self.number(
            "start_angle",
            start,
            "Angle of the first point, in 1/10000 degree",
        )?;
        settings.start_angle =
            Some(within("start_angle", start)?).filter(|angle| *angle != -1_800_000);
        let most = i64::from(settings.max_num_points_scan.unwrap_or(0));
        let most = self.number(
            "max_num_points_scan",
            most,
            "The most points of a scan; 0 for all",
        )?;
        settings.max_num_points_scan =
            Some(within("max_num_points_scan", most)?).filter(|most| *most > 0);
        let skip = i64::from(settings.skip_scans);
        let skip = self.number("skip_scans", skip, "Scans to skip after each scan")?;
        settings.skip_scans = within("skip_scans", skip)?;
        let on = self.boolean(
            "watchdog",
            settings.watchdog.is_some(),
            "Whether the device stops sending when it is not kept alive",
        )?;
        let set = settings.watchdog.filter(|timeout| *timeout != DEVICES_OWN);
        let text = "Watchdog timeout in ms; 0 for the device's own 60000";
        let timeout = self.millis("watchdogtimeout", set.unwrap_or_default(), text)?;
        let timeout = if timeout.is_zero() {
            DEVICES_OWN
        } else {
            timeout
        };
        settings.watchdog = on.then_some(timeout);
        Ok(())
    }

    fn timesync(&self, settings: &mut LidarSettings) -> Result<()> {
        let timesync = &mut settings.timesync;
        let averaging = match timesync.method {
            TimesyncMethod::Average(averaging) | TimesyncMethod::Requests(averaging) => averaging,
            _ => Averaging::Mean,
        };
        let regression = averaging == Averaging::Regression;
        let text = "Whether average and requests use a regression instead of the mean";
        let regression = self.boolean("timesync_regression", regression, text)?;
        let name = if regression { "regression" } else { "mean" };
        let text = "Averaging of average and requests: mean or regression";
        let averaging = match self.text("timesync_averaging", name, text)?.as_str() {
            "mean" => Averaging::Mean,
            "regression" => Averaging::Regression,
            other => return Err(wrong("timesync_averaging", other, "mean or regression")),
        };
        let text = "envelope, psle, hull, average, requests, simple or off";
        let method = self.text("timesync_method", timesync.method.name(), text)?;
        let text = "Interval of requests for the device's time, in ms; 0 for none";
        timesync.interval = self.millis("timesync_interval", timesync.interval, text)?;
        let text = "Averaging period of average and requests, in ms; without effect on the other methods; 0 alone selects simple";
        timesync.period = self.millis("timesync_period", timesync.period, text)?;
        let method = TimesyncMethod::named(&method, averaging)?;
        timesync.method = self.method(method, averaging, timesync);
        let offset = timesync.offset.nanos() / 1_000;
        let text = "Added to every stamp, in µs";
        timesync.offset =
            Duration::from_micros(self.number("timesync_offset_usec", offset, text)?);
        let text = "Whether iq_timestamp_raw is used as the send time";
        timesync.send_stamps = self.boolean("timesync_send_stamps", timesync.send_stamps, text)?;
        Ok(())
    }

    /// The method. Without `timesync_method`, the older parameters choose it: averages are over requests if there is an
    /// interval, else over packets, and a period of zero means no averages.
    fn method(
        &self,
        method: TimesyncMethod,
        averaging: Averaging,
        timesync: &TimesyncSettings,
    ) -> TimesyncMethod {
        let given = |name: &str| self.given.contains(name);
        if given("timesync_method") || method != TimesyncMethod::default() {
            return method;
        }
        let requests = given("timesync_interval") && !timesync.interval.is_zero();
        if timesync.period.is_zero() && !requests {
            return TimesyncMethod::Simple;
        }
        if !(given("timesync_averaging") || given("timesync_regression")) {
            return method;
        }
        if requests {
            TimesyncMethod::Requests(averaging)
        } else {
            TimesyncMethod::Average(averaging)
        }
    }

    fn declare(
        &self,
        name: &str,
        default: impl Into<ParameterValue>,
        text: &str,
    ) -> Result<ParameterValue> {
        (self.value)(name, default.into(), text)
    }

    fn text(&self, name: &str, default: &str, text: &str) -> Result<String> {
        match self.declare(name, default, text)? {
            ParameterValue::String(value) => Ok(value),
            other => Err(wrong(name, other.type_name(), "a text")),
        }
    }

    fn texts(&self, name: &str, default: &[String], text: &str) -> Result<Vec<String>> {
        match self.declare(name, ParameterValue::Strings(default.to_vec()), text)? {
            ParameterValue::Strings(values) => Ok(values),
            other => Err(wrong(name, other.type_name(), "a list of texts")),
        }
    }

    fn number(&self, name: &str, default: i64, text: &str) -> Result<i64> {
        match self.declare(name, default, text)? {
            ParameterValue::Integer(value) => Ok(value),
            other => Err(wrong(name, other.type_name(), "a whole number")),
        }
    }

    fn millis(&self, name: &str, default: Duration, text: &str) -> Result<Duration> {
        let millis = self.number(name, default.nanos() / 1_000_000, text)?;
        Ok(Duration::from_millis(millis))
    }

    fn boolean(&self, name: &str, default: bool, text: &str) -> Result<bool> {
        match self.declare(name, default, text)? {
            ParameterValue::Bool(value) => Ok(value),
            other => Err(wrong(name, other.type_name(), "true or false")),
        }
    }
}

fn within<T: TryFrom<i64>>(name: &str, value: i64) -> Result<T> {
    T::try_from(value)
        .map_err(|_outside| wrong(name, &value.to_string(), "a number within its range"))
}

fn assignment(text: &str) -> Result<(String, String)> {
    let pair = text.split_once('=');
    let pair = pair.filter(|(name, _)| !name.trim().is_empty());
    let (name, value) = pair.ok_or_else(|| wrong("pfsdp_init", text, "name=value"))?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

fn wrong(name: &str, value: &str, expected: &'static str) -> Error {
    Error::Parameter {
        name: name.to_owned(),
        value: value.to_owned(),
        expected,
    }
}
