//! From the flags of `play` to the player's options.

use std::str::FromStr;

use timeloom_bag::storage::FileInfo;
use timeloom_bag::{BagReader, StorageReader as _};
use timeloom_node::player::{
    ClockMode, ClockPublishing, ClockSteps, ClockTrigger, MessageOrder, Options, PlayRange,
    PlayStart, Repeat, RequestSource, ServiceReplay,
};
use timeloom_time::{Clock, Duration, Ros, System, Time};

use super::bag_arguments::topic_names;
use super::time_arguments::TimeArguments;
use super::{Arguments, Order, Source};
use crate::context::Context;
use crate::failure::Failure;
use crate::time_argument::TimeArgument;

/// A part of a bag as it was typed: `+10s..+15s`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LoopRange {
    from: TimeArgument,
    to: TimeArgument,
}

impl FromStr for LoopRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (from, to) = text
            .split_once("..")
            .ok_or("expected two times with .. between them, such as +10s..+15s")?;
        Ok(Self {
            from: from.parse()?,
            to: to.parse()?,
        })
    }
}

/// The log time at which playing begins; `None` for the first message.
pub(super) fn start_ns(options: &Options, reader: &BagReader) -> Option<i64> {
    match options.range.start? {
        PlayStart::At(time) => Some(time.nanos()),
        PlayStart::Offset(offset) => {
            let first = reader.info().start_time_ns?;
            Some(first.saturating_add(offset.nanos()))
        }
    }
}

pub(super) fn options(arguments: &Arguments, reader: &BagReader) -> anyhow::Result<Options> {
    let time = &arguments.time;
    let info = reader.info();
    let range = range(time, info)?;
    let loop_range = time
        .loop_range
        .map(|part| loop_range(part, &range, info))
        .transpose()?;
    Ok(Options {
        order: match arguments.message_order.unwrap_or_default() {
            Order::Received => MessageOrder::Received,
            Order::Sent => MessageOrder::Sent,
        },
        rate: time.rate(),
        start_paused: time.start_paused,
        range,
        repeat: match (
            time.repeat || time.loop_range.is_some(),
            time.loop_monotonic,
        ) {
            (false, _) => Repeat::Once,
            (true, false) => Repeat::JumpBack,
            (true, true) => Repeat::Monotonic,
        },
        loop_range,
        delay: time.delay.unwrap_or(Duration::ZERO),
        start_at: time.start_at.map(start_at).transpose()?,
        wait_for_subscribers: arguments.pace.subscribers(),
        wait_for_acks: arguments.pace.acks(),
        clock: clock(time),
        time: if time.use_sim_time {
            ClockMode::External {
                extrapolate: time.extrapolate_ros_time,
            }
        } else {
            ClockMode::Controlled
        },
        clock_steps: time
            .skip_clock_steps
            .map_or(ClockSteps::PlayAll, ClockSteps::SkipBeyond),
        pace: arguments.pace.pace()?,
        services: replay(arguments, arguments.publish_service_requests),
        actions: replay(arguments, arguments.send_actions_as_client),
        ..arguments.bag.options()?
    })
}

fn replay(arguments: &Arguments, again: bool) -> ServiceReplay {
    let source = match arguments.service_requests_source.unwrap_or_default() {
        Source::ServiceIntrospection => RequestSource::Service,
        Source::ClientIntrospection => RequestSource::Client,
    };
    if again {
        ServiceReplay::AsRequests(source)
    } else {
        ServiceReplay::AsEvents
    }
}

fn range(time: &TimeArguments, info: &FileInfo) -> Result<PlayRange, Failure> {
    let slice = time.range.resolve(info)?;
    let start = match (slice.start_ns, time.start_offset) {
        (Some(start), _) => Some(PlayStart::At(Time::from_nanos(start))),
        (None, offset) => offset.map(PlayStart::Offset),
    };
    let until_sec = time.playback_until_sec.and_then(|until| until.0);
    let until_nsec = time.playback_until_nsec.filter(|until| *until >= 0);
    let until = slice
        .end_ns
        .or(until_sec.map(Duration::nanos))
        .or(until_nsec);
    Ok(PlayRange {
        start,
        duration: time.playback_duration.and_then(|duration| duration.0),
        until: until.map(Time::from_nanos),
    })
}

fn loop_range(
    part: LoopRange,
    range: &PlayRange,
    info: &FileInfo,
) -> Result<(Time<Ros>, Time<Ros>), Failure> {
    let (first, last) = (
        info.start_time_ns.unwrap_or(0),
        info.end_time_ns.unwrap_or(0),
    );
    let zone = Context::time_zone();
    let resolve = |time: TimeArgument| {
        let beyond = || Failure::usage("--loop-range is out of range");
        time.resolve(first, last, &zone).ok_or_else(beyond)
    };
    let (from, to) = (resolve(part.from)?, resolve(part.to)?);
    if from >= to || from > last || to < first {
        let text = "--loop-range is empty: it must end after its start and lie within the bag";
        return Err(Failure::usage(text)
            .hint("`timeloom info <bag>` shows the start and the end of the bag"));
    }
    let start = match range.start {
        Some(PlayStart::At(time)) => time.nanos(),
        Some(PlayStart::Offset(offset)) => first.saturating_add(offset.nanos()),
        None => first,
    };
    if start >= to {
        let text = "--loop-range ends before the start of playback";
        return Err(Failure::usage(text).hint("start earlier, or repeat a later range"));
    }
    Ok((Time::from_nanos(from), Time::from_nanos(to)))
}

/// A time of day is today's, an offset counts from now.
fn start_at(time: TimeArgument) -> Result<Time<System>, Failure> {
    let now = Clock::<System>::new().now().nanos();
    let at = time.resolve(now, now, &Context::time_zone());
    at.map(Time::from_nanos)
        .ok_or_else(|| Failure::usage("--start-at is out of range"))
}

fn clock(time: &TimeArguments) -> ClockPublishing {
    ClockPublishing {
        period: time
            .clock
            .and_then(|hertz| Duration::try_from_hertz(hertz).ok()),
        before: match (time.clock_topics_all, time.clock_topics.is_empty()) {
            (true, _) => ClockTrigger::All,
            (false, true) => ClockTrigger::None,
            (false, false) => ClockTrigger::Topics(topic_names(&time.clock_topics)),
        },
    }
}
