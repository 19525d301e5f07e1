use ratatui::crossterm::event::KeyCode;
use timeloom_bag::TopicStatistics;
use timeloom_node::recorder::{Control, Phase, Status, TopicStatus, TriggerStatus};
use timeloom_time::{Duration, Time};
use timeloom_tui::{Flow, RecorderScreen, Screen as _, Theme};

use crate::stage::{key, text};

fn status(lost: u64) -> Status {
    let topic = |name: &str, recorded: u64, lost: u64| TopicStatus {
        name: name.into(),
        type_name: "std_msgs/msg/String".into(),
        statistics: TopicStatistics {
            messages_recorded: recorded,
            messages_lost_in_transport: lost,
            bytes_written: recorded * 100,
            ..TopicStatistics::default()
        },
        repeated: 0,
        in_flight: 0,
    };
    Status {
        phase: Phase::Recording,
        directory: "rosbag2_2026".into(),
        files: 2,
        elapsed: Duration::from_secs(75),
        queue_bytes: 25,
        queue_limit: 100_000_000,
        host_clock: None,
        discovery: true,
        topics: vec![topic("/tf", 1000, 0), topic("/image", 900, lost)],
        triggers: None,
    }
}

fn screen(lost: u64) -> RecorderScreen {
    let mut screen = RecorderScreen::new(false, Theme::new(false));
    screen.update(status(lost), Time::from_nanos(0));
    screen
}

#[test]
fn the_account_adds_up_in_one_line() {
    let text = text(&screen(100), 100, 24);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[0], "timeloom record rosbag2_2026");
    assert!(
        lines[1].starts_with("● recording   01:15.0   files 2   queue 0 % of 95.4 MiB"),
        "{text}"
    );
    assert_eq!(
        lines[2],
        "published 2,000 = recorded 1,900 + lost in transport 100 + lost in the recorder 0 + left out 0"
    );
    assert!(lines[5].starts_with("/tf"), "{text}");
}

#[test]
fn triggers_and_windows_are_shown() {
    let mut status = status(0);
    status.triggers = Some(TriggerStatus {
        triggers: Vec::new(),
        windows: 3,
        is_open: true,
    });
    let mut screen = RecorderScreen::new(true, Theme::new(false));
    screen.update(status, Time::from_nanos(0));
    let text = text(&screen, 100, 24);
    assert!(
        text.contains("triggers 0 armed, fired 0   windows 3, one open"),
        "{text}"
    );
}

#[test]
fn losses_are_marked_where_they_happened() {
    let mut screen = RecorderScreen::new(false, Theme::new(false));
    for (step, lost) in [0, 0, 0, 500, 500, 500, 500, 500, 500, 500]
        .into_iter()
        .enumerate()
    {
        let now = Time::from_nanos(i64::try_from(step).unwrap() * 600_000_000);
        screen.update(status(lost), now);
    }
    let text = text(&screen, 100, 24);
    let row = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap();
    assert!(row("/image").ends_with("××××"), "{text}");
    assert!(!row("/tf").contains('×'), "{text}");
}

#[test]
fn topics_with_losses_can_be_sorted_first() {
    let mut screen = screen(100);
    assert_eq!(screen.key(key(KeyCode::Char('l'))), Flow::Stay);
    let text = text(&screen, 80, 24);
    assert!(text.lines().nth(5).unwrap().starts_with("/image"), "{text}");
}

#[test]
fn keys_become_controls() {
    let mut screen = screen(0);
    let char = |char| key(KeyCode::Char(char));
    assert_eq!(screen.key(char(' ')), Flow::Ask(Control::TogglePaused));
    assert_eq!(screen.key(char('s')), Flow::Ask(Control::Split));
    assert_eq!(screen.key(char('d')), Flow::Ask(Control::StopDiscovery));
    assert_eq!(screen.key(char('q')), Flow::Leave);
    let mut snapshots = RecorderScreen::new(true, Theme::new(false));
    assert_eq!(snapshots.key(char('s')), Flow::Ask(Control::Snapshot));
}

#[test]
fn the_result_of_a_control_is_shown_until_the_next_key() {
    let mut screen = screen(0);
    screen.show_message("a new file: my_bag_3.mcap".into());
    assert!(text(&screen, 80, 24).ends_with("a new file: my_bag_3.mcap"));
    screen.key(key(KeyCode::Down));
    assert!(text(&screen, 80, 24).contains("SPACE pause"));
}
