//! The live verbs over Zenoh, between processes of ours on 127.0.0.1.

use std::net::TcpStream;
use std::process::{Child, Stdio};

use timeloom_time::{Clock, Duration, Steady};

use crate::record_robot::until;
use crate::support::{Run, Sandbox};
use crate::zenoh_robot::{free_endpoint, look_at};

/// Processes that look for their router at a port of their own.
struct Robot {
    sandbox: Sandbox,
    endpoint: String,
}

/// Ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // A process that has already ended is not an error.
        let _killed = self.0.kill();
        let _ended = self.0.wait();
    }
}

impl Robot {
    fn new() -> Self {
        let endpoint = free_endpoint();
        let mut sandbox = Sandbox::new();
        look_at(&mut sandbox, &endpoint);
        Self { sandbox, endpoint }
    }

    fn publisher(&self, topic: &str) -> Running {
        let mut command = self.sandbox.command("");
        let message = r#"{"data":"hi"}"#;
        command.args([
            "topic",
            "pub",
            topic,
            "std_msgs/msg/String",
            message,
            "-r",
            "50",
        ]);
        Running(command.stdout(Stdio::null()).spawn().unwrap())
    }

    /// Runs the verb again and again until what it prints is as it should be: discovery takes its time.
    fn until(&self, arguments: &str, condition: impl Fn(&Run) -> bool) -> Run {
        let clock = Clock::<Steady>::new();
        let end = clock.now().saturating_add(Duration::from_secs(60));
        loop {
            let run = self.sandbox.run(arguments);
            if condition(&run) {
                return run;
            }
            assert!(clock.now() < end, "{arguments} stays at\n{run}");
        }
    }
}

#[test]
fn live_verbs_speak_zenoh() {
    let robot = Robot::new();
    let _publisher = robot.publisher("/chatter");
    robot.until("topic list -t", |run| {
        run.stdout == "/chatter [std_msgs/msg/String]\n"
    });
    let info = robot.until("topic info /chatter -v", |run| {
        run.stdout.contains("Publisher count: 1")
    });
    for line in [
        "\nNode name: _timeloom_",
        "\nTopic type hash: RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18\n",
        "\n  Reliability: RELIABLE\n",
    ] {
        assert!(info.stdout.contains(line), "{line}\n{info}");
    }
    let echo = robot.until("topic echo /chatter --once", |run| run.code == 0);
    assert!(echo.stdout.contains("hi"), "{echo}");
    let nodes = robot.until("node list -a", |run| !run.stdout.is_empty());
    assert!(nodes.stdout.starts_with("/_timeloom_"), "{nodes}");
}

#[test]
fn live_doctor_names_its_router() {
    let robot = Robot::new();
    let alone = robot.sandbox.run("doctor net");
    let own = format!(
        "Domain: 7 (Zenoh 1.10.2, domain 7, router of our own at {}",
        robot.endpoint
    );
    assert!(alone.stdout.contains(&own), "{alone}");
    // Elsewhere, so that it does not wait for the router of before to come back.
    let robot = Robot::new();
    let _publisher = robot.publisher("/chatter");
    let address = robot.endpoint.strip_prefix("tcp/").unwrap();
    until(|| TcpStream::connect(address).is_ok());
    let found = robot.until("doctor net", |run| {
        run.stdout.contains("router found, 1 peer,")
    });
    assert_eq!(found.code, 0, "{found}");
    assert!(
        found
            .stdout
            .contains("ZENOH_CONFIG_OVERRIDE connect/endpoints=[\"tcp/127"),
        "{found}"
    );
    for words in ["UDP", "multicast", "CYCLONEDDS_URI", "rmem_max"] {
        let after = found.stdout.split("Domain:").nth(1).unwrap();
        assert!(!after.contains(words), "{words}\n{found}");
    }
}

#[test]
fn live_variables_of_dds_are_noted_with_zenoh() {
    let mut robot = Robot::new();
    robot.sandbox.set("ROS_STATIC_PEERS", "robot");
    robot
        .sandbox
        .set("CYCLONEDDS_URI", "file:///etc/cyclone.xml");
    let list = robot.sandbox.run("topic list");
    assert_eq!(list.code, 0, "{list}");
    for variable in [
        "ROS_STATIC_PEERS=robot",
        "CYCLONEDDS_URI=file:///etc/cyclone.xml",
    ] {
        let note = format!("note: {variable} is set and not honoured");
        assert!(list.stderr.contains(&note), "{list}");
    }
}

#[test]
fn live_a_wrong_override_is_reported() {
    let mut robot = Robot::new();
    robot.sandbox.set("ZENOH_CONFIG_OVERRIDE", "mode=\"boss\"");
    let list = robot.sandbox.run("topic list");
    assert_eq!(list.code, 1, "{list}");
    assert!(
        list.stderr
            .contains("set mode=\"boss\" (ZENOH_CONFIG_OVERRIDE)"),
        "{list}"
    );
}
