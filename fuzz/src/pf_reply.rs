//! Answers of a lidar: HTTP in one piece and in many, and the JSON within.

use timeloom_pf::pfsdp::{Command, Reply};
use timeloom_pf::{LidarSettings, ResponseParser, Session, Step};
use timeloom_time::Time;

/// Reads an answer; what is one in one piece is the same in many.
pub fn fuzz_pf_reply(data: &[u8]) {
    let whole = ResponseParser::new().push(data);
    let mut parser = ResponseParser::new();
    let mut pieces = Ok(None);
    for piece in data.chunks(7) {
        pieces = parser.push(piece);
        if !matches!(pieces, Ok(None)) {
            break;
        }
    }
    match (&whole, &pieces) {
        (Ok(whole), Ok(pieces)) => assert_eq!(whole, pieces),
        // A body may be whole before the bytes behind it are found to be too many.
        (Err(_), _) | (_, Err(_)) => {}
    }
    let response = match whole {
        Ok(Some(response)) => Some(response),
        Ok(None) => parser.end().ok(),
        Err(_) => None,
    };
    if let Some(response) = response {
        assert!(response.body.len() <= data.len());
        check_reply(&response);
    }
}

fn check_reply(response: &timeloom_pf::Response) {
    let commands = [
        Command::GetProtocolInfo,
        Command::ListParameters,
        Command::GetParameters(vec!["product".into()]),
        Command::get_system_time(),
    ];
    // A session must stand whatever it is told, in every state that it comes to.
    let mut session = Session::new(LidarSettings::new("x"), Time::from_nanos(0));
    for command in commands {
        let Ok(reply) = Reply::read(&command, response) else {
            continue;
        };
        let _numbers = (
            reply.number("system_time_raw"),
            reply.float("scan_frequency"),
        );
        let _others = (reply.handle(), reply.protocol(), reply.list("parameters"));
        if let Step::Call(_) = session.next(Time::from_nanos(0)) {
            let _refused = session.replied(Time::from_nanos(0), &reply);
        }
    }
}
