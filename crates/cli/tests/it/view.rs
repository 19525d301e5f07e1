//! `timeloom view` with bags: what clients get, the page in Chromium, and what is refused.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use timeloom_testkit::chromium;

use crate::foreign::python;
use crate::support::{Run, Sandbox, bags};

/// A viewer that runs until the test is over.
pub(crate) struct Viewer {
    process: Child,
    pub(crate) url: String,
}

impl Viewer {
    /// Starts the command; it says on stdout where it is.
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut process = command
            .args(["--port", "0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        output.read_line(&mut url).unwrap();
        let url = url.trim().to_owned();
        assert!(url.starts_with("http://127.0.0.1:"), "{url:?}");
        Self { process, url }
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> &str {
        self.url.strip_prefix("http://").unwrap()
    }

    /// `/status.json`.
    pub(crate) fn status(&self) -> serde_json::Value {
        let answer = get(self.address(), "/status.json", "localhost");
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        serde_json::from_str(body).unwrap()
    }

    /// Ends it as Ctrl-C does.
    pub(crate) fn interrupt(mut self) -> Run {
        let id = self.process.id().to_string();
        let sent = Command::new("kill").args(["-INT", &id]).status().unwrap();
        assert!(sent.success());
        let mut output = std::process::Output {
            status: self.process.wait().unwrap(),
            stdout: Vec::new(),
            stderr: Vec::new(),
        };
        let mut errors = self.process.stderr.take().unwrap();
        errors.read_to_end(&mut output.stderr).unwrap();
        Run::new(&output)
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        // A process that has already ended is not an error.
        let _killed = self.process.kill();
        let _ended = self.process.wait();
    }
}

fn get(address: &str, path: &str, host: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Runs a script of `tests/peers`; what it printed.
pub(crate) fn peer(python: &Path, script: &str, arguments: &[&str]) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/peers")
        .join(script);
    let run = Run::new(
        &Command::new(python)
            .arg(script)
            .args(arguments)
            .output()
            .unwrap(),
    );
    assert_eq!(run.code, 0, "{run}");
    run.stdout
}

#[test]
fn a_foreign_client_gets_every_byte_of_the_bag() {
    let Some(python) = python() else { return };
    let bag = bags().join("mcap_plain").join("mcap_plain_0.mcap");
    for name in [
        "foxglove.sdk.v1",
        "foxglove.websocket.v1",
        "foxglove.sdk.v1.1",
    ] {
        let sandbox = Sandbox::new();
        let viewer = Viewer::start(&mut sandbox.command("view BAGS/mcap_plain -p"));
        let said = peer(
            &python,
            "view_bag.py",
            &[&viewer.url, bag.to_str().unwrap(), name],
        );
        assert_eq!(said, "474 messages of 15 topics are those of the bag\n");
        let status = viewer.status();
        assert_eq!(status["state"], "ended");
        assert_eq!(status["server"]["dropped"], 0);
        let run = viewer.interrupt();
        assert_eq!(run.code, 0, "{run}");
        assert!(
            run.stderr.ends_with("played 474 messages of 15 topics\n"),
            "{run}"
        );
    }
}

#[test]
fn the_page_shows_and_steers_a_real_bag_in_chromium() {
    let (Some(python), Some(chromium)) = (python(), chromium()) else {
        return;
    };
    let sandbox = Sandbox::new();
    sandbox.copy("mcap_split_dur", "my_bag");
    let viewer = Viewer::start(&mut sandbox.command("view my_bag -p --loop"));
    // The screenshots are kept for inspection.
    let pictures = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .unwrap()
        .join("view");
    std::fs::create_dir_all(&pictures).unwrap();
    let arguments = [
        chromium.to_str().unwrap(),
        &viewer.url,
        pictures.to_str().unwrap(),
    ];
    let said = peer(&python, "view_page.py", &arguments);
    assert_eq!(said.lines().last(), Some("all is well"), "{said}");
    assert!(std::fs::metadata(pictures.join("bag.png")).unwrap().len() > 10_000);
}

#[test]
fn a_bag_is_played_to_its_end_without_anybody() {
    let sandbox = Sandbox::new();
    let run = sandbox.run("view BAGS/mcap_plain --port 0 -r 100 --topics /imu/data --exit-at-end");
    assert_eq!(run.code, 0, "{run}");
    assert!(run.stdout.starts_with("http://127.0.0.1:"), "{run}");
    assert!(
        run.stderr
            .contains("in Foxglove, Lichtblick and PlotJuggler\nplayed "),
        "{run}"
    );
    assert!(run.stderr.ends_with(" messages of 1 topic\n"), "{run}");
}

#[test]
fn a_damaged_bag_is_shown_up_to_the_damage() {
    let sandbox = Sandbox::new();
    let file = sandbox.copy("mcap_plain", "cut").join("mcap_plain_0.mcap");
    let options = std::fs::File::options().write(true).open(file).unwrap();
    options.set_len(200_000).unwrap();
    let run = sandbox.run("view cut --port 0 -r 100 --exit-at-end");
    assert_eq!(run.code, 3, "{run}");
    assert!(run.stderr.contains("timeloom recover cut"), "{run}");
}

#[test]
fn only_this_machine_is_served_and_the_limits_are_those_of_the_flags() {
    let sandbox = Sandbox::new();
    let viewer = Viewer::start(
        &mut sandbox
            .command("view BAGS/mcap_plain -p --max-clients 1 --allow-origin http://my.example"),
    );
    let address = viewer.address();
    assert!(get(address, "/", "127.0.0.1").starts_with("HTTP/1.1 200 OK"));
    assert!(get(address, "/", "evil.example").starts_with("HTTP/1.1 403"));
    assert!(get(address, "/", "my.example").starts_with("HTTP/1.1 200 OK"));
    let join = |origin: &str| {
        let mut stream = TcpStream::connect(address).unwrap();
        write!(
            stream,
            "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nOrigin: {origin}\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
             Sec-WebSocket-Protocol: foxglove.sdk.v1\r\n\r\n"
        )
        .unwrap();
        let mut line = String::new();
        let mut reader = BufReader::new(stream);
        reader.read_line(&mut line).unwrap();
        (line, reader)
    };
    assert!(join("https://evil.example").0.starts_with("HTTP/1.1 403"));
    let (first, _stays) = join("http://my.example");
    assert!(first.starts_with("HTTP/1.1 101"), "{first}");
    crate::live_node::until("the client is counted", || {
        viewer.status()["server"]["clients"] == 1
    });
    assert!(join("http://localhost").0.starts_with("HTTP/1.1 503"));
    // Another address of the same machine is not listened to.
    let port = address.rsplit(':').next().unwrap();
    assert!(TcpStream::connect(format!("127.0.0.2:{port}")).is_err());
}

#[test]
fn invalid_options_are_refused() {
    let sandbox = Sandbox::new();
    for (arguments, words) in [
        (
            "view --rate 2",
            "error: --rate applies to bags, but none is given",
        ),
        (
            "view BAGS/mcap_plain --on-demand",
            "error: --on-demand applies to a running robot",
        ),
        ("view BAGS/mcap_plain --live", "cannot be used with"),
        ("view BAGS/mcap_plain --clock", "--publish"),
        ("view BAGS/mcap_plain --rate 0", "invalid value '0'"),
    ] {
        let run = sandbox.run(arguments);
        assert_eq!(run.code, 2, "{run}");
        assert!(run.stderr.contains(words), "{words}: {run}");
    }
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let run = sandbox.run(&format!("view BAGS/mcap_plain --port {port}"));
    assert_eq!(run.code, 1, "{run}");
    assert!(
        run.stderr
            .contains("hint: another viewer may run there; --port 0"),
        "{run}"
    );
    for (arguments, words) in [
        ("view no_such_bag --port 0", "cannot open no_such_bag"),
        (
            "view BAGS/mcap_plain --topics /imu/dat",
            "hint: did you mean /imu/data?",
        ),
    ] {
        let run = sandbox.run(arguments);
        assert_eq!(run.code, 1, "{run}");
        assert!(run.stderr.contains(words), "{words}: {run}");
    }
}

#[test]
fn the_page_is_opened_in_the_users_browser() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut sandbox = Sandbox::new();
    sandbox.write("browser.sh", "#!/bin/sh\necho \"$1\" > opened\n");
    let script = sandbox.path("browser.sh");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    sandbox.set("BROWSER", script.to_str().unwrap());
    let viewer = Viewer::start(&mut sandbox.command("view BAGS/mcap_plain -p --open"));
    let opened = format!("{}\n", viewer.url);
    crate::live_node::until("the browser is started", || {
        std::fs::read_to_string(sandbox.path("opened")).is_ok_and(|url| url == opened)
    });
    let run = viewer.interrupt();
    assert_eq!(run.code, 0, "{run}");
    sandbox.set("BROWSER", "/no/such/browser");
    let viewer = Viewer::start(&mut sandbox.command("view BAGS/mcap_plain -p --open"));
    let run = viewer.interrupt();
    assert!(
        run.stderr
            .contains("can't open a browser with /no/such/browser"),
        "{run}"
    );
}

#[test]
fn violations_of_a_contract_are_marked_on_the_timeline() {
    let sandbox = Sandbox::new();
    crate::diff::write_bags(&sandbox);
    sandbox.write(
        "contract.yaml",
        "topics: {/odom: {max_gap: 15ms, values: {point.x: {max: 9.8}}}}\n",
    );
    let mut command = sandbox.command("view after --contract contract.yaml --start-paused");
    let viewer = Viewer::start(&mut command);
    let marks = || viewer.status()["timeline"]["marks"].clone();
    timeloom_testkit::until("the marks", || !marks().is_null());
    let gap = "/odom max_gap: allowed at most 15.0 ms";
    let value = "/odom point.x: allowed at most 9.8";
    let expected = serde_json::json!([
        {"from": 0.49, "to": 0.51, "text": gap},
        {"from": 0.99, "to": 0.99, "text": value},
    ]);
    assert_eq!(marks(), expected);
    assert_eq!(viewer.interrupt().code, 0);
    sandbox.write("contract.yaml", "topics: {}\n");
    let run = sandbox.run("view after --contract contract.yaml");
    assert_eq!(run.code, 2, "{run}");
}
