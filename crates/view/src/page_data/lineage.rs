use serde::{Serialize, Serializer};
use timeloom_time::Time;
use timeloom_trace::{Arrival, Content, Engine, EngineOptions, Feed, HopReport, Summary};

/// Messages in memory: the page shows hops, which need only the latest.
const REMEMBERED: usize = 50_000;

/// The lineage graph by tags, with the analysis of `timeloom trace`.
pub(super) struct Lineage {
    feed: Feed,
    engine: Engine,
}

impl Default for Lineage {
    fn default() -> Self {
        Self {
            feed: Feed::default(),
            engine: Engine::new(EngineOptions {
                messages: REMEMBERED,
                paths: 16,
                ..EngineOptions::default()
            }),
        }
    }
}

impl Lineage {
    /// Adds the payload of a `MessageTrackingTag`; false when it is malformed.
    pub(super) fn take(&mut self, time_ns: i64, payload: &[u8]) -> bool {
        let broken = self.feed.counts().broken;
        let arrival = Arrival {
            topic: "",
            payload,
            sent: Time::from_nanos(time_ns),
            now: time_ns,
        };
        self.feed.take(&Content::Tags, &arrival, &mut self.engine);
        self.feed.counts().broken == broken
    }

    /// The links found so far.
    pub(super) fn hops(&self) -> Hops {
        Hops(self.engine.hops())
    }
}

/// The links for the page. Times are medians, as in `timeloom trace report`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Hops(pub(super) Vec<HopReport>);

impl Serialize for Hops {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Edge<'a> {
            from: &'a str,
            to: &'a str,
            node: String,
            count: u64,
            /// From publication to publication.
            latency_ms: Option<f64>,
            transport_ms: Option<f64>,
            node_ms: Option<f64>,
        }
        serializer.collect_seq(self.0.iter().map(|hop| Edge {
            from: &hop.from,
            to: &hop.to,
            node: hop.nodes.join(", "),
            count: hop.known_by.values().sum(),
            latency_ms: median_ms(&hop.total),
            transport_ms: median_ms(&hop.transport),
            node_ms: median_ms(&hop.node),
        }))
    }
}

fn median_ms(summary: &Summary) -> Option<f64> {
    (summary.count > 0).then(|| summary.p50_ns as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use timeloom_trace::{InputInfo, MessageTrackingTag, Moment, OutputInfo};

    fn tag(topic: &str, published_ms: i64, input: Option<(&str, i64)>) -> Vec<u8> {
        let at = |ms: i64| Moment::from_nanos(ms * 1_000_000, ms * 1_000_000);
        // The stamp is that of the measurement, long before publication.
        let stamp = Some(Time::from_nanos(1));
        let input = input.map(|(topic, received_ms)| InputInfo {
            topic: topic.to_owned(),
            received: at(received_ms),
            stamp,
        });
        let tag = MessageTrackingTag {
            header_stamp: Time::ZERO,
            output: OutputInfo {
                topic: topic.to_owned(),
                node: format!("{topic}_node"),
                sequence: 0,
                published: at(published_ms),
                stamp,
            },
            inputs: input.into_iter().collect(),
        };
        tag.encode()
    }

    #[test]
    fn hop_latency_equals_the_analysis() {
        let mut lineage = Lineage::default();
        assert!(lineage.take(0, &tag("/a", 100, None)));
        assert!(lineage.take(0, &tag("/b", 120, Some(("/a", 105)))));
        assert!(!lineage.take(0, b"x"));
        let expected = json!([{
            "from": "/a", "to": "/b", "node": "/b_node", "count": 1,
            "latencyMs": 20.0, "transportMs": 5.0, "nodeMs": 15.0,
        }]);
        assert_eq!(serde_json::to_value(lineage.hops()).unwrap(), expected);
    }
}
