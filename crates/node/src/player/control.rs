use timeloom_time::{ControlRefused, Duration, InvalidRate, Ros, Time};

use super::options::PlayRange;

/// A control of a player, whether by key, service or call.
#[derive(Clone, Debug, PartialEq)]
pub enum Control {
    /// Starts playing; unset parts of the range are those of the options.
    Play(PlayRange),
    /// Stops time.
    Pause,
    /// Resumes time.
    Resume,
    /// Pauses, or resumes.
    TogglePaused,
    /// Changes the rate.
    SetRate(f64),
    /// Seeks to a time of the bag; the next message is the first one at or after it. In a monotonic loop, also a time
    /// that the player's clock shows in this lap.
    Seek(Time<Ros>),
    /// Seeks relative to the current time.
    SeekBy(Duration),
    /// Publishes the next message at once; only when paused.
    PlayNext,
    /// Publishes the message before the last one; only when paused.
    StepBack,
    /// Publishes this many messages at once, or all with 0; only when paused.
    Burst(u64),
    /// Repeats a range; `None` ends it.
    SetLoop(Option<(Time<Ros>, Time<Ros>)>),
    /// Sets the start or the end of the range to repeat to the current time.
    Mark(Mark),
    /// Sets the frequency of `/clock` in hertz; 0 or less turns it off.
    SetClockFrequency(f64),
    /// Ends playing as after the last message: with the wait for acknowledgements of the options.
    Finish,
    /// Ends playing.
    Stop,
}

/// An end of the range to repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Its start.
    A,
    /// Its end.
    B,
}

/// The result of a control.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Answer {
    /// It was done.
    Done,
    /// Whether time is paused now.
    Paused(bool),
    /// The rate from now on.
    Rate(f64),
    /// The time of the bag from now on.
    At(Time<Ros>),
    /// The number of messages that it published.
    Played(u64),
}

/// The reason why a control was refused.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Nothing is being played.
    #[error("nothing is being played")]
    NotPlaying,
    /// Playing has started already.
    #[error("already playing")]
    AlreadyPlaying,
    /// Single messages are published only while paused.
    #[error("not paused: pause first")]
    NotPaused,
    /// A burst is in progress.
    #[error("a burst is in progress")]
    Bursting,
    /// Messages in the order of publishing cannot be read backwards.
    #[error("cannot step back through messages in the order of publishing")]
    NoWayBack,
    /// The start of a range to repeat must be before its end, and within the range that is played.
    #[error("loop range from {from} to {to} is empty or outside of the range that is played")]
    EmptyLoop {
        /// Its start.
        from: Time<Ros>,
        /// Its end.
        to: Time<Ros>,
    },
    /// A range to repeat must have a message.
    #[error("loop range from {from} to {to} has no messages")]
    LoopWithoutMessages {
        /// Its start.
        from: Time<Ros>,
        /// Its end.
        to: Time<Ros>,
    },
    /// An external clock drives playback.
    #[error(transparent)]
    External(#[from] ControlRefused),
    /// A rate that is not a finite number above 0.
    #[error(transparent)]
    Rate(#[from] InvalidRate),
    /// A rate outside the accepted range.
    #[error("playback rate {rate} is out of range: expected {least} to {most}")]
    RateOutOfRange {
        /// The requested value.
        rate: f64,
        /// The lowest rate.
        least: f64,
        /// The highest rate.
        most: f64,
    },
    /// The bag has a `/clock` of its own, which is played.
    #[error("cannot publish /clock: the bag has a /clock, which is being played")]
    ClockIsPlayed,
    /// `/clock` cannot be published, or not so often.
    #[error("cannot publish /clock {hertz} times per second")]
    ClockFrequency {
        /// The requested value.
        hertz: f64,
    },
    /// A request that cannot be decoded.
    #[error("malformed request")]
    Malformed,
    /// A [`ClockOwner`](super::ClockOwner) has no messages.
    #[error("a clock has no messages to play")]
    NoMessages,
    /// The player was dropped.
    #[error("the player has ended")]
    Ended,
}
