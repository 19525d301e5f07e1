//! The keys of a player.

use timeloom_node::player::{Control, Mark, PlayerHandle, Status};
use timeloom_time::{Duration, Time};
use timeloom_tui::KeyCode;

/// A key step of the rate: ten per cent.
const FINE: f64 = 1.1;

/// The control of a key, in the current state of the player.
pub(super) fn control(key: KeyCode, status: &Status) -> Option<Control> {
    Some(match key {
        KeyCode::Right => Control::PlayNext,
        KeyCode::Left => Control::StepBack,
        KeyCode::Home => Control::Seek(status.range.map_or(Time::ZERO, |(start, _)| start)),
        KeyCode::Char('[') => Control::Mark(Mark::A),
        KeyCode::Char(']') => Control::Mark(Mark::B),
        KeyCode::Char('\\') => Control::SetLoop(None),
        KeyCode::Char('q') => Control::Stop,
        _ => return of_time(key, status.rate.unwrap_or(1.0)),
    })
}

/// The control of a key that only affects time.
pub(crate) fn of_time(key: KeyCode, rate: f64) -> Option<Control> {
    let by = |seconds| Control::SeekBy(Duration::from_secs(seconds));
    Some(match key {
        KeyCode::Char(' ') => Control::TogglePaused,
        KeyCode::Up => Control::SetRate(nice(rate * FINE)),
        KeyCode::Down => Control::SetRate(nice(rate / FINE)),
        KeyCode::Char('>') => Control::SetRate(rate * 2.0),
        KeyCode::Char('<') => Control::SetRate(rate / 2.0),
        KeyCode::Char('1') => Control::SetRate(1.0),
        KeyCode::PageUp => by(10),
        KeyCode::PageDown => by(-10),
        KeyCode::Char('.') => by(1),
        KeyCode::Char(',') => by(-1),
        _ => return None,
    })
}

/// Steps up and down come back to where they began.
fn nice(rate: f64) -> f64 {
    let near = (rate * 1000.0).round() / 1000.0;
    if (near - 1.0).abs() < 0.02 {
        1.0
    } else if near > 0.01 {
        near
    } else {
        rate
    }
}

/// Executes the control of a key; passes a refusal to `report`.
pub(super) fn press(key: KeyCode, player: &PlayerHandle, report: impl Fn(String) + Send + 'static) {
    if let Some(control) = control(key, &player.status()) {
        player.control_then(control, move |answer| {
            if let Err(refusal) = answer {
                report(refusal.to_string());
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_steps_return_to_one() {
        let mut rate = 1.0;
        for _ in 0..5 {
            rate = nice(rate * FINE);
        }
        for _ in 0..5 {
            rate = nice(rate / FINE);
        }
        assert!((rate - 1.0).abs() < f64::EPSILON, "{rate}");
        assert!(nice(0.001) > 0.0);
    }
}
