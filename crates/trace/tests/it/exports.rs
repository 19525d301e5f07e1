//! Lineage in the formats of other tools, checked against their specifications.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;
use timeloom_trace::{
    Engine, EngineOptions, MessageTrace, MessageTrackingTag, Sink as _, TagView, dot, html, mermaid,
};

use crate::world::{World, tag};

/// `/a` and `/b` make `/c` by a node that handles two at once, `/c` makes `/d`; one input never arrived.
fn tags() -> Vec<MessageTrackingTag> {
    let mut tags = Vec::new();
    for cycle in 1..=20 {
        let at = cycle * 10;
        tags.push(tag("/a", at, at, &[]));
        tags.push(tag("/b", at, at + 1, &[]));
        let used = [("/a", at, at + 2), ("/b", at, at + 3), ("/gone", 1, at + 1)];
        // Longer than a cycle: the next one begins before this one is done.
        tags.push(tag("/c", at, at + 18, &used));
        tags.push(tag("/d", at, at + 25, &[("/c", at, at + 20)]));
    }
    // Without a stamp, by a node without a name.
    let mut bare = tag("/e", 0, 300, &[("/d", 200, 290)]);
    bare.output.stamp = None;
    bare.output.node.clear();
    tags.push(bare);
    let mut last = tag("/f", 7, 320, &[("/e", 0, 310)]);
    last.inputs[0].stamp = None;
    tags.push(last);
    tags
}

fn trace(tags: &[MessageTrackingTag]) -> MessageTrace {
    let mut trace = MessageTrace::default();
    for tag in tags {
        let payload = tag.encode();
        let now = tag.output.published.ros.nanos();
        trace.engine().tag(&TagView::parse(&payload).unwrap(), now);
        trace.taken();
    }
    trace
}

fn number(value: &Value, key: &str) -> f64 {
    value[key]
        .as_f64()
        .unwrap_or_else(|| panic!("no {key} in {value}"))
}

#[test]
fn slices_of_a_chrome_trace_never_overlap_on_a_track() {
    let json: Value = serde_json::from_str(&trace(&tags()).chrome()).unwrap();
    assert!(json["otherData"]["start_ns"].is_string());
    let events = json["traceEvents"].as_array().unwrap();
    let mut tracks: BTreeMap<u64, Vec<(f64, f64)>> = BTreeMap::new();
    let mut names = HashMap::new();
    for event in events {
        assert!(event["pid"].is_u64(), "{event}");
        match event["ph"].as_str().unwrap() {
            "X" => {
                let (start, width) = (number(event, "ts"), number(event, "dur"));
                assert!(start >= 0.0 && width >= 1.0, "{event}");
                let track = event["tid"].as_u64().unwrap();
                tracks
                    .entry(track)
                    .or_default()
                    .push((start, start + width));
            }
            "M" if event["name"] == "thread_name" => {
                let name = event["args"]["name"].as_str().unwrap().to_owned();
                names.insert(event["tid"].as_u64().unwrap(), name);
            }
            "M" | "s" | "f" => {}
            other => panic!("{other}"),
        }
    }
    assert_eq!(tracks.values().map(Vec::len).sum::<usize>(), 82);
    for (track, slices) in &mut tracks {
        slices.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(names.contains_key(track));
        assert!(
            slices.is_sorted_by(|a, b| a.1 <= b.0),
            "{track}: {slices:?}"
        );
    }
    let names: HashSet<_> = names.into_values().collect();
    assert!(
        names.contains("/node_of/c") && names.contains("/node_of/c (2)"),
        "{names:?}"
    );
    assert!(
        names.contains("/e"),
        "a node without a name has its topic's"
    );
}

#[test]
fn arrows_of_a_chrome_trace_have_two_ends_within_slices() {
    let json: Value = serde_json::from_str(&trace(&tags()).chrome()).unwrap();
    let events = json["traceEvents"].as_array().unwrap();
    let of = |kind: &'static str| events.iter().filter(move |event| event["ph"] == kind);
    let within = |arrow: &Value| {
        of("X").any(|slice| {
            let (start, width) = (number(slice, "ts"), number(slice, "dur"));
            slice["tid"] == arrow["tid"] && (start..=start + width).contains(&number(arrow, "ts"))
        })
    };
    let starts: HashMap<u64, &Value> = of("s")
        .map(|arrow| (arrow["id"].as_u64().unwrap(), arrow))
        .collect();
    // Two inputs of /c, one of each /d, one of /e and of /f; an input that never arrived has no arrow.
    assert_eq!(
        (starts.len(), of("s").count(), of("f").count()),
        (62, 62, 62)
    );
    for end in of("f") {
        let start = starts[&end["id"].as_u64().unwrap()];
        assert_eq!((&start["name"], &start["cat"]), (&end["name"], &end["cat"]));
        assert!(number(start, "ts") <= number(end, "ts"), "{start} {end}");
        assert!(within(start) && within(end), "{start} {end}");
        assert_eq!(
            (end["bp"].as_str(), end["args"]["known_by"].is_string()),
            (Some("e"), true)
        );
    }
}

#[test]
fn each_hop_of_the_report_has_an_arrow() {
    let mut tags = tags();
    // A repeated tag, and a stamp that two messages share.
    tags.push(tags[2].clone());
    tags.push(tag("/c", 100, 330, &[]));
    tags.push(tag("/d", 300, 350, &[("/c", 100, 340)]));
    let mut world = World::new(EngineOptions::default());
    for tag in &tags {
        let now = tag.output.published.ros.nanos();
        let payload = tag.encode();
        world.engine.tag(&TagView::parse(&payload).unwrap(), now);
    }
    let hops = world.engine.report().hops;
    let tagged = hops.iter().filter(|hop| hop.from != "/gone");
    let counted: u64 = tagged.map(|hop| hop.total.count).sum();
    let json: Value = serde_json::from_str(&trace(&tags).chrome()).unwrap();
    let events = json["traceEvents"].as_array().unwrap().iter();
    let arrows = events.filter(|event| event["ph"] == "s").count();
    assert_eq!((counted, arrows), (63, 63));
}

fn hex(value: &Value, digits: usize) -> String {
    let text = value.as_str().unwrap().to_owned();
    assert!(
        text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "{text}"
    );
    assert!(
        text.bytes().any(|byte| byte != b'0'),
        "all zero is not allowed"
    );
    text
}

#[test]
fn spans_of_otlp_are_complete_and_linked() {
    let mut twice = tags();
    // The same tag twice, as in a merged bag, is one span.
    twice.push(twice[0].clone());
    let json: Value = serde_json::from_str(&trace(&twice).otlp()).unwrap();
    let mut spans = BTreeMap::new();
    for resource in json["resourceSpans"].as_array().unwrap() {
        let service = &resource["resource"]["attributes"][0];
        assert_eq!(service["key"], "service.name");
        for span in resource["scopeSpans"][0]["spans"].as_array().unwrap() {
            let id = hex(&span["spanId"], 16);
            assert!(spans.insert(id, span).is_none(), "{span}");
        }
    }
    assert_eq!(spans.len(), 82);
    let (mut children, mut links) = (0, 0);
    for span in spans.values() {
        let trace = hex(&span["traceId"], 32);
        assert_eq!(span["kind"], 4, "a producer");
        let nanos = |key: &str| span[key].as_str().unwrap().parse::<u64>().unwrap();
        assert!(nanos("startTimeUnixNano") <= nanos("endTimeUnixNano"));
        if let Some(parent) = span["parentSpanId"].as_str() {
            assert_eq!(spans[parent]["traceId"], trace, "{span}");
            children += 1;
        }
        for link in span["links"].as_array().unwrap() {
            let other = spans[&hex(&link["spanId"], 16)];
            assert_eq!(link["traceId"], other["traceId"]);
            links += 1;
        }
    }
    // Each /c has one parent and one link, each /d, /e and /f a parent.
    assert_eq!((children, links), (42, 20));
    let chain = |topic: &str| {
        let name = format!("{topic} publish");
        let last = spans.values().rfind_by(&name);
        last["traceId"].clone()
    };
    assert_eq!(chain("/f"), chain("/e"));
}

/// The span of a name with the latest end.
trait Last<'a> {
    fn rfind_by(self, name: &str) -> &'a Value;
}

impl<'a, 'b: 'a, I: Iterator<Item = &'a &'b Value>> Last<'b> for I {
    fn rfind_by(self, name: &str) -> &'b Value {
        let named = self.filter(|span| span["name"] == name);
        named
            .max_by_key(|span| span["endTimeUnixNano"].as_str())
            .unwrap()
    }
}

/// Names that ROS forbids, but that a tag may contain.
fn wild() -> timeloom_trace::Report {
    let mut world = World::new(EngineOptions::default());
    world.tag("/a\"b\\", 1, 1, &[]);
    world.tag("</script><b>&#;\n`", 1, 5, &[("/a\"b\\", 1, 2)]);
    world.engine.report()
}

#[test]
fn mermaid_and_dot_survive_any_name() {
    let report = wild();
    let text = mermaid(&report);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert_eq!(lines[0], "graph LR");
    assert_eq!(lines[1], "  t0[\"/a#34;b#92;\"]");
    assert_eq!(
        lines[2],
        "  t1[\"#60;/script#62;#60;b#62;#38;#35;#59; #96;\"]"
    );
    assert!(
        lines[3].starts_with("  t0 -- \"") && lines[3].ends_with(" 4.00 ms\" --> t1"),
        "{text}"
    );
    let text = dot(&report);
    assert!(
        text.contains("  \"/a\\\"b\\\\\" -> \"</script><b>&#; `\" [label="),
        "{text}"
    );
    assert!(text.starts_with("digraph lineage {\n") && text.ends_with("}\n"));
}

#[test]
fn a_page_is_self_contained_and_no_name_ends_its_script() {
    let page = html(&wild(), "</script>");
    assert_eq!(page.matches("</script>").count(), 1);
    for outside in ["http://", "https://", "src=", "@import", "url("] {
        let found = page.replace("url(#", "");
        assert!(!found.contains(outside), "{outside}");
    }
    let data = page.split("const data = ").nth(1).unwrap();
    let data: Value = serde_json::Deserializer::from_str(data)
        .into_iter()
        .next()
        .unwrap()
        .unwrap();
    assert_eq!(data["title"], "</script>");
    assert_eq!(data["report"]["tags"], 2);
}

#[test]
fn an_export_without_messages_is_valid() {
    let json: Value = serde_json::from_str(&MessageTrace::default().chrome()).unwrap();
    assert_eq!(json["traceEvents"].as_array().unwrap().len(), 1);
    let json: Value = serde_json::from_str(&MessageTrace::default().otlp()).unwrap();
    assert_eq!(json["resourceSpans"].as_array().unwrap().len(), 0);
    let report = Engine::new(EngineOptions::default()).report();
    assert_eq!(mermaid(&report), "graph LR\n");
    assert!(html(&report, "x").contains("no links"));
}
