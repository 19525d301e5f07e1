//! What `hz` and `bw` share: a line a second over the last messages.

use timeloom_time::{Clock, Duration, System};

use super::window::Window;
use crate::context::Context;
use crate::live::{Account, Feed, FeedArguments, Live, LiveArguments, SimClock};
use crate::outcome::Outcome;

const INTERVAL: Duration = Duration::from_secs(1);

/// What to measure.
pub(super) struct Measurement<'a> {
    pub(super) feed: &'a FeedArguments,
    pub(super) live: &'a LiveArguments,
    pub(super) window: u32,
    pub(super) limit: Option<u64>,
    pub(super) use_sim_time: bool,
}

/// Prints what `line` makes of the window, the account and the time, until the limit or Ctrl-C; once at the end too.
pub(super) fn measure(
    measurement: &Measurement<'_>,
    context: &mut Context,
    line: impl Fn(&Window, &Account, i64) -> Option<String>,
) -> anyhow::Result<Outcome> {
    let live = Live::join(measurement.live, context)?;
    let simulated = measurement.use_sim_time.then(|| SimClock::new(&live));
    let simulated = simulated.transpose()?;
    let time = simulated.as_ref().map(SimClock::clock);
    let Some(feed) = Feed::open_timed(measurement.feed, &live, time.clone(), context)? else {
        return Ok(Outcome::Done);
    };
    let mut window = Window::new(usize::try_from(measurement.window)?);
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
            if !is_full(count) && sample.receive_time.nanos() != 0 {
                count += 1;
                window.add(sample.receive_time.nanos(), sample.payload.len());
            }
        }
        let ends = live.interrupt().happened() || is_full(count);
        if ends || clock.now() >= next {
            next = next.saturating_add(INTERVAL).max(clock.now());
            let text = line(&window, &feed.account(), now.now().nanos());
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
            return Ok(Outcome::lost_if(feed.report_loss(context)));
        }
    }
}
