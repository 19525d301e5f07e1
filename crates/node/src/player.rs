//! Plays bags: publishes their messages at their times, on a clock that can be paused, moved and scaled.
//!
//! A player has three threads: the loader reads ahead, the playback thread publishes, and one publishes `/clock`. Keys,
//! services and calls all become a [`Control`], which the playback thread executes one after the other: an [`Answer`]
//! reports the result, and no message is published after the answer to a pause.

mod clock_follower;
mod clock_jumps;
mod clock_message;
mod clock_output;
mod clock_owner;
mod clock_publisher;
mod clock_samples;
mod clock_watch;
mod control;
mod external_jumps;
mod handle;
mod jump_restart;
mod listeners;
mod live_status;
mod loader;
mod lockstep;
#[cfg(all(test, loom))]
mod loom_models;
mod mailbox;
mod notice;
mod open;
mod options;
mod output;
mod playback;
mod publisher_qos;
mod rate;
mod rate_meter;
mod read_ahead;
mod remote_player;
mod request_flow;
mod requests;
mod run;
mod services;
mod source;
mod split_events;
mod status;
mod suspend_detector;

pub use clock_message::{decode_clock, encode_clock};
pub use clock_owner::{ClockOwner, ClockOwnerOptions};
pub use clock_watch::ClockWatch;
pub use control::{Answer, Control, Mark, Refusal};
pub use handle::PlayerHandle;
pub use mailbox::Reply;
pub use notice::{Notice, Reporter};
pub use open::Player;
pub use options::{
    AckWait, ClockMode, ClockPublishing, ClockSteps, ClockTrigger, MessageOrder, Options, Pace,
    PlayRange, PlayStart, ReadAheadLimits, Repeat, RequestSource, Selection, ServiceReplay,
    SettleWait,
};
pub use rate::sane_rate;
pub use remote_player::{PauseCommand, RemoteAnswer, RemoteCommand, RemotePlayer};
pub use services::{Controllable, Services};
pub use status::{ClockStatus, SkippedTopic, State, Status, TopicStatus};
