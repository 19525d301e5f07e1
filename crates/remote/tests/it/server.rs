//! A web server for tests: it counts requests and misbehaves on demand.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// The behaviour of the server.
#[derive(Clone, Default)]
pub(crate) struct Manners {
    /// Answers a request for a part with all of it.
    pub(crate) no_ranges: bool,
    /// Omits `ETag`.
    pub(crate) no_tags: bool,
    /// Implements `If-Match`.
    pub(crate) heeds_conditions: bool,
    /// Answers this many requests with this status, then no more.
    pub(crate) failures: (u32, u16),
    /// Closes the connection in the middle of this many answers that are longer than 64 KiB.
    pub(crate) breaks_off: u32,
    /// Delays a long answer until this many of them are requested at once, or for a second.
    pub(crate) waits_for: usize,
    /// Longer than this is long; 0 means 64 KiB.
    pub(crate) long: usize,
    /// Another version of everything after this many requests: the text of the tag, and the bytes by which files grow.
    pub(crate) changes: Option<(usize, Change)>,
}

/// The change of the files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// Another tag.
    Tag,
    /// The same tag and size, a later date.
    Date,
    /// One byte less.
    Shorter,
    /// Gone.
    Gone,
}

#[derive(Default)]
struct State {
    files: BTreeMap<String, Arc<Vec<u8>>>,
    manners: Manners,
    requests: Vec<String>,
    bytes: u64,
    at_once: usize,
    peak: usize,
}

/// Serves files on a port of the loopback; ends with the process of the test.
pub(crate) struct Server {
    address: String,
    shared: Arc<(Mutex<State>, Condvar)>,
}

impl Server {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::<(Mutex<State>, Condvar)>::default();
        let of_thread = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&of_thread);
                std::thread::spawn(move || serve(stream, &shared));
            }
        });
        Self { address, shared }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}/{path}", self.address)
    }

    pub(crate) fn put(&self, path: &str, bytes: Vec<u8>) {
        let mut state = self.shared.0.lock().unwrap();
        state.files.insert(format!("/{path}"), Arc::new(bytes));
    }

    pub(crate) fn put_folder(&self, path: &str, folder: &std::path::Path) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let file = entry.unwrap().path();
            let name = file.file_name().unwrap().to_str().unwrap().to_owned();
            self.put(&format!("{path}/{name}"), std::fs::read(file).unwrap());
        }
    }

    /// Sets the behaviour, and resets all counts.
    pub(crate) fn behave(&self, manners: Manners) {
        let mut state = self.shared.0.lock().unwrap();
        state.manners = manners;
        state.requests.clear();
        (state.bytes, state.peak) = (0, 0);
    }

    /// Bytes of bodies that were sent.
    pub(crate) fn bytes(&self) -> u64 {
        self.shared.0.lock().unwrap().bytes
    }

    /// Every request: method, path, range.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.shared.0.lock().unwrap().requests.clone()
    }

    /// Number of long answers that were requested at the same time.
    pub(crate) fn peak(&self) -> usize {
        self.shared.0.lock().unwrap().peak
    }
}

struct Request {
    method: String,
    path: String,
    range: Option<String>,
    if_match: Option<String>,
}

fn read_request(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    reader
        .read_line(&mut line)
        .ok()
        .filter(|count| *count > 0)?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (mut range, mut if_match) = (None, None);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim().split_once(':') else {
            break;
        };
        match name.to_ascii_lowercase().as_str() {
            "range" => range = Some(value.trim().to_owned()),
            "if-match" => if_match = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    Some(Request {
        method,
        path,
        range,
        if_match,
    })
}

fn part(range: &str, size: u64) -> Option<Range<u64>> {
    let (from, to) = range.strip_prefix("bytes=")?.split_once('-')?;
    let range = match (from.parse::<u64>(), to.parse::<u64>()) {
        (Ok(from), Ok(to)) => from..(to + 1).min(size),
        (Ok(from), Err(_)) => from..size,
        (Err(_), Ok(count)) => size.saturating_sub(count)..size,
        _ => return None,
    };
    (range.start < range.end).then_some(range)
}

struct Answer {
    status: u16,
    headers: String,
    body: Vec<u8>,
    breaks_off: bool,
}

fn plain(status: u16) -> Answer {
    Answer {
        status,
        headers: String::new(),
        body: format!("this is status {status}\n").into_bytes(),
        breaks_off: false,
    }
}

fn answer(request: &Request, state: &mut State) -> Answer {
    let range = request.range.clone().unwrap_or_default();
    let path = request.path.split('?').next().unwrap_or_default();
    let path = path.replace("%20", " ");
    let line = format!("{} {} {range}", request.method, request.path);
    state.requests.push(line.trim().to_owned());
    if state.manners.failures.0 > 0 {
        state.manners.failures.0 -= 1;
        return plain(state.manners.failures.1);
    }
    let count = state.requests.len();
    let change = state.manners.changes.filter(|(after, _)| count > *after);
    let change = change.map(|(_, change)| change);
    let Some(file) = state
        .files
        .get(&path)
        .cloned()
        .filter(|_| change != Some(Change::Gone))
    else {
        return plain(404);
    };
    let mut bytes = file.as_slice();
    if change == Some(Change::Shorter) {
        bytes = &bytes[..bytes.len() - 1];
    }
    let tag = if change == Some(Change::Tag) {
        "\"two\""
    } else {
        "\"one\""
    };
    let wanted = request
        .if_match
        .as_deref()
        .is_some_and(|wanted| wanted != tag);
    if wanted && state.manners.heeds_conditions {
        return plain(412);
    }
    let second = if change == Some(Change::Date) { 2 } else { 1 };
    let mut headers = format!("Last-Modified: Thu, 01 Jan 2026 00:00:0{second} GMT\r\n");
    if !state.manners.no_tags {
        write!(headers, "ETag: {tag}\r\n").unwrap();
    }
    let size = bytes.len() as u64;
    let asked = request
        .range
        .as_deref()
        .filter(|_| !state.manners.no_ranges);
    let (status, body) = match asked.map(|range| part(range, size)) {
        None => (200, bytes.to_vec()),
        Some(None) => return plain(416),
        Some(Some(range)) => {
            let (start, last) = (range.start, range.end - 1);
            write!(headers, "Content-Range: bytes {start}-{last}/{size}\r\n").unwrap();
            let range = usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap();
            (206, bytes[range].to_vec())
        }
    };
    let breaks_off = body.len() > 64 << 10 && state.manners.breaks_off > 0;
    state.manners.breaks_off -= u32::from(breaks_off);
    Answer {
        status,
        headers,
        body,
        breaks_off,
    }
}

fn serve(stream: TcpStream, shared: &(Mutex<State>, Condvar)) {
    let mut writer = stream.try_clone().unwrap();
    let mut reader = BufReader::new(stream);
    while let Some(request) = read_request(&mut reader) {
        let mut answer = answer(&request, &mut shared.0.lock().unwrap());
        let head = format!(
            "HTTP/1.1 {} X\r\n{}Content-Length: {}\r\n\r\n",
            answer.status,
            answer.headers,
            answer.body.len()
        );
        if request.method == "HEAD" {
            answer.body.clear();
        }
        if answer.breaks_off {
            answer.body.truncate(answer.body.len() / 2);
        }
        let limit = shared.0.lock().unwrap().manners.long;
        let limit = if limit == 0 { 64 << 10 } else { limit };
        let long = answer.body.len() > limit;
        if long {
            gather(shared);
        }
        shared.0.lock().unwrap().bytes += answer.body.len() as u64;
        let sent = writer
            .write_all(head.as_bytes())
            .and_then(|()| writer.write_all(&answer.body));
        if long {
            shared.0.lock().unwrap().at_once -= 1;
        }
        if sent.is_err() || answer.breaks_off {
            let _closed = writer.shutdown(std::net::Shutdown::Both);
            return;
        }
    }
}

/// Waits until enough long answers are requested at once; a single one continues after a while.
fn gather(shared: &(Mutex<State>, Condvar)) {
    let mut state = shared.0.lock().unwrap();
    state.at_once += 1;
    state.peak = state.peak.max(state.at_once);
    shared.1.notify_all();
    let patience = Duration::from_secs(1);
    let met = |state: &mut State| state.peak < state.manners.waits_for;
    drop(shared.1.wait_timeout_while(state, patience, met).unwrap());
}
