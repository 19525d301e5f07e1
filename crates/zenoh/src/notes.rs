//! What this transport has to say.

use std::fmt;

use timeloom_wire::backend;

/// Something that people may want to know, and that stopped nothing.
pub type Note = backend::Note<NoteKind>;

/// The notes of one participant.
pub(crate) type Notes = backend::Notes<NoteKind>;

/// What a note is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum NoteKind {
    /// A liveliness token that cannot be read: its node or endpoint is not shown.
    MalformedToken,
    /// A sample without the attachment of ROS, or shorter than its encapsulation header: it was not passed on.
    MalformedSample,
    /// A request without the attachment of ROS or without payload: it was not passed on.
    MalformedRequest,
    /// A reply without the attachment of ROS, or to somebody else's call: it was not passed on.
    MalformedReply,
    /// More than can be kept: some was dropped.
    Dropped,
    /// A receiver, handler or observer panicked: the transport goes on without it.
    Panicked,
    /// Endpoints of a protocol that this build does not speak: only TCP.
    Unspoken,
    /// Something that is asked for is not there.
    Warning,
}

impl fmt::Display for NoteKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MalformedToken => "malformed liveliness token",
            Self::MalformedSample => "malformed sample",
            Self::MalformedRequest => "malformed request",
            Self::MalformedReply => "malformed reply",
            Self::Dropped => "dropped",
            Self::Panicked => "panic",
            Self::Unspoken => "endpoints that are not spoken to, only TCP is",
            Self::Warning => "warning",
        })
    }
}

impl backend::NoteKind for NoteKind {
    const PANICKED: Self = Self::Panicked;
}
