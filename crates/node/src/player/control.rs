use timeloom_time::{ControlRefused, Duration, InvalidRate, Ros, Time};

use super::options::PlayRange;

/// Everything that can be asked of a player, by whatever means: key, service, or call.
#[derive(Clone, Debug, PartialEq)]
pub enum Control {
    /// Begins to play; parts of the range that are not set are those of the options.
    Play(PlayRange),
    /// Stops time.
    Pause,
    /// Lets time go on.
    Resume,
    /// Pauses, or resumes.
    TogglePaused,
    /// Changes how fast time goes.
    SetRate(f64),
    /// Goes to another time of the bag; the next message is the first one at or after it. In a monotonic loop, a time
    /// that the player's clock shows in this lap is understood, too.
    Seek(Time<Ros>),
    /// Goes forward, or back if negative.
    SeekBy(Duration),
    /// Publishes the next message at once; only when paused.
    PlayNext,
    /// Publishes the message before the last one; only when paused.
    StepBack,
    /// Publishes so many messages at once, or all with 0; only when paused.
    Burst(u64),
    /// Plays this part again and again; with `None` the whole again.
    SetLoop(Option<(Time<Ros>, Time<Ros>)>),
    /// Makes the current time one end of the part to repeat; with both ends known it is repeated.
    Mark(Mark),
    /// Publishes `/clock` so often per second from now on; 0 or less for not at all.
    SetClockFrequency(f64),
    /// Ends playing as if the last message were out: acknowledgements are waited for, if the options say so.
    Finish,
    /// Ends playing.
    Stop,
}

/// The ends of a part to repeat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Its beginning.
    A,
    /// Its end.
    B,
}

/// What came of a control.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Answer {
    /// It was done.
    Done,
    /// Whether time stands now.
    Paused(bool),
    /// The rate from now on.
    Rate(f64),
    /// The time of the bag from now on.
    At(Time<Ros>),
    /// How many messages were published by it.
    Played(u64),
}

/// Why a control was not done.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// There is nothing to control: nothing is being played.
    #[error("nothing is being played")]
    NotPlaying,
    /// It plays already.
    #[error("it plays already")]
    AlreadyPlaying,
    /// Single messages are published only while time stands.
    #[error("time must be paused first")]
    NotPaused,
    /// A burst is going on.
    #[error("a burst is going on")]
    Bursting,
    /// Messages in the order of sending cannot be read backwards.
    #[error("messages in the order of sending can't be stepped back through")]
    NoWayBack,
    /// The beginning of a part to repeat must be before its end, and within what is played.
    #[error(
        "the part to repeat is empty or outside of what is played: it begins at {from} and ends at {to}"
    )]
    EmptyLoop {
        /// Its beginning.
        from: Time<Ros>,
        /// Its end.
        to: Time<Ros>,
    },
    /// A part to repeat must have a message.
    #[error("the part to repeat has no message: it begins at {from} and ends at {to}")]
    LoopWithoutMessages {
        /// Its beginning.
        from: Time<Ros>,
        /// Its end.
        to: Time<Ros>,
    },
    /// Time is somebody else's.
    #[error(transparent)]
    External(#[from] ControlRefused),
    /// A rate that is not a finite number above 0.
    #[error(transparent)]
    Rate(#[from] InvalidRate),
    /// A rate that nobody can mean.
    #[error("the playback rate {rate} is absurd: it must be between {least} and {most}")]
    AbsurdRate {
        /// What was asked for.
        rate: f64,
        /// The least rate.
        least: f64,
        /// The highest rate.
        most: f64,
    },
    /// The bag has a `/clock` of its own, which is played.
    #[error("the bag's own /clock is being played")]
    ClockIsPlayed,
    /// `/clock` cannot be published, or not so often.
    #[error("/clock can't be published {hertz} times a second")]
    ClockFrequency {
        /// What was asked for.
        hertz: f64,
    },
    /// A request that cannot be read.
    #[error("the request cannot be understood")]
    Malformed,
    /// The one that was asked has no messages: it is a clock and nothing else.
    #[error("a clock has no messages to play")]
    NoMessages,
    /// The player is gone.
    #[error("the player has ended")]
    Ended,
}
