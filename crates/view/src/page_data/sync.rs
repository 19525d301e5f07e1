use std::collections::{BTreeMap, VecDeque};

use serde::Serialize;
use timeloom_msg::Value;

/// Limit for the points of a series.
const MOST_POINTS: usize = 600;
/// Limit for series, because diagnostics may hold anything.
const MOST_SERIES: usize = 64;
/// Words that mark a key as related to clock sync.
const WORDS: [&str; 6] = ["offset", "drift", "jitter", "bound", "sigma", "skew"];

/// Numbers in diagnostics about clocks, by sensor and quantity.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub(super) struct SyncPlot {
    sensors: BTreeMap<String, BTreeMap<String, VecDeque<Point>>>,
}

/// Time in milliseconds since 1970, which JavaScript represents exactly, and value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Point(f64, f64);

impl SyncPlot {
    /// Adds a `DiagnosticArray`.
    pub(super) fn take(&mut self, time_ns: i64, value: &Value) {
        let Some(Value::Array(statuses)) = value.get("status") else {
            return;
        };
        for index in 0..statuses.len() {
            if let Some(status) = statuses.get(index) {
                self.take_status(time_ns, &status);
            }
        }
    }

    fn take_status(&mut self, time_ns: i64, status: &Value) {
        let name = status.get("name");
        let Some(name) = name.as_ref().and_then(Value::as_str) else {
            return;
        };
        let Some(Value::Array(values)) = status.get("values") else {
            return;
        };
        for pair in (0..values.len()).filter_map(|index| values.get(index)) {
            let (key, text) = (pair.get("key"), pair.get("value"));
            let (Some(key), Some(text)) = (
                key.as_ref().and_then(Value::as_str),
                text.as_ref().and_then(Value::as_str),
            ) else {
                continue;
            };
            if let Some(number) = number(key, text) {
                self.add(name, key, Point(milliseconds(time_ns), number));
            }
        }
    }

    fn add(&mut self, sensor: &str, key: &str, point: Point) {
        let series: usize = self.sensors.values().map(BTreeMap::len).sum();
        let known = self
            .sensors
            .get(sensor)
            .is_some_and(|sensor| sensor.contains_key(key));
        if !known && series >= MOST_SERIES {
            return;
        }
        let sensor = self.sensors.entry(sensor.to_owned()).or_default();
        let points = sensor.entry(key.to_owned()).or_default();
        // After a jump back, points in the future would be drawn over the new ones.
        points.retain(|old| old.0 < point.0);
        points.push_back(point);
        if points.len() > MOST_POINTS {
            points.pop_front();
        }
    }
}

fn milliseconds(time_ns: i64) -> f64 {
    (time_ns / 1_000) as f64 / 1e3
}

/// The number at the beginning of a value such as `-1.5 us`, if the key is related to clock sync.
fn number(key: &str, text: &str) -> Option<f64> {
    let lower = key.to_ascii_lowercase();
    WORDS
        .iter()
        .any(|word| lower.contains(word))
        .then_some(())?;
    let number: f64 = text.split_whitespace().next()?.parse().ok()?;
    number.is_finite().then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use timeloom_msg::{Definitions, Schema};

    fn array(values: &[(&str, &str)]) -> Value {
        let schema: Schema = Definitions::builtin()
            .schema(super::super::DIAGNOSTICS)
            .unwrap();
        let element = Definitions::builtin()
            .schema("diagnostic_msgs/msg/DiagnosticStatus")
            .unwrap();
        let mut payload = Vec::new();
        // Header, one status: level, name, message, hardware_id, values; in little-endian CDR.
        payload.extend(b"\0\x01\0\0");
        let text = |payload: &mut Vec<u8>, text: &str| {
            while !payload.len().is_multiple_of(4) {
                payload.push(0);
            }
            payload.extend(u32::try_from(text.len() + 1).unwrap().to_le_bytes());
            payload.extend(text.as_bytes());
            payload.push(0);
        };
        payload.extend([0; 8]);
        text(&mut payload, "");
        while !payload.len().is_multiple_of(4) {
            payload.push(0);
        }
        payload.extend(1u32.to_le_bytes());
        payload.push(0);
        for name in ["lidar", "", ""] {
            text(&mut payload, name);
        }
        while !payload.len().is_multiple_of(4) {
            payload.push(0);
        }
        payload.extend(u32::try_from(values.len()).unwrap().to_le_bytes());
        for (key, value) in values {
            text(&mut payload, key);
            text(&mut payload, value);
        }
        assert!(element.root().min_size() > 0);
        schema.decode(&payload).unwrap()
    }

    #[test]
    fn clock_diagnostics_become_series() {
        let mut plot = SyncPlot::default();
        plot.take(
            1_000_000_000,
            &array(&[("offset_us", "-1.5 us"), ("health", "ok"), ("drift", "nan")]),
        );
        plot.take(
            2_000_000_000,
            &array(&[("offset_us", "2"), ("temperature", "40")]),
        );
        let expected = json!({"lidar": {"offset_us": [[1000.0, -1.5], [2000.0, 2.0]]}});
        assert_eq!(serde_json::to_value(&plot).unwrap(), expected);
    }

    #[test]
    fn a_jump_back_removes_points_in_the_future() {
        let mut plot = SyncPlot::default();
        for time in [1, 2, 3, 2] {
            plot.take(time * 1_000_000_000, &array(&[("offset", "1")]));
        }
        let kept = &plot.sensors["lidar"]["offset"];
        assert_eq!(
            kept.iter().map(|point| point.0).collect::<Vec<_>>(),
            [1000.0, 2000.0]
        );
    }

    #[test]
    fn series_and_points_are_limited() {
        let mut plot = SyncPlot::default();
        for time in 0..1_000 {
            plot.add("a", "offset", Point(f64::from(time), 0.0));
            plot.add("b", &format!("offset {time}"), Point(0.0, 0.0));
        }
        assert_eq!(plot.sensors["a"]["offset"].len(), MOST_POINTS);
        assert_eq!(plot.sensors["b"].len(), MOST_SERIES - 1);
    }
}
