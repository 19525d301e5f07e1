//! Time from `/clock`, for verbs that have `--use-sim-time`.

use std::sync::Arc;

use timeloom_node::RosNode;
use timeloom_time::{Clock, Duration, Ros, WaitOptions, Woke};

use crate::context::Context;
use crate::live::{Live, Notices};

/// A hidden node that listens to `/clock`.
pub(crate) struct SimClock {
    node: RosNode,
    notices: Notices,
}

impl SimClock {
    pub(crate) fn new(live: &Live) -> anyhow::Result<Self> {
        let mut options = live.helper("clock")?;
        options.use_sim_time = true;
        let node = RosNode::new(Arc::clone(live.participant()), options)?;
        let notices = Notices::default();
        let reported = notices.clone();
        node.set_reporter(move |_, text| reported.warn(text));
        Ok(Self { node, notices })
    }

    pub(crate) fn clock(&self) -> Clock<Ros> {
        self.node.clock()
    }

    /// Blocks until `/clock` shows a time; false at Ctrl-C.
    pub(crate) fn wait_for_time(&self, live: &Live, context: &mut Context) -> bool {
        let clock = self.clock();
        let options = WaitOptions::new().cancel(live.interrupt().token());
        if !clock.started() {
            let briefly = options.clone().real_timeout(Duration::from_secs(1));
            if clock.wait_until_started(&briefly) == Woke::TimedOut {
                context.printer.aside("waiting for /clock");
            }
        }
        while !clock.started() && !live.interrupt().happened() {
            let _woke = clock.wait_until_started(&options);
        }
        clock.started()
    }

    /// Prints warnings about the time, such as two nodes that publish it.
    pub(crate) fn report(&self, context: &mut Context) {
        self.notices.print(context);
    }
}
