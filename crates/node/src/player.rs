//! Plays bags: publishes their messages as their time comes, on a clock that can be paused, moved and scaled.
//!
//! Three threads: the loader reads ahead, the playback thread publishes, and one publishes `/clock`. Everything that
//! is asked of a player becomes a [`Control`] and is done by the playback thread, one after the other; so an answer
//! tells what really happened, and nothing is published after a pause was answered.

mod board;
mod clock_follower;
mod clock_jumps;
mod clock_message;
mod clock_owner;
mod clock_publisher;
mod clock_samples;
mod clock_watch;
mod control;
mod external_jumps;
mod handle;
mod jumps;
mod listeners;
mod loader;
mod lockstep;
#[cfg(all(test, loom))]
mod loom_models;
mod mailbox;
mod meter;
mod notice;
mod open;
mod options;
mod outlet;
mod playback;
mod publisher_qos;
mod rate;
mod read_ahead;
mod request_flow;
mod requests;
mod run;
mod services;
mod source;
mod splits;
mod status;
mod stop_sense;

pub use clock_message::{decode_clock, encode_clock};
pub use clock_owner::{ClockOwner, ClockOwnerOptions};
pub use clock_watch::ClockWatch;
pub use control::{Answer, Control, Mark, Refusal};
pub use handle::PlayerHandle;
pub use mailbox::Reply;
pub use notice::{Notice, Reporter};
pub use open::Player;
pub use options::{
    AckWait, ClockPublishing, ClockSteps, ClockTrigger, MessageOrder, Options, Pace, PlayRange,
    PlayStart, ReadAheadLimits, Repeat, RequestSource, Selection, ServiceReplay, SettleWait,
    TimeSituation,
};
pub use rate::sane_rate;
pub use services::{Obeys, Services};
pub use status::{ClockStatus, SkippedTopic, State, Status, TopicStatus};
