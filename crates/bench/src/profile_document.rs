//! The YAML of producers of rosbag2's benchmarks.

use serde_json::{Map, Value as Json};
use timeloom_msg::QosProfile;
use timeloom_msg::qos::{Durability, Reliability};

use crate::output::Usage;
use crate::payload::Content;
use crate::profile::{Group, Profile};

const GROUP_KEYS: [&str; 7] = [
    "publishers_count",
    "topic_root",
    "msg_size_bytes",
    "msg_type",
    "msg_count_each",
    "rate_hz",
    "qos",
];
/// Larger numbers would only exhaust the memory.
const MAX_PUBLISHERS: u64 = 10_000;
const MAX_SIZE: u64 = 1 << 30;

/// Reads the parameters of the benchmark's node, whatever its name.
pub(crate) fn read(text: &str) -> Result<Profile, Usage> {
    let root: Json = serde_saphyr::from_str(text)
        .map_err(|error| Usage(format!("cannot read the producers: {error}")))?;
    let publishers = publishers(&root)
        .ok_or_else(|| Usage("`publishers` with `publisher_groups` is missing".into()))?;
    let names = publishers.get("publisher_groups").and_then(Json::as_array);
    let names = names.ok_or_else(|| Usage("publisher_groups is not a list of names".into()))?;
    let mut groups = Vec::new();
    for name in names {
        let name = name
            .as_str()
            .map_or_else(|| name.to_string(), str::to_owned);
        let fields = publishers.get(&name).and_then(Json::as_object);
        let fields = fields
            .ok_or_else(|| Usage(format!("publisher_groups names {name}, which is missing")))?;
        groups.push(
            Fields {
                name: &name,
                fields,
            }
            .group()?,
        );
    }
    if groups.is_empty() {
        return Err(Usage("publisher_groups is empty".into()));
    }
    let threads = publishers.get("number_of_threads").and_then(Json::as_u64);
    let wait = publishers.get("wait_for_subscriptions");
    Ok(Profile {
        groups,
        wait_for_subscriptions: wait.and_then(Json::as_bool).unwrap_or(true),
        threads: threads.map(|threads| usize::try_from(threads).unwrap_or(1).clamp(1, 256)),
    })
}

fn publishers(root: &Json) -> Option<&Map<String, Json>> {
    let node = root.as_object()?.values().next()?;
    let parameters = node.get("ros__parameters").unwrap_or(root);
    parameters.get("publishers")?.as_object()
}

/// A group in the file.
struct Fields<'a> {
    name: &'a str,
    fields: &'a Map<String, Json>,
}

impl Fields<'_> {
    fn group(&self) -> Result<Group, Usage> {
        if let Some(key) = self
            .fields
            .keys()
            .find(|key| !GROUP_KEYS.contains(&key.as_str()))
        {
            return Err(self.wrong(key, &format!("is not one of {}", GROUP_KEYS.join(", "))));
        }
        let content = match self.fields.get("msg_type") {
            None => Content::ByteArray,
            Some(text) => text.as_str().and_then(Content::parse).ok_or_else(|| {
                self.wrong(
                    "msg_type",
                    "is not one of ByteArray, Image, PointCloud2, NavSatFix, Imu, Range",
                )
            })?,
        };
        let size = match (content.has_data(), self.fields.get("msg_size_bytes")) {
            (false, None) => 0,
            _ => self.number("msg_size_bytes", MAX_SIZE)?,
        };
        let root = self.fields.get("topic_root").and_then(Json::as_str);
        let hertz = self.fields.get("rate_hz").and_then(Json::as_f64);
        Ok(Group {
            publishers: self.number("publishers_count", MAX_PUBLISHERS)?,
            topic_root: root
                .ok_or_else(|| self.wrong("topic_root", "is not a string"))?
                .to_owned(),
            content,
            size: usize::try_from(size).unwrap_or(usize::MAX),
            count_each: self.number("msg_count_each", u64::MAX)?,
            hertz: hertz
                .filter(|hertz| *hertz > 0.0 && *hertz <= 1e6)
                .ok_or_else(|| self.wrong("rate_hz", "is not a number above 0 and up to 1e6"))?,
            qos: self.qos()?,
        })
    }

    fn number(&self, key: &str, most: u64) -> Result<u64, Usage> {
        let number = self.fields.get(key).and_then(Json::as_u64);
        number
            .filter(|number| (1..=most).contains(number))
            .ok_or_else(|| self.wrong(key, &format!("is not a number from 1 to {most}")))
    }

    fn qos(&self) -> Result<QosProfile, Usage> {
        let mut qos = QosProfile::DEFAULT;
        let Some(written) = self.fields.get("qos").and_then(Json::as_object) else {
            return Ok(qos);
        };
        for (key, value) in written {
            let text = value.as_str().unwrap_or_default();
            let wrong = || self.wrong(key, &format!("cannot be {value}"));
            match key.as_str() {
                "qos_depth" => {
                    let depth = value.as_u64().filter(|depth| *depth > 0);
                    qos.depth = depth.ok_or_else(wrong)?;
                }
                "qos_reliability" => {
                    qos.reliability = Reliability::parse(text).ok_or_else(wrong)?;
                }
                "qos_durability" => qos.durability = Durability::parse(text).ok_or_else(wrong)?,
                _ => {
                    let all = "is not one of qos_depth, qos_reliability, qos_durability";
                    return Err(self.wrong(key, all));
                }
            }
        }
        Ok(qos)
    }

    fn wrong(&self, key: &str, what: &str) -> Usage {
        Usage(format!("{key} of the group {} {what}", self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
node:
  ros__parameters:
    publishers:
      publisher_groups: [\"10Mbs\"]
      wait_for_subscriptions: False
      number_of_threads: 3
      10Mbs:
        publishers_count: 5
        topic_root: \"small\"
        msg_size_bytes: 100
        msg_count_each: 20
        rate_hz: 200
        qos: {qos_depth: 5, qos_reliability: best_effort, qos_durability: volatile}
";

    #[test]
    fn the_files_of_rosbag2_are_read() {
        let profile = read(TEXT).unwrap();
        assert!(!profile.wait_for_subscriptions);
        assert_eq!(profile.threads, Some(3));
        let expected = Group {
            publishers: 5,
            topic_root: "small".into(),
            content: Content::ByteArray,
            size: 100,
            count_each: 20,
            hertz: 200.0,
            qos: QosProfile::SENSOR_DATA,
        };
        assert_eq!(profile.groups, [expected]);
    }

    #[test]
    fn invalid_values_are_refused_by_name() {
        let cases = [
            ("rate_hz: 200", "rate_hz: 0", "rate_hz"),
            (
                "publishers_count: 5",
                "publishers_count: -5",
                "publishers_count",
            ),
            ("[\"10Mbs\"]", "[other]", "other"),
            ("[\"10Mbs\"]", "[]", "empty"),
            ("best_effort", "best_effor", "qos_reliability"),
            ("msg_count_each", "msg_count", "msg_count of"),
            ("topic_root: \"small\"", "msg_type: Bytes", "msg_type"),
            ("publishers:\n", "producers:\n", "publishers"),
        ];
        for (from, to, word) in cases {
            let text = TEXT.replace(from, to);
            assert_ne!(text, TEXT);
            let error = read(&text).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
    }
}
