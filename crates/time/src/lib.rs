#![doc = include_str!("../README.md")]
#![cfg_attr(not(any(feature = "std", test)), no_std)]

mod any_time;
mod duration;
mod duration_operators;
mod error;
mod extrapolator;
mod from_text;
mod into_duration;
mod jump;
mod kind;
mod playback_rate;
mod schedule;
mod segment;
mod time;
mod wire;

#[cfg(feature = "std")]
mod any_clock;
#[cfg(feature = "std")]
mod cancel;
#[cfg(feature = "std")]
mod clock;
#[cfg(feature = "std")]
mod clock_core;
#[cfg(feature = "std")]
mod clock_state;
#[cfg(feature = "std")]
mod controlled_clock;
#[cfg(feature = "std")]
mod event;
#[cfg(feature = "std")]
mod external_clock;
#[cfg(feature = "std")]
mod follow;
#[cfg(feature = "std")]
mod handler_threads;
#[cfg(feature = "std")]
mod hub;
#[cfg(feature = "std")]
mod hub_state;
#[cfg(feature = "std")]
mod jump_handler;
#[cfg(feature = "std")]
mod jump_protocol;
#[cfg(all(test, loom))]
mod loom_models;
#[cfg(feature = "std")]
mod machine;
#[cfg(feature = "std")]
mod machine_timers;
#[cfg(feature = "std")]
mod now_future;
#[cfg(feature = "std")]
mod participant;
#[cfg(feature = "std")]
mod player_clock;
#[cfg(feature = "std")]
mod rate;
#[cfg(feature = "std")]
mod raw_jump;
#[cfg(feature = "std")]
mod reading;
#[cfg(feature = "std")]
mod reporter;
#[cfg(feature = "std")]
mod rescue;
#[cfg(feature = "std")]
mod scheduled;
#[cfg(feature = "serde")]
mod serde;
#[cfg(feature = "std")]
mod sleep;
#[cfg(feature = "std")]
mod sleep_descriptor;
#[cfg(feature = "std")]
mod snapshot_cell;
#[cfg(feature = "std")]
mod std_time;
#[cfg(feature = "std")]
#[doc(hidden)]
pub mod sync;
#[cfg(feature = "std")]
mod time_base;
#[cfg(feature = "std")]
mod time_hub;
#[cfg(feature = "std")]
mod time_source;
#[cfg(feature = "std")]
mod timeout;
#[cfg(feature = "std")]
mod timer;
#[cfg(feature = "stream")]
mod timer_stream;
#[cfg(feature = "std")]
mod timer_tick;
#[cfg(feature = "std")]
mod virtual_time;
#[cfg(feature = "std")]
mod wait;
#[cfg(feature = "std")]
mod wait_cell;
#[cfg(feature = "std")]
mod wait_queue;
#[cfg(feature = "std")]
mod wait_state;

pub use any_time::AnyTime;
pub use duration::Duration;
pub use error::{KindOperation, TimeError};
pub use extrapolator::{Extrapolator, Update};
pub use into_duration::IntoDuration;
pub use jump::{ClockChange, JumpCause, JumpThreshold, TimeJump};
pub use kind::{Kind, KindId, Ros, RosSteady, SimAware, SourceState, Steady, System, Wire};
pub use playback_rate::{InvalidRate, PlaybackRate};
pub use schedule::{MissedTick, Schedule, Tick};
pub use segment::Segment;
pub use time::Time;
pub use wire::{WireDuration, WireTime};

#[cfg(feature = "stream")]
pub use self::timer_stream::TimerStream;
#[cfg(feature = "std")]
pub use self::{
    any_clock::{AnyClock, AnyWoke},
    cancel::CancelToken,
    clock::{Clock, NoTime},
    controlled_clock::{ControlledClock, ReferencePair},
    event::Event,
    external_clock::ExternalClock,
    jump_handler::{JumpHandle, JumpHandler},
    now_future::NowFuture,
    participant::{BaseThread, Participant},
    player_clock::{ControlRefused, PlayerClock},
    rate::Rate,
    reading::{Reading, tai_offset},
    reporter::ClockWarning,
    sleep::Sleep,
    sleep_descriptor::SleepDescriptor,
    time_base::TimeBase,
    time_hub::{TimeHub, TimeHubOptions, TwoSources},
    time_source::{ClockSink, SourceId, TimeSource},
    timeout::{Timeout, timeout},
    timer::{Timer, TimerBuilder},
    timer_tick::TimerTick,
    virtual_time::VirtualTime,
    wait::{OnJump, Precision, WaitOptions, Woke},
};
