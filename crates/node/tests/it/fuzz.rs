//! The fuzz target on stable Rust: command lines and parameter files, changed at random from a fixed seed.

#[path = "../../../../fuzz/src/params.rs"]
#[expect(unreachable_pub, reason = "the fuzz crate exports it")]
mod params;

use timeloom_testkit::mutation::fuzz;

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
