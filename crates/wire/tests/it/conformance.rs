//! The loopback passes the suite of all transports, on virtual time and on the machine's.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use timeloom_testkit::transport::Harness;
use timeloom_time::{Duration, TimeBase, VirtualTime};
use timeloom_wire::Participant;
use timeloom_wire::loopback::LoopbackNetwork;

struct Loopback {
    base: TimeBase,
    /// The thread of the check takes part in virtual time.
    _here: Option<timeloom_time::Participant>,
    network: LoopbackNetwork,
    participants: AtomicUsize,
    quiet: Duration,
}

impl Loopback {
    fn on(base: TimeBase, here: Option<timeloom_time::Participant>, quiet: Duration) -> Self {
        Self {
            network: LoopbackNetwork::new(&base),
            base,
            _here: here,
            participants: AtomicUsize::new(0),
            quiet,
        }
    }
}

impl Harness for Loopback {
    fn participant(&self) -> Arc<dyn Participant> {
        let number = self.participants.fetch_add(1, Ordering::Relaxed);
        self.network
            .participant(&format!("p{number}"))
            .expect("a participant joins")
    }

    fn base(&self) -> TimeBase {
        self.base.clone()
    }

    fn quiet(&self) -> Duration {
        self.quiet
    }
}

mod on_virtual_time {
    use super::{Duration, Harness, Loopback, VirtualTime};

    fn harness() -> Box<dyn Harness> {
        let world = VirtualTime::new();
        let here = world.enter();
        let quiet = Duration::from_millis(300);
        Box::new(Loopback::on(world.base(), Some(here), quiet))
    }

    timeloom_testkit::transport_conformance!(harness);
}

mod on_machine_time {
    use super::{Duration, Harness, Loopback, TimeBase};

    fn harness() -> Box<dyn Harness> {
        let quiet = Duration::from_millis(20);
        Box::new(Loopback::on(TimeBase::machine(), None, quiet))
    }

    timeloom_testkit::transport_conformance!(harness);
}
