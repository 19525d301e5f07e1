//! The fuzz targets on stable Rust: real tags, changed at random from a fixed seed.

#[path = "../../../../fuzz/src/tag.rs"]
#[expect(unreachable_pub, reason = "the fuzz crate exports it")]
mod fuzz_tag;
#[path = "../../../../fuzz/src/plan.rs"]
#[expect(unreachable_pub, reason = "the fuzz crate exports it")]
mod plan;

use timeloom_testkit::mutation::fuzz;

use crate::world::tag;

#[test]
fn fuzz_tags() {
    let one = tag("/c", 3, 30, &[("/a", 1, 10), ("/b", 2, 20)]).encode();
    let mut many = Vec::new();
    for cycle in 1..=8 {
        let tags = [
            tag("/a", cycle, cycle * 10, &[]),
            tag("/b", cycle, cycle * 10, &[("/c", cycle - 1, 1)]),
            tag(
                "/c",
                cycle,
                cycle * 10 + 5,
                &[("/a", cycle, 2), ("/b", cycle, 2)],
            ),
        ];
        for tag in tags {
            let payload = tag.encode();
            many.push(u8::try_from(payload.len()).unwrap());
            many.extend(payload);
        }
    }
    let plan = b"paths: [{from: /a, to: /c, latency: {p99: 5ms}}]\nhosts: {car: {nodes: [/n], offset: 1ms}}";
    fuzz(
        "tag",
        fuzz_tag::fuzz_tag,
        &[one, many, plan.to_vec()],
        300,
        &[],
    );
}

#[test]
fn fuzz_plans() {
    let inputs = [
        "paths:\n- {name: brake, from: /a, to: /c, latency: {p99: 5ms, max: 0.1s}, age: {mean: 1us}, deadline: 50ms, misses: 1, lost: 2, count: 9}\n",
        "hosts: {car: {nodes: [/n], offset: 1ms}}\nnodes: {/n: {inputs: [/a], outputs: [/b]}}\ntargets: [/c]\nsources: [/a]\n",
        "1.5ms",
        "90s",
    ];
    let inputs: Vec<Vec<u8>> = inputs.iter().map(|text| text.as_bytes().to_vec()).collect();
    let words = [
        "from: /a",
        "p50",
        "deadline: ",
        "1e308s",
        "[",
        "{",
        "&a ",
        "*a",
        "\n",
    ];
    fuzz("plan", plan::fuzz_plan, &inputs, 300, &words);
}
