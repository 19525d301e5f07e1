//! Loss accounts against the true counts.

use proptest::prelude::*;
use timeloom_msg::QosProfile;
use timeloom_msg::qos::{History, Reliability};
use timeloom_time::Duration;
use timeloom_wire::LossTracker;
use timeloom_wire::loopback::{Chance, Connection, Faults, LoopbackOptions, Scope};

use crate::world::{BEST_EFFORT, World, publish, subscribe, topic};

fn any_chance() -> impl Strategy<Value = Chance> {
    prop_oneof![
        Just(Chance::Never),
        (1u64..8).prop_map(Chance::EveryNth),
        (0.0..0.9).prop_map(Chance::Fraction),
    ]
}

prop_compose! {
    fn any_faults()(
        drop in any_chance(),
        duplicate in any_chance(),
        reorder in any_chance(),
        delay in 0i64..5,
        jitter in 0i64..5,
        slow in 0i64..3,
        down in prop::bool::weighted(0.1),
    ) -> Faults {
        Faults {
            drop,
            duplicate,
            reorder,
            reorder_by: Duration::from_millis(7),
            delay: Duration::from_millis(delay),
            jitter: Duration::from_millis(jitter),
            slow_receiver: Duration::from_millis(slow),
            connection: if down { Connection::Down } else { Connection::Up },
        }
    }
}

prop_compose! {
    fn any_qos()(reliable in any::<bool>(), depth in 0u64..6) -> QosProfile {
        QosProfile {
            reliability: if reliable { Reliability::Reliable } else { Reliability::BestEffort },
            history: if depth == 0 { History::KeepAll } else { History::KeepLast },
            depth,
            ..QosProfile::DEFAULT
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// With any faults every sample is in one of the counts, and the account by sequence numbers is exact between the
    /// first and the last received sample.
    #[test]
    fn nothing_is_unaccounted_for(
        seed in any::<u64>(),
        offers in any_qos(),
        asks in any_qos(),
        phases in prop::collection::vec((any_faults(), 1u32..20), 1..5),
    ) {
        let world = World::with(LoopbackOptions { seed, ..LoopbackOptions::default() });
        let (near, far) = (world.node("near"), world.node("far"));
        let publisher = near.publish(&topic(offers)).unwrap();
        let (subscription, collector) = subscribe(&far, asks);
        let mut sent = 0;
        for (faults, count) in &phases {
            world.network.set_faults(Scope::everywhere(), *faults);
            for _ in 0..*count {
                publish(&*publisher, 1);
                world.pass(1);
            }
            sent += u64::from(*count);
        }
        world.network.set_faults(Scope::everywhere(), Faults::NONE);
        // Repairs of samples that were dropped sixteen times take a while.
        world.pass(20_000);
        let Some(account) = world.network.account(publisher.gid(), subscription.gid()) else {
            prop_assert_eq!(offers.reliability, Reliability::BestEffort);
            prop_assert_eq!(asks.reliability, Reliability::Reliable);
            return Ok(());
        };
        prop_assert_eq!(account.sent, sent);
        prop_assert_eq!(account.waiting, 0);
        prop_assert_eq!(
            account.sent + account.duplicated,
            account.delivered + account.dropped + account.overflowed + account.expired
        );
        prop_assert_eq!(account.delivered, collector.count() as u64);
        check_gaps(&collector, publisher.gid())?;
    }
}

fn check_gaps(
    collector: &timeloom_testkit::transport::Collector,
    writer: timeloom_wire::Gid,
) -> Result<(), TestCaseError> {
    let numbers = crate::world::numbers(collector);
    let seen: std::collections::BTreeSet<_> = numbers.iter().copied().collect();
    let mut losses = LossTracker::default();
    for number in &numbers {
        losses.sample(writer, *number);
    }
    let (Some(first), Some(last)) = (seen.first(), seen.last()) else {
        return Ok(());
    };
    let account = losses.account(&writer).expect("samples came");
    prop_assert_eq!(account.lost, last - first + 1 - seen.len() as u64);
    prop_assert_eq!(account.duplicates, (numbers.len() - seen.len()) as u64);
    Ok(())
}

#[test]
fn a_flood_on_best_effort_is_counted_exactly_per_writer() {
    let world = World::with(LoopbackOptions {
        seed: 7,
        ..LoopbackOptions::default()
    });
    let far = world.node("far");
    let (subscription, collector) = subscribe(&far, BEST_EFFORT);
    let publishers: Vec<_> = ["a", "b", "c"]
        .map(|label| world.node(label).publish(&topic(BEST_EFFORT)).unwrap())
        .into();
    let faults = Faults {
        drop: Chance::Fraction(0.3),
        ..Faults::NONE
    };
    world.network.set_faults(Scope::everywhere(), faults);
    for _ in 0..1_000 {
        for publisher in &publishers {
            publish(&**publisher, 1);
        }
    }
    // The account ends with a sample that is known to arrive, as it began with none before the first.
    world.network.set_faults(Scope::everywhere(), Faults::NONE);
    for publisher in &publishers {
        publish(&**publisher, 1);
    }
    world.pass(10);
    let mut losses = LossTracker::default();
    for sample in collector.samples() {
        losses.sample(sample.writer, sample.sequence.unwrap());
    }
    for publisher in &publishers {
        let truth = world
            .network
            .account(publisher.gid(), subscription.gid())
            .unwrap();
        let account = losses.account(&publisher.gid()).unwrap();
        let before_first = account.first - 1;
        assert_eq!(account.lost + before_first, truth.dropped);
        assert_eq!(account.received, truth.delivered);
        assert_eq!(account.last, 1_001);
        assert!(truth.dropped > 200, "{truth:?}");
    }
}
