//! Clocks of several hosts, and ROS time that does not run at real time.

use timeloom_time::{Duration, Time};
use timeloom_trace::{ClockDomain, EngineOptions, MessageTrackingTag, Moment};

use crate::world::{MS, World, path, tag, target};

/// A tag at these milliseconds of ROS and steady time, with one input received at others.
fn at(
    topic: &str,
    stamp: i64,
    published: (i64, i64),
    input: Option<(&str, (i64, i64))>,
) -> MessageTrackingTag {
    let moment = |(ros, steady): (i64, i64)| Moment::from_nanos(ros * MS, steady * MS);
    let inputs: Vec<_> = input.iter().map(|(topic, _)| (*topic, stamp, 0)).collect();
    let mut tag = tag(topic, stamp, 0, &inputs);
    tag.output.published = moment(published);
    for (info, (_, received)) in tag.inputs.iter_mut().zip(&input) {
        info.received = moment(*received);
    }
    tag
}

#[test]
fn pauses_rates_and_jumps_of_sim_time_do_not_matter_on_one_host() {
    let mut world = World::new(EngineOptions::default());
    let mut ros = 1_000_000;
    for cycle in 1..=60_i64 {
        let steady = 5_000 + cycle * 100;
        // Paused, then ten times as fast, then back to the start as a player that loops does.
        ros += match cycle {
            ..20 => 0,
            40 => -10_000,
            _ => 1_000,
        };
        world.feed(&at("/a", cycle, (ros, steady), None), steady);
        let output = at(
            "/b",
            cycle,
            (ros, steady + 20),
            Some(("/a", (ros, steady + 3))),
        );
        world.feed(&output, steady + 20);
    }
    let report = world.engine.report();
    let path = path(target(&report, "/b"), &["/a", "/b"]);
    assert_eq!(
        (path.best.count, path.best.min_ns, path.best.max_ns),
        (60, 20_000_000, 20_000_000)
    );
    assert_eq!((path.suspicious, report.clocks.jumps), (0, 1));
    assert_eq!(report.clocks.hosts.len(), 1);
}

#[test]
fn without_a_steady_clock_a_latency_across_a_jump_is_left_out() {
    let mut world = World::new(EngineOptions::default());
    for (cycle, ros, end) in [
        (1, 100_000, 100_020),
        (2, 100_100, 5_000),
        (3, 5_100, 5_120),
    ] {
        let mut source = at("/a", cycle, (ros, 0), None);
        source.output.node = "/n".into();
        world.feed(&source, cycle * 100);
        let mut output = at("/b", cycle, (end, 0), Some(("/a", (end, 0))));
        output.output.node = "/n".into();
        world.feed(&output, cycle * 100 + 20);
    }
    let report = world.engine.report();
    let path = path(target(&report, "/b"), &["/a", "/b"]);
    assert_eq!(
        (path.best.count, path.best.max_ns, path.suspicious),
        (2, 20_000_000, 1)
    );
}

fn two_hosts(domains: Vec<ClockDomain>, ahead: i64) -> (u64, u64, u64, u64, usize) {
    let mut world = World::new(EngineOptions {
        domains,
        ..EngineOptions::default()
    });
    for cycle in 1..=10 {
        let now = 1_000_000 + cycle * 100;
        let mut source = at("/a", cycle, (now, 5_000 + cycle * 100), None);
        source.output.node = "/car/lidar".into();
        world.feed(&source, cycle * 100);
        // The other host was booted at another time; its clock is off by `ahead`.
        let other = |ms: i64| (now + ms + ahead, 77_000 + cycle * 100 + ms);
        let mut output = at("/b", cycle, other(20), Some(("/a", other(5))));
        output.output.node = "/arm/planner".into();
        world.feed(&output, cycle * 100 + 20);
    }
    let report = world.engine.report();
    let path = path(target(&report, "/b"), &["/a", "/b"]);
    (
        path.best.max_ns / 1_000_000,
        path.bound_ns / 1_000_000,
        path.unbounded,
        path.suspicious,
        report.clocks.negative.len(),
    )
}

#[test]
fn latency_between_hosts_has_a_bound_or_counts_as_unbounded() {
    let domain = |name: &str, nodes: &str, offset, bound| ClockDomain {
        name: name.into(),
        nodes: vec![nodes.into()],
        offset: Some(Duration::from_millis(offset)),
        bound: Some(Duration::from_millis(bound)),
    };
    // The clocks were not compared.
    assert_eq!(two_hosts(vec![], 0), (20, 0, 10, 0, 0));
    // A clock that is 30 ms behind makes effects come before causes: flagged, not counted.
    assert_eq!(two_hosts(vec![], -30), (0, 0, 0, 10, 1));
    let known = vec![domain("car", "/car", 0, 1), domain("arm", "/arm", 30, 2)];
    assert_eq!(two_hosts(known, -30), (20, 3, 0, 0, 0));
}

#[test]
fn a_bag_that_loops_repeats_its_stamps() {
    let mut world = World::new(EngineOptions::default());
    for round in 0..3 {
        for cycle in 1..=10 {
            let steady = 1000 + round * 10_000 + cycle * 100;
            let ros = 500_000 + cycle * 100;
            world.feed(&at("/a", cycle, (ros, steady), None), steady);
            let output = at(
                "/b",
                cycle,
                (ros + 20, steady + 20),
                Some(("/a", (ros + 4, steady + 4))),
            );
            world.feed(&output, steady + 20);
        }
    }
    let report = world.engine.report();
    let target = target(&report, "/b");
    let path = path(target, &["/a", "/b"]);
    assert_eq!((path.best.count, path.best.max_ns), (30, 20_000_000));
    assert_eq!(target.sources[0].outcomes.completed, 30);
    assert_eq!(target.complete, 30);
}

#[test]
fn stamps_of_another_clock_only_identify_messages() {
    let mut world = World::new(EngineOptions::default());
    for cycle in 1..=5_i64 {
        // The sensor's own clock: microseconds since it was switched on.
        let stamp = Some(Time::from_nanos(cycle * 1000));
        let steady = 1000 + cycle * 100;
        let mut source = at("/a", 0, (steady, steady), None);
        source.output.stamp = stamp;
        world.feed(&source, steady);
        let mut output = at(
            "/b",
            cycle,
            (steady + 7, steady + 7),
            Some(("/a", (steady + 1, steady + 1))),
        );
        output.inputs[0].stamp = stamp;
        world.feed(&output, steady + 7);
    }
    let report = world.engine.report();
    assert_eq!(
        path(target(&report, "/b"), &["/a", "/b"]).best.max_ns,
        7_000_000
    );
}

#[test]
fn traffic_in_both_directions_gives_the_offset_and_its_bound() {
    let mut world = World::new(EngineOptions::default());
    // The arm's clock is 50 ms behind. Each direction takes at least 2 ms.
    for cycle in 1..=20 {
        let (now, car) = (1_000_000 + cycle * 100, 5_000 + cycle * 100);
        let arm = |ms: i64| (now + ms - 50, 77_000 + cycle * 100 + ms);
        let mut source = at("/a", cycle, (now, car), None);
        source.output.node = "/car/lidar".into();
        world.feed(&source, cycle * 100);
        let mut output = at("/b", cycle, arm(20), Some(("/a", arm(2))));
        output.output.node = "/arm/planner".into();
        world.feed(&output, cycle * 100 + 20);
        let mut end = at(
            "/c",
            cycle,
            (now + 30, car + 30),
            Some(("/b", (now + 22, car + 22))),
        );
        end.output.node = "/car/drive".into();
        world.feed(&end, cycle * 100 + 30);
    }
    let report = world.engine.report();
    let [compared] = report.clocks.compared.as_slice() else {
        panic!("{:?}", report.clocks);
    };
    assert_eq!(
        (compared.ahead_ns, compared.bound_ns),
        (-50 * MS, 2_000_001)
    );
    let hop = &report.hops[0];
    assert_eq!((hop.from.as_str(), hop.to.as_str()), ("/a", "/b"));
    // Only the first was received before anything in the other direction; it is flagged, and the others are right.
    assert!((1..=2).contains(&hop.negative), "{hop:?}");
    assert_eq!(
        (hop.total.min_ns, hop.total.max_ns),
        (20_000_000, 20_000_000)
    );
    let path = path(target(&report, "/c"), &["/a", "/b", "/c"]);
    assert_eq!((path.best.count, path.best.max_ns), (20, 30_000_000));
}
