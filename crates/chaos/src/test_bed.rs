use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::Failure;
use crate::options::Options;
use crate::process::{BOUND, Process, run, until};
use crate::script::{self, Script};

/// Two hosts with a link between them: network namespaces, two TAP interfaces, and `link.py` between these.
pub(crate) struct TestBed {
    pub(crate) options: Options,
    number: u64,
    link: Script,
    /// Reads sealed messages with other libraries.
    pub(crate) oracle: Script,
    root: PathBuf,
}

/// One of the two hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Host {
    /// The host of the robot.
    Robot,
    /// The host of the recorder.
    Desk,
}

impl Host {
    fn letter(self) -> char {
        match self {
            Self::Robot => 'a',
            Self::Desk => 'b',
        }
    }

    fn address(self) -> &'static str {
        match self {
            Self::Robot => "10.9.0.1",
            Self::Desk => "10.9.0.2",
        }
    }
}

impl TestBed {
    /// Creates the hosts of one worker, in the namespaces of the campaign.
    pub(crate) fn new(options: &Options, number: u64, root: &Path) -> Result<Self, Failure> {
        let names = [Host::Robot, Host::Desk].map(|host| format!("chaos{}{number}", host.letter()));
        let seed = options.seed.wrapping_add(number) >> 1;
        let link = Script::start(
            Command::new(&options.python)
                .arg(script::path("link.py"))
                .arg(seed.to_string())
                .args(&names),
        )?;
        for (host, name) in [Host::Robot, Host::Desk].iter().zip(&names) {
            let lines = [
                format!("netns add {name}"),
                format!("link set {name} netns {name}"),
                format!("-n {name} addr add {}/24 dev {name}", host.address()),
                format!("-n {name} link set lo up"),
                format!("-n {name} link set {name} up"),
            ];
            for line in lines {
                ip(&line)?;
            }
        }
        let oracle = Script::start(Command::new(&options.python).arg(script::path("oracle.py")))?;
        Ok(Self {
            options: options.clone(),
            number,
            link,
            oracle,
            root: root.to_owned(),
        })
    }

    /// A new directory for the next case.
    pub(crate) fn directory(&self, name: &str) -> Result<PathBuf, Failure> {
        let directory = self.root.join(name);
        std::fs::create_dir_all(directory.join("ledger"))?;
        Ok(directory)
    }

    /// Sets the properties of the link; `json!({})` is a good link.
    pub(crate) fn wire(&mut self, how: &Value) -> Result<Value, Failure> {
        self.link.ask(how)
    }

    /// Sets the interface of a host up or down.
    pub(crate) fn plug(&self, host: Host, how: &str) -> Result<(), Failure> {
        let name = self.name(host);
        ip(&format!("-n {name} link set {name} {how}"))
    }

    fn name(&self, host: Host) -> String {
        format!("chaos{}{}", host.letter(), self.number)
    }

    /// Starts a program on a host.
    pub(crate) fn command(&self, host: Host, program: &Path) -> Command {
        let mut command = Command::new("nsenter");
        command
            .arg(format!("--net=/run/netns/{}", self.name(host)))
            .arg(program)
            .env("CYCLONEDDS_URI", cyclone(host))
            .env("ROS_DOMAIN_ID", "0")
            .env_remove("RMW_IMPLEMENTATION");
        command
    }

    /// Starts `timeloom` on a host, with arguments separated by spaces, in a directory.
    pub(crate) fn timeloom(&self, host: Host, directory: &Path, arguments: &str) -> Command {
        let mut command = self.command(host, &self.options.timeloom);
        command
            .args(arguments.split_whitespace())
            .current_dir(directory);
        command
    }

    /// Starts a recorder on the desk and waits until it records.
    pub(crate) fn record(&self, directory: &Path, arguments: &str) -> Result<Process, Failure> {
        let mut recorder = self.start_recorder(directory, arguments)?;
        recorder.begins()?;
        Ok(recorder)
    }

    /// Starts a recorder on the desk without waiting.
    pub(crate) fn start_recorder(
        &self,
        directory: &Path,
        arguments: &str,
    ) -> Result<Process, Failure> {
        let arguments = format!("record --disable-keyboard-controls --format json {arguments}");
        let mut command = self.timeloom(Host::Desk, directory, &arguments);
        Process::start(&mut command, directory, "record")
    }

    /// Starts a publisher on a host.
    pub(crate) fn peer(&self, host: Host, directory: &Path) -> Result<Script, Failure> {
        let mut command = self.command(host, &self.options.python);
        command
            .arg(script::path("peer.py"))
            .arg("0")
            .arg(directory.join("ledger"))
            // It prints a warning for each packet that a cut link refuses.
            .stderr(File::create(directory.join("peer.err"))?);
        Script::start(&mut command)
    }

    /// Freezes the file system of a disk for so many tenths of a second.
    pub(crate) fn freeze(&self, disk: &Path, tenths: u64) -> Result<(), Failure> {
        let thawed = disk.with_extension("thawed");
        let freezer = self.root.with_file_name("freezer");
        let line = format!(
            "{} {}.{} {}\n",
            disk.display(),
            tenths / 10,
            tenths % 10,
            thawed.display()
        );
        let mut freezer = File::options().append(true).open(freezer)?;
        freezer.write_all(line.as_bytes())?;
        if until(BOUND, || Ok(thawed.exists()))? {
            Ok(())
        } else {
            Err("the disk was not thawed".into())
        }
    }

    /// Restores a good link and sets the interfaces up.
    pub(crate) fn heal(&mut self) -> Result<(), Failure> {
        self.wire(&json!({}))?;
        self.plug(Host::Robot, "up")
    }
}

fn ip(line: &str) -> Result<(), Failure> {
    let status = Command::new("ip").args(line.split(' ')).status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("ip {line}: {status}").into())
    }
}

/// Runs a program of the machine and requires success.
pub(crate) fn shell(line: &str, directory: &Path) -> Result<(), Failure> {
    let mut command = Command::new("sh");
    let ended = run(command.args(["-c", line]), directory, "shell")?;
    match ended.code {
        Some(0) => Ok(()),
        _ => Err(format!("{line}: {}", ended.stderr).into()),
    }
}

/// Cyclone DDS without multicast, with a short lease and short rediscovery times: with its defaults, rediscovery takes
/// half a minute.
fn cyclone(host: Host) -> String {
    format!(
        "<CycloneDDS><Domain Id=\"any\"><General><Interfaces>\
         <NetworkInterface address=\"{}\" multicast=\"false\"/></Interfaces>\
         <AllowMulticast>false</AllowMulticast></General>\
         <Discovery><ParticipantIndex>auto</ParticipantIndex>\
         <MaxAutoParticipantIndex>30</MaxAutoParticipantIndex><LeaseDuration>2s</LeaseDuration>\
         <SPDPInterval>1s</SPDPInterval>\
         <Peers><Peer Address=\"{}\"/><Peer Address=\"{}\"/></Peers></Discovery>\
         </Domain></CycloneDDS>",
        host.address(),
        Host::Robot.address(),
        Host::Desk.address(),
    )
}
