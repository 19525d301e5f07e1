//! A bad network between the binary and a server, and a list of the requests that went through it.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex};

use crate::s3::S3;
use crate::support::Sandbox;

/// A server with a bucket, a bad network to it, and a sandbox that knows only the network.
pub(crate) fn bucket() -> Option<(S3, Proxy, Sandbox)> {
    let mut sandbox = Sandbox::new();
    let (s3, proxy) = bucket_for(&mut sandbox)?;
    Some((s3, proxy, sandbox))
}

/// The same for the runs of a sandbox.
pub(crate) fn bucket_for(sandbox: &mut Sandbox) -> Option<(S3, Proxy)> {
    let s3 = S3::new()?;
    let proxy = Proxy::new(s3.host());
    s3.set_environment(sandbox);
    sandbox.set("AWS_ENDPOINT_URL", &format!("http://{}", proxy.host));
    Some((s3, proxy))
}

#[derive(Default)]
pub(crate) struct Faults {
    /// Closes every connection at once.
    pub(crate) refuse: bool,
    /// Closes a connection after this many bytes to the server, once.
    pub(crate) cut_after: Option<usize>,
    /// Changes this byte of a long upload, once.
    pub(crate) flip_at: Option<usize>,
    /// Closes a connection before a request with this text in its first line gets through.
    pub(crate) refuse_request: Option<String>,
    /// Holds a request, once.
    pub(crate) hold: Option<Hold>,
    /// First lines of requests that change something.
    requests: Vec<String>,
}

/// A request that waits.
pub(crate) struct Hold {
    /// In its first line.
    pub(crate) text: String,
    /// Gets a value when the request is here.
    pub(crate) arrived: Sender<()>,
    /// Lets it go on.
    pub(crate) release: Receiver<()>,
}

pub(crate) struct Proxy {
    pub(crate) host: String,
    faults: Arc<Mutex<Faults>>,
}

impl Proxy {
    pub(crate) fn new(server: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let faults = Arc::<Mutex<Faults>>::default();
        let (server, shared) = (server.to_owned(), Arc::clone(&faults));
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (server, shared) = (server.clone(), Arc::clone(&shared));
                std::thread::spawn(move || pass(client, &server, &shared));
            }
        });
        Self { host, faults }
    }

    pub(crate) fn set(&self, change: impl FnOnce(&mut Faults)) {
        change(&mut self.faults.lock().unwrap());
    }

    /// Number of requests with this text in their first line.
    pub(crate) fn count(&self, text: &str) -> usize {
        let faults = self.faults.lock().unwrap();
        let requests = faults.requests.iter();
        requests.filter(|line| line.contains(text)).count()
    }
}

fn pass(mut client: TcpStream, server: &str, shared: &Mutex<Faults>) {
    if shared.lock().unwrap().refuse {
        return;
    }
    let mut server = TcpStream::connect(server).unwrap();
    let (mut from, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    std::thread::spawn(move || {
        // The other direction ends it.
        let _copied = std::io::copy(&mut from, &mut to);
        let _closed = to.shutdown(Shutdown::Both);
    });
    let mut buffer = vec![0; 64 << 10];
    let mut sent = 0;
    while let Ok(count @ 1..) = client.read(&mut buffer) {
        let bytes = &mut buffer[..count];
        let mut faults = shared.lock().unwrap();
        if bytes.starts_with(b"PUT ") || bytes.starts_with(b"POST ") {
            let line = String::from_utf8_lossy(bytes);
            let line = line.lines().next().unwrap_or_default().to_owned();
            let refused = faults.refuse_request.as_ref();
            if refused.is_some_and(|text| line.contains(text)) {
                break;
            }
            let held = faults.hold.take_if(|hold| line.contains(&hold.text));
            faults.requests.push(line);
            drop(faults);
            if let Some(hold) = held {
                hold.arrived.send(()).unwrap();
                hold.release.recv().unwrap();
            }
        } else {
            drop(faults);
        }
        let mut faults = shared.lock().unwrap();
        if let Some(at) = faults
            .flip_at
            .filter(|at| (sent..sent + count).contains(at))
        {
            bytes[at - sent] ^= 1;
            faults.flip_at = None;
        }
        sent += count;
        if faults.cut_after.is_some_and(|limit| sent > limit) {
            faults.cut_after = None;
            break;
        }
        drop(faults);
        if server.write_all(bytes).is_err() {
            break;
        }
    }
    let _closed = (
        server.shutdown(Shutdown::Both),
        client.shutdown(Shutdown::Both),
    );
}
