//! The one error type of this crate.

use crate::packet::PacketType;
use crate::pfsdp::ErrorCode;

/// What went wrong with a packet, a reply or a device.
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
    /// A packet is not as long as it says.
    #[error("a packet says {said} bytes, but has {received}")]
    PacketSize {
        /// What the header says.
        said: u32,
        /// What came.
        received: usize,
    },
    /// A packet says a length that none can have.
    #[error("a packet says {said} bytes, more than {limit}")]
    PacketTooLarge {
        /// What the header says.
        said: u32,
        /// The limit.
        limit: usize,
    },
    /// The header is too short for its fields, or longer than the packet.
    #[error(
        "a header of {header_size} bytes is not possible in a packet {packet_type} of {packet_size}"
    )]
    HeaderSize {
        /// The type of the packet.
        packet_type: PacketType,
        /// What it says of its header.
        header_size: u16,
        /// What it says of itself.
        packet_size: u32,
    },
    /// There are more points in the header than in the packet.
    #[error("a packet says {said} points of {point_size} bytes, but has {bytes} bytes of them")]
    PointsMissing {
        /// Points that the header says.
        said: u16,
        /// Bytes behind the header.
        bytes: usize,
        /// Bytes of a point.
        point_size: usize,
    },
    /// Points of a packet lie outside of their scan.
    #[error("points {first} to {end} lie outside of a scan of {points}")]
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
        /// How many.
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
    #[error("no packet came for {millis} ms")]
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
    #[error("the connection was closed after {received} bytes of an answer")]
    ReplyCut {
        /// Bytes until then.
        received: usize,
    },
    /// The answer is longer than any can be.
    #[error("an answer of {bytes} bytes is more than {limit}")]
    ReplyTooLarge {
        /// Bytes that came or were announced.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// No answer in time.
    #[error("{command}: no answer from {host} within {millis} ms")]
    Timeout {
        /// What was asked.
        command: String,
        /// Whom.
        host: String,
        /// The patience.
        millis: i64,
    },
    /// The network failed.
    #[error("{doing} {host}: {source}")]
    Network {
        /// What was tried: "cannot connect to" and the like.
        doing: &'static str,
        /// With whom.
        host: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// The device answered with an HTTP status that is no success.
    #[error("{command}: HTTP status {status}")]
    HttpStatus {
        /// What was asked.
        command: String,
        /// The status.
        status: u16,
    },
    /// The reply is not the JSON of PFSDP.
    #[error("{command}: the reply is damaged: {why}")]
    BadReply {
        /// What was asked.
        command: String,
        /// What is wrong with it.
        why: String,
    },
    /// The device refused.
    #[error("{command}: the device says {text:?} (error code {code})")]
    Refused {
        /// What was asked.
        command: String,
        /// The code of the device.
        code: ErrorCode,
        /// Its text.
        text: String,
    },
    /// It answers, but it is no device of this protocol.
    #[error("{host} speaks {protocol:?} instead of pfsdp")]
    OtherProtocol {
        /// Who.
        host: String,
        /// What it speaks.
        protocol: String,
    },
    /// A name that does not exist.
    #[error("no {what} is called {name:?}: there are {known}")]
    UnknownName {
        /// Of what.
        what: &'static str,
        /// The name.
        name: String,
        /// All names.
        known: &'static str,
    },
    /// A setting that makes no sense.
    #[error("{name} = {value} is not possible: {why}")]
    ImpossibleSetting {
        /// The name of the setting.
        name: &'static str,
        /// Its value as text.
        value: String,
        /// What would be.
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
