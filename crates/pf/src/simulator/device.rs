use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use serde_json::{Map, Value, json};
use timeloom_time::{Duration, Steady, Time};

use super::clock_model::{ClockModel, SimulatedClock};
use super::options::SimulatorOptions;
use super::parameters;
use super::scan_output::ScanOutput;
use crate::http::unescape;
use crate::packet::PacketType;
use crate::pfsdp::ErrorCode;

/// The supported commands.
const COMMANDS: [&str; 16] = [
    "get_protocol_info",
    "list_parameters",
    "get_parameter",
    "set_parameter",
    "reset_parameter",
    "request_handle_udp",
    "request_handle_tcp",
    "start_scanoutput",
    "stop_scanoutput",
    "feed_watchdog",
    "release_handle",
    "reboot_device",
    "factory_reset",
    "list_iq_parameters",
    "get_iq_parameter",
    "set_iq_parameter",
];
/// As many handles as the real device has.
const MOST_HANDLES: usize = 8;
/// Duration of the status flag after a change of settings.
const NEW_SETTINGS: Duration = Duration::from_millis(500);

/// The destination of the packets of a handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Destination {
    Datagrams(SocketAddr),
    Connection,
}

#[derive(Debug, Clone)]
pub(super) struct OpenHandle {
    pub(super) output: ScanOutput,
    pub(super) destination: Destination,
    watchdog: Option<Duration>,
    fed: Time<Steady>,
    started: bool,
}

/// The action of the host after a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Effect {
    Nothing,
    /// The packets of this handle begin.
    Start(String),
    /// Restarts the device.
    Reboot,
}

/// The state of a simulated device, sans-IO: takes request targets and times, returns JSON.
#[derive(Debug)]
pub(super) struct Device {
    pub(super) options: SimulatorOptions,
    pub(super) clock: SimulatedClock,
    handles: BTreeMap<String, OpenHandle>,
    handles_made: u64,
    changed: Option<Time<Steady>>,
    /// Switched off until then.
    off_until: Option<Time<Steady>>,
    pub(super) boots: u32,
    /// The parameters of its switching inputs and outputs.
    iq: BTreeMap<String, String>,
}

type Arguments = BTreeMap<String, String>;
type Answer = Result<(Map<String, Value>, Effect), ErrorCode>;

impl Device {
    pub(super) fn new(options: SimulatorOptions, now: Time<Steady>) -> Self {
        Self {
            clock: SimulatedClock::new(options.clock, now),
            options,
            handles: BTreeMap::new(),
            handles_made: 0,
            changed: None,
            off_until: None,
            boots: 1,
            iq: iq_parameters(),
        }
    }

    /// Answers a request with status, JSON and the action to take. `open_port` returns the port of a new TCP handle.
    pub(super) fn answer(
        &mut self,
        target: &str,
        now: Time<Steady>,
        open_port: &mut dyn FnMut(&str) -> Option<u16>,
    ) -> (u16, Value, Effect) {
        self.expire(now);
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let Some(command) = path.strip_prefix("/cmd/") else {
            return (404, json!({}), Effect::Nothing);
        };
        let arguments: Arguments = query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| (unescape(name), unescape(value)))
            .collect();
        let answer = match command {
            "get_protocol_info" => Ok((protocol(), Effect::Nothing)),
            "list_parameters" => Ok((
                object("parameters", json!(parameters::names(&self.options))),
                Effect::Nothing,
            )),
            "get_parameter" => self.get_parameters(&arguments, now),
            "set_parameter" => self.set_parameters(&arguments, now),
            "request_handle_udp" => self.open(&arguments, now, destination(&arguments), open_port),
            "request_handle_tcp" => {
                self.open(&arguments, now, Ok(Destination::Connection), open_port)
            }
            "start_scanoutput" => self.start(&arguments, now),
            "stop_scanoutput" => self.with_handle(&arguments, |handle| handle.started = false),
            "feed_watchdog" => self.with_handle(&arguments, |handle| handle.fed = now),
            "release_handle" => self.release(&arguments),
            "reboot_device" => Ok((Map::new(), Effect::Reboot)),
            "reset_parameter" => self.reset_parameters(&arguments, now),
            "factory_reset" => self.factory_reset(),
            "list_iq_parameters" => Ok((
                object("iq_parameters", json!(self.iq.keys().collect::<Vec<_>>())),
                Effect::Nothing,
            )),
            "get_iq_parameter" => self.get_iq(&arguments),
            "set_iq_parameter" => self.set_iq(&arguments),
            _ => return (404, json!({}), Effect::Nothing),
        };
        let (mut body, code, effect) = match answer {
            Ok((body, effect)) => (body, ErrorCode::SUCCESS, effect),
            Err(code) => (Map::new(), code, Effect::Nothing),
        };
        body.insert("error_code".to_owned(), json!(code.0));
        body.insert("error_text".to_owned(), json!(code.meaning()));
        (200, Value::Object(body), effect)
    }

    /// The handle, if its packets are to be sent.
    pub(super) fn active(&mut self, name: &str, now: Time<Steady>) -> Option<&OpenHandle> {
        self.expire(now);
        self.handles.get(name).filter(|handle| handle.started)
    }

    /// Switches off for a while; then everything is as new, and the clock begins at zero.
    pub(super) fn reboot(&mut self, now: Time<Steady>, off_for: Duration) {
        let on = now.saturating_add(off_for);
        let model = ClockModel {
            start_s: 0.0,
            ..self.options.clock
        };
        self.clock = SimulatedClock::new(model, on);
        self.handles.clear();
        self.off_until = Some(on);
        self.changed = None;
        self.boots += 1;
    }

    pub(super) fn is_off(&self, now: Time<Steady>) -> bool {
        self.off_until.is_some_and(|until| now < until)
    }

    /// The flags of the packets now.
    pub(super) fn status(&self, now: Time<Steady>) -> u32 {
        let new = self.changed.is_some_and(|since| now - since < NEW_SETTINGS);
        self.options.faults.status | u32::from(new) << 1
    }

    /// Forgets handles whose watchdog was not fed.
    fn expire(&mut self, now: Time<Steady>) {
        self.handles.retain(|_, handle| {
            let patience = handle.watchdog;
            patience.is_none_or(|timeout| now - handle.fed < timeout)
        });
    }

    fn get_parameters(&self, arguments: &Arguments, now: Time<Steady>) -> Answer {
        let list = arguments.get("list").ok_or(ErrorCode::ARGUMENT_MISSING)?;
        let mut body = Map::new();
        for name in list.split(';').filter(|name| !name.is_empty()) {
            let value = parameters::get(name, &self.options, &self.clock, now);
            body.insert(name.to_owned(), value.ok_or(ErrorCode::UNKNOWN_PARAMETER)?);
        }
        Ok((body, Effect::Nothing))
    }

    fn set_parameters(&mut self, arguments: &Arguments, now: Time<Steady>) -> Answer {
        for (name, value) in arguments {
            parameters::set(name, value, &mut self.options)?;
        }
        self.changed = Some(now);
        Ok((Map::new(), Effect::Nothing))
    }

    fn open(
        &mut self,
        arguments: &Arguments,
        now: Time<Steady>,
        destination: Result<Destination, ErrorCode>,
        open_port: &mut dyn FnMut(&str) -> Option<u16>,
    ) -> Answer {
        let destination = destination?;
        let output = output(arguments)?;
        if !self.options.product.sends(output.packet_type) {
            return Err(ErrorCode::INVALID_VALUE);
        }
        if self.handles.len() >= MOST_HANDLES {
            return Err(ErrorCode::IN_USE);
        }
        self.handles_made += 1;
        let name = format!(
            "s{:08x}",
            self.handles_made.wrapping_mul(0x9e37_79b9) & 0xffff_ffff
        );
        let mut body = object("handle", json!(name));
        if destination == Destination::Connection {
            let port = open_port(&name).ok_or(ErrorCode::INTERNAL)?;
            body.insert("port".to_owned(), json!(port));
        }
        let handle = OpenHandle {
            output,
            destination,
            watchdog: watchdog(arguments)?,
            fed: now,
            started: false,
        };
        self.handles.insert(name, handle);
        Ok((body, Effect::Nothing))
    }

    fn start(&mut self, arguments: &Arguments, now: Time<Steady>) -> Answer {
        let name = arguments.get("handle").ok_or(ErrorCode::ARGUMENT_MISSING)?;
        let handle = self
            .handles
            .get_mut(name)
            .ok_or(ErrorCode::INVALID_HANDLE)?;
        handle.fed = now;
        let running = std::mem::replace(&mut handle.started, true);
        let effect = if running {
            Effect::Nothing
        } else {
            Effect::Start(name.clone())
        };
        Ok((Map::new(), effect))
    }

    fn release(&mut self, arguments: &Arguments) -> Answer {
        let name = arguments.get("handle").ok_or(ErrorCode::ARGUMENT_MISSING)?;
        let removed = self.handles.remove(name);
        removed.ok_or(ErrorCode::INVALID_HANDLE)?;
        Ok((Map::new(), Effect::Nothing))
    }

    fn reset_parameters(&mut self, arguments: &Arguments, now: Time<Steady>) -> Answer {
        let names = arguments.get("list").ok_or(ErrorCode::ARGUMENT_MISSING)?;
        for name in names.split(';') {
            parameters::reset(name, &mut self.options)?;
        }
        self.changed = Some(now);
        Ok((Map::new(), Effect::Nothing))
    }

    fn factory_reset(&mut self) -> Answer {
        self.iq = iq_parameters();
        for name in ["scan_frequency", "samples_per_scan"] {
            parameters::reset(name, &mut self.options)?;
        }
        Ok((Map::new(), Effect::Reboot))
    }

    fn get_iq(&self, arguments: &Arguments) -> Answer {
        let names = arguments.get("list").ok_or(ErrorCode::ARGUMENT_MISSING)?;
        let value = |name: &str| {
            let value = self.iq.get(name).ok_or(ErrorCode::UNKNOWN_PARAMETER)?;
            Ok((name.to_owned(), json!(value)))
        };
        let values: Result<Map<String, Value>, ErrorCode> = names.split(';').map(value).collect();
        Ok((values?, Effect::Nothing))
    }

    fn set_iq(&mut self, arguments: &Arguments) -> Answer {
        for (name, value) in arguments {
            let place = self.iq.get_mut(name).ok_or(ErrorCode::UNKNOWN_PARAMETER)?;
            place.clone_from(value);
        }
        Ok((Map::new(), Effect::Nothing))
    }

    fn with_handle(&mut self, arguments: &Arguments, act: impl FnOnce(&mut OpenHandle)) -> Answer {
        let name = arguments.get("handle").ok_or(ErrorCode::ARGUMENT_MISSING)?;
        act(self
            .handles
            .get_mut(name)
            .ok_or(ErrorCode::INVALID_HANDLE)?);
        Ok((Map::new(), Effect::Nothing))
    }
}

/// The switching inputs and outputs of a new device.
fn iq_parameters() -> BTreeMap<String, String> {
    let pairs = [
        ("iq1_polarity", "active_high"),
        ("iq2_polarity", "active_high"),
    ];
    let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
    pairs.into()
}

fn object(name: &str, value: Value) -> Map<String, Value> {
    std::iter::once((name.to_owned(), value)).collect()
}

fn protocol() -> Map<String, Value> {
    let pairs = [
        ("protocol_name", json!("pfsdp")),
        ("version_major", json!(1)),
        ("version_minor", json!(4)),
        ("commands", json!(COMMANDS)),
    ];
    pairs
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

fn destination(arguments: &Arguments) -> Result<Destination, ErrorCode> {
    let get = |name: &str| arguments.get(name).ok_or(ErrorCode::ARGUMENT_MISSING);
    let address: IpAddr = get("address")?
        .parse()
        .map_err(|_no_address| ErrorCode::INVALID_VALUE)?;
    let port: u16 = get("port")?
        .parse()
        .map_err(|_no_port| ErrorCode::INVALID_VALUE)?;
    Ok(Destination::Datagrams(SocketAddr::new(address, port)))
}

fn output(arguments: &Arguments) -> Result<ScanOutput, ErrorCode> {
    let wanted = arguments.get("packet_type").map_or("A", String::as_str);
    let packet_type: PacketType = wanted
        .parse()
        .map_err(|_unknown| ErrorCode::INVALID_VALUE)?;
    let number = |name: &str, own: i32| match arguments.get(name) {
        None => Ok(own),
        Some(text) => text
            .parse::<i32>()
            .map_err(|_none| ErrorCode::INVALID_VALUE),
    };
    let small = |number: i32| u16::try_from(number).map_err(|_outside| ErrorCode::OUT_OF_RANGE);
    let all = ScanOutput::from(packet_type);
    let start_angle = number("start_angle", all.start_angle)?;
    if !(-1_800_000..=1_800_000).contains(&start_angle) {
        return Err(ErrorCode::OUT_OF_RANGE);
    }
    Ok(ScanOutput {
        packet_type,
        start_angle,
        max_num_points_scan: small(number("max_num_points_scan", 0)?)?,
        skip_scans: small(number("skip_scans", 0)?)?,
    })
}

fn watchdog(arguments: &Arguments) -> Result<Option<Duration>, ErrorCode> {
    if arguments.get("watchdog").is_none_or(|value| value != "on") {
        return Ok(None);
    }
    let millis = arguments
        .get("watchdogtimeout")
        .map_or("60000", String::as_str);
    let millis: u32 = millis
        .parse()
        .map_err(|_no_number| ErrorCode::INVALID_VALUE)?;
    if millis < 100 {
        return Err(ErrorCode::OUT_OF_RANGE);
    }
    Ok(Some(Duration::from_millis(i64::from(millis))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(device: &mut Device, target: &str, seconds: i64) -> (i64, Value) {
        let now = Time::from_nanos(seconds * 1_000_000_000);
        let (status, body, _) = device.answer(target, now, &mut |_| Some(2_111));
        assert_eq!(status, 200, "{target}");
        (body["error_code"].as_i64().unwrap(), body)
    }

    #[test]
    fn a_handle_lives_as_long_as_its_watchdog_is_fed() {
        let mut device = Device::new(SimulatorOptions::default(), Time::from_nanos(0));
        let request = "/cmd/request_handle_tcp?packet_type=B&watchdog=on&watchdogtimeout=2000";
        let (result, body) = code(&mut device, request, 0);
        assert_eq!((result, &body["port"]), (0, &json!(2_111)));
        let handle = body["handle"].as_str().unwrap().to_owned();
        let feed = format!("/cmd/feed_watchdog?handle={handle}");
        assert_eq!(
            code(
                &mut device,
                &format!("/cmd/start_scanoutput?handle={handle}"),
                1
            )
            .0,
            0
        );
        assert_eq!(code(&mut device, &feed, 2).0, 0);
        let at = |seconds: i64| Time::from_nanos(seconds * 1_000_000_000);
        assert!(device.active(&handle, at(3)).is_some());
        assert!(device.active(&handle, at(4)).is_none());
        assert_eq!(code(&mut device, &feed, 5).0, 120);
    }

    #[test]
    fn wrong_requests_get_the_codes_of_the_device() {
        let mut device = Device::new(SimulatorOptions::default(), Time::from_nanos(0));
        for (target, expected) in [
            ("get_parameter?list=product%3Bserial", 0),
            ("get_parameter?list=product;what", 110),
            ("get_parameter", 130),
            ("set_parameter?product=x", 220),
            ("set_parameter?scan_frequency=5000", 210),
            ("set_parameter?scan_frequency=fast", 200),
            ("set_parameter?speed=1", 110),
            ("request_handle_udp?packet_type=C", 130),
            (
                "request_handle_udp?address=127.0.0.1&port=x&packet_type=C",
                200,
            ),
            ("request_handle_tcp?packet_type=C1", 200),
            (
                "request_handle_tcp?packet_type=C&watchdog=on&watchdogtimeout=9",
                210,
            ),
            ("request_handle_tcp?packet_type=C&start_angle=1800001", 210),
            ("request_handle_tcp?packet_type=C&skip_scans=-1", 210),
            (
                "request_handle_tcp?packet_type=C&max_num_points_scan=x",
                200,
            ),
            ("start_scanoutput?handle=none", 120),
            ("release_handle?handle=none", 120),
        ] {
            assert_eq!(
                code(&mut device, &format!("/cmd/{target}"), 0).0,
                expected,
                "{target}"
            );
        }
        for _ in 0..8 {
            assert_eq!(
                code(&mut device, "/cmd/request_handle_tcp?packet_type=C", 0).0,
                0
            );
        }
        assert_eq!(
            code(&mut device, "/cmd/request_handle_tcp?packet_type=C", 0).0,
            240
        );
        let (status, _, _) = device.answer("/index.html", Time::from_nanos(0), &mut |_| None);
        assert_eq!(status, 404);
    }
}
