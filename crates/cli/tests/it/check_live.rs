//! `timeloom check --live`: a running robot held against a contract.

use crate::robot::Robot;

#[test]
fn a_violation_is_printed_when_it_happens_and_ctrl_c_ends_with_the_verdict() {
    let robot = Robot::new();
    robot.sandbox.write(
        "contract.yaml",
        "topics: {/voltage: {type: std_msgs/msg/Float64, qos: {reliability: reliable}, values: {data: {min: 12}}}}\n",
    );
    let voltage = r#"{"data":11.5}"#;
    let arguments = [
        "topic",
        "pub",
        "/voltage",
        "std_msgs/msg/Float64",
        voltage,
        "-r",
        "20",
    ];
    let _publisher = robot.start(&arguments);
    let mut check = robot.start(&["check", "--live", "contract.yaml", "--junit", "check.xml"]);
    let wanted = "/voltage data: allowed at least 12, actual 11.5 to 11.5";
    let words = check.words();
    assert!(words.iter().any(|line| line.contains(wanted)));
    check.interrupt();
    let run = check.end();
    assert_eq!(run.code, 1, "{run}");
    assert!(run.stdout.contains("4 checks, 1 violated"), "{run}");
    let junit = std::fs::read_to_string(robot.sandbox.path("check.xml")).unwrap();
    assert!(junit.contains("failures=\"1\""), "{junit}");
}

#[test]
fn a_contract_that_is_kept_ends_with_0_after_its_time() {
    let robot = Robot::new();
    let check = |contract: &str, arguments: &str| {
        robot.sandbox.write("contract.yaml", contract);
        let line = format!("check --live contract.yaml --localhost {arguments}");
        robot.sandbox.run(&line)
    };
    let run = check(
        "topics: {/map: {optional: true}}\n",
        "--for 200ms --verbose",
    );
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stdout.contains("1 check, all kept"), "{run}");
    let run = check("topics: {/map: {}}\n", "--for 200ms --format json");
    assert_eq!(run.code, 1, "{run}");
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["checks"][0]["actual"], "no");
    let run = check("topics: {}\n", "--for 200ms");
    assert_eq!(run.code, 2, "{run}");
    let run = robot.sandbox.run("check my_bag contract.yaml --for 1s");
    assert_eq!(run.code, 2, "{run}");
}
