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
    /// Cyclone DDS warns.
    Warning,
    /// Cyclone DDS reports an error.
    Error,
    /// A peer's `ros_discovery_info` cannot be read: its nodes have no names.
    MalformedNodeInfo,
    /// A peer's node has a name that ROS does not allow: it is not shown.
    InvalidNodeName,
    /// A request or reply without its header: it was not passed on.
    MalformedServiceHeader,
    /// More requests or replies than can be kept: one was dropped.
    Dropped,
    /// A receiver, handler or observer panicked: the transport goes on without it.
    Panicked,
    /// A sample shorter than its encapsulation header: it was not passed on.
    MalformedSample,
}

impl fmt::Display for NoteKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Warning => "warning of Cyclone DDS",
            Self::Error => "error of Cyclone DDS",
            Self::MalformedNodeInfo => "malformed ros_discovery_info",
            Self::InvalidNodeName => "invalid node name",
            Self::MalformedServiceHeader => "malformed service header",
            Self::Dropped => "dropped",
            Self::Panicked => "panic",
            Self::MalformedSample => "malformed sample",
        })
    }
}

impl backend::NoteKind for NoteKind {
    const PANICKED: Self = Self::Panicked;
}
