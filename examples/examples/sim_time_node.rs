//! A node with a timer on simulated time: the timer follows `/clock`, which here runs ten times as fast, is paused and
//! resumed.
//!
//! `cargo run --example sim_time_node -p timeloom-examples`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use timeloom_msg::Distro;
use timeloom_node::player::{ClockOwner, ClockOwnerOptions, Control, Reporter, sane_rate};
use timeloom_node::{NodeOptions, RosNode};
use timeloom_time::{Clock, Duration, Steady, Time, VirtualTime, WaitOptions};
use timeloom_wire::loopback::LoopbackNetwork;

fn main() -> Result<(), Box<dyn Error>> {
    // Virtual time, so that the example does not really wait; `TimeBase::machine()` is real time, and `timeloom_dds` or
    // `timeloom_zenoh` a real network.
    let time = VirtualTime::new();
    let _here = time.enter();
    let network = LoopbackNetwork::new(&time.base());

    // The parameter use_sim_time: the clock of the node follows /clock.
    let options = NodeOptions {
        use_sim_time: true,
        ..NodeOptions::new("blinker")
    };
    let node = RosNode::new(network.participant("blinker")?, options)?;
    println!("before the first sample: {:?}", node.clock().try_now());

    // In place of a simulator, or of `timeloom play --clock`.
    let simulator = RosNode::new(
        network.participant("simulator")?,
        NodeOptions::new("simulator"),
    )?;
    let start = ClockOwnerOptions {
        start: Time::from_secs(100),
        rate: sane_rate(10.0)?,
        period: Duration::from_millis(10),
        start_paused: false,
    };
    let clock = ClockOwner::start(&simulator, &start, Distro::Jazzy, Reporter::default())?;
    let _started = node.clock().wait_until_started(&WaitOptions::new());

    let ticks = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&ticks);
    let _timer = node.create_timer(Duration::from_secs(1), move |tick| {
        println!("  tick at {}", tick.expected);
        count.fetch_add(1, Ordering::SeqCst);
    })?;

    let steady = Clock::<Steady>::on(&time.base());
    let half_a_second = Duration::from_millis(550);
    println!("0.55 s of steady time are 5.5 s of simulated time");
    let _slept = steady.sleep_for(half_a_second);
    assert_eq!(ticks.load(Ordering::SeqCst), 5);
    println!("while /clock is paused, the timer waits");
    clock.control(&Control::Pause)?;
    let _slept = steady.sleep_for(half_a_second);
    assert_eq!(ticks.load(Ordering::SeqCst), 5);
    clock.control(&Control::Resume)?;
    let _slept = steady.sleep_for(half_a_second);
    println!("it is {} now", node.clock().now());
    assert!(ticks.load(Ordering::SeqCst) >= 10);
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
