//! Workers on this machine, behind proxies that count and cut, and bags on a server that speaks S3.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use crate::query::run;
use crate::s3::S3;
use crate::support::{Run, Sandbox};

pub(crate) const SECRET: &str = "0123456789abcdef0123456789abcdef";

/// A server, and a sandbox that knows it and the secret.
pub(crate) struct World {
    pub(crate) s3: S3,
    pub(crate) sandbox: Sandbox,
}

impl World {
    /// `None` where there is no Python for the server.
    pub(crate) fn new() -> Option<Self> {
        let s3 = S3::new()?;
        let mut sandbox = s3.sandbox();
        sandbox.set("TIMELOOM_SECRET", SECRET);
        Some(Self { s3, sandbox })
    }

    /// Puts a bag of the sandbox onto the server.
    pub(crate) fn put(&self, name: &str) {
        let folder = self.sandbox.path(name);
        self.s3.put_folder(&format!("robots/{name}"), &folder);
    }

    /// Puts a golden bag onto the server under several names; returns their addresses.
    pub(crate) fn put_copies(&self, golden: &str, count: usize) -> String {
        let folder = crate::support::bags().join(golden);
        let put = |number: usize| {
            let name = format!("run_{number}");
            self.s3.put_folder(&format!("robots/{name}"), &folder);
            format!("s3://robots/{name}")
        };
        (0..count).map(put).collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn workers(&self, count: usize) -> Vec<WorkerProcess> {
        (0..count)
            .map(|_| WorkerProcess::new(&self.sandbox))
            .collect()
    }

    /// The same query in one process and on workers.
    pub(crate) fn both(&self, query: &str, cluster: &str) -> (Run, Run) {
        let alone = run(&self.sandbox, query);
        let together = run(&self.sandbox, &format!("{query} --cluster {cluster}"));
        (alone, together)
    }
}

/// `timeloom worker` with the environment of a sandbox.
pub(crate) struct WorkerProcess {
    child: Arc<Mutex<Child>>,
    pub(crate) address: String,
}

impl WorkerProcess {
    pub(crate) fn new(sandbox: &Sandbox) -> Self {
        let mut command = sandbox.command("worker --listen 127.0.0.1:0 --threads 2");
        command.stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        let address = line
            .strip_prefix("worker on ")
            .and_then(|it| it.split_once(','));
        let (address, _) = address.unwrap_or_else(|| panic!("{line}"));
        Self {
            address: address.to_owned(),
            child: Arc::new(Mutex::new(child)),
        }
    }

    /// A proxy in front of it.
    pub(crate) fn behind(&self, cut: Cut) -> WorkerProxy {
        WorkerProxy::new(&self.address, cut, Arc::clone(&self.child))
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        kill(&self.child);
    }
}

fn kill(child: &Mutex<Child>) {
    let mut child = child.lock().unwrap();
    let _ended = child.kill().and_then(|()| child.wait());
}

/// When a proxy kills the worker behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    Never,
    /// After as many bytes to it: its plan has arrived.
    AfterAsked(usize),
    /// After as many bytes from it: some of its rows are out.
    AfterAnswered(usize),
    /// As `AfterAnswered`; but then it waits for `WorkerProxy::go_on`.
    AfterAnsweredAndTold(usize),
}

/// A connection to a worker that counts, and kills the worker at a point of the conversation.
pub(crate) struct WorkerProxy {
    pub(crate) address: String,
    asked: Arc<AtomicUsize>,
    answered: Arc<AtomicUsize>,
    dead: Arc<Mutex<bool>>,
    told: Arc<(Mutex<bool>, Condvar)>,
}

impl WorkerProxy {
    fn new(worker: &str, cut: Cut, child: Arc<Mutex<Child>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let waits = matches!(cut, Cut::AfterAnsweredAndTold(_));
        let proxy = Self {
            address: listener.local_addr().unwrap().to_string(),
            asked: Arc::default(),
            answered: Arc::default(),
            dead: Arc::default(),
            told: Arc::new((Mutex::new(!waits), Condvar::new())),
        };
        let (asked, answered) = (Arc::clone(&proxy.asked), Arc::clone(&proxy.answered));
        let (dead, worker) = (Arc::clone(&proxy.dead), worker.to_owned());
        let told = Arc::clone(&proxy.told);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if *dead.lock().unwrap() {
                    continue;
                }
                let server = TcpStream::connect(&worker).unwrap();
                for (from, to, count, limit) in [
                    (&client, &server, &asked, limit_of(cut, true)),
                    (&server, &client, &answered, limit_of(cut, false)),
                ] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let (count, dead) = (Arc::clone(count), Arc::clone(&dead));
                    let (child, told) = (Arc::clone(&child), Arc::clone(&told));
                    std::thread::spawn(move || {
                        if pass(from, to, &count, limit, &told) {
                            *dead.lock().unwrap() = true;
                            kill(&child);
                        }
                    });
                }
            }
        });
        proxy
    }

    /// Lets it kill the worker.
    pub(crate) fn go_on(&self) {
        let (told, woken) = &*self.told;
        *told.lock().unwrap() = true;
        woken.notify_all();
    }

    /// Bytes from the worker so far.
    pub(crate) fn answered(&self) -> usize {
        self.answered.load(Ordering::SeqCst)
    }

    /// Whether the worker was killed.
    pub(crate) fn has_cut(&self) -> bool {
        *self.dead.lock().unwrap()
    }
}

fn limit_of(cut: Cut, to_worker: bool) -> usize {
    match cut {
        Cut::AfterAsked(limit) if to_worker => limit,
        Cut::AfterAnswered(limit) | Cut::AfterAnsweredAndTold(limit) if !to_worker => limit,
        _ => usize::MAX,
    }
}

/// Passes bytes on; whether the limit was reached.
fn pass(
    mut from: TcpStream,
    mut to: TcpStream,
    count: &AtomicUsize,
    limit: usize,
    told: &(Mutex<bool>, Condvar),
) -> bool {
    let mut buffer = vec![0; 16 << 10];
    let mut reached = false;
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        reached = count.fetch_add(length, Ordering::SeqCst) + length > limit;
        if reached {
            let (told, woken) = told;
            let guard = woken.wait_while(told.lock().unwrap(), |told| !*told);
            drop(guard.unwrap());
        }
        if reached || to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    let _closed = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    reached
}

/// The addresses of `--cluster`.
pub(crate) fn joined<'a>(addresses: impl IntoIterator<Item = &'a String>) -> String {
    let addresses: Vec<&str> = addresses.into_iter().map(String::as_str).collect();
    addresses.join(",")
}

/// A proxy in front of each worker.
pub(crate) fn proxies(workers: &[WorkerProcess], cut: impl Fn(usize) -> Cut) -> Vec<WorkerProxy> {
    let workers = workers.iter().enumerate();
    workers.map(|(place, it)| it.behind(cut(place))).collect()
}
