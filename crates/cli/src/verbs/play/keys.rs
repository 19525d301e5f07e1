//! The keys of a player.

use timeloom_node::player::{Control, Mark, PlayerHandle, Status};
use timeloom_time::{Duration, Time};

use crate::live::Key;

/// A key step of the rate: ten per cent.
const FINE: f64 = 1.1;

/// The control that a key stands for, as the player is now.
pub(super) fn control(key: Key, status: &Status) -> Option<Control> {
    Some(match key {
        Key::Right => Control::PlayNext,
        Key::Left => Control::StepBack,
        Key::Home => Control::Seek(status.range.map_or(Time::ZERO, |(start, _)| start)),
        Key::Char('[') => Control::Mark(Mark::A),
        Key::Char(']') => Control::Mark(Mark::B),
        Key::Char('\\') => Control::SetLoop(None),
        Key::Char('q') => Control::Stop,
        _ => return of_time(key, status.rate.unwrap_or(1.0)),
    })
}

/// The control of time alone that a key stands for.
pub(crate) fn of_time(key: Key, rate: f64) -> Option<Control> {
    let by = |seconds| Control::SeekBy(Duration::from_secs(seconds));
    Some(match key {
        Key::Char(' ') => Control::TogglePaused,
        Key::Up => Control::SetRate(nice(rate * FINE)),
        Key::Down => Control::SetRate(nice(rate / FINE)),
        Key::Char('>') => Control::SetRate(rate * 2.0),
        Key::Char('<') => Control::SetRate(rate / 2.0),
        Key::Char('1') => Control::SetRate(1.0),
        Key::PageUp => by(10),
        Key::PageDown => by(-10),
        Key::Char('.') => by(1),
        Key::Char(',') => by(-1),
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

/// Does what a key asks for; a refusal goes to `tell`.
pub(super) fn press(key: Key, player: &PlayerHandle, tell: impl Fn(String) + Send + 'static) {
    if let Some(control) = control(key, &player.status()) {
        player.control_then(control, move |answer| {
            if let Err(refusal) = answer {
                tell(refusal.to_string());
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_comes_back_to_one() {
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
