/// What somebody asks for by a page or a client; the source turns it into the `Control` of what it shows.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Command {
    /// Stops time.
    Pause,
    /// Lets time go on.
    Resume,
    /// Pauses, or resumes.
    Toggle,
    /// Changes how fast time goes.
    SetRate(f64),
    /// Goes to a time of the bag, in nanoseconds.
    SeekTo(i64),
    /// Goes so many nanoseconds forward, or back if negative.
    SeekBy(i64),
    /// Publishes the next message.
    StepForward,
    /// Publishes the message before.
    StepBack,
    /// Repeats from here.
    MarkA,
    /// Repeats up to here.
    MarkB,
    /// Plays the whole again.
    ClearMarks,
    /// Begins a new file of a recording.
    Split,
    /// Writes what a recording has in memory.
    Snapshot,
}
