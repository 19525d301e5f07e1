use std::fmt::{self, Write as _};
use std::net::IpAddr;

use timeloom_time::Duration;

use crate::http::escape;
use crate::packet::PacketType;

/// The request of a handle for scan data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandleRequest {
    /// The values of each point.
    pub packet_type: PacketType,
    /// The angle of the first point of a scan, in 1/10000 degree.
    pub start_angle: Option<i32>,
    /// The most points of a scan; zero for all.
    pub max_num_points_scan: Option<u32>,
    /// Scans to leave out after each.
    pub skip_scans: Option<u32>,
    /// The device gives up without a sign of life for so long; none turns the watchdog off.
    pub watchdog: Option<Duration>,
}

/// A command of PFSDP.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Command {
    /// The protocol version.
    GetProtocolInfo,
    /// The list of parameters.
    ListParameters,
    /// The values of parameters.
    GetParameters(Vec<String>),
    /// Sets parameters.
    SetParameters(Vec<(String, String)>),
    /// A handle for datagrams to this address.
    RequestHandleUdp(IpAddr, u16, HandleRequest),
    /// A handle for a connection.
    RequestHandleTcp(HandleRequest),
    /// Starts the output of a handle.
    StartScanOutput(String),
    /// Stops the output of a handle.
    StopScanOutput(String),
    /// A sign of life.
    FeedWatchdog(String),
    /// Gives a handle back.
    ReleaseHandle(String),
    /// Restarts the device.
    RebootDevice,
    /// Sets parameters to what they were when the device was new.
    ResetParameters(Vec<String>),
    /// Resets all parameters to the factory defaults and restarts the device.
    FactoryReset,
    /// The parameters of its switching inputs and outputs.
    ListIqParameters,
    /// The values of parameters of its switching inputs and outputs.
    GetIqParameters(Vec<String>),
    /// Sets parameters of its switching inputs and outputs.
    SetIqParameters(Vec<(String, String)>),
}

impl Command {
    /// The device's clock.
    pub fn get_system_time() -> Self {
        Self::GetParameters(vec!["system_time_raw".to_owned()])
    }

    /// The name, as in the URL.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::GetProtocolInfo => "get_protocol_info",
            Self::ListParameters => "list_parameters",
            Self::GetParameters(_) => "get_parameter",
            Self::SetParameters(_) => "set_parameter",
            Self::RequestHandleUdp(..) => "request_handle_udp",
            Self::RequestHandleTcp(_) => "request_handle_tcp",
            Self::StartScanOutput(_) => "start_scanoutput",
            Self::StopScanOutput(_) => "stop_scanoutput",
            Self::FeedWatchdog(_) => "feed_watchdog",
            Self::ReleaseHandle(_) => "release_handle",
            Self::RebootDevice => "reboot_device",
            Self::ResetParameters(_) => "reset_parameter",
            Self::FactoryReset => "factory_reset",
            Self::ListIqParameters => "list_iq_parameters",
            Self::GetIqParameters(_) => "get_iq_parameter",
            Self::SetIqParameters(_) => "set_iq_parameter",
        }
    }

    /// The target of its request: path and query.
    pub fn target(&self) -> String {
        let mut query: Vec<(String, String)> = Vec::new();
        let mut add = |name: &str, value: String| query.push((name.to_owned(), value));
        match self {
            Self::GetProtocolInfo
            | Self::ListParameters
            | Self::RebootDevice
            | Self::FactoryReset
            | Self::ListIqParameters => {}
            Self::GetParameters(names)
            | Self::ResetParameters(names)
            | Self::GetIqParameters(names) => add("list", names.join(";")),
            Self::SetParameters(values) | Self::SetIqParameters(values) => {
                query.clone_from(values);
            }
            Self::RequestHandleUdp(address, port, request) => {
                add("address", address.to_string());
                add("port", port.to_string());
                query.extend(request.arguments());
            }
            Self::RequestHandleTcp(request) => query.extend(request.arguments()),
            Self::StartScanOutput(handle)
            | Self::StopScanOutput(handle)
            | Self::FeedWatchdog(handle)
            | Self::ReleaseHandle(handle) => add("handle", handle.clone()),
        }
        let mut target = format!("/cmd/{}", self.name());
        for (index, (name, value)) in query.iter().enumerate() {
            let mark = if index == 0 { '?' } else { '&' };
            // Writing to a string cannot fail.
            let _ok = write!(target, "{mark}{}={}", escape(name), escape(value));
        }
        target
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl HandleRequest {
    fn arguments(&self) -> Vec<(String, String)> {
        let mut arguments = vec![("packet_type".to_owned(), self.packet_type.to_string())];
        let mut add = |name: &str, value: Option<String>| {
            arguments.extend(value.map(|value| (name.to_owned(), value)));
        };
        add(
            "start_angle",
            self.start_angle.map(|angle| angle.to_string()),
        );
        add(
            "max_num_points_scan",
            self.max_num_points_scan.map(|count| count.to_string()),
        );
        add("skip_scans", self.skip_scans.map(|count| count.to_string()));
        let on = if self.watchdog.is_some() { "on" } else { "off" };
        add("watchdog", Some(on.to_owned()));
        let millis = self.watchdog.map(|timeout| timeout.nanos() / 1_000_000);
        add("watchdogtimeout", millis.map(|millis| millis.to_string()));
        arguments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_become_targets() {
        let request = HandleRequest {
            packet_type: PacketType::C,
            start_angle: Some(-1_800_000),
            max_num_points_scan: None,
            skip_scans: None,
            watchdog: Some(Duration::from_secs(60)),
        };
        let address = IpAddr::from([127, 0, 0, 1]);
        assert_eq!(
            Command::RequestHandleUdp(address, 5_000, request).target(),
            "/cmd/request_handle_udp?address=127.0.0.1&port=5000&packet_type=C&start_angle=-1800000\
             &watchdog=on&watchdogtimeout=60000"
        );
        let names = ["a".to_owned(), "b".to_owned()];
        assert_eq!(
            Command::GetParameters(names.to_vec()).target(),
            "/cmd/get_parameter?list=a%3Bb"
        );
        assert_eq!(
            Command::FeedWatchdog("s 1".to_owned()).target(),
            "/cmd/feed_watchdog?handle=s%201"
        );
        assert_eq!(Command::ListParameters.target(), "/cmd/list_parameters");
    }
}
