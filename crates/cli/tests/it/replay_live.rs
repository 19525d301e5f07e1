//! `timeloom replay-test` on a node of ours and on one in Python: verdicts, reasons of failures, and no process left.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use timeloom_bag::{BagOptions, BagWriter, Message, TopicInfo};

use crate::docs::{matches, steps};
use crate::record_robot::{LOOPBACK, Recording, peer_script, python, until};
use crate::support::{Run, Sandbox, stored};

/// The example of a node to test.
#[path = "../../../../examples/examples/replay_node.rs"]
mod replay_node;

const START: i64 = 1_700_000_000_000_000_000;
const STEP: i64 = 20_000_000;
const COUNT: i64 = 60;

/// The process of the other tests: this binary, started again.
#[test]
fn the_example_node_runs_where_a_test_starts_it() {
    if std::env::var_os("RUN_THE_NODE").is_some() {
        replay_node::main().unwrap();
    }
}

/// A `geometry_msgs/msg/PointStamped` with an empty frame.
fn point(number: i64, x: f64) -> Vec<u8> {
    let stamp = START + number * STEP;
    let mut data = vec![0, 1, 0, 0];
    data.extend(i32::try_from(stamp / 1_000_000_000).unwrap().to_le_bytes());
    data.extend(u32::try_from(stamp % 1_000_000_000).unwrap().to_le_bytes());
    data.extend([1, 0, 0, 0, 0, 0, 0, 0]);
    for value in [x, 0.0, 0.0] {
        data.extend(value.to_le_bytes());
    }
    data
}

fn write_bag(path: &Path, topic: &str, factor: f64) {
    let mut writer = BagWriter::create(path, BagOptions::default()).unwrap();
    let topic = TopicInfo::new(topic, "geometry_msgs/msg/PointStamped");
    let topic = writer.add_topic(&topic).unwrap();
    for number in 0..COUNT {
        // A message is recorded a little after its stamp.
        let time_ns = START + number * STEP + 1_000_000;
        let message = Message {
            topic,
            log_time_ns: time_ns,
            publish_time_ns: time_ns,
            sequence: 0,
            data: &point(number, number as f64 * factor),
        };
        assert!(writer.write(&[message], time_ns).is_ok());
    }
    assert!(writer.finish().unwrap().1.is_ok());
}

struct Bench {
    sandbox: Sandbox,
}

impl Bench {
    /// A bag of points, and the answers of a node that doubles them.
    fn new() -> Self {
        let mut sandbox = Sandbox::new();
        sandbox.set("CYCLONEDDS_URI", LOOPBACK);
        write_bag(&sandbox.path("points"), "/in", 1.0);
        write_bag(&sandbox.path("expected"), "/out", 2.0);
        Self { sandbox }
    }

    /// A plan for a command; `more` is added to it.
    fn plan(&self, name: &str, command: &[&str], more: &str) {
        let words: Vec<String> = command.iter().map(|word| format!("{word:?}")).collect();
        let plan = format!(
            "bag: points\ncommand: [{}]\noutputs: [/out]\nexpected: expected\n\
             compare: {{allow: [qos]}}\ntimeouts: {{start: 50s, idle: 30s}}\n{more}",
            words.join(", ")
        );
        self.sandbox.write(name, plan);
    }

    /// A plan for the example node.
    fn plan_of_example(&self, name: &str, more: &str) {
        let program = std::env::current_exe().unwrap();
        let test = "replay_live::the_example_node_runs_where_a_test_starts_it";
        let command = [program.to_str().unwrap(), test, "--exact", "--nocapture"];
        let more = format!("environment: {{RUN_THE_NODE: '1', FACTOR: '2'}}\n{more}");
        self.plan(name, &command, &more);
    }

    /// A plan for the node in Python.
    fn plan_of_python(&self, behaviour: &[&str], more: &str) -> Option<()> {
        let script = peer_script("replay_node.py");
        let python = python()?;
        let mut command = vec![python.to_str().unwrap(), script.to_str().unwrap()];
        command.extend(behaviour);
        self.plan("plan.yaml", &command, more);
        Some(())
    }

    fn test(&self, arguments: &str) -> Run {
        self.sandbox.run(&format!("replay-test {arguments}"))
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.sandbox.path(name)).unwrap()
    }
}

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run}"))
}

/// The verdicts of a report, without what may differ between two runs.
fn verdicts(report: &Value) -> Value {
    let runs = report["runs"].as_array().unwrap().iter();
    let of = |run: &Value| serde_json::json!([run["name"], run["passed"], run["verdicts"]]);
    runs.map(of).collect()
}

#[test]
fn a_node_passes_twice_and_in_parallel() {
    let bench = Bench::new();
    bench.plan_of_example("plan.yaml", "jobs: 2\nruns: [{name: node, repeat: 2}]\n");
    let run = bench.test("plan.yaml -o first --junit replay.xml --html replay.html --format json");
    assert_eq!(run.code, 0, "{run}");
    let report = json(&run);
    assert_eq!(report["runs"][1]["name"], "node-2");
    for domains in [1, 2] {
        let started = format!("node-{domains}: started in ROS domain");
        assert!(run.stderr.contains(&started), "{run}");
    }
    assert!(bench.read("replay.xml").contains("failures=\"0\""));
    assert!(bench.read("replay.html").contains("passed"));
    let output = stored(&bench.sandbox.path("first/node-1/output"));
    assert_eq!(output.len(), usize::try_from(COUNT).unwrap());
    assert_eq!(output[3].data, point(3, 6.0));
    // Log times are those of the player.
    assert!((START..START + 60 * 1_000_000_000).contains(&output[3].log_time_ns));
    let again = bench.test("plan.yaml -o second --format json");
    assert_eq!(again.code, 0, "{again}");
    assert_eq!(verdicts(&json(&again)), verdicts(&report));
    let taken = bench.test("plan.yaml -o second");
    assert_eq!(taken.code, 2, "{taken}");
}

#[test]
fn another_value_fails_and_an_update_accepts_it() {
    let bench = Bench::new();
    bench.plan_of_example(
        "plan.yaml",
        "runs: [{name: wrong, environment: {FACTOR: '2.5'}}]\n",
    );
    let run = bench.test("plan.yaml -o wrong --junit replay.xml --html replay.html");
    assert_eq!(run.code, 1, "{run}");
    assert!(
        run.stdout.contains("FAIL  wrong  60 messages played"),
        "{run}"
    );
    assert!(run.stdout.contains("59 of 60 pairs differ"), "{run}");
    assert!(run.stdout.contains("point.x: 2 | 2.5"), "{run}");
    assert!(run.stdout.contains("1 run, 1 failed"), "{run}");
    let junit = bench.read("replay.xml");
    assert!(junit.contains("failures=\"1\""), "{junit}");
    assert!(bench.read("replay.html").contains("point.x: 2 | 2.5"));
    assert!(bench.read("wrong/wrong/diff.html").contains("different"));
    let update = bench.test("plan.yaml -o update --update");
    assert_eq!(update.code, 0, "{update}");
    assert!(update.stdout.contains("updated expected"), "{update}");
    let expected = stored(&bench.sandbox.path("expected"));
    assert_eq!(expected[2].data, point(2, 5.0));
}

#[test]
fn budgets_are_checked_from_inputs_to_outputs() {
    let bench = Bench::new();
    bench.sandbox.write(
        "budget.yaml",
        "paths:\n  - {name: answer, from: /in, to: /out, latency: {max: 100s}, count: 60}\n",
    );
    bench.plan_of_example("plan.yaml", "budgets: budget.yaml\n");
    let run = bench.test("plan.yaml -o out --verbose");
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stdout.contains("ok      answer  latency max"), "{run}");
    assert!(run.stdout.contains("ok      answer  flows"), "{run}");
}

#[test]
fn the_page_about_replay_tests_is_true() {
    let bench = Bench::new();
    bench.plan_of_example(
        "plan.yaml",
        "runs: [{name: double}, {name: triple, environment: {FACTOR: '3'}}]\n",
    );
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/verbs/replay_test.md");
    let steps = steps(&fs::read_to_string(page).unwrap());
    assert_eq!(steps.len(), 1);
    let run = bench.sandbox.run(&steps[0].arguments);
    let real = run.stdout.clone() + &run.stderr;
    let lines: Vec<&str> = real.lines().collect();
    assert!(matches(&steps[0].output, &lines), "{run}");
}

#[test]
fn a_node_in_python_passes_with_a_contract_and_a_tolerance() {
    let bench = Bench::new();
    bench.sandbox.write(
        "contract.yaml",
        "topics: {/out: {rate: {min: 25, max: 100}, count: {min: 60, max: 60}, stamps: {monotonic: true}}}\n",
    );
    let more = "contract: contract.yaml\nrate: 2\n";
    let Some(()) = bench.plan_of_python(&[], more) else {
        return;
    };
    let run = bench.test("plan.yaml -o out --verbose");
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stdout.contains("ok      /out  rate"), "{run}");
    assert!(
        run.stdout
            .contains("note: the process does not follow /clock"),
        "{run}"
    );
}

#[test]
fn a_node_that_dies_is_a_failure_with_its_last_words() {
    let bench = Bench::new();
    let Some(()) = bench.plan_of_python(&["dies", "20"], "") else {
        return;
    };
    let run = bench.test("plan.yaml -o out --junit replay.xml");
    assert_eq!(run.code, 1, "{run}");
    assert!(
        run.stdout
            .contains("the process ended with exit code 7 at 0."),
        "{run}"
    );
    assert!(run.stdout.contains("| a wheel came off"), "{run}");
    assert!(bench.read("replay.xml").contains("a wheel came off"));
}

#[test]
fn a_node_that_hangs_is_a_failure_and_is_ended() {
    let bench = Bench::new();
    let more = "runs: [{name: hung, timeouts: {start: 50s, idle: 2s, stop: 1s}}]\n";
    let Some(()) = bench.plan_of_python(&["hangs", "20"], more) else {
        return;
    };
    let run = bench.test("plan.yaml -o out");
    assert_eq!(run.code, 1, "{run}");
    assert!(run.stdout.contains("time stands at 0."), "{run}");
    assert!(run.stdout.contains("no message came on /out"), "{run}");
    assert!(
        run.stdout
            .contains("note: the process did not end at SIGINT"),
        "{run}"
    );
    assert!(is_gone(&bench.read("out/hung/stdout.log")));
}

/// Whether the process whose number is in the first line has ended.
fn is_gone(log: &str) -> bool {
    let pid = log.lines().next().unwrap();
    !PathBuf::from(format!("/proc/{pid}")).exists()
}

#[test]
fn a_node_that_publishes_too_few_messages_fails() {
    let bench = Bench::new();
    let more = "lockstep: {window: 10s}\n\
        runs: [{name: few, timeouts: {start: 50s, finish: 1s}}]\n";
    let Some(()) = bench.plan_of_python(&["slacks", "50"], more) else {
        return;
    };
    let run = bench.test("plan.yaml -o out");
    assert_eq!(run.code, 1, "{run}");
    assert!(
        run.stdout.contains("10 only in left, 0 only in right"),
        "{run}"
    );
}

#[test]
fn a_process_that_never_subscribes_fails_with_the_topic() {
    let bench = Bench::new();
    let more = "runs: [{name: idle, timeouts: {start: 3s, stop: 1s}}]\n";
    bench.plan("plan.yaml", &["sleep", "3600"], more);
    let run = bench.test("plan.yaml -o out");
    assert_eq!(run.code, 1, "{run}");
    assert!(
        run.stdout
            .contains("the process does not subscribe to /in after 3s"),
        "{run}"
    );
    let more = "wait_for_publishers: true\n";
    bench.plan("plan.yaml", &["/nonexistent/program"], more);
    let run = bench.test("plan.yaml -o nothing");
    assert_eq!(run.code, 1, "{run}");
    assert!(
        run.stdout.contains("cannot start /nonexistent/program"),
        "{run}"
    );
}

#[test]
fn ctrl_c_ends_the_process_under_test() {
    let bench = Bench::new();
    let Some(()) = bench.plan_of_python(&["hangs", "20"], "") else {
        return;
    };
    let test = Recording::start(&mut bench.sandbox.command("replay-test plan.yaml -o out"));
    let log = bench.sandbox.path("out/run1/stdout.log");
    let hangs = || fs::read_to_string(&log).is_ok_and(|text| text.contains("hanging"));
    until(hangs);
    let run = test.interrupt();
    assert_eq!(run.code, 1, "{run}");
    assert!(run.stdout.contains("interrupted"), "{run}");
    assert!(is_gone(&fs::read_to_string(&log).unwrap()));
}
