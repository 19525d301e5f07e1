use crate::time_base::TimerKey;
use crate::wait_state::Wait;

/// The timed signal of a wait that cannot block: at most one, moved when the plan changes.
#[derive(Default)]
pub(crate) struct Scheduled(Option<TimerKey>);

impl Scheduled {
    /// Schedules the signal of the wait at `until`, replacing any other.
    pub(crate) fn set(&mut self, wait: &Wait, until: Option<i64>) {
        if self.0.map(|key| key.at) == until
            && until.is_some_and(|at| at > wait.core().base.steady())
        {
            return;
        }
        self.clear(wait);
        self.0 = until.map(|at| wait.core().base.schedule(wait.cell(), at));
    }

    pub(crate) fn clear(&mut self, wait: &Wait) {
        if let Some(key) = self.0.take() {
            wait.core().base.unschedule(key);
        }
    }
}
