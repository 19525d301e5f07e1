//! Offsets of clocks from evidence.

use timeloom_merge::{Error, MergeOptions};

use crate::fleet::{Fleet, MILLISECOND, SECOND, START, Topic, chrony, host};

const BOTH: &[usize] = &[0, 1];

fn both_ways() -> Vec<Topic> {
    vec![
        Topic {
            name: "/a",
            on: 0,
            recorded_by: BOTH,
        },
        Topic {
            name: "/b",
            on: 1,
            recorded_by: BOTH,
        },
    ]
}

#[test]
fn topics_both_ways_bound_offset_and_drift() {
    for (ahead, ppm) in [
        (180 * MILLISECOND, 31),
        (-45 * SECOND, -12),
        (3_600 * SECOND, 0),
    ] {
        let fleet = Fleet::new(
            vec![host("car", 0, 0), host("arm", ahead, ppm)],
            both_ways(),
        );
        fleet.record();
        let hosts = fleet.compare(&MergeOptions::default()).unwrap();
        // Two quickest messages of 400 µs, and what the clocks may run apart in between.
        let widest = fleet.check_bounds(&hosts, 1).unwrap();
        assert!((800_000..1_500_000).contains(&widest), "{widest}");
        let middle = hosts.hosts[1].middle().unwrap();
        let truth = fleet.true_offset(1, START + 30 * SECOND);
        assert!(
            middle.offset_ns.abs_diff(truth) < 300_000,
            "{middle:?}, {truth}"
        );
        let drift = hosts.hosts[1].drift_ppm().unwrap();
        assert!((drift + ppm as f64).abs() < 10.0, "{drift}");
        let text = hosts.text();
        assert!(
            text.contains("messages both ways (1200 to it, 1200 from it): /a, /b"),
            "{text}"
        );
        assert!(
            text.contains("the bounds hold if /a is published on the host of car"),
            "{text}"
        );
    }
}

#[test]
fn one_direction_bounds_one_side() {
    for on in [0, 1] {
        let topics = vec![Topic {
            name: "/only",
            on,
            recorded_by: BOTH,
        }];
        let fleet = Fleet::new(
            vec![host("car", 0, 0), host("arm", 250 * MILLISECOND, 20)],
            topics,
        );
        fleet.record();
        let hosts = fleet.compare(&MergeOptions::default()).unwrap();
        assert_eq!(fleet.check_bounds(&hosts, 1), None);
        let middle = hosts.hosts[1].middle().unwrap();
        assert_eq!(
            (middle.lower_ns.is_some(), middle.upper_ns.is_some()),
            (on == 0, on == 1)
        );
        let text = hosts.text();
        assert!(text.contains("messages one way (1200"), "{text}");
        assert!(text.contains("messages went one way only"), "{text}");
        assert!(text.contains("unknown"), "{text}");
    }
}

#[test]
fn no_common_topic_is_an_error_and_not_a_guess() {
    let topics = vec![
        Topic {
            name: "/a",
            on: 0,
            recorded_by: &[0],
        },
        Topic {
            name: "/b",
            on: 1,
            recorded_by: &[1],
        },
    ];
    let mut fleet = Fleet::new(
        vec![host("car", 0, 0), host("arm", 40 * MILLISECOND, 0)],
        topics,
    );
    fleet.record();
    let error = fleet.compare(&MergeOptions::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no evidence of the offset between the clocks of arm and car: no topic is in both bags, no tag links their nodes, \
         and no clock is recorded as synchronised in both"
    );
    // Clocks that follow one reference are evidence by themselves.
    fleet.hosts[0].state = Some(chrony("10.0.0.1_(stratum_2)", 300_000));
    fleet.hosts[1].state = Some(chrony("10.0.0.2_(stratum_2)", 50 * MILLISECOND));
    fleet.directory = tempfile::tempdir().unwrap();
    fleet.record();
    let hosts = fleet.compare(&MergeOptions::default()).unwrap();
    assert_eq!(fleet.check_bounds(&hosts, 1), Some(2 * 50_300_000));
    // A clock that follows itself is not.
    fleet.hosts[1].state = Some(chrony("127.0.0.1_(stratum_9)", 1_000));
    fleet.directory = tempfile::tempdir().unwrap();
    fleet.record();
    assert!(matches!(
        fleet.compare(&MergeOptions::default()),
        Err(Error::NoEvidence { .. })
    ));
}

#[test]
fn evidence_that_contradicts_itself_is_an_error() {
    // Messages show 40 ms; both clocks claim to be within 1 ms.
    let mut hosts = vec![host("car", 0, 0), host("arm", 40 * MILLISECOND, 0)];
    for one in &mut hosts {
        one.state = Some(chrony("10.0.0.1_(stratum_2)", MILLISECOND));
    }
    let fleet = Fleet::new(hosts, both_ways());
    fleet.record();
    let error = fleet.compare(&MergeOptions::default()).unwrap_err();
    assert!(matches!(error, Error::Contradiction { .. }), "{error}");
    assert!(
        error.to_string().contains("both synchronised by chrony"),
        "{error}"
    );
    // `/c` comes from a third host whose clock is further ahead, and the arm does not record it.
    let hosts = vec![
        host("car", 0, 0),
        host("arm", 40 * MILLISECOND, 0),
        host("base", 45 * MILLISECOND, 0),
    ];
    let topics = vec![
        Topic {
            name: "/a",
            on: 0,
            recorded_by: &[0, 1, 2],
        },
        Topic {
            name: "/c",
            on: 2,
            recorded_by: &[0],
        },
    ];
    let fleet = Fleet::new(hosts, topics);
    fleet.record();
    let wrong = MergeOptions {
        published_on: vec![("/c".to_owned(), 1)],
        ..MergeOptions::default()
    };
    let error = fleet.compare(&wrong).unwrap_err();
    assert!(
        error.to_string().contains("arrive before they were sent"),
        "{error}"
    );
}

#[test]
fn a_topic_that_is_early_on_its_own_host_is_not_published_there() {
    let fleet = Fleet::new(
        vec![host("car", 0, 0), host("arm", 40 * MILLISECOND, 0)],
        both_ways(),
    );
    fleet.record();
    let wrong = MergeOptions {
        published_on: vec![("/a".to_owned(), 1), ("/b".to_owned(), 0)],
        ..MergeOptions::default()
    };
    let error = fleet.compare(&wrong).unwrap_err();
    assert_eq!(
        error.to_string(),
        "/b is not published on the host of car: its messages reach the recorder there 39.6 ms before they are sent"
    );
}

#[test]
fn a_chain_of_three_hosts_adds_its_bounds_up() {
    let hosts = vec![
        host("car", 0, 0),
        host("arm", 500 * MILLISECOND, 15),
        host("base", -2 * SECOND, -25),
    ];
    let topics = vec![
        Topic {
            name: "/car",
            on: 0,
            recorded_by: &[0, 1],
        },
        Topic {
            name: "/arm",
            on: 1,
            recorded_by: &[0, 1],
        },
        Topic {
            name: "/arm2",
            on: 1,
            recorded_by: &[1, 2],
        },
        Topic {
            name: "/base",
            on: 2,
            recorded_by: &[1, 2],
        },
    ];
    let fleet = Fleet::new(hosts, topics);
    fleet.record();
    let hosts = fleet.compare(&MergeOptions::default()).unwrap();
    let near = fleet.check_bounds(&hosts, 1).unwrap();
    let far = fleet.check_bounds(&hosts, 2).unwrap();
    assert!(far > near + 700_000, "{near} {far}");
    assert_eq!(hosts.hosts[2].by_way_of.as_deref(), Some("arm"));
    assert!(hosts.text().contains("by way of arm: messages both ways"));
    // The timeline of another host.
    let options = MergeOptions {
        reference: 2,
        ..MergeOptions::default()
    };
    let hosts = fleet.compare(&options).unwrap();
    let truth = -fleet.true_offset(2, START);
    let offset = hosts.hosts[0].offsets[0];
    assert!(
        (offset.lower_ns.unwrap()..=offset.upper_ns.unwrap()).contains(&truth),
        "{offset:?}, {truth}"
    );
}

#[test]
fn clocks_that_are_nearly_right_need_the_host_of_a_topic() {
    let fleet = Fleet::new(
        vec![host("car", 0, 0), host("arm", 300_000, 0)],
        both_ways(),
    );
    fleet.record();
    let hosts = fleet.compare(&MergeOptions::default()).unwrap();
    assert_eq!(fleet.check_bounds(&hosts, 1), None);
    let middle = hosts.hosts[1].middle().unwrap();
    assert!(middle.offset_ns.abs_diff(-300_000) < 600_000, "{middle:?}");
    assert!(
        hosts
            .text()
            .contains("no bounds: it is not known on which host"),
        "{}",
        hosts.text()
    );
    let declared = MergeOptions {
        published_on: vec![("/a".to_owned(), 0), ("/b".to_owned(), 1)],
        ..MergeOptions::default()
    };
    let hosts = fleet.compare(&declared).unwrap();
    assert!(fleet.check_bounds(&hosts, 1).unwrap() < 1_500_000);
    assert!(
        !hosts.text().contains("the bounds hold if"),
        "{}",
        hosts.text()
    );
}

#[test]
fn copies_without_publish_times_give_an_offset_without_bounds() {
    let mut fleet = Fleet::new(
        vec![host("car", 0, 0), host("arm", 7 * SECOND, 20)],
        both_ways(),
    );
    fleet.publish_times = false;
    fleet.record();
    let hosts = fleet.compare(&MergeOptions::default()).unwrap();
    let middle = hosts.hosts[1].middle().unwrap();
    let truth = fleet.true_offset(1, START + 30 * SECOND);
    assert!(
        middle.offset_ns.abs_diff(truth) < 2 * MILLISECOND.unsigned_abs(),
        "{middle:?}"
    );
    assert_eq!((middle.lower_ns, middle.upper_ns), (None, None));
}
