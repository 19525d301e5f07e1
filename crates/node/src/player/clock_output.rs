use std::sync::Arc;

use timeloom_msg::QosProfile;
use timeloom_time::{Duration, PlayerClock, Ros, Steady, Time};

use super::clock_publisher::{ClockPublisher, Ticker, hertz_of};
use super::notice::Reporter;
use super::suspend_detector::Suspension;
use crate::{Error, Result, RosNode};

/// The output of a clock on `/clock`: its publisher, its period, and the thread that publishes each period.
pub(super) struct ClockOutput {
    node: RosNode,
    clock: Arc<dyn PlayerClock>,
    /// The `QoS` that the user chose.
    qos: Option<QosProfile>,
    reporter: Reporter,
    publisher: Option<Arc<ClockPublisher>>,
    period: Option<Duration>,
    ticker: Option<Ticker>,
}

impl ClockOutput {
    /// Has no publisher until [`open`](Self::open) or [`set_period`](Self::set_period).
    pub(super) fn new(
        node: &RosNode,
        clock: &Arc<dyn PlayerClock>,
        qos: Option<QosProfile>,
        reporter: &Reporter,
    ) -> Self {
        Self {
            node: node.clone(),
            clock: Arc::clone(clock),
            qos,
            reporter: reporter.clone(),
            publisher: None,
            period: None,
            ticker: None,
        }
    }

    /// Creates the publisher.
    pub(super) fn open(&mut self, period: Option<Duration>) -> Result<()> {
        // Two publishers at a time would be two owners.
        self.publisher = None;
        let (node, clock) = (&self.node, &self.clock);
        let publisher = ClockPublisher::new(node, clock, self.qos, period, &self.reporter)?;
        self.publisher = Some(Arc::new(publisher));
        self.period = period;
        Ok(())
    }

    /// Stops, and changes the period for the next start; `None` turns it off. The publisher is replaced if it offers a
    /// shorter deadline.
    pub(super) fn set_period(&mut self, period: Option<Duration>) -> Result<()> {
        self.stop();
        if let Some(period) = period
            && !self
                .publisher
                .as_ref()
                .is_some_and(|publisher| publisher.keeps_deadline(period))
        {
            self.open(Some(period))?;
        }
        self.period = period;
        Ok(())
    }

    pub(super) fn period(&self) -> Option<Duration> {
        self.period
    }

    /// Frequency of `/clock` in hertz; 0 if it is off.
    pub(super) fn frequency(&self) -> f64 {
        hertz_of(self.period)
    }

    /// Publishes each period from now on, if there is one.
    pub(super) fn start(&mut self) -> Result<()> {
        self.start_every(self.period)
    }

    /// Publishes each `period` from now on, instead of the period that was set.
    pub(super) fn start_every(&mut self, period: Option<Duration>) -> Result<()> {
        self.stop();
        if let (Some(publisher), Some(period)) = (&self.publisher, period) {
            let ticker = Ticker::start(publisher, period).map_err(Error::Thread)?;
            self.ticker = Some(ticker);
        }
        Ok(())
    }

    pub(super) fn stop(&mut self) {
        self.ticker = None;
    }

    /// The publisher, whether or not it publishes each period.
    pub(super) fn publisher(&self) -> Option<&Arc<ClockPublisher>> {
        self.publisher.as_ref()
    }

    /// The publisher while it publishes each period.
    pub(super) fn running(&self) -> Option<&Arc<ClockPublisher>> {
        self.publisher.as_ref().filter(|_| self.ticker.is_some())
    }

    /// Announces to followers that the clock is about to jump.
    pub(super) fn announce_jump(&self, to: Time<Ros>) {
        if let Some(publisher) = self.running() {
            publisher.announce_jump(to);
        } else if let Some(publisher) = &self.publisher {
            publisher.log_unpublished_jump(to);
        }
    }

    /// The last suspension of this process, until the other participants have rediscovered it.
    pub(super) fn suspension(&self, now: Time<Steady>) -> Option<Suspension> {
        self.ticker.as_ref()?.suspension(now)
    }
}
