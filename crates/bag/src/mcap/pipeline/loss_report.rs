use timeloom_time::sync::{AtomicBool, Mutex, Ordering, lock};

use crate::WriteOutcome;

/// Write errors of the sink on their way to the writer; checking takes no lock while there are none.
#[derive(Default)]
pub(super) struct LossReport {
    outcome: Mutex<WriteOutcome>,
    /// Set after the outcome, cleared before it is taken: a later outcome sets it again.
    lossy: AtomicBool,
}

impl LossReport {
    /// Adds an outcome with losses.
    pub(super) fn report(&self, outcome: WriteOutcome) {
        if !outcome.is_ok() {
            lock(&self.outcome).absorb(outcome);
            // A swap: loom considers a store beside the swap of `take` unordered, and it costs nothing here.
            self.lossy.swap(true, Ordering::AcqRel);
        }
    }

    /// Moves the outcomes since the last call to `outcome`.
    pub(super) fn take(&self, outcome: &mut WriteOutcome) {
        if self.lossy.swap(false, Ordering::AcqRel) {
            outcome.absorb(std::mem::take(&mut *lock(&self.outcome)));
        }
    }
}

#[cfg(all(test, loom))]
mod loom_models {
    use std::sync::Arc;

    use timeloom_time::sync::loom::thread;
    use timeloom_time::sync::model;

    use super::*;
    use crate::{LossCause, TopicId};

    fn one_lost() -> WriteOutcome {
        let mut outcome = WriteOutcome::default();
        outcome.lose(TopicId(0), LossCause::Storage, 0, 0);
        outcome
    }

    /// All losses before the end of the sink are taken, once.
    #[test]
    fn no_loss_is_missed() {
        model(3, || {
            let report = Arc::new(LossReport::default());
            let sink = {
                let report = Arc::clone(&report);
                thread::spawn(move || {
                    report.report(one_lost());
                    report.report(one_lost());
                })
            };
            let (mut early, mut late) = (WriteOutcome::default(), WriteOutcome::default());
            report.take(&mut early);
            sink.join().unwrap();
            report.take(&mut late);
            assert_eq!(early.messages_lost() + late.messages_lost(), 2);
        });
    }
}
