use std::sync::Arc;

use timeloom_time::{JumpHandle, PlayerClock, Steady, Time};

use super::super::clock_follower::ClockFollower;
use super::super::clock_jumps::{JumpInquiry, JumpsBetween};
use super::super::clock_watch::ClockWatch;
use super::super::external_jumps::{ExternalJump, ExternalJumps};
use super::super::mailbox::Mailbox;
use super::super::options::ClockSteps;
use crate::RosNode;

/// Number of times that an owner that does not answer is asked again.
const RETRIES: u32 = 3;

/// The state of following an external clock.
pub(in super::super) struct Following {
    jumps: Arc<ExternalJumps>,
    /// Feeds the clock as long as it is kept.
    follower: Arc<ClockFollower>,
    inquiry: JumpInquiry,
    /// The owner of `/clock` that was found last.
    owner: Option<String>,
    /// Number of unanswered questions to the owner about the next jump.
    unanswered: u32,
    /// Messages that the next jump skips, so far.
    skipped: u64,
    /// The silence of `/clock` was reported.
    silence_reported: bool,
    leader: Leader,
}

/// The owner of the external clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leader {
    Present,
    /// It is gone, and the rest is not played.
    Gone,
}

/// The answer of the owner about a jump.
pub(super) enum Explanation {
    /// The jump was explained, or replaced by those that the owner made.
    Done {
        /// There may have been more jumps than the owner keeps.
        is_cut: bool,
    },
    /// There was no answer; ask again.
    Retry,
}

impl Following {
    pub(in super::super) fn new(
        steps: ClockSteps,
        mailbox: &Arc<Mailbox>,
        follower: ClockFollower,
    ) -> Self {
        Self {
            jumps: ExternalJumps::new(steps, mailbox, follower.samples()),
            follower: Arc::new(follower),
            inquiry: JumpInquiry::default(),
            owner: None,
            unanswered: 0,
            skipped: 0,
            silence_reported: false,
            leader: Leader::Present,
        }
    }

    pub(in super::super) fn watch(&self, clock: &dyn PlayerClock) -> JumpHandle {
        self.jumps.watch(clock)
    }

    pub(in super::super) fn follower(&self) -> &Arc<ClockFollower> {
        &self.follower
    }

    /// Follows the clock from now on.
    pub(super) fn begin(&self, clock: &dyn PlayerClock) {
        self.jumps.begin(clock);
    }

    pub(super) fn end(&mut self) {
        self.jumps.end();
        self.leader = Leader::Present;
    }

    /// The first time since [`begin`](Self::begin).
    pub(super) fn first_time(&self) -> Option<i64> {
        self.jumps.first()
    }

    /// The next jump to follow.
    pub(super) fn next_jump(&self) -> Option<ExternalJump> {
        self.jumps.next()
    }

    /// The next jump was followed; returns the number of messages that it skipped.
    pub(super) fn jump_done(&mut self) -> u64 {
        self.jumps.pop();
        self.take_skipped()
    }

    /// Asks the owner about the next jump; blocks for its answer.
    pub(super) fn explain(
        &mut self,
        jump: ExternalJump,
        node: &RosNode,
        watch: Option<&ClockWatch>,
    ) -> Explanation {
        let owner = watch.and_then(|watch| self.find_owner(watch));
        let answer = match (owner, jump.samples) {
            (Some(owner), Some(samples)) => {
                let answer = self.inquiry.jumps_between(node, &owner, samples);
                if answer.is_none() && self.unanswered < RETRIES {
                    self.unanswered += 1;
                    return Explanation::Retry;
                }
                answer.unwrap_or_default()
            }
            _ => JumpsBetween::default(),
        };
        self.unanswered = 0;
        self.jumps.explained(&answer.jumps);
        Explanation::Done {
            is_cut: answer.is_cut,
        }
    }

    /// The only node that publishes `/clock`, if it has parameter services; the last one that was found while there is
    /// none.
    pub(super) fn find_owner(&mut self, watch: &ClockWatch) -> Option<String> {
        let mut owners = watch.owners();
        owners.sort();
        owners.dedup();
        match owners.as_slice() {
            [] => {}
            [owner] if watch.has_parameters(owner) => self.owner = Some(owner.clone()),
            [owner] if self.owner.as_ref() == Some(owner) => {}
            _ => return None,
        }
        self.owner.clone()
    }

    /// Counts a message that is not played.
    pub(super) fn skip(&mut self) {
        self.skipped += 1;
    }

    pub(super) fn take_skipped(&mut self) -> u64 {
        std::mem::take(&mut self.skipped)
    }

    /// The arrival of the last sample of `/clock`.
    pub(super) fn last_sample(&self) -> Option<Time<Steady>> {
        self.follower.last()
    }

    pub(super) fn leader(&self) -> Leader {
        self.leader
    }

    pub(super) fn set_leader(&mut self, leader: Leader) {
        self.leader = leader;
    }

    /// Records that `/clock` is silent; true the first time.
    pub(super) fn report_silence(&mut self) -> bool {
        !std::mem::replace(&mut self.silence_reported, true)
    }

    /// Whether the silence of `/clock` was reported.
    pub(super) fn is_silence_reported(&self) -> bool {
        self.silence_reported
    }

    /// Records that `/clock` continues.
    pub(super) fn silence_over(&mut self) {
        self.silence_reported = false;
    }
}
