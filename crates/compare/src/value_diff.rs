//! Two values compared field by field.

mod number;

use std::fmt::Write as _;

use timeloom_msg::Value;
use timeloom_msg::value::{Array, Struct};

use crate::rules::{Tolerance, TopicRules};
use number::{Number, angle_between, difference};

/// A field that differs in one pair of messages.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FieldDiff {
    /// The field, with `[]` behind arrays.
    pub(crate) field: String,
    /// The place of the largest difference, with its indices.
    pub(crate) place: String,
    /// Number of differing elements of the field.
    pub(crate) elements: u64,
    pub(crate) left: String,
    pub(crate) right: String,
    pub(crate) size: Size,
}

/// The size of a difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Size {
    /// Not a matter of degree: texts, lengths, types.
    Unordered,
    /// A difference of numbers, and the largest that the rules allow.
    Measured {
        delta: f64,
        allowed: f64,
        unit: Unit,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    None,
    Radians,
    Nanoseconds,
}

impl Size {
    /// For comparing sizes: how many times the allowed difference, or the difference itself where none is allowed.
    pub(crate) fn weight(self) -> f64 {
        match self {
            Self::Unordered => f64::INFINITY,
            Self::Measured { delta, allowed, .. } if allowed > 0.0 => delta / allowed,
            Self::Measured { delta, .. } => delta,
        }
    }
}

/// Compares two messages of a topic; the differences are merged by field.
pub(crate) fn diff_values(left: &Value, right: &Value, rules: &TopicRules<'_>) -> Vec<FieldDiff> {
    let mut walk = Walk {
        rules,
        field: String::new(),
        place: String::new(),
        found: Vec::new(),
    };
    walk.value(left, right);
    walk.found
}

/// Compares payloads that have no schema.
pub(crate) fn diff_bytes(left: &[u8], right: &[u8]) -> Option<FieldDiff> {
    if left == right {
        return None;
    }
    let at = left.iter().zip(right).position(|(l, r)| l != r);
    let at = at.unwrap_or(left.len().min(right.len()));
    let byte = |side: &[u8]| match side.get(at) {
        Some(byte) => format!("{} bytes, 0x{byte:02x} at {at}", side.len()),
        None => format!("{} bytes", side.len()),
    };
    Some(FieldDiff {
        field: "(bytes)".into(),
        place: "(bytes)".into(),
        elements: 1,
        left: byte(left),
        right: byte(right),
        size: Size::Unordered,
    })
}

struct Walk<'a> {
    rules: &'a TopicRules<'a>,
    field: String,
    place: String,
    found: Vec<FieldDiff>,
}

impl Walk<'_> {
    fn value(&mut self, left: &Value, right: &Value) {
        match (left, right) {
            (Value::Struct(left), Value::Struct(right)) => self.structure(left, right),
            (Value::Array(left), Value::Array(right)) => self.array(left, right),
            _ => {
                let tolerance = self.rules.tolerance(&self.field, kind(left));
                self.scalar(left, right, tolerance.unwrap_or(Tolerance::EXACT));
            }
        }
    }

    fn structure(&mut self, left: &Struct, right: &Struct) {
        let name = left.ty().name().to_string();
        match self.rules.tolerance(&self.field, &name) {
            Some(Tolerance::Ignore) => return,
            Some(Tolerance::Angle(allowed)) => {
                if let Some(delta) = angle_between(left, right) {
                    return self.measured(left, right, delta, allowed, Unit::Radians);
                }
            }
            Some(Tolerance::Time(allowed)) => {
                if let (Some(l), Some(r)) = (nanoseconds(left), nanoseconds(right)) {
                    let delta = l.abs_diff(r) as f64;
                    return self.measured(left, right, delta, allowed as f64, Unit::Nanoseconds);
                }
            }
            _ => {}
        }
        for (name, value) in left.fields() {
            let place = self.enter(name);
            match right.get(name) {
                Some(other) => self.value(value, other),
                None => self.unordered(&short(value), "(no such field)"),
            }
            self.leave(place);
        }
        for (name, value) in right.fields() {
            if left.get(name).is_none() {
                let place = self.enter(name);
                self.unordered("(no such field)", &short(value));
                self.leave(place);
            }
        }
    }

    fn array(&mut self, left: &Array, right: &Array) {
        let first = left.get(0).or_else(|| right.get(0));
        let name = first.as_ref().map_or("", kind);
        let tolerance = self.rules.tolerance(&self.field, name);
        if tolerance == Some(Tolerance::Ignore) {
            return;
        }
        if left.len() != right.len() {
            let length = |array: &Array| format!("{} elements", array.len());
            self.unordered(&length(left), &length(right));
        }
        let tolerance = tolerance.unwrap_or(Tolerance::EXACT);
        let place = (self.field.len(), self.place.len());
        self.field.push_str("[]");
        for index in 0..left.len().min(right.len()) {
            let (Some(l), Some(r)) = (left.get(index), right.get(index)) else {
                break;
            };
            if let (Value::Struct(l), Value::Struct(r)) = (&l, &r) {
                self.enter_element(index);
                self.structure(l, r);
                self.place.truncate(place.1);
            } else if is_different(&l, &r, tolerance) {
                self.enter_element(index);
                self.scalar(&l, &r, tolerance);
                self.place.truncate(place.1);
            }
        }
        self.leave(place);
    }

    fn scalar(&mut self, left: &Value, right: &Value, tolerance: Tolerance) {
        if tolerance == Tolerance::Ignore {
            return;
        }
        match (Number::of(left), Number::of(right)) {
            (Some(l), Some(r)) => {
                if let Some((delta, allowed, unit)) = difference(l, r, tolerance) {
                    self.push(
                        short(left),
                        short(right),
                        Size::Measured {
                            delta,
                            allowed,
                            unit,
                        },
                    );
                }
            }
            _ if left == right => {}
            _ => self.push(short(left), short(right), Size::Unordered),
        }
    }

    fn measured(&mut self, left: &Struct, right: &Struct, delta: f64, allowed: f64, unit: Unit) {
        // A NaN in either value is a difference.
        if delta <= allowed {
            return;
        }
        let text = |side: &Struct| short(&Value::Struct(side.clone()));
        let size = Size::Measured {
            delta: if delta.is_nan() { f64::INFINITY } else { delta },
            allowed,
            unit,
        };
        self.push(text(left), text(right), size);
    }

    fn unordered(&mut self, left: &str, right: &str) {
        self.push(left.to_owned(), right.to_owned(), Size::Unordered);
    }

    fn push(&mut self, left: String, right: String, size: Size) {
        let same = |known: &&mut FieldDiff| known.field == self.field;
        // Elements of one array come in a row: the field is the last one.
        let known = self.found.iter_mut().rev().take(LOOK_BACK).find(same);
        let Some(known) = known else {
            self.found.push(FieldDiff {
                field: self.field.clone(),
                place: self.place.clone(),
                elements: 1,
                left,
                right,
                size,
            });
            return;
        };
        known.elements += 1;
        if size.weight() > known.size.weight() {
            known.place.clone_from(&self.place);
            known.left = left;
            known.right = right;
            known.size = size;
        }
    }

    fn enter(&mut self, name: &str) -> (usize, usize) {
        let place = (self.field.len(), self.place.len());
        for path in [&mut self.field, &mut self.place] {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(name);
        }
        place
    }

    fn enter_element(&mut self, index: usize) {
        // Writing to a string cannot fail.
        let _ok = write!(self.place, "[{index}]");
    }

    fn leave(&mut self, (field, place): (usize, usize)) {
        self.field.truncate(field);
        self.place.truncate(place);
    }
}

/// Number of previous fields that are searched; a message of more fields in an array of messages repeats some.
const LOOK_BACK: usize = 256;

fn is_different(left: &Value, right: &Value, tolerance: Tolerance) -> bool {
    match (Number::of(left), Number::of(right)) {
        (Some(left), Some(right)) => difference(left, right, tolerance).is_some(),
        _ => left != right,
    }
}

/// A time or a duration in nanoseconds.
fn nanoseconds(value: &Struct) -> Option<i128> {
    let part = |name: &str| value.get(name).and_then(Value::as_i64).map(i128::from);
    let nanos = part("nanosec").or_else(|| part("nanosecond"))?;
    Some(part("sec").or_else(|| part("seconds"))? * 1_000_000_000 + nanos)
}

/// A value on one line, cut to a readable length.
fn short(value: &Value) -> String {
    let mut text = match value {
        Value::Float32(number) => number.to_string(),
        Value::Float64(number) => number.to_string(),
        _ => value.to_json(),
    };
    if text.chars().count() > LONGEST {
        text = text.chars().take(LONGEST - 1).chain(['…']).collect();
    }
    text
}

const LONGEST: usize = 60;

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Bool(_) => "bool",
        Value::Int8(_) => "int8",
        Value::Uint8(_) => "uint8",
        Value::Int16(_) => "int16",
        Value::Uint16(_) => "uint16",
        Value::Int32(_) => "int32",
        Value::Uint32(_) => "uint32",
        Value::Int64(_) => "int64",
        Value::Uint64(_) => "uint64",
        Value::Float32(_) => "float32",
        Value::Float64(_) => "float64",
        Value::String(_) => "string",
        Value::WString(_) => "wstring",
        Value::Array(_) => "array",
        Value::Struct(_) => "message",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rules;
    use timeloom_msg::Schema;

    const POSE: &str = "string name\nfloat64 yaw\nfloat32[] ranges\nQuaternion q\nbuiltin_interfaces/Time stamp\n\
        ================================================================================\nMSG: demo/Quaternion\nfloat64 x\nfloat64 y\nfloat64 z\nfloat64 w\n\
        ================================================================================\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n";

    fn pose() -> Value {
        let schema = Schema::parse_ros2msg("demo/msg/Pose", POSE).unwrap();
        let mut value = schema.default_value().unwrap();
        value.set("q.w", 1.0).unwrap();
        value
            .set(
                "ranges",
                Value::Array(Array::Float32(vec![1.0, 2.0, f32::NAN])),
            )
            .unwrap();
        value
    }

    fn found(left: &Value, right: &Value, rules: &[&str]) -> Vec<FieldDiff> {
        let mut all = Rules::default();
        for rule in rules {
            all.add(rule).unwrap();
        }
        diff_values(left, right, &all.of_topic("/pose"))
    }

    #[test]
    fn equal_values_have_no_difference_and_nan_equals_nan() {
        assert_eq!(found(&pose(), &pose(), &[]), []);
        let strict = found(&pose(), &pose(), &["ranges=nan=different"]);
        assert_eq!(strict[0].place, "ranges[2]");
    }

    #[test]
    fn the_worst_element_of_an_array_is_named() {
        let mut right = pose();
        right
            .set(
                "ranges",
                Value::Array(Array::Float32(vec![1.25, 4.0, f32::NAN])),
            )
            .unwrap();
        let [diff] = found(&pose(), &right, &[]).try_into().unwrap();
        assert_eq!(
            (diff.field.as_str(), diff.place.as_str()),
            ("ranges[]", "ranges[1]")
        );
        assert_eq!(
            (diff.elements, diff.left.as_str(), diff.right.as_str()),
            (2, "2", "4")
        );
        assert_eq!(found(&pose(), &right, &["ranges=0.5"])[0].elements, 1);
        assert_eq!(found(&pose(), &right, &["float32=60%"]), []);
        assert_eq!(found(&pose(), &right, &["ranges=ignore"]), []);
    }

    #[test]
    fn lengths_count() {
        let mut right = pose();
        right
            .set("ranges", Value::Array(Array::Float32(vec![1.0])))
            .unwrap();
        let [diff] = found(&pose(), &right, &[]).try_into().unwrap();
        assert_eq!(
            (diff.left.as_str(), diff.right.as_str()),
            ("3 elements", "1 elements")
        );
    }

    #[test]
    fn angles_wrap_and_quaternions_compare_by_rotation() {
        let mut right = pose();
        right.set("yaw", std::f64::consts::TAU - 0.001).unwrap();
        assert_eq!(found(&pose(), &right, &[]).len(), 1);
        assert_eq!(found(&pose(), &right, &["yaw=0.1deg"]), []);
        let mut right = pose();
        // The same rotation with the opposite sign, and half a degree about z.
        right.set("q.w", -(0.25_f64.to_radians().cos())).unwrap();
        right.set("q.z", -(0.25_f64.to_radians().sin())).unwrap();
        assert_eq!(found(&pose(), &right, &["demo/msg/Quaternion=0.6deg"]), []);
        let [diff] = found(&pose(), &right, &["q=0.4deg"]).try_into().unwrap();
        assert!(
            matches!(diff.size, Size::Measured { delta, unit: Unit::Radians, .. }
            if (delta.to_degrees() - 0.5).abs() < 1e-9)
        );
    }

    #[test]
    fn times_compare_as_a_whole() {
        let mut right = pose();
        right.set("stamp.sec", 1_i32).unwrap();
        let mut left = pose();
        left.set("stamp.nanosec", 999_999_000_u32).unwrap();
        assert_eq!(found(&left, &right, &["stamp=1us"]), []);
        assert_eq!(found(&left, &right, &["stamp=0.9us"]).len(), 1);
        assert_eq!(found(&left, &right, &[]).len(), 2, "second and nanosecond");
    }

    #[test]
    fn bytes_without_a_schema_name_the_first_difference() {
        assert_eq!(diff_bytes(b"abc", b"abc"), None);
        let diff = diff_bytes(b"abc", b"abd").unwrap();
        assert_eq!(diff.left, "3 bytes, 0x63 at 2");
        assert_eq!(diff_bytes(b"abc", b"ab").unwrap().right, "2 bytes");
    }
}
