use ratatui::crossterm::event::KeyCode;
use timeloom_node::player::{Control, Mark, State, Status, TopicStatus};
use timeloom_time::{Duration, Time};
use timeloom_tui::{Flow, PlayerScreen, Screen as _, Theme};

use crate::stage::{has_color, key, shift, text};

const SECOND: i64 = 1_000_000_000;

fn status(at_seconds: i64, state: State) -> Status {
    let topic = |name: &str, played, dropped| TopicStatus {
        name: name.into(),
        type_name: "std_msgs/msg/String".into(),
        played,
        bytes: played * 1000,
        failed: 0,
        dropped,
        stepped_over: 0,
    };
    Status {
        state,
        time: Time::from_nanos((1000 + at_seconds) * SECOND),
        range: Some((
            Time::from_nanos(1000 * SECOND),
            Time::from_nanos(1100 * SECOND),
        )),
        loop_range: None,
        rate: Some(2.0),
        achieved_rate: Some(1.87),
        laps: 0,
        read_ahead_messages: 1000,
        read_ahead_bytes: 2_500_000,
        starved: 3,
        latest: Duration::from_millis(1),
        topics: vec![topic("/imu/data", 4000, 0), topic("/camera/image", 12, 5)],
        skipped: Vec::new(),
        damage: Vec::new(),
    }
}

fn screen(status: Status) -> PlayerScreen {
    let mut screen = PlayerScreen::new("my_bag", Theme::new(true));
    screen.update(status, Time::from_nanos(0));
    screen
}

#[test]
fn everything_fits_80_by_24() {
    let mut screen = screen(status(45, State::Playing));
    let mut later = status(46, State::Playing);
    later.topics[0].played += 200;
    later.topics[0].bytes += 200_000;
    later.damage = vec!["chunk 7".into()];
    screen.update(later, Time::from_nanos(SECOND));
    let text = text(&screen, 80, 24);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[0], "timeloom play my_bag");
    assert_eq!(
        lines[1],
        "▶ playing   00:46.0 / 01:40.0   ×2.00 (real ×1.87)"
    );
    assert_eq!(lines[2].chars().count(), 80);
    assert_eq!(lines[2].chars().position(|sign| sign == '●'), Some(36));
    assert_eq!(
        lines[3],
        "played 4,212   not played 5   cache 1,000 messages, 2.4 MiB   starved 3"
    );
    assert_eq!(lines[4], "damaged: chunk 7");
    assert!(lines[5].starts_with("topic "), "{text}");
    assert!(
        lines[6].contains("/imu/data") && lines[6].contains("200.0   195.3 KiB/s  4,200"),
        "{text}"
    );
    assert!(lines[7].contains("/camera/image"), "{text}");
    assert!(lines[23].contains("SPACE pause"), "{text}");
}

#[test]
fn small_terminals_are_drawn() {
    let screen = screen(status(45, State::Paused));
    for (width, height) in [(40, 10), (10, 3), (1, 1)] {
        let text = text(&screen, width, height);
        assert_eq!(text.lines().count().max(1), usize::from(height).max(1));
    }
}

#[test]
fn no_color_means_none() {
    let mut plain = PlayerScreen::new("my_bag", Theme::new(false));
    plain.update(status(45, State::Playing), Time::from_nanos(0));
    assert!(!has_color(&plain));
    assert!(has_color(&screen(status(45, State::Playing))));
}

#[test]
fn keys_become_controls() {
    let mut screen = screen(status(45, State::Paused));
    let mut ask = |event| match screen.key(event) {
        Flow::Ask(control) => Some(control),
        _ => None,
    };
    let at = |seconds: i64| Time::from_nanos((1000 + seconds) * SECOND);
    let char = |char| key(KeyCode::Char(char));
    assert_eq!(ask(char(' ')), Some(Control::TogglePaused));
    assert_eq!(ask(key(KeyCode::Right)), Some(Control::PlayNext));
    assert_eq!(ask(key(KeyCode::Left)), Some(Control::StepBack));
    assert_eq!(
        ask(shift(KeyCode::Left)),
        Some(Control::SeekBy(Duration::from_nanos(-SECOND)))
    );
    assert_eq!(ask(key(KeyCode::Up)), Some(Control::SetRate(4.0)));
    assert_eq!(ask(key(KeyCode::Down)), Some(Control::SetRate(1.5)));
    assert_eq!(ask(char('=')), Some(Control::SetRate(1.0)));
    assert_eq!(ask(char('3')), Some(Control::Seek(at(30))));
    assert_eq!(ask(key(KeyCode::End)), Some(Control::Seek(at(100))));
    assert_eq!(ask(char('[')), Some(Control::Mark(Mark::A)));
    assert_eq!(ask(char(']')), Some(Control::Mark(Mark::B)));
    assert_eq!(ask(key(KeyCode::Backspace)), Some(Control::SetLoop(None)));
    assert_eq!(ask(char('z')), None);
    assert_eq!(screen.key(char('q')), Flow::Leave);
}

#[test]
fn a_typed_time_is_a_seek() {
    let mut screen = screen(status(45, State::Paused));
    for typed in "/1:30".chars() {
        assert_eq!(screen.key(key(KeyCode::Char(typed))), Flow::Stay);
    }
    assert!(text(&screen, 80, 24).ends_with("go to: 1:30▏"));
    let there = Time::from_nanos(1090 * SECOND);
    assert_eq!(
        screen.key(key(KeyCode::Enter)),
        Flow::Ask(Control::Seek(there))
    );
    for typed in "/soon".chars() {
        screen.key(key(KeyCode::Char(typed)));
    }
    assert_eq!(screen.key(key(KeyCode::Enter)), Flow::Stay);
    assert!(text(&screen, 80, 24).contains("\"soon\" is not a time"));
}

#[test]
fn the_help_lists_the_keys_and_closes_on_the_next_key() {
    let mut screen = screen(status(45, State::Paused));
    screen.key(key(KeyCode::Char('?')));
    assert!(text(&screen, 80, 24).contains("mark A, mark B: repeat between them"));
    assert_eq!(
        screen.key(key(KeyCode::Char(' '))),
        Flow::Stay,
        "it only closes the help"
    );
    assert!(!text(&screen, 80, 24).contains("mark A"));
}

#[test]
fn an_external_clock_and_damage_are_shown() {
    let mut status = status(45, State::WaitingForClock);
    status.rate = None;
    status.achieved_rate = None;
    status.damage = vec!["chunk 3 is cut off".into()];
    let text = text(&screen(status), 80, 24);
    assert!(
        text.contains("waiting for /clock") && text.contains("external clock"),
        "{text}"
    );
    assert!(text.contains("damaged: chunk 3 is cut off"), "{text}");
}
