//! Steady time goes in; ROS and system time exist only behind the estimate.

use timeloom_sync::simulate::Scenario;
use timeloom_sync::{ClockPair, SensorClock};
use timeloom_time::{Clock, Duration, Ros, Steady, Time, VirtualTime};

#[test]
fn a_jump_of_ros_time_changes_the_output_only() {
    let world = VirtualTime::manual();
    let steady = Clock::<Steady>::on(&world.base());
    let ros = Clock::<Ros>::on(&world.base());
    ros.activate_override();
    ros.set_override(Time::from_nanos(50_000_000_000));

    let scenario = Scenario {
        duration_s: 20.0,
        ..Scenario::default()
    };
    let (mut jumping, mut calm) = (SensorClock::default(), SensorClock::default());
    let mut jumped = false;
    for simulated in scenario.simulate(1) {
        jumping.push(&simulated.sample).unwrap();
        calm.push(&simulated.sample).unwrap();
        if !jumped && simulated.at_s > 10.0 {
            jumped = true;
            ros.set_override(Time::from_nanos(7_000_000_000));
        }
        let device = simulated.sample.device();
        let mapped = jumping.convert(device).unwrap();
        assert_eq!(Some(mapped), calm.convert(device));

        let pair = ClockPair::new(steady.now(), ros.now());
        let stamp = pair.from_steady(mapped.host);
        let distance = stamp - ros.now();
        assert_eq!(
            distance,
            mapped.host - steady.now(),
            "as far as on the steady clock"
        );
    }
    assert!(jumped);
    assert_eq!(jumping.epoch(), 0, "the estimate never noticed");
    assert!(ros.now() < Time::from_nanos(50_000_000_000) + Duration::SECOND);
}
