//! The one error type of this crate.

use timeloom_time::Duration;

/// Errors of samples, tick counters and tables.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A stamp is so far from zero that differences of stamps could overflow.
    #[error("{what} {nanos} ns is out of range: the limit is {limit} ns from zero")]
    StampOutOfRange {
        /// The stamp: `host_rx`, `host_tx`, `device` or `device_tx`.
        what: &'static str,
        /// The stamp.
        nanos: i64,
        /// The largest distance from zero.
        limit: i64,
    },
    /// An answer arrived before its request was sent.
    #[error("host_rx {host_rx_ns} ns is before host_tx {host_tx_ns} ns of the same request")]
    AnswerBeforeRequest {
        /// When the request was sent.
        host_tx_ns: i64,
        /// When the answer arrived.
        host_rx_ns: i64,
    },
    /// A packet was sent before its event happened.
    #[error("device_tx {device_tx_ns} ns is before device_event {device_ns} ns of the same packet")]
    SentBeforeEvent {
        /// The stamp of the event.
        device_ns: i64,
        /// The stamp of sending.
        device_tx_ns: i64,
    },
    /// The clocks of a recording run so differently that they count in different units.
    #[error(
        "device time advanced by {:.6} s while host time advanced by {:.6} s: {:.6} times as fast",
        .device.as_secs_f64(), .host.as_secs_f64(), .device.as_secs_f64() / .host.as_secs_f64()
    )]
    DifferentUnits {
        /// The advance of the device's time.
        device: Duration,
        /// The advance of the host's time.
        host: Duration,
    },
    /// A counter value has more bits than the counter.
    #[error("tick count {ticks} does not fit a counter of {bits} bits")]
    TickTooWide {
        /// The value.
        ticks: u64,
        /// The width of the counter.
        bits: u32,
    },
    /// A counter has run for so long that its time no longer fits 64 bits of nanoseconds.
    #[error("{ticks} ticks of a clock with {per} ticks in {seconds} s are more than {limit} ns")]
    TicksOutOfRange {
        /// All ticks since the zero of the counter.
        ticks: i128,
        /// Ticks in `seconds`.
        per: u64,
        /// The seconds that `per` ticks take.
        seconds: u64,
        /// The largest time in nanoseconds.
        limit: i64,
    },
    /// An invalid description of a counter.
    #[error("invalid clock of {per} ticks in {seconds} s and {bits} bits: {why}")]
    ImpossibleClock {
        /// Ticks in `seconds`.
        per: u64,
        /// The seconds that `per` ticks take.
        seconds: u64,
        /// The width of the counter.
        bits: u32,
        /// The reason.
        why: &'static str,
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
    /// There is no estimator of this name.
    #[error("unknown estimator {name:?}, expected one of {known}")]
    UnknownEstimator {
        /// The requested name.
        name: String,
        /// All names.
        known: String,
    },
    /// A mapping does not have this epoch, or none.
    #[error("no epoch{} in the mapping; its epochs are {known}", epoch.map(|epoch| format!(" {epoch}")).unwrap_or_default())]
    NoEpoch {
        /// The requested epoch.
        epoch: Option<u32>,
        /// All numbers.
        known: String,
    },
    /// Several epochs of a mapping have this device time.
    #[error("device time {device_ns} ns is in several epochs: {epochs}")]
    ManyEpochs {
        /// The device time.
        device_ns: i64,
        /// Their numbers.
        epochs: String,
    },
    /// There is no simulated family of this name.
    #[error("unknown scenario family {name:?}, expected one of {known}")]
    UnknownFamily {
        /// The requested name.
        name: String,
        /// All names.
        known: String,
    },
    /// A table is empty.
    #[error("line 1: the header with the names of the columns is missing")]
    NoHeader,
    /// The first line of a table lacks a column.
    #[error("line {line}: column {column:?} is missing")]
    MissingColumn {
        /// The line of the header, from one.
        line: usize,
        /// The name of the column.
        column: &'static str,
    },
    /// The first line of a table lacks a column that a user has named.
    #[error("line {line}: no column {column:?}; the columns are {known}")]
    UnknownColumn {
        /// The line of the header, from one.
        line: usize,
        /// The name of the column.
        column: String,
        /// All names.
        known: String,
    },
    /// The first line of a table names a column twice.
    #[error("line {line}: duplicate column {column:?}")]
    DoubleColumn {
        /// The line of the header, from one.
        line: usize,
        /// The name of the column.
        column: &'static str,
    },
    /// A cell of a table cannot be read.
    #[error("line {line}: {column} {text:?} is {why}")]
    BadCell {
        /// The line, from one.
        line: usize,
        /// The name of the column.
        column: &'static str,
        /// The text of the cell.
        text: String,
        /// The reason.
        why: &'static str,
    },
    /// A row of a table holds an invalid sample.
    #[error("line {line}: {column}: {source}")]
    BadRow {
        /// The line, from one.
        line: usize,
        /// The column to look at first.
        column: &'static str,
        /// The reason.
        source: Box<Self>,
    },
}

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
