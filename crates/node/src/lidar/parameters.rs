//! The node's parameters, with the names of the vendor's driver.

use timeloom_pf::{LidarSettings, PacketType, TimesyncMethod, Transport};
use timeloom_sync::Averaging;
use timeloom_time::Duration;

use super::lidar_options::LidarOptions;
use crate::{Error, ParameterAccess, ParameterValue, Result, RosNode, Severity};

/// Declares the parameters with the options as defaults; the options as the parameters have them then.
pub(super) fn declare(node: &RosNode, options: LidarOptions) -> Result<LidarOptions> {
    let declare = Declaration { node };
    let LidarOptions {
        mut settings,
        topic,
        frame_id,
        ..
    } = options;
    declare.device(&mut settings)?;
    declare.handle(&mut settings)?;
    declare.timesync(&mut settings)?;
    settings.check()?;
    Ok(LidarOptions {
        topic: declare.text("scan_topic", &topic, "Where scans are published")?,
        frame_id: declare.text("frame_id", &frame_id, "The frame of the scans")?,
        settings,
        ..options
    })
}

struct Declaration<'a> {
    node: &'a RosNode,
}

impl Declaration<'_> {
    fn device(&self, settings: &mut LidarSettings) -> Result<()> {
        settings.host = self.text(
            "scanner_ip",
            &settings.host,
            "Name or address of the device",
        )?;
        let transport = settings.transport.to_string();
        let transport = self.text("transport", &transport, "How packets come: udp or tcp")?;
        settings.transport = transport.parse::<Transport>()?;
        let port = i64::from(settings.receive_port);
        let port = self.number("port", port, "Where datagrams are received; 0 for any port")?;
        settings.receive_port = within("port", port)?;
        let pairs = settings.parameters.iter();
        let pairs: Vec<String> = pairs
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let text = "Parameters of the device to be set, as name=value";
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
        let skip = self.number("skip_scans", skip, "Scans to leave out after each")?;
        settings.skip_scans = within("skip_scans", skip)?;
        let on = self.boolean(
            "watchdog",
            settings.watchdog.is_some(),
            "Whether the device stops without a sign of life",
        )?;
        let timeout = settings.watchdog.unwrap_or(Duration::from_secs(60));
        let timeout = self.millis("watchdogtimeout", timeout, "For how long, in ms")?;
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
        let text = "Whether average and requests take a regression instead of the mean";
        let regression = self.boolean("timesync_regression", regression, text)?;
        let name = if regression { "regression" } else { "mean" };
        let text = "The same in words: mean or regression";
        let averaging = match self.text("timesync_averaging", name, text)?.as_str() {
            "mean" => Averaging::Mean,
            "regression" => Averaging::Regression,
            other => return Err(wrong("timesync_averaging", other, "mean or regression")),
        };
        let text = "envelope, psle, hull, mean, regression, average, requests, simple or off";
        let method = self.text("timesync_method", timesync.method.name(), text)?;
        let text = "From one request for the device's time to the next, in ms; 0 for none";
        timesync.interval = self.millis("timesync_interval", timesync.interval, text)?;
        let text =
            "How long samples count for average and requests, in ms; 0 alone asks for simple";
        timesync.period = self.millis("timesync_period", timesync.period, text)?;
        timesync.method = self.method(&method, averaging, timesync.period)?;
        let offset = timesync.offset.nanos() / 1_000;
        let text = "Added to every stamp, in µs";
        timesync.offset =
            Duration::from_micros(self.number("timesync_offset_usec", offset, text)?);
        let text = "Whether iq_timestamp_raw is taken for the time of sending";
        timesync.send_stamps = self.boolean("timesync_send_stamps", timesync.send_stamps, text)?;
        Ok(())
    }

    /// The method of this name. Who only asks for a regression, or for no period at all, as one did before there were
    /// methods, gets what that meant.
    fn method(&self, name: &str, averaging: Averaging, period: Duration) -> Result<TimesyncMethod> {
        let method = TimesyncMethod::named(name, averaging)?;
        if method != TimesyncMethod::default() {
            return Ok(method);
        }
        let (asked, meant) = if period.is_zero() {
            ("timesync_period = 0", TimesyncMethod::Simple)
        } else if averaging == Averaging::Regression {
            ("timesync_regression", TimesyncMethod::Average(averaging))
        } else {
            return Ok(method);
        };
        let text =
            format!("{asked} asks for the method {meant}; set timesync_method to choose another");
        self.node.log(Severity::Warn, &text);
        Ok(meant)
    }

    /// All are read once, when the node starts.
    fn declare(
        &self,
        name: &str,
        default: impl Into<ParameterValue>,
        text: &str,
    ) -> Result<ParameterValue> {
        let access = ParameterAccess::ReadOnly;
        self.node
            .declare_parameter_with(name, default, text, access)
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

fn wrong(name: &str, value: &str, wanted: &str) -> Error {
    Error::Parameter {
        name: name.to_owned(),
        reason: format!("{value} is not {wanted}"),
    }
}
