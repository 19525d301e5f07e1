//! `timeloom replay-test`: plans that are not valid are refused before anything is started.

use crate::diff::write_bags;
use crate::support::Sandbox;

const PLAN: &str = "bag: before\ncommand: [echo]\noutputs: [/out]\nexpected: after\n";

#[test]
fn a_plan_that_is_not_valid_is_a_usage_error_with_its_line() {
    let sandbox = Sandbox::new();
    write_bags(&sandbox);
    let refused = |plan: &str, parts: &[&str]| {
        sandbox.write("plan.yaml", plan);
        let run = sandbox.run("replay-test plan.yaml -o out");
        assert_eq!(run.code, 2, "{plan}\n{run}");
        for part in parts {
            assert!(run.stderr.contains(part), "{part}: {run}");
        }
        assert!(!sandbox.path("out").exists());
    };
    refused(
        &format!("{PLAN}tolerances: []\n"),
        &["plan.yaml: ", "unknown field `tolerances`", "line 5"],
    );
    refused(
        &format!("{PLAN}timeouts: {{finnish: 5s}}\n"),
        &["finnish", "line 5", "hint: did you mean finish?"],
    );
    refused(
        &PLAN.replace("after", "nowhere"),
        &[
            "there is no expected bag nowhere",
            "hint: write it from a run with --update",
        ],
    );
    refused(
        &format!("{PLAN}inputs: {{topics: [/odomm]}}\n"),
        &["the bag has no topic /odomm", "hint: did you mean /odom?"],
    );
    sandbox.write("contract.yaml", "topics: {}\n");
    refused(
        &format!("{PLAN}contract: contract.yaml\n"),
        &["contract.yaml: invalid contract: `topics:` lists no topic"],
    );
    sandbox.write("plan.yaml", PLAN);
    let run = sandbox.run("replay-test plan.yaml --run other");
    assert_eq!(run.code, 2, "{run}");
    assert!(run.stderr.contains("hint: its runs are run1"), "{run}");
    assert_eq!(sandbox.run("replay-test nowhere.yaml").code, 1);
}
