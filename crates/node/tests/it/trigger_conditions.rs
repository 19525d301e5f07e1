//! Conditions of triggers: how they are read, and when they fire.

use proptest::prelude::*;
use timeloom_msg::{Definitions, Schema};
use timeloom_node::trigger::{Firing, Trigger, TriggerDefaults, Triggers};
use timeloom_time::Duration;

const SECOND: i64 = 1_000_000_000;

fn parse(condition: &str) -> Trigger {
    Trigger::parse(&format!("x: {condition}"), &TriggerDefaults::default()).unwrap()
}

fn schema(name: &str) -> Schema {
    Definitions::builtin().schema(name).unwrap()
}

/// Triggers with `/a` and `/b`, of `Float64`.
fn triggers(condition: &str) -> Triggers {
    let mut triggers = Triggers::new(vec![parse(condition)]);
    let float = schema("std_msgs/msg/Float64");
    for (topic, name) in ["/a", "/b"].into_iter().enumerate() {
        let problems = triggers.bind(u32::try_from(topic).unwrap(), name, Some(&float));
        assert_eq!(problems, []);
    }
    triggers
}

fn float(value: f64) -> Vec<u8> {
    [&[0, 1, 0, 0][..], &value.to_le_bytes()].concat()
}

/// The times of the firings, in milliseconds, when `/a` has these values at these milliseconds.
fn fired_at(condition: &str, values: &[(i64, f64)], until: i64) -> Vec<i64> {
    let mut triggers = triggers(condition);
    let mut fired = triggers.advance(0);
    for (millis, value) in values {
        fired.extend(triggers.message(0, millis * 1_000_000, &float(*value)));
    }
    fired.extend(triggers.advance(until * 1_000_000));
    millis(&fired)
}

fn millis(fired: &[Firing]) -> Vec<i64> {
    fired
        .iter()
        .map(|firing| firing.time_ns / 1_000_000)
        .collect()
}

#[test]
fn a_trigger_fires_when_its_condition_becomes_true_and_again_after_it_was_false() {
    let values = [(0, 12.0), (1, 11.0), (2, 11.1), (3, 12.0), (4, 11.4)];
    assert_eq!(fired_at("/a.data < 11.5", &values, 9), [1, 4]);
    assert_eq!(fired_at("not /a.data < 11.5", &values, 9), [0, 3]);
    assert_eq!(fired_at("/a.data == 11", &values, 9), [1]);
    assert_eq!(fired_at("/a.data != 12", &values, 9), [1, 4]);
    assert_eq!(
        fired_at("/a.data < 11.5 and /b.data > 0", &values, 9),
        [0; 0]
    );
    assert_eq!(
        fired_at("/a.data < 11.5 or /b.data > 0", &values, 9),
        [1, 4]
    );
    let nan = [(0, 1.0), (1, f64::NAN), (2, 1.0)];
    assert_eq!(fired_at("/a.data < 5", &nan, 9), [0, 2]);
}

#[test]
fn a_duration_is_over_at_its_exact_time_without_a_message() {
    let low = [(100, 11.0), (1_900, 11.0)];
    assert_eq!(fired_at("/a.data < 11.5 for 2s", &low, 2_099), [0; 0]);
    assert_eq!(fired_at("/a.data < 11.5 for 2s", &low, 60_000), [2_100]);
    let broken = [(100, 11.0), (1_900, 12.0), (2_000, 11.0)];
    assert_eq!(fired_at("/a.data < 11.5 for 2s", &broken, 60_000), [4_000]);
    let both = "(/a.data < 11.5 for 2s) and not silent(/a, 3s)";
    assert_eq!(fired_at(both, &low, 60_000), [2_100]);
}

#[test]
fn silence_is_noticed_without_a_message() {
    let values = [(0, 0.0), (900, 0.0), (2_500, 0.0), (2_600, 0.0)];
    assert_eq!(fired_at("silent(/a, 1s)", &values, 60_000), [1_900, 3_600]);
    assert_eq!(
        fired_at("silent(/b, 1s)", &values, 60_000),
        [0; 0],
        "never heard"
    );
    assert_eq!(fired_at("absent(/b, 1s)", &values, 60_000), [1_000]);
    assert_eq!(fired_at("absent(/a, 1s)", &values, 60_000), [1_900, 3_600]);
    assert_eq!(
        fired_at("deadline_missed(/a, 1s)", &values, 60_000),
        [1_900, 3_600]
    );
    assert_eq!(fired_at("deadline_missed(/a)", &values, 60_000), [0; 0]);
    let mut offered = triggers("deadline_missed(/a)");
    offered.set_deadline("/a", SECOND / 2);
    assert!(offered.message(0, 0, &float(0.0)).is_empty());
    assert_eq!(millis(&offered.advance(SECOND)), [500]);
}

#[test]
fn changes_and_messages_fire_for_their_moment() {
    let values = [(0, 1.0), (1, 1.0), (2, 2.0), (3, 2.0), (4, 1.0)];
    assert_eq!(fired_at("changed(/a.data)", &values, 9), [2, 4]);
    assert_eq!(fired_at("received(/a)", &values, 9), [0, 1, 2, 3, 4]);
    assert_eq!(fired_at("received(/a) and /a.data > 1", &values, 9), [2, 3]);
    let mut changed = triggers("changed(/a.data)");
    changed.message(0, 0, &float(1.0));
    let fired = changed.message(0, 1, &float(2.5));
    assert_eq!(fired[0].reason, "/a.data changed from 1.0 to 2.5");
}

#[test]
fn rates_of_fields_and_of_messages() {
    let values = [(0, 12.0), (1_000, 11.9), (2_000, 11.0), (3_000, 11.0)];
    assert_eq!(fired_at("rate(/a.data) < -0.5", &values, 9_000), [2_000]);
    let steady: Vec<_> = (0..300).map(|number| (number * 10, 0.0)).collect();
    assert_eq!(fired_at("rate(/a) > 90", &steady, 2_900), [1_000]);
    // The last message came at 2990: 50 of 100 are left after half a second.
    let fired = fired_at("rate(/a) < 51", &steady, 60_000);
    assert_eq!(fired, [3_500]);
    assert_eq!(fired_at("rate(/a, 2s) < 51", &steady, 60_000), [4_000]);
}

#[test]
fn losses_fire_when_they_rise() {
    let mut lost = triggers("lost(/a)");
    assert!(lost.losses("/a", 0, 0).is_empty());
    let fired = lost.losses("/a", 3, 1);
    assert_eq!(fired[0].reason, "3 messages of /a lost");
    assert!(lost.losses("/a", 3, 2).is_empty());
    assert!(lost.losses("/a", 1, 3).is_empty(), "two arrived late");
    assert!(lost.losses("/a", 3, 4).is_empty());
    assert_eq!(lost.losses("/a", 4, 5).len(), 1);
    let mut many = triggers("lost() > 10");
    assert_eq!(many.loss_topics(), [""]);
    assert!(many.losses("", 10, 0).is_empty());
    assert_eq!(many.losses("", 11, 1)[0].reason, "lost() is 11");
}

#[test]
fn diagnostics_fire_while_a_component_reports_an_error() {
    let array = schema("diagnostic_msgs/msg/DiagnosticArray");
    let status = schema("diagnostic_msgs/msg/DiagnosticStatus");
    let message = |all: &[(&str, u8)]| {
        let all = all.iter().map(|(name, level)| {
            let mut value = status.default_value().unwrap();
            value.set("level", *level).unwrap();
            let text = |text: &str| timeloom_msg::Value::String(text.into());
            value.set("name", text(name)).unwrap();
            value.set("message", text("too hot")).unwrap();
            value.as_struct().unwrap().clone()
        });
        let mut value = array.default_value().unwrap();
        let all = timeloom_msg::value::Array::Struct(all.collect());
        value
            .set("status", timeloom_msg::Value::Array(all))
            .unwrap();
        array.encode(&value).unwrap()
    };
    let mut triggers = Triggers::new(vec![
        parse("diagnostics(error)"),
        parse("diagnostics(warn, \"cam\")"),
    ]);
    assert_eq!(triggers.bind(7, "/diagnostics", Some(&array)), []);
    let mut at = 0;
    let mut send = |all: &[(&str, u8)]| {
        at += 1;
        triggers.message(7, at, &message(all))
    };
    assert!(send(&[("motor", 0), ("camera", 0)]).is_empty());
    let fired = send(&[("motor", 2)]);
    assert_eq!(fired.len(), 1);
    assert_eq!(fired[0].reason, "diagnostics of motor: error: too hot");
    assert!(
        send(&[("lidar", 0)]).is_empty(),
        "the motor has not recovered"
    );
    assert_eq!(send(&[("camera", 1)]).len(), 1);
    assert!(send(&[("motor", 0)]).is_empty());
    assert_eq!(send(&[("motor", 3)]).len(), 1);
}

#[test]
fn a_service_call_fires_for_its_request_and_not_for_its_response() {
    let event = schema("std_srvs/srv/Trigger_Event");
    let mut triggers = Triggers::new(vec![parse("called(/arm/stop)")]);
    assert!(triggers.wants("/arm/stop/_service_event"));
    let problems = triggers.bind(3, "/arm/stop/_service_event", Some(&event));
    assert_eq!(problems, []);
    let mut fired = Vec::new();
    // Request received, response sent, request received, response sent.
    for (time, kind) in (0..).zip([1_u8, 2, 1, 2]) {
        let mut value = event.default_value().unwrap();
        value.set("info.event_type", kind).unwrap();
        fired.extend(triggers.message(3, time * 1_000_000, &event.encode(&value).unwrap()));
    }
    assert_eq!(millis(&fired), [0, 2]);
    assert_eq!(fired[0].reason, "/arm/stop was called");
}

#[test]
fn fields_are_read_at_any_depth() {
    let joints = schema("sensor_msgs/msg/JointState");
    let mut value = joints.default_value().unwrap();
    let array = timeloom_msg::value::Array::Float64(vec![0.5, 2.5]);
    value.set("position", array).unwrap();
    value.set("header.frame_id", "arm").unwrap();
    let payload = joints.encode(&value).unwrap();
    for (condition, fires) in [
        ("/j.position[1] > 2", true),
        ("/j.position[0] > 2", false),
        ("/j.position[9] > 2", false),
        ("/j.header.frame_id == 'arm'", true),
        ("/j.header.frame_id != \"arm\"", false),
        ("/j.header.stamp.sec == 0", true),
    ] {
        let mut triggers = Triggers::new(vec![parse(condition)]);
        assert_eq!(triggers.bind(0, "/j", Some(&joints)), []);
        let fired = triggers.message(0, 0, &payload);
        assert_eq!(!fired.is_empty(), fires, "{condition}");
        let mut cut = Triggers::new(vec![parse(condition)]);
        cut.bind(0, "/j", Some(&joints));
        assert!(cut.message(0, 0, &payload[..7]).is_empty(), "{condition}");
    }
    let mut wrong = Triggers::new(vec![parse("/j.positon[1] > 2")]);
    let problems = wrong.bind(0, "/j", Some(&joints));
    assert_eq!(
        problems[0].reason,
        "sensor_msgs/msg/JointState has no field `positon` that can be read: did you mean `position`?"
    );
    assert!(wrong.states()[0].broken.is_some());
}

#[test]
fn a_cooldown_suppresses_firings_and_a_restart_forgets_everything() {
    let mut trigger = parse("/a.data > 1");
    trigger.cooldown = Duration::from_secs(10);
    let mut triggers = Triggers::new(vec![trigger]);
    triggers.bind(0, "/a", Some(&schema("std_msgs/msg/Float64")));
    let mut fired = Vec::new();
    for (second, value) in [(0, 2.0), (1, 0.0), (2, 2.0), (11, 0.0), (12, 2.0)] {
        fired.extend(triggers.message(0, second * SECOND, &float(value)));
    }
    assert_eq!(millis(&fired), [0, 12_000]);
    assert_eq!(triggers.states()[0].suppressed, 1);
    triggers.restart(3 * SECOND);
    assert!(!triggers.states()[0].is_true);
    let again = triggers.message(0, 4 * SECOND, &float(2.0));
    assert_eq!(millis(&again), [4_000]);
    assert_eq!(
        triggers.fire("x", 5 * SECOND, "by hand").unwrap().reason,
        "by hand"
    );
    assert_eq!(
        triggers.fire("xx", 0, "").unwrap_err(),
        "no trigger has the name `xx`: did you mean `x`?"
    );
}

/// A text, the place of the error, what is wrong, and what to write instead.
const WRONG: [(&str, usize, &str, &str); 15] = [
    (
        "/a.b < 1",
        1,
        "a trigger has a name",
        "write `name: /a.b < 1`",
    ),
    (
        "1x: /a.b < 1",
        1,
        "`1x` is not a name: use letters, digits and single underscores, with a letter first",
        "for example `low_battery`",
    ),
    (
        "x: /a.b = 1",
        9,
        "unexpected character `=`",
        "equality is `==`",
    ),
    (
        "x: /a.b < 1 && /c.d > 2",
        13,
        "unexpected character `&`",
        "write `and`",
    ),
    (
        "x: /a < 1",
        4,
        "/a names no field",
        "write /a.FIELD, or received(/a)",
    ),
    (
        "x: battery.voltage < 1",
        4,
        "`battery.voltage` is not a topic: topics begin with /",
        "write /battery.voltage",
    ),
    (
        "x: silnt(/a, 1s)",
        4,
        "unknown word `silnt`",
        "did you mean `silent`?",
    ),
    (
        "x: silent(/a, 1)",
        15,
        "a duration has a unit",
        "write 1s or 1ms",
    ),
    (
        "x: silent(/a.b, 1s)",
        11,
        "expected a topic or service, found the field /a.b",
        "write /a",
    ),
    (
        "x: changed(/a.b) for 2s",
        18,
        "`for` needs a condition that lasts, and this one is true for a moment only",
        "compare a field, or leave out `for`",
    ),
    (
        "x: diagnostics(bad)",
        16,
        "`bad` is not a diagnostics level",
        "levels are warn, error and stale",
    ),
    (
        "x: /a.b < 5 parsecs",
        13,
        "`parsecs` is not expected here",
        "",
    ),
    ("x: (/a.b < 5", 13, "expected `)`, found the end", ""),
    ("x: µ", 4, "unexpected character `µ`", ""),
    ("x: /a.b < 'open", 11, "the text has no closing quote", ""),
];

#[test]
fn errors_have_a_position_and_a_suggestion() {
    let defaults = TriggerDefaults::default();
    for (text, place, reason, hint) in WRONG {
        let error = Trigger::parse(text, &defaults).unwrap_err();
        assert_eq!(error.reason, reason, "{text}");
        assert_eq!(error.position + 1, place, "{text}");
        assert_eq!(error.hint.as_deref().unwrap_or_default(), hint, "{text}");
    }
    let deep = format!("x: {}/a.b < 1", "not ".repeat(500));
    let error = Trigger::parse(&deep, &defaults).unwrap_err();
    assert_eq!(error.reason, "nested deeper than 64 levels");
}

#[test]
fn a_file_has_times_for_all_and_for_each() {
    let defaults = TriggerDefaults::default();
    let parse = |text: &str| Trigger::parse_file(text, &defaults);
    let triggers = parse(
        "before: 20s\ntriggers:\n  - {name: a, when: 'silent(/a, 1s)', after: 2min}\n  - {name: b, when: /a.b < 1, before: 0, cooldown: 1s}\n",
    )
    .unwrap();
    let times = |index: usize| {
        let trigger: &Trigger = &triggers[index];
        [trigger.before, trigger.after, trigger.cooldown].map(|time| time.nanos() / SECOND)
    };
    assert_eq!((times(0), times(1)), ([20, 120, 0], [0, 10, 1]));
    for (text, reason) in [
        ("triggers: []", "`triggers:` lists no trigger"),
        (
            "trigers: []",
            "unknown key `trigers`: did you mean `triggers`?",
        ),
        ("triggers: [{name: a}]", "trigger a: `when:` is missing"),
        ("triggers: [{when: x}]", "trigger 1: `name:` is missing"),
        (
            "triggers: [{name: a, when: x, beforre: 1s}]",
            "trigger a: unknown key `beforre`: did you mean `before`?",
        ),
        (
            "triggers: [{name: a, when: /a.b < 1, before: -1s}]",
            "trigger a: before: -1s is negative",
        ),
    ] {
        assert_eq!(parse(text).unwrap_err(), reason, "{text}");
    }
}

/// The pages of the guide show triggers that can be read.
#[test]
fn the_triggers_in_the_guide_are_valid() {
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let defaults = TriggerDefaults::default();
    let mut read = 0;
    for page in ["concepts/triggers.md", "verbs/record.md", "tasks.md"] {
        let page = std::fs::read_to_string(docs.join(page)).unwrap();
        for rest in page.split("--trigger '").skip(1) {
            let (text, _) = rest.split_once('\'').unwrap();
            if text != "NAME: CONDITION" {
                Trigger::parse(text, &defaults).unwrap();
                read += 1;
            }
        }
        for (_, rest) in page
            .match_indices("| `")
            .map(|(at, mark)| page.split_at(at + mark.len()))
        {
            let (cell, _) = rest.split_once(" |").unwrap();
            for text in cell.split("`, `").map(|text| text.trim_end_matches('`')) {
                let is_condition =
                    text.starts_with('/') || text.contains("(/") || text.contains("()");
                if is_condition && page.starts_with("# Triggers") {
                    Trigger::parse(&format!("x: {text}"), &defaults).expect(text);
                    read += 1;
                }
            }
        }
        if let Some((_, rest)) = page.split_once("# triggers.yaml\n") {
            let (yaml, _) = rest.split_once("```").unwrap();
            read += Trigger::parse_file(yaml, &defaults).unwrap().len();
        }
    }
    assert!(read >= 25, "{read}");
}

fn conditions() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        (-1_000_i64..1_000).prop_map(|number| number.to_string()),
        (-1e3..1e3_f64).prop_map(|number| number.to_string()),
        Just("'it\\'s \\\\ \"so\"'".to_owned()),
        Just("true".to_owned()),
    ];
    let test = prop_oneof![
        number.prop_map(|value| format!("/a.data == {value}")),
        (1_u32..5_000).prop_map(|millis| format!("silent(/a, {millis}ms)")),
        (1_u32..5).prop_map(|seconds| format!("/b.data >= 1 for {seconds}s")),
        Just("changed(/a.data)".to_owned()),
        Just("lost() > 3".to_owned()),
        Just("rate(/b, 500ms) < 8".to_owned()),
        Just("diagnostics(stale, \"a \\\\ b\")".to_owned()),
    ];
    test.prop_recursive(4, 16, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|one| format!("not ({one})")),
            (inner.clone(), inner.clone()).prop_map(|(one, two)| format!("({one}) and {two}")),
            (inner.clone(), inner).prop_map(|(one, two)| format!("{one} or ({two})")),
        ]
    })
}

proptest! {
    #[test]
    fn a_condition_reads_as_it_was_written(text in conditions()) {
        let condition = parse(&text).condition;
        let again = parse(&condition.to_string()).condition;
        prop_assert_eq!(condition, again);
    }

    #[test]
    fn no_text_is_a_panic(text in "[ /a-z().<>=&|!'\"0-9,:-]{0,60}") {
        let _read = Trigger::parse(&text, &TriggerDefaults::default());
        let _file = Trigger::parse_file(&text, &TriggerDefaults::default());
    }

    /// Whether time passes in one step or in many, the same triggers fire at the same times.
    #[test]
    fn firings_do_not_depend_on_how_time_is_cut(
        text in conditions(),
        messages in prop::collection::vec((0_u32..2, 0_i64..800, -3.0..3.0_f64), 0..30),
        steps in prop::collection::vec(1_i64..400, 0..30),
    ) {
        let run = |cuts: &[i64]| {
            let mut triggers = triggers(&text);
            let mut fired = triggers.advance(0);
            let mut now = 0;
            let mut cuts = cuts.iter().cycle();
            for (topic, gap, value) in &messages {
                let next = now + gap * 1_000_000;
                while let Some(cut) = cuts.next() && now + cut * 1_000_000 < next {
                    now += cut * 1_000_000;
                    fired.extend(triggers.advance(now));
                }
                now = next;
                fired.extend(triggers.message(*topic, now, &float(*value)));
            }
            fired.extend(triggers.advance(now + 10 * SECOND));
            fired.into_iter().map(|firing| firing.time_ns).collect::<Vec<_>>()
        };
        prop_assert_eq!(run(&[]), run(&steps));
    }
}
