//! The fuzz target on stable Rust: command lines and parameter files, changed at random from a fixed seed.

#[path = "../../../../fuzz/src/params.rs"]
#[expect(unreachable_pub, reason = "the fuzz crate exports it")]
mod params;

#[path = "../../../../fuzz/src/trigger.rs"]
#[expect(unreachable_pub, reason = "the fuzz crate exports it")]
mod trigger;

use timeloom_testkit::mutation::fuzz;

#[test]
fn fuzz_triggers() {
    let inputs = [
        "low: /battery.voltage < 11.5 for 2s and not (silent(/scan, 100ms) or lost(/scan) > 3)",
        "x: changed(/a.power_supply_status) or rate(/a.voltage) > -1.5 or rate(/a, 5s) <= 0x10",
        "d: diagnostics(error, \"it's\") or called(/srv) or received(/a) or deadline_missed(/b, 1min)",
        "before: 20s\ntriggers:\n  - name: a\n    when: absent(/a, 1s)\n    cooldown: 5s\n",
    ];
    let inputs: Vec<Vec<u8>> = inputs.iter().map(|text| text.as_bytes().to_vec()).collect();
    let words = [
        "(",
        ")",
        " for ",
        " and ",
        "not ",
        "/a.cell_voltage[0]",
        "1e9",
        "'",
        "<=",
    ];
    fuzz("trigger", trigger::fuzz_trigger, &inputs, 300, &words);
}

#[test]
fn fuzz_parameters() {
    let inputs = [
        "-r __node:=rec -p use_sim_time:=true\n/**:\n  ros__parameters: {a: 1, b: [1.5, 2], c: 'x', d: [yes, off]}\nrobot:\n  recorder:\n    ros__parameters:\n      group: {x: 0x10, y: .inf, z: [a, b]}\n",
        "-r /a:=/b -r recorder:__ns:=/x -p other:a.b:=[1,2] -e /enclave\n/*/rec*:\n  ros__parameters: {star: 3}\n",
        "--log-level debug -p a:='[1, 2.5]' __ns:=/deep/er\n/**/recorder:\n  ros__parameters:\n    - 1\n",
    ];
    let inputs: Vec<Vec<u8>> = inputs.iter().map(|text| text.as_bytes().to_vec()).collect();
    let words = [
        "/**",
        "/*",
        ":=",
        "ros__parameters:",
        "{",
        "}",
        "[",
        "\n  ",
        "&a ",
        "*a",
    ];
    fuzz("params", params::fuzz_params, &inputs, 300, &words);
}
