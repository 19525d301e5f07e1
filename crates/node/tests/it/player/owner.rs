//! A source of `/clock` without a bag.

use std::sync::{Arc, Mutex};

use timeloom_msg::Distro;
use timeloom_node::player::{
    Answer, ClockMode, ClockOwner, ClockOwnerOptions, Control, Options, Refusal, Reporter,
};
use timeloom_time::{Duration, PlaybackRate};

use super::fixture::{BagMessage, Fixture, TOPIC, at_ms, play};
use super::services::Peer;

const OPTIONS: ClockOwnerOptions = ClockOwnerOptions {
    start: timeloom_time::Time::from_nanos(1_000_000_000),
    rate: PlaybackRate::REAL_TIME,
    period: Duration::from_millis(10),
    start_paused: true,
};

#[test]
fn it_is_paused_moved_and_scaled_by_call_and_by_service() {
    let fixture = Fixture::new();
    let node = fixture.ros_node("clock");
    let options = ClockOwnerOptions {
        start: at_ms(5000),
        ..OPTIONS
    };
    let owner = ClockOwner::start(&node, &options, Distro::Jazzy, Reporter::default()).unwrap();
    let peer = Peer::new(&fixture, &node, Distro::Jazzy);
    assert!(owner.is_paused() && peer.is_paused());
    fixture.pass(100);
    assert_eq!(owner.clock().now(), at_ms(5000));
    assert_eq!(owner.control(&Control::SetRate(2.0)), Ok(Answer::Rate(2.0)));
    assert_eq!(owner.control(&Control::Resume), Ok(Answer::Paused(false)));
    fixture.pass(100);
    assert_eq!(owner.clock().now(), at_ms(5200));
    assert!(!peer.set_rate(f64::NAN), "NaN is not a rate");
    owner.control(&Control::Pause).unwrap();
    assert!(peer.seek(1000) && peer.set_rate(0.5));
    assert_eq!(owner.clock().now(), at_ms(1000));
    assert!((peer.rate() - 0.5).abs() < f64::EPSILON);
    let step = Duration::from_millis(250);
    assert_eq!(
        owner.control(&Control::SeekBy(step)),
        Ok(Answer::At(at_ms(1250)))
    );
    let refused = owner.control(&Control::PlayNext);
    assert_eq!(refused, Err(Refusal::NoMessages));
}

#[test]
fn players_follow_it_and_report_its_owner() {
    let fixture = Fixture::new();
    let lines: Vec<_> = (0..5)
        .map(|n| BagMessage(TOPIC, 1000 + 100 * n, n as u32))
        .collect();
    let bag = fixture.bag("bag", &lines);
    let listener = fixture.listener(TOPIC);
    let player = fixture.player(
        &bag,
        Options {
            time: ClockMode::External { extrapolate: false },
            ..Options::default()
        },
    );
    let node = fixture.ros_node("gazebo");
    let owner = ClockOwner::start(&node, &OPTIONS, Distro::Jazzy, Reporter::default()).unwrap();
    play(&player);
    fixture.pass(205);
    assert_eq!(
        listener.numbers(),
        [0; 0],
        "time stands at the first message"
    );
    let status = player.clock_status();
    assert!(status.external);
    assert_eq!(status.owners, ["/gazebo"]);
    let lag = status.lag.unwrap();
    assert!(lag > Duration::from_millis(4) && lag <= Duration::from_millis(5));
    owner.control(&Control::SetRate(4.0)).unwrap();
    owner.control(&Control::Resume).unwrap();
    player.wait();
    fixture.settle();
    assert_eq!(listener.numbers(), [0, 1, 2, 3, 4]);
}

#[test]
fn another_publisher_is_reported() {
    let fixture = Fixture::new();
    let notices = Arc::new(Mutex::new(Vec::new()));
    let (first, second) = (fixture.ros_node("one"), fixture.ros_node("two"));
    let inside = Arc::clone(&notices);
    let reporter = Reporter::new(move |notice| inside.lock().unwrap().push(notice.to_string()));
    let one = ClockOwner::start(&first, &OPTIONS, Distro::Jazzy, reporter).unwrap();
    let two = ClockOwner::start(&second, &OPTIONS, Distro::Jazzy, Reporter::default()).unwrap();
    fixture.settle();
    drop((one, two));
    assert_eq!(
        *notices.lock().unwrap(),
        ["2 publishers of /clock: /one, /two; time jumps between them, stop all but one"]
    );
}
