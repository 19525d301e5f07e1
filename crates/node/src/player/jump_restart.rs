use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use timeloom_time::{JumpHandle, JumpHandler, JumpThreshold, PlayerClock, Ros, TimeJump};
use timeloom_wire::backend::lock;

use super::live_status::LiveStatus;
use super::mailbox::Mailbox;
use super::read_ahead::{ReadAhead, ReadPlan};
use super::source::Position;

/// Restarts the read-ahead when the player's own clock jumps. Jumps of an external clock are followed in order by the
/// playback thread ([`ExternalJumps`](super::external_jumps::ExternalJumps)).
pub(super) struct JumpRestart {
    read_ahead: Arc<ReadAhead>,
    mailbox: Arc<Mailbox>,
    live: Arc<LiveStatus>,
    /// The current plan; without one, nothing is read.
    plan: Mutex<Option<ReadPlan>>,
    /// The playback thread moves its clock along with the messages: the read-ahead stays valid.
    own: AtomicBool,
}

impl JumpRestart {
    pub(super) fn new(
        read_ahead: &Arc<ReadAhead>,
        mailbox: &Arc<Mailbox>,
        live: &Arc<LiveStatus>,
    ) -> Arc<Self> {
        Arc::new(Self {
            read_ahead: Arc::clone(read_ahead),
            mailbox: Arc::clone(mailbox),
            live: Arc::clone(live),
            plan: Mutex::default(),
            own: AtomicBool::new(false),
        })
    }

    /// Watches a clock until the handle is dropped.
    pub(super) fn watch(self: &Arc<Self>, clock: &dyn PlayerClock) -> JumpHandle {
        let (before, after) = (Arc::clone(self), Arc::clone(self));
        clock.add_jump_handler(
            JumpHandler::new("player", JumpThreshold::ANY)
                .before(move |_| {
                    if before.restarts() {
                        before.read_ahead.invalidate();
                    }
                })
                .after(move |jump| after.jumped(jump)),
        )
    }

    /// Sets the current plan.
    pub(super) fn set_plan(&self, plan: Option<ReadPlan>) {
        *lock(&self.plan) = plan;
    }

    pub(super) fn plan(&self) -> Option<ReadPlan> {
        *lock(&self.plan)
    }

    /// Moves the clock without a restart.
    pub(super) fn along(&self, jump: impl FnOnce()) {
        self.own.store(true, Ordering::SeqCst);
        jump();
        self.own.store(false, Ordering::SeqCst);
    }

    /// Whether a jump restarts the read-ahead.
    fn restarts(&self) -> bool {
        !self.own.load(Ordering::SeqCst) && self.plan().is_some()
    }

    fn jumped(&self, jump: &TimeJump<Ros>) {
        if !self.restarts() {
            return;
        }
        self.live.forget_rate();
        if let Some(plan) = self.plan() {
            let offset = self.live.offset.load(Ordering::SeqCst);
            let time = jump.new.nanos().saturating_sub(offset);
            self.read_ahead.restart(ReadPlan {
                from: Position::at(time.max(plan.start)),
                latched: true,
                ..plan
            });
        }
        self.mailbox.ring();
    }
}
