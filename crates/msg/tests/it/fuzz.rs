//! The fuzz targets on stable Rust: real inputs, changed at random from a fixed seed.

#[path = "../../../../fuzz/src/cdr.rs"]
#[expect(unreachable_pub, reason = "the fuzz crate exports it")]
mod cdr;
#[path = "../../../../fuzz/src/idl.rs"]
#[expect(unreachable_pub, reason = "the fuzz crate exports it")]
mod idl;
#[path = "../../../../fuzz/src/msg.rs"]
#[expect(unreachable_pub, reason = "the fuzz crate exports it")]
mod msg;
#[path = "../../../../fuzz/src/qos.rs"]
#[expect(unreachable_pub, reason = "the fuzz crate exports it")]
mod qos;

use std::collections::BTreeMap;

use timeloom_testkit::mutation::fuzz;

use crate::bags;

/// Number of mutations of each input.
const ROUNDS: u32 = 80;

#[test]
fn fuzz_payloads() {
    let mut inputs = Vec::new();
    for message in bags::messages("jazzy_zstd_fast") {
        let Some(choice) = cdr::TYPES
            .iter()
            .position(|name| *name == message.schema.name)
        else {
            continue;
        };
        let mut input = vec![u8::try_from(choice).unwrap()];
        input.extend(message.payload);
        inputs.push((message.topic, input));
    }
    // Two of each topic are enough.
    let mut count: BTreeMap<String, u32> = BTreeMap::new();
    inputs.retain(|(topic, _)| {
        let seen = count.entry(topic.clone()).or_default();
        *seen += 1;
        *seen <= 2
    });
    let mut inputs: Vec<Vec<u8>> = inputs.into_iter().map(|(_, input)| input).collect();
    for (choice, name) in cdr::TYPES.iter().enumerate() {
        let schema = timeloom_msg::Definitions::builtin().schema(name).unwrap();
        for first in [0, 1, 6, 7] {
            let mut input = vec![u8::try_from(choice).unwrap()];
            input.extend(schema.encode(&schema.default_value().unwrap()).unwrap());
            input[2] = first;
            inputs.push(input);
        }
    }
    fuzz("cdr", cdr::fuzz_cdr, &inputs, ROUNDS, &[]);
}

#[test]
fn fuzz_definitions() {
    let words = [
        "int32",
        "string<=",
        "[<=3]",
        "[2]",
        "[]",
        "T t\n",
        "=",
        "\"",
        "'",
        "#",
        "---\n",
        "====\nMSG: p/",
        "wstring w\n",
        "p/T",
        "\n",
        "uint8 x\n",
        "float64 d 1.5\n",
        "stamp",
        "header",
        "builtin_interfaces/Time stamp\n",
        "\u{0}",
        "-",
        "true",
    ];
    let mut texts = std::collections::BTreeSet::new();
    for bag in bags::BAGS {
        texts.extend(
            bags::messages(bag)
                .iter()
                .map(|message| bags::schema_text(message).to_owned()),
        );
    }
    let mut inputs: Vec<Vec<u8>> = texts.into_iter().map(String::into_bytes).collect();
    inputs.push(
        b"A a\nA[3] b\n====\nMSG: p/A\nuint8 x\nB[] b\n====\nMSG: p/B\nstring<=4 s\nint8 C=-1\n"
            .to_vec(),
    );
    inputs.push(b"int8 order\n---\nint8[] s\n---\nT t\n".to_vec());
    fuzz("msg", msg::fuzz_msg, &inputs, ROUNDS, &words);
}

#[test]
fn fuzz_idl() {
    let words = [
        "module",
        "struct",
        "sequence<",
        ">",
        "{",
        "}",
        ";",
        "::",
        "@default (value=",
        ")",
        "typedef",
        "const",
        "long long",
        "unsigned",
        "\"",
        "/*",
        "*/",
        "//",
        "#",
        "[3]",
        "string<",
        "wstring",
        "T",
        "p",
        "msg",
        "\n",
    ];
    let inputs = [
        "module p { module msg { typedef double d__9[9]; module T_Constants { const uint8 A = 1; const string S = \"a\" \"b\"; }; struct T { @default (value=1.5) double x; d__9 c; sequence<uint8, 3> s; sequence<O> o; string<5> n; boolean b; }; struct O { wstring w; octet r; char c; long long l; }; }; };",
        "module p { module srv { struct T_Request { long a; }; struct T_Response { unsigned long long b; }; }; };",
        "================================================================================\nIDL: p/msg/T\nmodule p { module msg { struct T { p::msg::U u; }; }; };\n====\nIDL: p/msg/U\nmodule p { module msg { struct U { uint8 structure_needs_at_least_one_member; }; }; };",
    ];
    let inputs: Vec<Vec<u8>> = inputs.iter().map(|text| text.as_bytes().to_vec()).collect();
    fuzz("idl", idl::fuzz_idl, &inputs, 8 * ROUNDS, &words);
    timeloom_msg::Schema::parse_ros2idl("p/msg/T", str::from_utf8(&inputs[0]).unwrap()).unwrap();
    timeloom_msg::Schema::parse_ros2idl("p/msg/T", str::from_utf8(&inputs[2]).unwrap()).unwrap();
}

#[test]
fn fuzz_qos() {
    let inputs = [
        "- history: 1\n  depth: 10\n  reliability: 1\n  durability: 2\n  deadline: {sec: 9223372036, nsec: 854775807}\n  lifespan: {sec: 1, nsec: 0}\n  liveliness: 1\n  liveliness_lease_duration: {sec: 0, nsec: 5}\n  avoid_ros_namespace_conventions: false\n",
        "- {history: keep_all, depth: 0, reliability: best_effort, durability: volatile, liveliness: manual_by_topic}\n",
        "/chatter:\n  history: keep_last\n  depth: 3\n  reliability: reliable\n  deadline: {sec: 1, nsec: 2}\n/tf: {history: keep_all}\n",
    ];
    let inputs: Vec<Vec<u8>> = inputs.iter().map(|text| text.as_bytes().to_vec()).collect();
    let words = [
        "-1",
        "18446744073709551615",
        "[",
        "{",
        "&a ",
        "*a",
        "!!int ",
        "\n",
        "best_available",
    ];
    fuzz("qos", qos::fuzz_qos, &inputs, 8 * ROUNDS, &words);
}
