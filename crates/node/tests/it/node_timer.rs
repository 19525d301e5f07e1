//! Timers of a node.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use timeloom_node::NodeOptions;
use timeloom_time::{Duration, Event, Time};

use crate::clock::{Simulator, simulated};
use crate::world::World;

const PERIOD: Duration = Duration::from_millis(100);

fn counter() -> (Arc<AtomicU32>, impl FnMut(timeloom_time::Tick) + Send) {
    let count = Arc::new(AtomicU32::new(0));
    let inside = Arc::clone(&count);
    (count, move |_tick| {
        inside.fetch_add(1, Ordering::SeqCst);
    })
}

#[test]
fn a_timer_calls_back_until_it_is_dropped() {
    let world = World::new();
    let node = world.node(NodeOptions::new("node"));
    let (count, callback) = counter();
    let timer = node.create_timer(PERIOD, callback).unwrap();
    world.pass(350);
    assert_eq!(count.load(Ordering::SeqCst), 3);
    drop(timer);
    world.pass(1_000);
    assert_eq!(count.load(Ordering::SeqCst), 3);
}

#[test]
fn a_timer_follows_simulated_time() {
    let world = World::new();
    let node = world.node(simulated("node"));
    let simulator = Simulator::new(&world, "gazebo");
    world.pass(10);
    simulator.tick(100);
    world.pass(10);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let ticks = Arc::clone(&seen);
    let _timer = node
        .create_timer(std::time::Duration::from_secs(2), move |tick| {
            ticks.lock().unwrap().push((tick.expected, tick.missed));
        })
        .unwrap();
    world.pass(10_000);
    assert_eq!(*seen.lock().unwrap(), [], "simulated time stands");
    for second in [101, 102, 103, 109] {
        simulator.tick(second);
        world.pass(10);
    }
    assert_eq!(
        *seen.lock().unwrap(),
        [(Time::from_secs(102), 0), (Time::from_secs(104), 2)]
    );
}

#[test]
fn a_timer_can_be_cancelled_and_reset() {
    let world = World::new();
    let node = world.node(NodeOptions::new("node"));
    let (count, callback) = counter();
    let timer = node.create_timer(PERIOD, callback).unwrap();
    world.pass(150);
    timer.cancel();
    world.pass(1_000);
    assert_eq!(
        (count.load(Ordering::SeqCst), timer.is_cancelled()),
        (1, true)
    );
    timer.reset();
    world.pass(150);
    assert_eq!(count.load(Ordering::SeqCst), 2);
    assert_eq!(timer.period(), PERIOD);
}

#[test]
fn a_callback_that_panics_or_is_slow_does_not_end_the_timer() {
    let world = World::new();
    let node = world.node(NodeOptions::new("node"));
    let count = Arc::new(AtomicU32::new(0));
    let (inside, slow) = (Arc::clone(&count), world.clock.clone());
    let _timer = node
        .create_timer(PERIOD, move |tick| {
            let number = inside.fetch_add(1, Ordering::SeqCst);
            assert!(number != 0, "a panic on purpose");
            if number == 1 {
                let _slept = slow.sleep_for(Duration::from_millis(250));
            }
            assert!(number != 3 || tick.missed == 0, "back on the grid");
        })
        .unwrap();
    world.pass(650);
    // At 100, 200 (until 450, when 300 is late and 400 missed), 500 and 600 ms.
    assert_eq!(count.load(Ordering::SeqCst), 5);
}

#[test]
fn a_timer_may_be_dropped_in_its_own_callback_and_outlive_its_node() {
    let world = World::new();
    let node = world.node(NodeOptions::new("node"));
    let slot = Arc::new(Mutex::new(None));
    let (own, dropped) = (Arc::clone(&slot), Event::new(&world.time.base()));
    let done = dropped.clone();
    let timer = node.create_timer(PERIOD, move |_tick| {
        drop(own.lock().unwrap().take());
        done.set();
    });
    *slot.lock().unwrap() = Some(timer.unwrap());
    assert!(dropped.wait_for(Duration::from_secs(10)));
    let (count, callback) = counter();
    let late = node.create_timer(PERIOD, callback).unwrap();
    drop(node);
    world.pass(1_000);
    assert_eq!(count.load(Ordering::SeqCst), 0, "its node is gone");
    drop(late);
}

#[test]
fn a_period_of_zero_is_refused() {
    let world = World::new();
    let node = world.node(NodeOptions::new("node"));
    for period in [Duration::ZERO, Duration::from_secs(-1)] {
        let error = node.create_timer(period, |_tick| {}).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("timer: period must be greater than 0"),
            "{error}"
        );
    }
}
