//! The one error type of this crate.

use crate::packet::PacketType;
use crate::pfsdp::ErrorCode;

/// Errors of packets, replies and devices.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes do not begin as a packet does.
    #[error("not a packet: it starts with {magic:#06x} instead of 0xa25c")]
    NoPacket {
        /// The first two bytes.
        magic: u16,
    },
    /// An unknown packet type.
    #[error("unknown packet type {code:#06x}: expected A, B, C or C1")]
    UnknownPacketType {
        /// Its number.
        code: u16,
    },
    /// The length of a packet differs from its header.
    #[error("packet length is {said} bytes in the header, but {received} bytes arrived")]
    PacketSize {
        /// Length in the header.
        said: u32,
        /// The received length.
        received: usize,
    },
    /// The length in a header exceeds the limit.
    #[error("packet length of {said} bytes in the header exceeds the limit of {limit}")]
    PacketTooLarge {
        /// Length in the header.
        said: u32,
        /// The limit.
        limit: usize,
    },
    /// The header is too short for its fields, or longer than the packet.
    #[error("invalid header length {header_size} in a packet {packet_type} of {packet_size} bytes")]
    HeaderSize {
        /// The type of the packet.
        packet_type: PacketType,
        /// Length of the header, by the packet.
        header_size: u16,
        /// Length of the packet, by its header.
        packet_size: u32,
    },
    /// There are more points in the header than in the packet.
    #[error(
        "packet header has {said} points of {point_size} bytes, but {bytes} bytes of points follow"
    )]
    PointsMissing {
        /// Number of points in the header.
        said: u16,
        /// Bytes behind the header.
        bytes: usize,
        /// Bytes of a point.
        point_size: usize,
    },
    /// Points of a packet lie outside of their scan.
    #[error("points {first} to {end} are outside of a scan of {points} points")]
    PointsOutside {
        /// The first point.
        first: u16,
        /// One behind the last point.
        end: u32,
        /// The points of the scan.
        points: u16,
    },
    /// A packet without a point.
    #[error("packet {packet} of scan {scan} has no points")]
    NoPoints {
        /// The number of the scan.
        scan: u16,
        /// The number of the packet.
        packet: u16,
    },
    /// More points than a packet can hold were to be written.
    #[error("{points} points do not fit a packet of {limit} bytes")]
    TooManyPoints {
        /// Their number.
        points: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// A stream of packets ended in the middle of one.
    #[error("the packet stream ended within a packet, after {left} bytes")]
    StreamCut {
        /// Bytes of the last packet.
        left: usize,
    },
    /// No packet came for a while.
    #[error("no packet for {millis} ms")]
    NoData {
        /// For how long.
        millis: i64,
    },
    /// The answer is no HTTP.
    #[error("the reply is not HTTP: it starts with {start:?}")]
    NoHttp {
        /// Its first characters.
        start: String,
    },
    /// The answer ended before it was whole.
    #[error("connection closed after {received} bytes of a reply")]
    ReplyCut {
        /// Bytes until then.
        received: usize,
    },
    /// The answer is longer than any can be.
    #[error("reply of {bytes} bytes exceeds the limit of {limit}")]
    ReplyTooLarge {
        /// Bytes that came or were announced.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// No answer in time.
    #[error("{command}: no reply from {host} within {millis} ms")]
    Timeout {
        /// The command.
        command: String,
        /// The device.
        host: String,
        /// The patience.
        millis: i64,
    },
    /// The network failed.
    #[error("{doing} {host}: {source}")]
    Network {
        /// The attempted action, such as "cannot connect to".
        doing: &'static str,
        /// With whom.
        host: String,
        /// The reason of the operating system.
        source: std::io::Error,
    },
    /// The device answered with an HTTP status that is no success.
    #[error("{command}: HTTP status {status}")]
    HttpStatus {
        /// The command.
        command: String,
        /// The status.
        status: u16,
    },
    /// The reply is not the JSON of PFSDP.
    #[error("{command}: invalid reply: {why}")]
    BadReply {
        /// The command.
        command: String,
        /// The reason.
        why: String,
    },
    /// The device refused.
    #[error("{command}: the device refused: {text:?} (error code {code})")]
    Refused {
        /// The command.
        command: String,
        /// The code of the device.
        code: ErrorCode,
        /// Its text.
        text: String,
    },
    /// It answers, but it is no device of this protocol.
    #[error("{host} uses protocol {protocol:?}, expected pfsdp")]
    OtherProtocol {
        /// The device.
        host: String,
        /// Its protocol.
        protocol: String,
    },
    /// A name that does not exist.
    #[error("unknown {what} {name:?}, expected one of {known}")]
    UnknownName {
        /// Of what.
        what: &'static str,
        /// The name.
        name: String,
        /// All names.
        known: &'static str,
    },
    /// A setting that makes no sense.
    #[error("invalid {name} = {value}: {why}")]
    ImpossibleSetting {
        /// The name of the setting.
        name: &'static str,
        /// Its value as text.
        value: String,
        /// The accepted range.
        why: &'static str,
    },
    /// A thread could not be started.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
    /// A stamp or an estimator is wrong.
    #[error(transparent)]
    Sync(#[from] timeloom_sync::Error),
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
