use std::fmt;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::str::FromStr;

use timeloom_time::Duration;

use crate::error::{Error, Result};
use crate::packet::PacketType;
use crate::pfsdp::HandleRequest;
use crate::timesync::TimesyncSettings;

/// The transport of packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Transport {
    /// Datagrams: the right choice where time matters.
    #[default]
    Udp,
    /// A connection: nothing is lost, but packets wait for each other.
    Tcp,
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Udp => "udp",
            Self::Tcp => "tcp",
        })
    }
}

impl FromStr for Transport {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        match text {
            "udp" | "UDP" => Ok(Self::Udp),
            "tcp" | "TCP" => Ok(Self::Tcp),
            _ => Err(Error::UnknownName {
                what: "transport",
                name: text.to_owned(),
                known: "udp, tcp",
            }),
        }
    }
}

/// Delay before the next attempt after a failure; it doubles each time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackOff {
    /// After the first failure.
    pub first: Duration,
    /// At most.
    pub most: Duration,
}

impl BackOff {
    /// The wait after so many failures in a row, from one.
    pub fn after(&self, failures: u32) -> Duration {
        let factor = 1_i64 << failures.saturating_sub(1).min(30);
        self.first.saturating_mul(factor).min(self.most)
    }
}

/// The address and settings of a lidar.
#[derive(Debug, Clone, PartialEq)]
pub struct LidarSettings {
    /// A name or an address, with `:port` if it is not 80.
    pub host: String,
    /// The transport of packets.
    pub transport: Transport,
    /// The values of each point; none selects by device: C, or C1 of an R2300.
    pub packet_type: Option<PacketType>,
    /// Address to receive datagrams on; none finds the address that the device can reach.
    pub receive_address: Option<IpAddr>,
    /// The port for datagrams; zero for any.
    pub receive_port: u16,
    /// The angle of the first point, in 1/10000 degree.
    pub start_angle: Option<i32>,
    /// The most points of a scan.
    pub max_num_points_scan: Option<u32>,
    /// Scans to leave out after each.
    pub skip_scans: u16,
    /// The device stops without a sign of life for so long; none turns the watchdog off.
    pub watchdog: Option<Duration>,
    /// Parameters of the device to be set (`pfsdp_init`), such as `scan_frequency` and `samples_per_scan`.
    pub parameters: Vec<(String, String)>,
    /// Timeout of a request.
    pub request_timeout: Duration,
    /// Reconnect after this time without a packet.
    pub data_timeout: Duration,
    /// Delays after failures.
    pub back_off: BackOff,
    /// Settings of the clock estimate.
    pub timesync: TimesyncSettings,
}

impl LidarSettings {
    /// The settings for a device, all others as usual.
    pub fn new(host: impl Into<String>) -> Self {
        Self {
            host: host.into(),
            transport: Transport::default(),
            packet_type: None,
            receive_address: None,
            receive_port: 0,
            start_angle: None,
            max_num_points_scan: None,
            skip_scans: 0,
            watchdog: Some(Duration::from_secs(60)),
            parameters: Vec::new(),
            request_timeout: Duration::from_secs(2),
            data_timeout: Duration::from_secs(2),
            back_off: BackOff {
                first: Duration::from_millis(250),
                most: Duration::from_secs(8),
            },
            timesync: TimesyncSettings::default(),
        }
    }

    /// Checks that the settings make sense.
    ///
    /// # Errors
    ///
    /// [`Error::ImpossibleSetting`], with what would be possible.
    pub fn check(&self) -> Result<()> {
        self.timesync.check()?;
        self.check_host()?;
        let impossible = |name, value: Duration, why| {
            let value = format!("{} ms", value.nanos() / 1_000_000);
            Err(Error::ImpossibleSetting { name, value, why })
        };
        let least = Duration::from_millis(100);
        if let Some(short) = self.watchdog.filter(|timeout| *timeout < least) {
            return impossible("watchdogtimeout", short, "must be at least 100 ms");
        }
        for (name, value) in [
            ("request_timeout", self.request_timeout),
            ("data_timeout", self.data_timeout),
            ("back_off", self.back_off.first),
        ] {
            if value < Duration::from_millis(1) {
                return impossible(name, value, "must be at least 1 ms");
            }
        }
        Ok(())
    }

    /// Refuses what no look-up could ever find.
    fn check_host(&self) -> Result<()> {
        let host = self.bare_host();
        let port = match host.rsplit_once(':') {
            // An address of IPv6 without a port has more of them.
            Some((name, port)) if !name.contains(':') || name.ends_with(']') => Some(port),
            _ => None,
        };
        let wrong_port = port.is_some_and(|port| port.parse().unwrap_or(0_u16) == 0);
        if host.is_empty() || host.starts_with(':') && port.is_some() || wrong_port {
            return Err(Error::ImpossibleSetting {
                name: "host",
                value: format!("{:?}", self.host),
                why: "expected a name or an address, with :PORT if it is not 80",
            });
        }
        Ok(())
    }

    /// Without what people copy from their browser with it.
    fn bare_host(&self) -> &str {
        let host = self.host.strip_prefix("http://").unwrap_or(&self.host);
        host.split('/').next().unwrap_or(host)
    }

    /// The address of the device. Blocks while a name is looked up.
    ///
    /// # Errors
    ///
    /// [`Error::Network`] if there is none of this name.
    pub fn resolve(&self) -> Result<SocketAddr> {
        let failed = |source| Error::Network {
            doing: "cannot find",
            host: self.host.clone(),
            source,
        };
        let host = self.bare_host();
        let with_port = match host.parse::<IpAddr>() {
            Ok(address) => return Ok(SocketAddr::new(address, 80)),
            Err(_) if host.rsplit_once(':').is_some() => host.to_owned(),
            Err(_) => format!("{host}:80"),
        };
        let mut found = with_port.to_socket_addrs().map_err(failed)?;
        let none = || failed(std::io::Error::other("the name has no address"));
        found.next().ok_or_else(none)
    }

    pub(crate) fn handle_request(&self, packet_type: PacketType) -> HandleRequest {
        HandleRequest {
            packet_type,
            start_angle: self.start_angle,
            max_num_points_scan: self.max_num_points_scan,
            skip_scans: (self.skip_scans > 0).then(|| u32::from(self.skip_scans)),
            watchdog: self.watchdog,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_port_80_unless_they_say_otherwise() {
        let port = |host| {
            LidarSettings::new(host)
                .resolve()
                .map(|address| address.to_string())
        };
        assert_eq!(port("10.0.10.9").unwrap(), "10.0.10.9:80");
        assert_eq!(port("127.0.0.1:8080").unwrap(), "127.0.0.1:8080");
        assert_eq!(port("::1").unwrap(), "[::1]:80");
        assert_eq!(port("http://10.0.10.9/").unwrap(), "10.0.10.9:80");
        assert_eq!(
            port("http://127.0.0.1:8080/cmd/x").unwrap(),
            "127.0.0.1:8080"
        );
        assert!(
            port("no port:x")
                .unwrap_err()
                .to_string()
                .starts_with("cannot find no port:x: ")
        );
    }

    #[test]
    fn invalid_hosts_are_refused_before_connecting() {
        for good in [
            "10.0.10.9",
            "lidar",
            "lidar.local:8080",
            "::1",
            "fe80::1",
            "[::1]:80",
            "http://10.0.10.9:8080/",
        ] {
            assert!(LidarSettings::new(good).check().is_ok(), "{good}");
        }
        for wrong in [
            "",
            ":80",
            "lidar:",
            "lidar:http",
            "10.0.10.9:99999",
            "[::1]:0",
            "http://",
        ] {
            let error = LidarSettings::new(wrong).check().unwrap_err().to_string();
            let text = format!("invalid host = {wrong:?}: expected a name or an address");
            assert!(error.starts_with(&text), "{error}");
        }
    }

    #[test]
    fn waits_double_up_to_the_most() {
        let back_off = LidarSettings::new("x").back_off;
        let waits: Vec<i64> = (1..9)
            .map(|n| back_off.after(n).nanos() / 1_000_000)
            .collect();
        assert_eq!(waits, [250, 500, 1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
        assert_eq!(back_off.after(u32::MAX), back_off.most);
    }
}
