//! The status line of a player: position and achieved rate.

use timeloom_node::player::{State, Status};
use timeloom_text::grouped;
use timeloom_time::{Duration, Ros, Time};

/// One line for people: state, position, length, rate, achieved rate, messages.
pub(super) fn line(status: &Status) -> String {
    let (start, end) = status
        .range
        .unwrap_or((Time::<Ros>::ZERO, Time::<Ros>::ZERO));
    let within = |time: Time<Ros>| time.checked_since(start).unwrap_or_default().as_secs_f64();
    let mut words = vec![format!(
        "{} {:.1}/{:.1} s",
        symbol(status.state),
        within(status.time).clamp(0.0, within(end).max(0.0)),
        within(end).max(0.0)
    )];
    match (status.rate, status.achieved_rate) {
        (Some(rate), Some(real)) => words.push(format!("×{} (real ×{real:.2})", short(rate))),
        (Some(rate), None) => words.push(format!("×{}", short(rate))),
        (None, Some(real)) => words.push(format!("(real ×{real:.2})")),
        (None, None) => {}
    }
    if let Some((from, to)) = status.loop_range {
        words.push(format!("loop {:.1}..{:.1}", within(from), within(to)));
    }
    if status.laps > 0 {
        words.push(format!("lap {}", status.laps + 1));
    }
    words.push(format!("{} messages", grouped(status.played())));
    if status.lost() > 0 {
        words.push(format!("{} lost", grouped(status.lost())));
    }
    if status.starved > 1 {
        words.push(format!("starved {}", status.starved - 1));
    }
    if status.latest > Duration::from_millis(100) {
        words.push(format!("{:.1} s late at most", status.latest.as_secs_f64()));
    }
    words.join("  ")
}

fn short(rate: f64) -> String {
    let text = format!("{rate:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn symbol(state: State) -> &'static str {
    match state {
        State::Playing => "▶",
        State::Paused => "⏸",
        State::WaitingForSubscribers => "… waiting for subscribers",
        State::WaitingForStart => "… waiting for the start",
        State::WaitingForClock => "… waiting for /clock",
        State::Finishing => "… waiting for acknowledgements",
        _ => "■",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_line_has_position_and_rate() {
        let at = |millis: i64| Time::from_nanos((1_000 + millis) * 1_000_000);
        let status = Status {
            state: State::Playing,
            time: at(45_230),
            range: Some((at(0), at(75_800))),
            loop_range: Some((at(40_000), at(50_000))),
            rate: Some(2.0),
            achieved_rate: Some(1.871),
            laps: 2,
            read_ahead_messages: 0,
            read_ahead_bytes: 0,
            starved: 1,
            latest: Duration::ZERO,
            topics: Vec::new(),
            skipped: Vec::new(),
            damage: Vec::new(),
        };
        assert_eq!(
            line(&status),
            "▶ 45.2/75.8 s  ×2 (real ×1.87)  loop 40.0..50.0  lap 3  0 messages"
        );
        let paused = Status {
            state: State::Paused,
            achieved_rate: None,
            loop_range: None,
            laps: 0,
            ..status
        };
        assert_eq!(line(&paused), "⏸ 45.2/75.8 s  ×2  0 messages");
    }
}
