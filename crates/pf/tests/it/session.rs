//! The session alone, without sockets and without waiting.

use serde_json::{Value, json};
use timeloom_pf::pfsdp::{Command, Reply};
use timeloom_pf::{
    Error, LidarSettings, LinkState, Response, Session, Step, TimesyncMethod, Transport,
};
use timeloom_sync::Averaging;
use timeloom_time::{Duration, Steady, Time};

fn at(millis: i64) -> Time<Steady> {
    Time::from_nanos(millis * 1_000_000)
}

fn reply(command: &Command, mut body: Value) -> Reply {
    body["error_code"] = json!(0);
    let response = Response {
        status: 200,
        keep_alive: true,
        body: body.to_string().into_bytes(),
    };
    Reply::read(command, &response).unwrap()
}

/// Does what the session asks for until packets could come; the names of the steps.
fn bring_up(session: &mut Session, now: Time<Steady>) -> Vec<String> {
    let mut steps = Vec::new();
    while session.link() != LinkState::Running {
        let step = session.next(now);
        match &step {
            Step::Call(command) => {
                steps.push(command.target());
                let body = match command {
                    Command::GetProtocolInfo => {
                        json!({"protocol_name": "pfsdp", "version_major": 1, "version_minor": 4})
                    }
                    Command::ListParameters => {
                        json!({"parameters": ["product", "other", "system_time_raw"]})
                    }
                    Command::GetParameters(_) => json!({"product": "OMD30M-R2300"}),
                    _ => json!({"handle": "h", "port": 4_000}),
                };
                session.replied(now, &reply(command, body)).unwrap();
            }
            Step::AskTime => session.time_received(now),
            Step::Open => session.opened([127, 0, 0, 1].into(), 5_000),
            Step::Connect(_) => session.connected(),
            other => panic!("{other:?}"),
        }
        if !matches!(step, Step::Call(_)) {
            steps.push(format!("{step:?}"));
        }
    }
    steps
}

#[test]
fn the_way_up_is_the_same_for_both_transports_but_for_the_socket() {
    let mut settings = LidarSettings::new("x");
    settings.parameters = vec![("scan_frequency".into(), "20".into())];
    let mut session = Session::new(settings.clone(), at(0));
    assert_eq!(
        bring_up(&mut session, at(0)),
        [
            "/cmd/get_protocol_info",
            "/cmd/list_parameters",
            "/cmd/get_parameter?list=product",
            "/cmd/set_parameter?scan_frequency=20",
            "AskTime",
            "Open",
            "/cmd/request_handle_udp?address=127.0.0.1&port=5000&packet_type=C1&watchdog=on&watchdogtimeout=60000",
            "/cmd/start_scanoutput?handle=h",
        ]
    );
    settings.transport = Transport::Tcp;
    let mut session = Session::new(settings, at(0));
    let steps = bring_up(&mut session, at(0));
    assert_eq!(
        steps[5..],
        [
            "/cmd/request_handle_tcp?packet_type=C1&watchdog=on&watchdogtimeout=60000",
            "Connect(4000)",
            "/cmd/start_scanoutput?handle=h",
        ]
    );
}

#[test]
fn while_packets_come_it_feeds_and_asks_in_time() {
    let mut settings = LidarSettings::new("x");
    settings.watchdog = Some(Duration::from_secs(1));
    let mut session = Session::new(settings, at(0));
    bring_up(&mut session, at(0));
    let (mut fed, mut asked) = (Vec::new(), Vec::new());
    let mut now = 0;
    while now < 2_000 {
        session.packet(at(now));
        match session.next(at(now)) {
            Step::Wait(until) => now = (until.nanos() / 1_000_000).min(now + 100),
            Step::Call(command) => {
                assert_eq!(command, Command::FeedWatchdog("h".into()));
                fed.push(now);
                session
                    .replied(at(now), &reply(&command, json!({})))
                    .unwrap();
            }
            Step::AskTime => {
                asked.push(now);
                session.time_received(at(now));
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(fed, [500, 1_000, 1_500]);
    assert_eq!(asked, [250, 500, 750, 1_000, 1_250, 1_500, 1_750]);
    // And when no more come, it gives up, gives the handle back and waits.
    assert_eq!(
        session.next(at(4_000)),
        Step::GiveUp(Duration::from_millis(2_050))
    );
    assert!(session.failed(at(4_000), &Error::NoData { millis: 2_050 }));
    assert_eq!(session.next(at(4_000)), Step::Close);
    let release = Command::ReleaseHandle("h".into());
    assert_eq!(session.next(at(4_000)), Step::Call(release.clone()));
    session
        .replied(at(4_000), &reply(&release, json!({})))
        .unwrap();
    assert_eq!(session.next(at(4_000)), Step::Wait(at(4_250)));
    assert!(session.end().is_empty());
}

#[test]
fn waits_grow_with_failures_and_shrink_when_packets_come() {
    let mut session = Session::new(LidarSettings::new("x"), at(0));
    let mut now = 0;
    let mut waits = Vec::new();
    for _ in 0..7 {
        assert_eq!(session.next(at(now)), Step::Call(Command::GetProtocolInfo));
        let timeout = Error::Timeout {
            command: "get_protocol_info".into(),
            host: "x".into(),
            millis: 2_000,
        };
        assert!(session.failed(at(now), &timeout));
        assert_eq!(session.next(at(now)), Step::Close);
        let Step::Wait(until) = session.next(at(now)) else {
            panic!("no wait");
        };
        waits.push(until.nanos() / 1_000_000 - now);
        now = until.nanos() / 1_000_000;
    }
    assert_eq!(waits, [250, 500, 1_000, 2_000, 4_000, 8_000, 8_000]);
    bring_up(&mut session, at(now));
    session.packet(at(now + 1));
    session.data_failed(at(now + 1));
    assert_eq!(session.retry_in(), Duration::from_millis(250));
}

#[test]
fn another_protocol_is_refused() {
    let mut session = Session::new(LidarSettings::new("10.0.0.1"), at(0));
    assert_eq!(session.next(at(0)), Step::Call(Command::GetProtocolInfo));
    let body = json!({"protocol_name": "web", "version_major": 1, "version_minor": 0});
    let error = session
        .replied(at(0), &reply(&Command::GetProtocolInfo, body))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "10.0.0.1 uses protocol \"web\", expected pfsdp"
    );
}

/// A session that has just heard which parameters the device has.
fn with_parameters(settings: LidarSettings, names: &[&str]) -> (Session, Result<(), Error>) {
    let mut session = Session::new(settings, at(0));
    session.next(at(0));
    let protocol = json!({"protocol_name": "pfsdp", "version_major": 1, "version_minor": 0});
    let protocol = reply(&Command::GetProtocolInfo, protocol);
    session.replied(at(0), &protocol).unwrap();
    let list = reply(&Command::ListParameters, json!({ "parameters": names }));
    let told = session.replied(at(0), &list);
    (session, told)
}

#[test]
fn a_device_that_does_not_tell_its_time_is_not_asked_for_it() {
    let (mut session, told) = with_parameters(LidarSettings::new("x"), &[]);
    told.unwrap();
    assert_eq!(session.next(at(0)), Step::Open, "nothing to be asked for");
    session.opened([127, 0, 0, 1].into(), 5_000);
    bring_up(&mut session, at(0));
    session.packet(at(0));
    // The next thing to do is to see whether packets still come, and to feed the watchdog if not.
    assert_eq!(session.next(at(0)), Step::Wait(at(250)));
    let feed = Command::FeedWatchdog("h".into());
    assert_eq!(session.next(at(250)), Step::Call(feed));
    let mut settings = LidarSettings::new("x");
    settings.timesync.method = TimesyncMethod::Requests(Averaging::Mean);
    let (_, told) = with_parameters(settings, &["product"]);
    assert_eq!(
        told.unwrap_err().to_string(),
        "invalid timesync_method = requests: the device has no system_time_raw"
    );
}

#[test]
fn a_connection_without_a_port_is_a_bad_reply_and_its_handle_is_given_back() {
    let mut settings = LidarSettings::new("x");
    settings.transport = Transport::Tcp;
    let (mut session, told) = with_parameters(settings, &[]);
    told.unwrap();
    let Step::Call(command) = session.next(at(0)) else {
        panic!("no request");
    };
    let error = session
        .replied(at(0), &reply(&command, json!({"handle": "h"})))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "request_handle_tcp: invalid reply: port is missing"
    );
    assert!(session.failed(at(0), &error));
    assert_eq!(session.next(at(0)), Step::Close);
    let release = Command::ReleaseHandle("h".into());
    assert_eq!(session.next(at(0)), Step::Call(release));
}

/// A session that has asked for the device's time at the start.
fn at_first_time(settings: LidarSettings) -> Session {
    let mut session = Session::new(settings, at(0));
    loop {
        let step = session.next(at(0));
        let Step::Call(command) = &step else {
            assert_eq!(step, Step::AskTime);
            return session;
        };
        let body = match command {
            Command::GetProtocolInfo => {
                json!({"protocol_name": "pfsdp", "version_major": 1, "version_minor": 4})
            }
            Command::ListParameters => json!({"parameters": ["product", "system_time_raw"]}),
            _ => json!({"product": "OMD30M-R2000"}),
        };
        session.replied(at(0), &reply(command, body)).unwrap();
    }
}

#[test]
fn a_bad_first_answer_to_the_question_for_the_time_does_not_stop_the_driver() {
    for method in ["simple", "envelope", "requests"] {
        let mut settings = LidarSettings::new("x");
        settings.timesync.method = TimesyncMethod::named(method, Averaging::Mean).unwrap();
        let bad = Error::BadReply {
            command: "get_parameter".into(),
            why: "system_time_raw is \"soon\"".into(),
        };
        let mut session = at_first_time(settings.clone());
        assert!(!session.failed(at(1), &bad), "{method}: it goes on");
        assert_eq!(session.next(at(1)), Step::Open);
        let mut session = at_first_time(settings);
        let gone = Error::Network {
            doing: "cannot ask",
            host: "x".into(),
            source: std::io::ErrorKind::ConnectionRefused.into(),
        };
        assert!(session.failed(at(1), &gone), "nobody is there");
    }
}

#[test]
fn a_device_that_is_silent_is_asked_long_before_it_is_given_up() {
    let mut session = Session::new(LidarSettings::new("x"), at(0));
    bring_up(&mut session, at(0));
    let mut settings = LidarSettings::new("x");
    settings.timesync.interval = Duration::ZERO;
    let mut session = Session::new(settings, at(0));
    bring_up(&mut session, at(0));
    session.packet(at(1_000));
    assert_eq!(session.next(at(1_000)), Step::Wait(at(1_250)));
    let feed = Command::FeedWatchdog("h".into());
    assert_eq!(session.next(at(1_250)), Step::Call(feed.clone()));
    // It is just starting: nobody answers yet.
    let away = Error::ReplyCut { received: 0 };
    assert!(!session.failed(at(1_251), &away));
    assert_eq!(session.next(at(1_251)), Step::Wait(at(1_500)));
    assert_eq!(session.next(at(1_500)), Step::Call(feed));
    let gone = Error::Refused {
        command: "feed_watchdog".into(),
        code: timeloom_pf::pfsdp::ErrorCode::INVALID_HANDLE,
        text: "invalid handle".into(),
    };
    assert!(session.failed(at(1_510), &gone));
    assert_eq!(session.next(at(1_510)), Step::Close);
    // The handle is gone, so that it need not be given back.
    assert_eq!(session.next(at(1_510)), Step::Wait(at(1_760)));
}

#[test]
fn without_a_watchdog_a_silent_device_is_asked_for_its_time() {
    let mut settings = LidarSettings::new("x");
    settings.watchdog = None;
    settings.timesync.interval = Duration::ZERO;
    let mut session = Session::new(settings, at(0));
    bring_up(&mut session, at(0));
    session.packet(at(1_000));
    assert!(!session.is_silent(at(1_249)));
    assert_eq!(session.next(at(1_250)), Step::AskTime);
    assert!(session.is_silent(at(1_250)));
    session.time_received(at(1_251));
    session.restarted(at(1_251));
    assert_eq!(session.next(at(1_251)), Step::Close);
    assert_eq!(
        session.next(at(1_251)),
        Step::Call(Command::GetProtocolInfo)
    );
}
