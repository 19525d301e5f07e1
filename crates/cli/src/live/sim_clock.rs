//! Time from `/clock`, for verbs that have `--use-sim-time`.

use std::sync::{Arc, Mutex, PoisonError};

use timeloom_node::RosNode;
use timeloom_time::{Clock, Duration, Ros, WaitOptions, Woke};

use crate::context::Context;
use crate::live::Live;

/// A hidden node that listens to `/clock`.
pub(crate) struct SimClock {
    node: RosNode,
    words: Arc<Mutex<Vec<String>>>,
}

impl SimClock {
    pub(crate) fn new(live: &Live) -> anyhow::Result<Self> {
        let mut options = live.helper("clock")?;
        options.use_sim_time = true;
        let node = RosNode::new(Arc::clone(live.participant()), options)?;
        let words = Arc::new(Mutex::new(Vec::new()));
        let said = Arc::clone(&words);
        node.set_reporter(move |_, text| {
            let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
            said.push(text.to_owned());
        });
        Ok(Self { node, words })
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

    /// Says what is wrong with the time, such as two nodes that publish it.
    pub(crate) fn report(&self, context: &mut Context) {
        let mut words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        for text in words.drain(..) {
            context.printer.warning(&text);
        }
    }
}
