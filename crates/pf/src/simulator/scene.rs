use crate::packet::Point;

/// Half the length and half the width of the room, in metres.
const ROOM: (f64, f64) = (4.0, 3.0);
/// A pillar goes round: its distance, its radius, and the seconds of a round.
const PILLAR: (f64, f64, f64) = (1.8, 0.3, 12.0);

/// The distance at an angle (radians) and a time (seconds): a room, a moving pillar, and an open door.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "distances in a room are small and positive"
)]
pub(super) fn look(angle: f64, seconds: f64) -> Point {
    let (sin, cos) = angle.sin_cos();
    let wall = (ROOM.0 / cos.abs()).min(ROOM.1 / sin.abs());
    if (angle - 1.2).abs() < 0.05 {
        // The door: no echo, as the real device shows it.
        return Point {
            distance: None,
            amplitude: Some(6),
        };
    }
    let round = seconds / PILLAR.2 * std::f64::consts::TAU;
    let (pillar_sin, pillar_cos) = round.sin_cos();
    let along = PILLAR.0 * (pillar_cos * cos + pillar_sin * sin);
    let across = PILLAR.0 * (pillar_cos * sin - pillar_sin * cos);
    let hit = along > 0.0 && across.abs() < PILLAR.1;
    let metres = if hit {
        along - (PILLAR.1 * PILLAR.1 - across * across).sqrt()
    } else {
        wall
    };
    Point {
        distance: Some((metres * 1_000.0) as u32),
        amplitude: Some(if hit { 900 } else { 400 }),
    }
}
