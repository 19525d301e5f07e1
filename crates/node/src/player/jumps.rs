use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use timeloom_time::{JumpHandle, JumpHandler, JumpThreshold, PlayerClock, Ros, TimeJump};

use super::board::Board;
use super::mailbox::Mailbox;
use super::read_ahead::{ReadAhead, ReadPlan};
use super::source::Position;

/// Makes the read-ahead follow the jumps of the player's own clock: what was read is void, reading begins at the new
/// time. Those of an external clock are followed in order by the playback thread ([`ExternalJumps`](super::external_jumps::ExternalJumps)).
pub(super) struct Jumps {
    read_ahead: Arc<ReadAhead>,
    mailbox: Arc<Mailbox>,
    board: Arc<Board>,
    /// What is being read; nothing to follow without.
    plan: Mutex<Option<ReadPlan>>,
    /// The playback thread moves its clock along with the messages: no reason to read anew.
    own: AtomicBool,
}

impl Jumps {
    pub(super) fn new(
        read_ahead: &Arc<ReadAhead>,
        mailbox: &Arc<Mailbox>,
        board: &Arc<Board>,
    ) -> Arc<Self> {
        Arc::new(Self {
            read_ahead: Arc::clone(read_ahead),
            mailbox: Arc::clone(mailbox),
            board: Arc::clone(board),
            plan: Mutex::default(),
            own: AtomicBool::new(false),
        })
    }

    /// Follows a clock until the handle is dropped.
    pub(super) fn follow(self: &Arc<Self>, clock: &dyn PlayerClock) -> JumpHandle {
        let (before, after) = (Arc::clone(self), Arc::clone(self));
        clock.add_jump_handler(
            JumpHandler::new("player", JumpThreshold::ANY)
                .before(move |_| {
                    if before.concerns() {
                        before.read_ahead.invalidate();
                    }
                })
                .after(move |jump| after.jumped(jump)),
        )
    }

    /// What is read from now on, by this player's own doing.
    pub(super) fn set_plan(&self, plan: Option<ReadPlan>) {
        *self.plan.lock().unwrap_or_else(PoisonError::into_inner) = plan;
    }

    pub(super) fn plan(&self) -> Option<ReadPlan> {
        *self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the playback thread move its clock without reading anew.
    pub(super) fn along(&self, jump: impl FnOnce()) {
        self.own.store(true, Ordering::SeqCst);
        jump();
        self.own.store(false, Ordering::SeqCst);
    }

    /// Whether messages must be read from another place after a jump.
    fn concerns(&self) -> bool {
        !self.own.load(Ordering::SeqCst) && self.plan().is_some()
    }

    fn jumped(&self, jump: &TimeJump<Ros>) {
        if !self.concerns() {
            return;
        }
        self.board.forget_rate();
        if let Some(plan) = self.plan() {
            let offset = self.board.offset.load(Ordering::SeqCst);
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
