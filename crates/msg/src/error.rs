//! The one error type of this crate.

/// An error of reading or writing names, definitions, `QoS` or payloads.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A ROS name breaks the naming rules.
    #[error("invalid {what} `{name}`: {reason}")]
    Name {
        /// The kind of name, such as `topic name`.
        what: &'static str,
        /// The name.
        name: String,
        /// The rule that it breaks.
        reason: &'static str,
    },
    /// A type name is not of the form `package/msg/Name`.
    #[error("invalid type name `{name}`: expected {expected}")]
    TypeName {
        /// The name.
        name: String,
        /// The form that was expected.
        expected: &'static str,
    },
    /// A definition text breaks the grammar.
    #[error("line {line} of {name}: expected {expected}, found {found}")]
    Definition {
        /// The type that the text defines.
        name: String,
        /// The line, counted from 1.
        line: u32,
        /// The expected token.
        expected: String,
        /// The token that was found.
        found: String,
    },
    /// A definition is larger or deeper than anything that ROS uses.
    #[error("{name}: {what} is {actual}, the limit is {limit}")]
    Limit {
        /// The type or document.
        name: String,
        /// The quantity that is too large.
        what: &'static str,
        /// Its size.
        actual: u64,
        /// The largest accepted size.
        limit: u64,
    },
    /// A filter expression cannot be parsed or evaluated.
    #[error("{reason}")]
    Filter {
        /// The cause.
        reason: String,
    },
    /// A type that is used has no known definition.
    #[error("{wanted} is used by {user} but is not defined")]
    UnknownType {
        /// The missing type.
        wanted: String,
        /// The type that uses it.
        user: String,
    },
    /// No place that was searched has a usable definition of a type.
    #[error("no definition of {name}: {searched}")]
    NoDefinition {
        /// The type.
        name: String,
        /// The places, and the problem of the definition in the data.
        searched: String,
    },
    /// Messages are not serialised as CDR.
    #[error("cannot decode {format}: only cdr is known")]
    Serialization {
        /// The format, as a bag names it.
        format: String,
    },
    /// A type contains itself.
    #[error("{name} contains itself")]
    Cycle {
        /// The type on the cycle.
        name: String,
    },
    /// Text that is not a `RIHS01_` hash of 64 hexadecimal digits.
    #[error("invalid type hash `{text}`: {reason}")]
    TypeHash {
        /// The text.
        text: String,
        /// The reason.
        reason: &'static str,
    },
    /// A `QoS` profile or an override file cannot be read.
    #[error("invalid qos profile: {reason}")]
    Qos {
        /// The reason, with the position if it is known.
        reason: String,
    },
    /// The four bytes before a payload name an encoding that is not plain CDR.
    #[error(
        "unsupported encapsulation {id:#06x}: expected plain CDR (0x0000, 0x0001, 0x0006 or 0x0007)"
    )]
    Encapsulation {
        /// The encapsulation identifier.
        id: u16,
    },
    /// A payload ends before the value is complete, or announces more than it holds.
    #[error(
        "payload too short at byte {offset} for {what}: {needed} bytes needed, {available} left"
    )]
    ShortPayload {
        /// The offset in the payload, including the encapsulation header.
        offset: usize,
        /// The value that was read.
        what: &'static str,
        /// The least number of bytes that it takes.
        needed: u64,
        /// Number of bytes left.
        available: usize,
    },
    /// A payload holds a value that its type does not allow.
    #[error("invalid {what} at byte {offset}: {value}")]
    Payload {
        /// The offset in the payload, including the encapsulation header.
        offset: usize,
        /// The value that was read.
        what: &'static str,
        /// The offending value.
        value: u64,
    },
    /// A value does not fit its schema.
    #[error("{path}: expected {expected}, found {found}")]
    Mismatch {
        /// The field, as a dotted path.
        path: String,
        /// The type in the schema.
        expected: String,
        /// The kind of the value.
        found: String,
    },
    /// A dotted path leads to no field.
    #[error("{name} has no field `{path}`")]
    Path {
        /// The message type.
        name: String,
        /// The requested path.
        path: String,
    },
    /// JSON has a field that the message type does not have.
    #[error("{name} has no field `{path}`: it has {}", known.join(", "))]
    UnknownField {
        /// The message type.
        name: String,
        /// The field, as a dotted path.
        path: String,
        /// The fields of the type.
        known: Vec<String>,
    },
    /// The text of a message cannot be parsed.
    #[error("the message is neither JSON nor YAML: {reason}")]
    MessageText {
        /// The reason, with the position.
        reason: String,
    },
    /// A definition file could not be read.
    #[error("cannot read {path}: {reason}")]
    Read {
        /// The file.
        path: String,
        /// The system's reason.
        reason: String,
    },
}

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;
