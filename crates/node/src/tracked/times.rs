use timeloom_time::{Clock, Ros, Steady};
use timeloom_trace::Moment;

use crate::RosNode;

/// The two clocks of a node.
#[derive(Clone, Debug)]
pub(super) struct Times {
    ros: Clock<Ros>,
    steady: Clock<Steady>,
}

impl Times {
    pub(super) fn of(node: &RosNode) -> Self {
        Self {
            ros: node.clock(),
            steady: Clock::on(&node.participant().time_base()),
        }
    }

    /// Now, by both clocks.
    #[inline]
    pub(super) fn now(&self) -> Moment {
        Moment {
            ros: self.ros.now(),
            steady: self.steady.now(),
        }
    }
}
