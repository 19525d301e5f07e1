use timeloom_msg::Value;
use timeloom_msg::value::Struct;

use super::Unit;
use crate::rules::{Nan, Tolerance};

/// A number of any type of a message.
#[derive(Debug, Clone, Copy)]
pub(super) enum Number {
    Integer(i128),
    Float(f64),
}

impl Number {
    pub(super) fn of(value: &Value) -> Option<Self> {
        Some(match *value {
            Value::Int8(number) => Self::Integer(number.into()),
            Value::Uint8(number) => Self::Integer(number.into()),
            Value::Int16(number) => Self::Integer(number.into()),
            Value::Uint16(number) => Self::Integer(number.into()),
            Value::Int32(number) => Self::Integer(number.into()),
            Value::Uint32(number) => Self::Integer(number.into()),
            Value::Int64(number) => Self::Integer(number.into()),
            Value::Uint64(number) => Self::Integer(number.into()),
            Value::Float32(number) => Self::Float(number.into()),
            Value::Float64(number) => Self::Float(number),
            _ => return None,
        })
    }

    fn float(self) -> f64 {
        match self {
            Self::Integer(number) => number as f64,
            Self::Float(number) => number,
        }
    }
}

/// The difference of two numbers that the tolerance does not allow: its size, the largest allowed one, the unit.
pub(super) fn difference(
    left: Number,
    right: Number,
    tolerance: Tolerance,
) -> Option<(f64, f64, Unit)> {
    let (absolute, relative, wrap, nan, unit) = match tolerance {
        Tolerance::Ignore => return None,
        Tolerance::Number {
            absolute,
            relative,
            wrap,
            nan,
        } => (absolute, relative, wrap, nan, Unit::None),
        Tolerance::Angle(allowed) => {
            let turn = Some(std::f64::consts::TAU);
            (allowed, 0.0, turn, Nan::Equal, Unit::Radians)
        }
        // Numbers under a rule for times are nanoseconds.
        Tolerance::Time(allowed) => (allowed as f64, 0.0, None, Nan::Equal, Unit::Nanoseconds),
    };
    if let (Number::Integer(left), Number::Integer(right)) = (left, right)
        && left == right
    {
        return None;
    }
    let (l, r) = (left.float(), right.float());
    let allowed = absolute.max(relative * l.abs().max(r.abs()));
    if l.is_nan() || r.is_nan() {
        let equal = l.is_nan() && r.is_nan() && nan == Nan::Equal;
        return (!equal).then_some((f64::INFINITY, allowed, unit));
    }
    if is_same(l, r) && !matches!((left, right), (Number::Integer(_), Number::Integer(_))) {
        return None;
    }
    let delta = match (left, right) {
        // Exact where floats are not.
        (Number::Integer(left), Number::Integer(right)) => left.abs_diff(right) as f64,
        _ => (l - r).abs(),
    };
    let delta = match wrap.filter(|period| *period > 0.0) {
        Some(period) if delta.is_finite() => {
            let rest = delta % period;
            rest.min(period - rest)
        }
        _ => delta,
    };
    (delta > allowed).then_some((delta, allowed, unit))
}

/// Whether two floats are equal, infinities of one sign included.
fn is_same(left: f64, right: f64) -> bool {
    left.total_cmp(&right).is_eq() || (left - right).abs() <= 0.0
}

/// The angle of the rotation between two quaternions, in radians; `None` for other messages.
pub(super) fn angle_between(left: &Struct, right: &Struct) -> Option<f64> {
    let left = unit_quaternion(left)?;
    let right = unit_quaternion(right)?;
    let dot: f64 = left.iter().zip(right).map(|(l, r)| l * r).sum();
    // Both signs are the same rotation.
    let sign = if dot < 0.0 { -1.0 } else { 1.0 };
    let norm = |combine: fn(f64, f64) -> f64| {
        let parts = left.iter().zip(right);
        parts
            .map(|(l, r)| combine(*l, sign * r).powi(2))
            .sum::<f64>()
            .sqrt()
    };
    // Exact for small angles, where the arc cosine is not.
    Some(4.0 * norm(|l, r| l - r).atan2(norm(|l, r| l + r)))
}

fn unit_quaternion(value: &Struct) -> Option<[f64; 4]> {
    let part = |name: &str| value.get(name).and_then(Value::as_f64);
    let parts = [part("x")?, part("y")?, part("z")?, part("w")?];
    let norm = parts.iter().map(|part| part * part).sum::<f64>().sqrt();
    Some(parts.map(|part| part / norm))
}
