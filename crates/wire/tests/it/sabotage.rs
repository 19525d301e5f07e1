//! Every check of the conformance suite is seen failing on a broken transport.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use timeloom_testkit::transport::{CHECKS, Harness, run};
use timeloom_time::{Duration, TimeBase, VirtualTime};
use timeloom_wire::Participant;
use timeloom_wire::loopback::{Chance, Connection, Faults, LoopbackNetwork, Scope};

/// The defect of the transport.
#[derive(Clone, Copy, Debug)]
enum Sabotage {
    /// Participants do not see each other.
    Apart,
    /// Nothing passes.
    Cut,
    /// Best-effort samples arrive twice, and late.
    Messy,
    /// Participants are dead.
    Dead,
}

struct Broken {
    sabotage: Sabotage,
    world: VirtualTime,
    _here: timeloom_time::Participant,
    network: LoopbackNetwork,
    participants: AtomicUsize,
}

impl Broken {
    fn new(sabotage: Sabotage) -> Self {
        let world = VirtualTime::new();
        let network = LoopbackNetwork::new(&world.base());
        let faults = match sabotage {
            Sabotage::Cut => Faults {
                connection: Connection::Down,
                ..Faults::NONE
            },
            Sabotage::Messy => Faults {
                delay: Duration::from_secs(20),
                duplicate: Chance::Fraction(1.0),
                ..Faults::NONE
            },
            Sabotage::Apart | Sabotage::Dead => Faults::NONE,
        };
        network.set_faults(Scope::everywhere(), faults);
        Self {
            sabotage,
            _here: world.enter(),
            world,
            network,
            participants: AtomicUsize::new(0),
        }
    }
}

impl Harness for Broken {
    fn participant(&self) -> Arc<dyn Participant> {
        let number = self.participants.fetch_add(1, Ordering::Relaxed);
        let label = format!("p{number}");
        let network = match self.sabotage {
            Sabotage::Apart => LoopbackNetwork::new(&self.world.base()),
            _ => self.network.clone(),
        };
        let participant = network.participant(&label).expect("a participant joins");
        if matches!(self.sabotage, Sabotage::Dead) {
            network.kill(&label);
        }
        participant
    }

    fn base(&self) -> TimeBase {
        self.world.base()
    }
}

/// Names are checked before anything is sent: no broken network changes that.
const CANNOT_BREAK: [&str; 1] = ["names_that_ros_forbids_are_refused"];

#[test]
fn every_check_fails_on_some_broken_transport() {
    let sabotages = [
        Sabotage::Apart,
        Sabotage::Cut,
        Sabotage::Messy,
        Sabotage::Dead,
    ];
    let fails = |name: &str, sabotage| {
        let broken = || Box::new(Broken::new(sabotage)) as Box<dyn Harness>;
        catch_unwind(AssertUnwindSafe(|| run(name, &broken))).is_err()
    };
    let blind: Vec<_> = CHECKS
        .iter()
        .map(|check| check.name)
        .filter(|name| !CANNOT_BREAK.contains(name))
        .filter(|name| !sabotages.into_iter().any(|sabotage| fails(name, sabotage)))
        .collect();
    assert!(blind.is_empty(), "these checks see nothing: {blind:?}");
}
