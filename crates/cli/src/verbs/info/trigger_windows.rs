//! Which triggers fired while a bag was recorded, for people.

use std::fmt::Write as _;

use jiff::Timestamp;
use timeloom_bag::TriggerWindow;
use timeloom_text::{counted, duration};

/// Windows that are printed; the rest is counted.
const MOST_WINDOWS: usize = 20;

/// Two lines for each window; nothing if the bag was recorded without triggers.
pub(crate) fn lines(custom_data: &[(String, String)]) -> String {
    let windows = TriggerWindow::all(custom_data);
    let mut lines = String::new();
    for window in windows.iter().take(MOST_WINDOWS) {
        // Writing to a text never fails.
        let _written = writeln!(lines, "{}", window_line(window));
        for firing in &window.firings {
            let at = duration(firing.time_ns.saturating_sub(window.begin_ns));
            let _written = writeln!(lines, "  {} after {at}: {}", firing.trigger, firing.reason);
        }
        if window.more_firings > 0 {
            let more = counted(window.more_firings, "firing");
            let _written = writeln!(lines, "  and {more} more");
        }
    }
    if windows.len() > MOST_WINDOWS {
        let more = counted((windows.len() - MOST_WINDOWS) as u64, "window");
        let _written = writeln!(lines, "Trigger windows: {more} more");
    }
    lines
}

fn window_line(window: &TriggerWindow) -> String {
    let begin = Timestamp::from_nanosecond(window.begin_ns.into()).unwrap_or_default();
    let length = duration(window.end_ns.saturating_sub(window.begin_ns));
    let mut line = format!(
        "Trigger window {}: {begin}, {length}, in {}",
        window.number, window.file
    );
    match window.end.as_str() {
        "complete" => {}
        "" => line.push_str("; not closed: the recorder was killed"),
        reason => {
            let _written = write!(line, "; cut short: {reason}");
        }
    }
    if window.lost > 0 {
        let lost = counted(window.lost, "message");
        let _written = write!(line, "; {lost} before the trigger lost");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use timeloom_bag::{TRIGGER_WINDOWS_KEY, TriggerFiring};

    #[test]
    fn a_window_shows_its_firings_and_its_end() {
        let window = TriggerWindow {
            number: 1,
            file: "run_0.mcap".into(),
            begin_ns: 1_700_000_000_000_000_000,
            end_ns: 1_700_000_040_000_000_000,
            end: "recording ended".into(),
            lost: 2,
            firings: vec![TriggerFiring {
                trigger: "low".into(),
                time_ns: 1_700_000_030_000_000_000,
                condition: "/battery.voltage < 11.5".into(),
                reason: "/battery.voltage is 11.2".into(),
            }],
            more_firings: 0,
        };
        let text = TriggerWindow::to_text([&window]);
        let data = [(TRIGGER_WINDOWS_KEY.to_owned(), text)];
        assert_eq!(
            lines(&data),
            "Trigger window 1: 2023-11-14T22:13:20Z, 40.0 s, in run_0.mcap; cut short: recording ended; 2 messages \
             before the trigger lost\n  low after 30.0 s: /battery.voltage is 11.2\n"
        );
        assert_eq!(lines(&[]), "");
    }
}
