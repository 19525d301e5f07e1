/// A command to the recorders of a fleet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FleetCommand {
    /// Only answer.
    Status,
    /// Record: a paused recorder is resumed, a stopped one begins a new bag.
    Start,
    /// Close the bag; the recorder stays.
    Stop,
    /// Leave messages out.
    Pause,
    /// Record again after a pause.
    Resume,
    /// Begin a new file.
    Split,
    /// Write the messages of the circular buffer.
    Snapshot,
}

impl FleetCommand {
    /// All commands.
    pub const ALL: [Self; 7] = [
        Self::Status,
        Self::Start,
        Self::Stop,
        Self::Pause,
        Self::Resume,
        Self::Split,
        Self::Snapshot,
    ];

    /// The word on the wire and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Start => "start",
            Self::Stop => "stop",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Split => "split",
            Self::Snapshot => "snapshot",
        }
    }

    /// The command of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|command| command.name() == name)
    }
}
