//! The common part of `hz` and `bw`: a line per second over the last messages.

use timeloom_msg::{MessageFilter, Schema};
use timeloom_node::MessageWindow;
use timeloom_text::counted;
use timeloom_time::{Clock, Duration, System};
use timeloom_wire::Sample;
use timeloom_wire::queue::ReceivedAccount;

use crate::context::Context;
use crate::live::{
    Feed, FeedArguments, FeedTimes, Live, LiveArguments, SimClock, TypeFinder, check_filter, passes,
};
use crate::outcome::Outcome;

const INTERVAL: Duration = Duration::from_secs(1);

/// The measured quantity.
pub(super) struct Measurement<'a> {
    pub(super) feed: &'a FeedArguments,
    pub(super) live: &'a LiveArguments,
    pub(super) window: u32,
    pub(super) limit: Option<u64>,
    pub(super) time: MeasuredBy,
    pub(super) filter: Option<&'a MessageFilter>,
}

/// Which time counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MeasuredBy {
    /// `/clock` if the node's parameter `use_sim_time` is set, otherwise system time.
    Node,
    /// The time of `/clock`.
    Clock,
    /// The machine's.
    Machine,
}

impl MeasuredBy {
    pub(super) fn new(use_sim_time: bool, wall_time: bool) -> Self {
        match (use_sim_time, wall_time) {
            (_, true) => Self::Machine,
            (true, false) => Self::Clock,
            (false, false) => Self::Node,
        }
    }
}

/// Prints what `line` makes of the window, the account and the time, until the limit or Ctrl-C; once at the end too.
pub(super) fn measure(
    measurement: &Measurement<'_>,
    context: &mut Context,
    line: impl Fn(&MessageWindow, &ReceivedAccount, i64) -> Option<String>,
) -> anyhow::Result<Outcome> {
    let live = Live::join(measurement.live, context)?;
    let simulated = measurement.time != MeasuredBy::Machine
        && live.uses_sim_time(measurement.time == MeasuredBy::Clock);
    let simulated = simulated.then(|| SimClock::new(&live)).transpose()?;
    let time = simulated.as_ref().map(SimClock::clock);
    let times = FeedTimes {
        clock: time.clone(),
        patience: None,
    };
    let Some(feed) = Feed::open_timed(measurement.feed, &live, times, context)? else {
        return Ok(Outcome::Done);
    };
    let mut sieve = SampleFilter::new(measurement.filter, &live, &feed)?;
    let mut window = MessageWindow::new(usize::try_from(measurement.window)?);
    let (clock, now) = (live.clock(), Clock::<System>::on(&live.base()));
    let mut next = clock.now().saturating_add(INTERVAL);
    let (mut count, mut shown) = (0, 0);
    let mut samples = Vec::new();
    let is_full = |count: u64| measurement.limit.is_some_and(|limit| count >= limit);
    loop {
        let left = next.checked_since(clock.now()).unwrap_or_default();
        samples.clear();
        feed.wait(&mut samples, left.max(Duration::from_nanos(0)));
        feed.report_events(context);
        if let Some(simulated) = &simulated {
            simulated.report(context);
        }
        for sample in &samples {
            // Zero is a clock that has no time yet.
            if !is_full(count) && sample.receive_time.nanos() != 0 && sieve.takes(sample)? {
                count += 1;
                window.add(sample.receive_time.nanos(), sample.payload.len());
            }
        }
        let ends = live.interrupt().happened() || is_full(count);
        if ends || clock.now() >= next {
            next = next.saturating_add(INTERVAL).max(clock.now());
            let instant = time
                .as_ref()
                .map_or_else(|| now.now().nanos(), |time| time.now().nanos());
            let text = line(&window, &feed.account(), instant);
            match text {
                Some(text) if shown != count => writeln!(context.printer.data(), "{text}")?,
                _ if ends => {}
                None if time.as_ref().is_some_and(|time| !time.started()) => {
                    context.printer.aside("no time on /clock yet");
                }
                _ => context
                    .printer
                    .aside(&format!("no new messages on {}", feed.topic)),
            }
            shown = count;
            context.printer.flush()?;
        }
        if ends {
            let undecoded = sieve.report(context);
            return Ok(Outcome::lost_if(feed.report_loss(context) || undecoded));
        }
    }
}

/// Lets the messages through that are to be measured.
struct SampleFilter<'a> {
    filter: Option<(&'a MessageFilter, Schema)>,
    undecoded: u64,
}

impl<'a> SampleFilter<'a> {
    fn new(filter: Option<&'a MessageFilter>, live: &Live, feed: &Feed) -> anyhow::Result<Self> {
        let mut sieve = Self {
            filter: None,
            undecoded: 0,
        };
        if let Some(filter) = filter {
            let schema = TypeFinder::new().of_endpoint(live, &feed.publisher)?;
            check_filter(filter, &schema, &feed.topic, None)?;
            sieve.filter = Some((filter, schema));
        }
        Ok(sieve)
    }

    fn takes(&mut self, sample: &Sample) -> anyhow::Result<bool> {
        let Some((filter, schema)) = &self.filter else {
            return Ok(true);
        };
        match schema.decode(&sample.payload) {
            Ok(message) => Ok(passes(filter, &message, None)?),
            Err(_undecodable) => {
                self.undecoded += 1;
                Ok(false)
            }
        }
    }

    /// Says how many could not be judged; true if there are any.
    fn report(&self, context: &mut Context) -> bool {
        if self.undecoded > 0 {
            let count = counted(self.undecoded, "message");
            context.printer.loss(&format!(
                "{count} could not be decoded and are not measured"
            ));
        }
        self.undecoded > 0
    }
}
