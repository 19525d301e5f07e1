//! A server that speaks S3: moto from `PyPI`, on the loopback.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::foreign::python;
use crate::support::Sandbox;

/// A running server with the bucket `robots`; it ends with this value.
pub(crate) struct S3 {
    process: Child,
    host: String,
}

impl S3 {
    /// `None` where there is no Python for it.
    pub(crate) fn new() -> Option<Self> {
        let mut process = Command::new(python()?)
            .args(["-m", "moto.server", "-H", "127.0.0.1", "-p", "0"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let host = lines.find_map(|line| {
            let (_, host) = line
                .ok()?
                .split_once("http://")
                .map(|(a, b)| (a.to_owned(), b.to_owned()))?;
            Some(host.trim().to_owned())
        });
        // Its log would fill the pipe and stop it.
        std::thread::spawn(move || lines.for_each(drop));
        let server = Self {
            process,
            host: host.expect("moto says where it listens"),
        };
        server.put("robots", &[]);
        Some(server)
    }

    /// Uploads without a signature, which moto does not ask for.
    pub(crate) fn put(&self, path: &str, bytes: &[u8]) {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        let head = format!(
            "PUT /{path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            self.host,
            bytes.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(bytes).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {answer}");
    }

    pub(crate) fn put_folder(&self, path: &str, folder: &Path) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let file = entry.unwrap().path();
            let name = file.file_name().unwrap().to_str().unwrap().to_owned();
            self.put(&format!("{path}/{name}"), &std::fs::read(file).unwrap());
        }
    }

    /// Where it listens.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// A sandbox whose runs know the server.
    pub(crate) fn sandbox(&self) -> Sandbox {
        let mut sandbox = Sandbox::new();
        self.set_environment(&mut sandbox);
        sandbox
    }

    /// Lets the runs of a sandbox know the server.
    pub(crate) fn set_environment(&self, sandbox: &mut Sandbox) {
        sandbox.set("AWS_ENDPOINT_URL", &format!("http://{}", self.host));
        sandbox.set("AWS_ALLOW_HTTP", "true");
        sandbox.set("AWS_REGION", "us-east-1");
        sandbox.set("AWS_ACCESS_KEY_ID", "somebody");
        sandbox.set("AWS_SECRET_ACCESS_KEY", "secret");
    }
}

impl Drop for S3 {
    fn drop(&mut self) {
        let _ended = self.process.kill().and_then(|()| self.process.wait());
    }
}
