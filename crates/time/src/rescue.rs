use std::sync::{Arc, Weak};
use std::task::Wake;

use atomic_waker::AtomicWaker;

use crate::clock_core::{ClockCore, Generation};
use crate::time_base::TimeBase;
use crate::wait_cell::{Party, WaitCell};

/// Ends a jump whose handlers are overdue when deferred operations wait behind it and no thread does: otherwise no
/// thread would notice, and a source that stops sending would leave the clock at an old time.
pub(crate) struct Rescue {
    core: Weak<ClockCore>,
    generation: Generation,
}

impl Rescue {
    pub(crate) fn begin(core: &Weak<ClockCore>, generation: Generation) {
        // Under loom there is no time, and handlers do not hang.
        if cfg!(loom) {
            return;
        }
        let core = core.clone();
        Arc::new(Self { core, generation }).look();
    }

    fn look(self: Arc<Self>) {
        let core = self.core.upgrade();
        if let Some(at) = core.and_then(|core| core.rescue_at(self.generation)) {
            let task = AtomicWaker::new();
            task.register(&self.into());
            let cell = WaitCell::new(Party::Task(task), None);
            // Patience is measured on the machine's clock, whatever base the clock is on.
            TimeBase::machine().schedule(&cell, at);
        }
    }
}

impl Wake for Rescue {
    fn wake(self: Arc<Self>) {
        self.look();
    }
}
