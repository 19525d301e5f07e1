//! `trace` over bags without tags.

use serde_json::{Value, json};
use timeloom_bag::{
    BagOptions, BagWriter, EndpointRole, GraphEndpoint, Message, MessageDefinition, RobotGraph,
    TopicInfo,
};
use timeloom_msg::{Definitions, QosProfile, Schema};

use crate::live_node::until;
use crate::support::{Run, Sandbox};
use crate::view::Viewer;

const MS: i64 = 1_000_000;
const START: i64 = 1_794_729_600_000 * MS;
const HEADER: &str = "std_msgs/msg/Header";
const NOTE: &str = "autoware_internal_msgs/msg/PublishedTime";

fn info(name: &str, schema: &Schema) -> TopicInfo {
    let mut info = TopicInfo::new(name, schema.name().to_string());
    info.type_description_hash = schema.type_hash().unwrap().to_string();
    info.definition = MessageDefinition {
        encoding: "ros2msg".into(),
        text: schema.ros2msg().unwrap(),
    };
    info
}

fn set_time(value: &mut timeloom_msg::Value, field: &str, nanos: i64) {
    let second = 1_000_000_000;
    let sec = i32::try_from(nanos / second).unwrap();
    let nanosec = u32::try_from(nanos % second).unwrap();
    value
        .set(&format!("{field}.sec"), timeloom_msg::Value::Int32(sec))
        .unwrap();
    value
        .set(
            &format!("{field}.nanosec"),
            timeloom_msg::Value::Uint32(nanosec),
        )
        .unwrap();
}

/// The recorded fields of each message.
#[derive(Clone, Copy, PartialEq)]
enum Recorded {
    Messages,
    PublishTimes,
}

/// Ten cycles: `/raw` at 0, `/filtered` at 5 ms with the same stamp, `/plan` at 30 ms with its own.
fn record(sandbox: &Sandbox, name: &str, recorded: Recorded) {
    let type_name = match recorded {
        Recorded::Messages => HEADER,
        Recorded::PublishTimes => NOTE,
    };
    let schema = Definitions::builtin().schema(type_name).unwrap();
    let mut writer = BagWriter::create(&sandbox.path(name), BagOptions::default()).unwrap();
    let topics = ["/raw", "/filtered", "/plan"].map(|topic| {
        let name = match recorded {
            Recorded::Messages => topic.to_owned(),
            Recorded::PublishTimes => format!("{topic}/debug/published_time"),
        };
        writer.add_topic(&info(&name, &schema)).unwrap()
    });
    for cycle in 0..10 {
        let at = START + cycle * 100 * MS;
        for (topic, published, stamp) in [(0, 0, 0), (1, 5, 0), (2, 30, 29)] {
            let (published, stamp) = (at + published * MS, at + stamp * MS);
            let mut value = schema.default_value().unwrap();
            if recorded == Recorded::Messages {
                set_time(&mut value, "stamp", stamp);
            } else {
                set_time(&mut value, "header.stamp", stamp);
                set_time(&mut value, "published_stamp", published);
            }
            let message = Message {
                topic: topics[topic],
                log_time_ns: published + MS,
                publish_time_ns: if recorded == Recorded::Messages {
                    published
                } else {
                    published + MS
                },
                sequence: 0,
                data: &schema.encode(&value).unwrap(),
            };
            assert!(writer.write(&[message], published + MS).is_ok());
        }
    }
    let (_summary, outcome) = writer.finish().unwrap();
    assert!(outcome.is_ok());
}

fn report(sandbox: &Sandbox, arguments: &str) -> Value {
    let text = sandbox.ok(&format!("trace report {arguments} --format json"));
    serde_json::from_str(&text).unwrap()
}

fn path<'a>(report: &'a Value, topics: &[&str]) -> &'a Value {
    let targets = report["targets"].as_array().unwrap().iter();
    let mut paths = targets.flat_map(|target| target["paths"].as_array().unwrap());
    let found = paths.find(|path| path["topics"] == json!(topics));
    found.unwrap_or_else(|| panic!("no {topics:?} in {report}"))
}

#[test]
fn equal_stamps_link_topics_and_the_report_says_so() {
    let sandbox = Sandbox::new();
    record(&sandbox, "bag", Recorded::Messages);
    let text = sandbox.ok("trace report bag");
    assert!(
        text.contains("there are no tags: links are found by equal stamps"),
        "{text}"
    );
    let report = report(&sandbox, "bag");
    let found = path(&report, &["/raw", "/filtered"]);
    assert_eq!(
        (&found["best"]["count"], &found["best"]["max_ns"]),
        (&json!(10), &json!(5 * MS))
    );
    assert_eq!(report["hops"][0]["known_by"], json!({"stamp_alone": 10}));
    assert_eq!(report["hops"][0]["confidence"], "guess");
    let tags = sandbox.run("trace report bag --links tags");
    assert_eq!(tags.code, 1, "{tags}");
    assert!(tags.stderr.contains("bag has no tags"), "{tags}");
}

const MODEL: &str = "
nodes:
  /filter: {inputs: [/raw], outputs: [/filtered], links: stamp}
  /planner: {inputs: [/filtered], outputs: [/plan], links: latest}
";

#[test]
fn a_declared_model_links_topics_without_common_stamps() {
    let sandbox = Sandbox::new();
    record(&sandbox, "bag", Recorded::Messages);
    sandbox.write("model.yaml", MODEL);
    let report = report(&sandbox, "bag --plan model.yaml --links model");
    let found = path(&report, &["/raw", "/filtered", "/plan"]);
    assert_eq!(
        (&found["best"]["count"], &found["best"]["max_ns"]),
        (&json!(10), &json!(30 * MS))
    );
    assert_eq!(report["hops"][0]["known_by"], json!({"declared": 10}));
    assert_eq!(report["hops"][0]["nodes"], json!(["/planner"]));
    let none = sandbox.run("trace report bag --links model");
    assert_eq!(none.code, 2, "{none}");
    assert!(
        none.stderr
            .contains("hint: give --plan a file with `nodes:`"),
        "{none}"
    );
}

#[test]
fn publish_times_of_autoware_are_enough() {
    let sandbox = Sandbox::new();
    record(&sandbox, "notes", Recorded::PublishTimes);
    let report = report(&sandbox, "notes");
    let found = path(&report, &["/raw", "/filtered"]);
    // The times of the notes, not those of the recorder.
    assert_eq!(
        (&found["best"]["count"], &found["best"]["max_ns"]),
        (&json!(10), &json!(5 * MS))
    );
    sandbox.write("model.yaml", MODEL);
    let report = self::report(&sandbox, "notes --plan model.yaml");
    assert_eq!(
        path(&report, &["/raw", "/filtered", "/plan"])["best"]["max_ns"],
        30 * MS
    );
}

#[test]
fn a_bag_without_any_lineage_says_so() {
    let sandbox = Sandbox::new();
    let text = sandbox.ok("trace report BAGS/mcap_plain");
    assert!(text.contains("there are no tags"), "{text}");
}

/// The planner tags, the filter before it does not.
fn record_partly_tagged(sandbox: &Sandbox, graph: &RobotGraph) {
    use timeloom_trace::{InputInfo, MessageTrackingTag, Moment, OutputInfo, TAG_TYPE};
    let header = Definitions::builtin().schema(HEADER).unwrap();
    let tags = Definitions::builtin().schema(TAG_TYPE).unwrap();
    let mut writer = BagWriter::create(&sandbox.path("bag"), BagOptions::default()).unwrap();
    assert!(writer.update_graph(graph).is_ok());
    let plain = ["/raw", "/filtered"].map(|topic| writer.add_topic(&info(topic, &header)).unwrap());
    let tagged = info("/plan/message_tracking_tag", &tags);
    let tagged = writer.add_topic(&tagged).unwrap();
    for cycle in 0..10 {
        let at = START + cycle * 100 * MS;
        // The filter sets new stamps.
        for (topic, published, stamp) in [(plain[0], at, at), (plain[1], at + 5 * MS, at + 4 * MS)]
        {
            let mut value = header.default_value().unwrap();
            set_time(&mut value, "stamp", stamp);
            let message = Message {
                topic,
                log_time_ns: published,
                publish_time_ns: published,
                sequence: 0,
                data: &header.encode(&value).unwrap(),
            };
            assert!(writer.write(&[message], published).is_ok());
        }
        let time = timeloom_time::Time::from_nanos;
        let tag = MessageTrackingTag {
            header_stamp: time(at + 30 * MS),
            output: OutputInfo {
                topic: "/plan".into(),
                node: "/planner".into(),
                sequence: cycle,
                published: Moment::from_nanos(at + 30 * MS, cycle * 100 * MS + 7_030 * MS),
                stamp: Some(time(at + 29 * MS)),
            },
            inputs: vec![InputInfo {
                topic: "/filtered".into(),
                received: Moment::from_nanos(at + 6 * MS, cycle * 100 * MS + 7_006 * MS),
                stamp: Some(time(at + 4 * MS)),
            }],
        };
        let message = Message {
            topic: tagged,
            log_time_ns: at + 30 * MS,
            publish_time_ns: at + 30 * MS,
            sequence: 0,
            data: &tag.encode(),
        };
        assert!(writer.write(&[message], at + 30 * MS).is_ok());
    }
    let (_summary, outcome) = writer.finish().unwrap();
    assert!(outcome.is_ok());
}

#[test]
fn a_model_links_untagged_topics_beside_tagged_ones() {
    let sandbox = Sandbox::new();
    record_partly_tagged(&sandbox, &RobotGraph::default());
    let alone = report(&sandbox, "bag");
    assert_eq!(
        path(&alone, &["/filtered", "/plan"])["best"]["max_ns"],
        25 * MS
    );
    sandbox.write(
        "model.yaml",
        "nodes: {/filter: {inputs: [/raw], outputs: [/filtered], links: latest}}",
    );
    let both = report(&sandbox, "bag --plan model.yaml");
    let found = path(&both, &["/raw", "/filtered", "/plan"]);
    assert_eq!(
        (&found["best"]["count"], &found["best"]["max_ns"]),
        (&json!(10), &json!(30 * MS))
    );
    let known: Vec<_> = both["hops"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hop| &hop["known_by"])
        .collect();
    assert_eq!(json!(known), json!([{"tag": 10}, {"declared": 10}]));
}

/// The demo's robot without its tags: all of its messages carry the stamp of the scan.
const CHAIN: [(&str, i64); 3] = [("/scan", 0), ("/scan_filtered", 5), ("/odometry", 9)];

fn record_chain(sandbox: &Sandbox, name: &str, graph: Option<&RobotGraph>) {
    let schema = Definitions::builtin().schema(HEADER).unwrap();
    let mut writer = BagWriter::create(&sandbox.path(name), BagOptions::default()).unwrap();
    if let Some(graph) = graph {
        assert!(writer.update_graph(graph).is_ok());
    }
    let topics = CHAIN.map(|(topic, _)| writer.add_topic(&info(topic, &schema)).unwrap());
    for cycle in 0..10 {
        let at = START + cycle * 100 * MS;
        for (topic, (_, after)) in topics.into_iter().zip(CHAIN) {
            let mut value = schema.default_value().unwrap();
            set_time(&mut value, "stamp", at);
            let message = Message {
                topic,
                log_time_ns: at + after * MS,
                publish_time_ns: at + after * MS,
                sequence: 0,
                data: &schema.encode(&value).unwrap(),
            };
            assert!(writer.write(&[message], at).is_ok());
        }
    }
    let (_summary, outcome) = writer.finish().unwrap();
    assert!(outcome.is_ok());
}

fn robot_graph() -> RobotGraph {
    use EndpointRole::{Publisher, Subscription};
    graph(&[
        ("/lidar", Publisher, "/scan"),
        ("/filter", Subscription, "/scan"),
        ("/filter", Publisher, "/scan_filtered"),
        ("/odometry", Subscription, "/scan_filtered"),
        ("/odometry", Publisher, "/odometry"),
        ("/rviz", Subscription, "/scan"),
        ("/odometry", Publisher, "/rosout"),
    ])
}

fn graph(endpoints: &[(&str, EndpointRole, &str)]) -> RobotGraph {
    let endpoints = endpoints.iter().copied().enumerate();
    endpoints
        .map(|(number, (node, role, topic))| GraphEndpoint {
            id: format!("{number:032x}"),
            node: node.into(),
            role,
            topic: topic.into(),
            type_name: HEADER.into(),
            type_hash: String::new(),
            qos: QosProfile::DEFAULT,
            appeared_ns: START,
            vanished_ns: None,
        })
        .collect()
}

fn edges(report: &Value) -> Vec<String> {
    let hops = report["hops"].as_array().unwrap().iter();
    hops.map(|hop| {
        let word = |name: &str| hop[name].as_str().unwrap().to_owned();
        format!("{} → {} {}", word("from"), word("to"), word("confidence"))
    })
    .collect()
}

#[test]
fn the_recorded_graph_names_the_node_of_each_link() {
    let sandbox = Sandbox::new();
    record_chain(&sandbox, "bag", Some(&robot_graph()));
    let with_graph = report(&sandbox, "bag");
    assert_eq!(
        edges(&with_graph),
        [
            "/scan → /scan_filtered likely",
            "/scan_filtered → /odometry likely"
        ]
    );
    let way = path(&with_graph, &["/scan", "/scan_filtered", "/odometry"]);
    assert_eq!(
        (&way["best"]["count"], &way["best"]["max_ns"]),
        (&json!(10), &json!(9 * MS))
    );
    let text = sandbox.ok("trace report bag");
    assert!(
        text.contains("there are no tags: links are found by the recorded graph"),
        "{text}"
    );
    // Of a bag without a graph it is not known what /odometry was made of; the rest is a guess.
    record_chain(&sandbox, "bare", None);
    assert_eq!(
        edges(&report(&sandbox, "bare")),
        ["/scan → /scan_filtered guess"]
    );
    let text = sandbox.ok("trace report bare");
    assert!(
        text.contains("10 messages with several possible input topics or nodes: not linked"),
        "{text}"
    );
    let none = sandbox.run("trace report bare --links graph");
    assert_eq!(none.code, 1, "{none}");
    assert!(none.stderr.contains("bare has no recorded graph"), "{none}");
}

#[test]
fn the_recorded_graph_survives_a_conversion() {
    let sandbox = Sandbox::new();
    record_chain(&sandbox, "bag", Some(&robot_graph()));
    sandbox.ok("convert bag -o lite --storage sqlite3");
    assert_eq!(edges(&report(&sandbox, "lite")).len(), 2);
}

#[test]
fn tags_take_precedence_and_the_report_names_further_links() {
    use EndpointRole::{Publisher, Subscription};
    let sandbox = Sandbox::new();
    let robot = graph(&[
        ("/driver", Publisher, "/raw"),
        ("/filter", Subscription, "/raw"),
        ("/filter", Publisher, "/filtered"),
        ("/planner", Subscription, "/filtered"),
        ("/planner", Publisher, "/plan"),
    ]);
    record_partly_tagged(&sandbox, &robot);
    let by_tags = report(&sandbox, "bag");
    assert_eq!(edges(&by_tags), ["/filtered → /plan certain"]);
    let text = sandbox.ok("trace report bag");
    // /filtered: the driver of /raw has no inputs.
    let note =
        "1 topic without tags not linked; `--links graph` links all topics by the recorded graph";
    assert!(text.contains(note), "{text}");
    let by_graph = report(&sandbox, "bag --links graph");
    assert_eq!(edges(&by_graph), ["/raw → /filtered likely"]);
    assert!(
        !sandbox
            .ok("trace report bag --links graph")
            .contains("not linked")
    );
}

/// The edges of a report: from, to, how they are known, how often.
fn counted_edges(report: &Value) -> Vec<String> {
    let hops = report["hops"].as_array().unwrap().iter();
    let mut edges: Vec<String> = hops
        .flat_map(|hop| {
            let word = |name: &str| hop[name].as_str().unwrap().to_owned();
            let known_by = hop["known_by"].as_object().unwrap().clone();
            known_by.into_iter().map(move |(evidence, count)| {
                let evidence = evidence.replace('_', " ");
                format!("{},{},{evidence},{count}", word("from"), word("to"))
            })
        })
        .collect();
    edges.sort();
    edges
}

#[test]
fn a_query_and_the_page_have_the_edges_of_the_report_without_tags() {
    let sandbox = Sandbox::new();
    record_chain(&sandbox, "bag", Some(&robot_graph()));
    record_chain(&sandbox, "bare", None);
    for bag in ["bag", "bare"] {
        let report = report(&sandbox, bag);
        let sql = "SELECT input_topic, topic, known_by, count(*) FROM lineage \
                   WHERE input_topic IS NOT NULL GROUP BY input_topic, topic, known_by";
        let mut command = sandbox.command("query");
        command.args([sql, bag, "--format", "csv"]);
        let run = Run::new(&command.output().unwrap());
        assert_eq!(run.code, 0, "{run}");
        let mut rows: Vec<&str> = run.stdout.lines().skip(1).collect();
        rows.sort_unstable();
        assert_eq!(rows, counted_edges(&report), "{bag}");
        let viewer = Viewer::start(&mut sandbox.command(&format!("view {bag} -p")));
        let hops = |edges: &Value, key: &str| -> Vec<String> {
            let edges = edges.as_array().map_or(&[][..], Vec::as_slice);
            let name = |edge: &Value| format!("{} {} {}", edge["from"], edge["to"], edge[key]);
            edges.iter().map(name).collect()
        };
        let expected = hops(&report["hops"], "nodes").len();
        until("the links are found", || {
            hops(&viewer.status()["lineage"], "count").len() == expected
        });
        let shown = &viewer.status()["lineage"];
        for (hop, edge) in report["hops"]
            .as_array()
            .unwrap()
            .iter()
            .zip(shown.as_array().unwrap())
        {
            assert_eq!((&hop["from"], &hop["to"]), (&edge["from"], &edge["to"]));
            let median = hop["total"]["p50_ns"].as_f64().unwrap() / 1e6;
            assert_eq!(edge["latencyMs"], json!(median), "{bag}");
        }
    }
}
