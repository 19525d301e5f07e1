//! `timeloom check`: contracts, their violations, and exit codes.

use crate::diff::write_bags;
use crate::support::Sandbox;

#[test]
fn a_bag_keeps_the_contract_that_was_learned_from_it() {
    let sandbox = Sandbox::new();
    for bag in ["mcap_plain", "sqlite3_plain"] {
        let learn = sandbox.run(&format!("check --learn BAGS/{bag} -o {bag}.yaml"));
        assert_eq!(learn.code, 0, "{learn}");
        let run = sandbox.run(&format!("check BAGS/{bag} {bag}.yaml --verbose"));
        assert_eq!(run.code, 0, "{run}");
        assert!(run.stdout.contains("all kept"), "{run}");
    }
    let again = sandbox.run("check --learn BAGS/mcap_plain -o mcap_plain.yaml");
    assert_eq!(again.code, 1, "{again}");
    assert!(
        again.stderr.contains("cannot write mcap_plain.yaml"),
        "{again}"
    );
}

#[test]
fn a_violation_names_its_position() {
    let sandbox = Sandbox::new();
    write_bags(&sandbox);
    sandbox.write(
        "contract.yaml",
        "topics: {/odom: {max_gap: 15ms, values: {point.x: {max: 9.8}}}}\n",
    );
    let run = sandbox.run("check after contract.yaml --junit check.xml");
    assert_eq!(run.code, 1, "{run}");
    assert!(run.stdout.contains("at 0.490 s, message 50"), "{run}");
    assert!(run.stdout.contains("at 0.990 s, message 99"), "{run}");
    assert!(run.stdout.contains("3 checks, 2 violated"), "{run}");
    let junit = std::fs::read_to_string(sandbox.path("check.xml")).unwrap();
    assert!(junit.contains("failures=\"2\""), "{junit}");
    let json = sandbox.run("check after contract.yaml --format json");
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["checks"][1]["first"]["message"], 50);
}

#[test]
fn a_contract_that_is_not_valid_is_a_usage_error() {
    let sandbox = Sandbox::new();
    write_bags(&sandbox);
    for (contract, reason) in [
        ("topics: {/odom: {rates: {min: 1}}}", "rates"),
        ("topics: {}", "lists no topic"),
        (
            "topics: {/odom: {values: {point.q: {min: 0}}}}",
            "/odom: values: point.q",
        ),
    ] {
        sandbox.write("contract.yaml", contract);
        let run = sandbox.run("check before contract.yaml");
        assert_eq!(run.code, 2, "{run}");
        assert!(
            run.stderr.contains("contract.yaml: invalid contract: "),
            "{run}"
        );
        assert!(run.stderr.contains(reason), "{run}");
    }
    assert_eq!(sandbox.run("check before").code, 2);
    assert_eq!(sandbox.run("check before nowhere.yaml").code, 1);
}

#[test]
fn a_damaged_bag_that_keeps_its_contract_exits_with_3() {
    let sandbox = Sandbox::new();
    sandbox.unchecked();
    let cut = sandbox.copy("mcap_plain", "cut").join("mcap_plain_0.mcap");
    let file = std::fs::File::options().write(true).open(cut).unwrap();
    file.set_len(200_000).unwrap();
    let learn = sandbox.run("check --learn cut -o contract.yaml");
    assert_eq!(learn.code, 3, "{learn}");
    assert_eq!(sandbox.run("check cut contract.yaml").code, 3);
}
