//! A domain of its own, with verbs, participants and Python peers in it.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use timeloom_dds::{DdsParticipant, DiscoveryRange, Options};
pub(crate) use timeloom_testkit::new_domain;
use timeloom_time::{Clock, Duration, Steady};

use crate::support::{Run, Sandbox};

pub(crate) const STRING: &str = "std_msgs/msg/String";

/// Cyclone DDS on the loopback interface and nowhere else.
pub(crate) const LOOPBACK: &str = "<CycloneDDS><Domain Id=\"any\"><General><Interfaces>\
    <NetworkInterface address=\"127.0.0.1\" multicast=\"false\"/></Interfaces>\
    <AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto</ParticipantIndex>\
    <MaxAutoParticipantIndex>64</MaxAutoParticipantIndex><Peers><Peer Address=\"127.0.0.1\"/></Peers>\
    </Discovery></Domain></CycloneDDS>";

/// A domain of its own, and the processes in it.
pub(crate) struct Robot {
    pub(crate) sandbox: Sandbox,
    pub(crate) domain: u32,
}

/// A verb that goes on until the test is over.
pub(crate) struct Running(Child);

impl Robot {
    pub(crate) fn new() -> Self {
        let domain = new_domain();
        let mut sandbox = Sandbox::new();
        sandbox.set("ROS_DOMAIN_ID", &domain.to_string());
        Self { sandbox, domain }
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.sandbox.command("");
        command.args(arguments).arg("--localhost");
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        Run::new(&self.command(arguments).output().unwrap())
    }

    pub(crate) fn start(&self, arguments: &[&str]) -> Running {
        let mut command = self.command(arguments);
        Running(
            command
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap(),
        )
    }

    /// A publisher that goes on and on.
    pub(crate) fn publisher(&self, topic: &str, more: &[&str]) -> Running {
        let mut arguments = vec![
            "topic",
            "pub",
            topic,
            STRING,
            r#"{"data":"hi"}"#,
            "-r",
            "50",
        ];
        arguments.extend(more);
        self.start(&arguments)
    }

    /// Runs the verb again and again until what it prints is as it should be: discovery takes its time.
    pub(crate) fn until(&self, arguments: &[&str], condition: impl Fn(&Run) -> bool) -> Run {
        let clock = Clock::<Steady>::new();
        let end = clock.now().saturating_add(Duration::from_secs(150));
        loop {
            let run = self.run(arguments);
            if condition(&run) {
                return run;
            }
            assert!(clock.now() < end, "{arguments:?} stays at\n{run}");
        }
    }
}

impl Running {
    /// Waits for its end.
    pub(crate) fn end(mut self) -> Run {
        let mut output = std::process::Output {
            status: std::process::ExitStatus::default(),
            stdout: Vec::new(),
            stderr: Vec::new(),
        };
        // `None` if its lines are read elsewhere.
        if let Some(mut stdout) = self.0.stdout.take() {
            stdout.read_to_end(&mut output.stdout).unwrap();
        }
        if let Some(mut stderr) = self.0.stderr.take() {
            stderr.read_to_end(&mut output.stderr).unwrap();
        }
        output.status = self.0.wait().unwrap();
        Run::new(&output)
    }

    /// The lines of stdout as they come, from now on.
    pub(crate) fn lines(&mut self) -> Receiver<String> {
        lines_of(self.0.stdout.take().unwrap())
    }

    /// The lines of stderr as they come, from now on.
    pub(crate) fn words(&mut self) -> Receiver<String> {
        lines_of(self.0.stderr.take().unwrap())
    }

    pub(crate) fn interrupt(&self) {
        self.signal("INT");
    }

    pub(crate) fn signal(&self, name: &str) {
        let (flag, pid) = (format!("-{name}"), self.0.id().to_string());
        assert!(
            Command::new("kill")
                .args([flag, pid])
                .status()
                .unwrap()
                .success()
        );
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A process that has already ended is not an error.
        let _killed = self.0.kill();
        let _ended = self.0.wait();
    }
}

fn lines_of(output: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        let mut all = BufReader::new(output).lines().map_while(Result::ok);
        all.try_for_each(|line| sender.send(line).ok())
    });
    lines
}

/// A participant of the test itself.
pub(crate) fn participant(domain: u32) -> DdsParticipant {
    let options = Options {
        domain,
        range: DiscoveryRange::SystemDefault,
        configuration: LOOPBACK.into(),
        ..Options::default()
    };
    DdsParticipant::new(&options).unwrap()
}
