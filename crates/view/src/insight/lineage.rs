use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use timeloom_msg::Value;

/// How many links there may be: names come from outside.
const MOST_LINKS: usize = 1_000;

/// Which topics are made of which, by tracking tags.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Lineage {
    links: BTreeMap<(String, String), Link>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Link {
    node: String,
    count: u64,
    /// The mean time from the stamp of the input to the publishing of the output, of those that have a stamp.
    latency_ms: Option<f64>,
    stamped: u64,
}

impl Lineage {
    /// Takes in a `MessageTrackingTag`.
    pub(super) fn take(&mut self, tag: &Value) {
        let Some(output) = text(tag, "output_info.topic_name") else {
            return;
        };
        let node = text(tag, "output_info.node_fqn").unwrap_or_default();
        let published = time(tag, "output_info.pub_time");
        let Some(Value::Array(inputs)) = tag.get("input_infos") else {
            return;
        };
        for input in (0..inputs.len()).filter_map(|index| inputs.get(index)) {
            let Some(topic) = text(&input, "topic_name") else {
                continue;
            };
            let stamped = input.get("has_header_stamp") == Some(Value::Bool(true));
            let stamp = time(&input, "header_stamp").filter(|_| stamped);
            let latency = published.zip(stamp).map(|(end, begin)| end - begin);
            self.add(topic, output.clone(), &node, latency);
        }
    }

    fn add(&mut self, input: String, output: String, node: &str, latency_ns: Option<i64>) {
        let key = (input, output);
        if self.links.len() >= MOST_LINKS && !self.links.contains_key(&key) {
            return;
        }
        let link = self.links.entry(key).or_default();
        link.count += 1;
        node.clone_into(&mut link.node);
        if let Some(latency) = latency_ns {
            link.stamped += 1;
            let sample = latency as f64 / 1e6;
            let mean = link.latency_ms.unwrap_or(sample);
            link.latency_ms = Some(mean + (sample - mean) / link.stamped as f64);
        }
    }
}

impl Serialize for Lineage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Edge<'a> {
            from: &'a str,
            to: &'a str,
            node: &'a str,
            count: u64,
            latency_ms: Option<f64>,
        }
        serializer.collect_seq(self.links.iter().map(|((from, to), link)| Edge {
            from,
            to,
            node: &link.node,
            count: link.count,
            latency_ms: link.latency_ms,
        }))
    }
}

fn text(value: &Value, path: &str) -> Option<String> {
    Some(value.get(path)?.as_str()?.to_owned())
}

fn time(value: &Value, path: &str) -> Option<i64> {
    let time = value.get(path)?;
    let seconds = time.get("sec")?.as_i64()?;
    seconds
        .checked_mul(1_000_000_000)?
        .checked_add(time.get("nanosec")?.as_i64()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn links_are_counted_with_their_mean_latency() {
        let mut lineage = Lineage::default();
        for latency in [Some(1_000_000), Some(3_000_000), None] {
            lineage.add("/a".into(), "/b".into(), "/filter", latency);
        }
        let expected =
            json!([{"from": "/a", "to": "/b", "node": "/filter", "count": 3, "latencyMs": 2.0}]);
        assert_eq!(serde_json::to_value(&lineage).unwrap(), expected);
    }

    #[test]
    fn there_is_an_end_to_links() {
        let mut lineage = Lineage::default();
        for number in 0..2_000 {
            lineage.add(format!("/{number}"), "/b".into(), "", None);
        }
        assert_eq!(lineage.links.len(), MOST_LINKS);
    }
}
