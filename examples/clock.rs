//! Clocks and jumps: a ROS clock that a simulator steers, a handler that notices when time goes back, and
//! waits that say why they ended.
//!
//! `cargo run --example clock -p timeloom-examples`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use timeloom_time::{
    Clock, Duration, JumpHandler, JumpThreshold, OnJump, Ros, SourceId, Time, TimeBase, TimeHub,
    WaitOptions, Woke,
};

fn main() -> std::io::Result<()> {
    // A node's clock shows system time until `use_sim_time` is set.
    let hub = TimeHub::new(&TimeBase::machine());
    let clock: Clock<Ros> = hub.clock();
    println!("system time      {}", clock.now());

    // `use_sim_time = true`: from here on the simulator says what time it is. Before its first word there
    // is no time, and that can be seen.
    hub.activate();
    println!("not started      {:?}", clock.try_now());

    // A node that keeps state by time must know before time goes back.
    let _handle = clock.add_jump_handler(
        JumpHandler::new("tf buffer", JumpThreshold::DISRUPTIVE)
            .before(|jump| println!("  handler: clearing the buffer before {jump}"))
            .after(|jump| println!("  handler: it is {} now", jump.new)),
    );

    // The simulator: ten seconds, one per call, then it starts over.
    let simulator = hub.sink(SourceId::named("simulator"));
    let second = |n: i64| Time::from_nanos(n * 1_000_000_000);
    simulator.tick(second(100));

    let sleeper = {
        let clock = clock.clone();
        clock
            .base()
            .clone()
            .spawn("sleeper", move || clock.sleep_until(second(105)))?
    };
    let stubborn = {
        let clock = clock.clone();
        let options = WaitOptions::new().on_jump(OnJump::Ignore);
        clock.base().clone().spawn("stubborn", move || {
            clock.sleep_until_with(second(108), &options)
        })?
    };
    // Give both time to start waiting, on a clock that always runs.
    let real = Clock::<timeloom_time::Steady>::new();
    assert!(real.sleep_for(Duration::from_millis(50)).is_reached());

    for n in 101..=103 {
        simulator.tick(second(n));
    }
    simulator.tick(second(90));
    match sleeper.join() {
        Ok(Woke::Jumped(jump)) => println!("sleeper woke     {jump}"),
        other => println!("sleeper woke     {other:?}"),
    }
    for n in 91..=108 {
        simulator.tick(second(n));
    }
    println!("stubborn woke    {:?} at {}", stubborn.join(), clock.now());

    // A simulator that says nothing more must not block anybody for ever.
    let options = WaitOptions::new().real_timeout(Duration::from_millis(20));
    println!(
        "a silent source  {}",
        clock.sleep_until_with(second(200), &options)
    );
    Ok(())
}
