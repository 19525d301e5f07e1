use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

/// Publishers, subscribers and services by topic and node name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectionGraph {
    /// Publishers of topics.
    pub published: BTreeMap<String, BTreeSet<String>>,
    /// Subscribers of topics.
    pub subscribed: BTreeMap<String, BTreeSet<String>>,
    /// Providers of services.
    pub services: BTreeMap<String, BTreeSet<String>>,
}

/// The message with the changes from one graph to the next; `None` if there are none.
pub fn graph_update(old: &ConnectionGraph, new: &ConnectionGraph) -> Option<String> {
    if old == new {
        return None;
    }
    let gone = |old: &BTreeMap<String, BTreeSet<String>>,
                new: &BTreeMap<String, BTreeSet<String>>| {
        old.keys()
            .filter(|name| !new.contains_key(*name))
            .cloned()
            .collect::<BTreeSet<_>>()
    };
    let mut topics = gone(&old.published, &new.published);
    topics.extend(gone(&old.subscribed, &new.subscribed));
    topics.retain(|name| !new.published.contains_key(name) && !new.subscribed.contains_key(name));
    Some(
        json!({
            "op": "connectionGraphUpdate",
            "publishedTopics": changed(&old.published, &new.published, "publisherIds"),
            "subscribedTopics": changed(&old.subscribed, &new.subscribed, "subscriberIds"),
            "advertisedServices": changed(&old.services, &new.services, "providerIds"),
            "removedTopics": topics,
            "removedServices": gone(&old.services, &new.services),
        })
        .to_string(),
    )
}

/// Added or changed entries; a topic that lost its last publisher but not its subscribers has an empty list.
fn changed(
    old: &BTreeMap<String, BTreeSet<String>>,
    new: &BTreeMap<String, BTreeSet<String>>,
    ids: &str,
) -> Vec<Value> {
    let entry = |name: &String, members: &BTreeSet<String>| json!({ "name": name, ids: members });
    let none = BTreeSet::new();
    let news = new
        .iter()
        .filter(|(name, members)| old.get(*name) != Some(members))
        .map(|(name, members)| entry(name, members));
    let lost = old
        .keys()
        .filter(|name| !new.contains_key(*name))
        .map(|name| entry(name, &none));
    news.chain(lost).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(published: &[(&str, &str)], subscribed: &[(&str, &str)]) -> ConnectionGraph {
        let mut graph = ConnectionGraph::default();
        for (topic, node) in published {
            let nodes = graph.published.entry((*topic).into()).or_default();
            nodes.insert((*node).into());
        }
        for (topic, node) in subscribed {
            let nodes = graph.subscribed.entry((*topic).into()).or_default();
            nodes.insert((*node).into());
        }
        graph
    }

    #[test]
    fn only_graph_differences_are_sent() {
        let old = graph(&[("/a", "x"), ("/b", "x")], &[]);
        assert_eq!(graph_update(&old, &old), None);
        let new = graph(&[("/a", "x"), ("/a", "y")], &[]);
        let text = graph_update(&old, &new).unwrap();
        let sent: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            sent["publishedTopics"][0],
            json!({"name": "/a", "publisherIds": ["x", "y"]})
        );
        assert_eq!(sent["removedTopics"], json!(["/b"]));
        assert_eq!(sent["removedServices"], json!([]));
    }

    #[test]
    fn a_topic_with_subscribers_stays_without_publishers() {
        let old = graph(&[("/a", "x")], &[("/a", "y")]);
        let new = graph(&[], &[("/a", "y")]);
        let sent: Value = serde_json::from_str(&graph_update(&old, &new).unwrap()).unwrap();
        assert_eq!(sent["removedTopics"], json!([]));
        assert_eq!(
            sent["publishedTopics"][0],
            json!({"name": "/a", "publisherIds": []})
        );
    }
}
