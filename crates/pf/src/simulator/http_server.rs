use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration as StdDuration;

use serde_json::{Value, json};
use timeloom_time::Duration;

use super::device::Effect;
use super::faults::ReplyFault;
use super::output;
use super::packet_source::nanos;
use super::random::Random;
use super::simulated_lidar::Shared;
use crate::client::is_pause;
use crate::http::parse_request_target;

/// Time that a read blocks before cancellation is checked.
const SLICE: StdDuration = StdDuration::from_millis(20);
const LONGEST_REQUEST: usize = 8 << 10;
/// Downtime of the device after `reboot_device`.
const REBOOT: Duration = Duration::from_millis(500);

/// Takes connections until the device is switched off.
pub(super) fn run(shared: &Arc<Shared>, listener: &TcpListener) {
    for (number, connection) in (0_u64..).zip(listener.incoming()) {
        if shared.stop.is_cancelled() {
            return;
        }
        let Ok(connection) = connection else {
            continue;
        };
        shared.count(|sent| sent.connections += 1);
        let inside = Arc::clone(shared);
        let serve = move || Connection::new(inside, connection, number).serve();
        // Without a thread there is no answer, as with a device that is overloaded.
        let _refused = shared.spawn("pf_http_connection", serve);
    }
}

struct Connection {
    shared: Arc<Shared>,
    stream: TcpStream,
    random: Random,
    buffer: Vec<u8>,
}

impl Connection {
    fn new(shared: Arc<Shared>, stream: TcpStream, number: u64) -> Self {
        let seed = shared.device().options.seed;
        Self {
            shared,
            stream,
            random: Random::new(seed, number + 100),
            buffer: Vec::new(),
        }
    }

    /// Answers one request after the other; a connection that fails is closed.
    fn serve(mut self) {
        let prepared = self.stream.set_read_timeout(Some(SLICE));
        if prepared
            .and_then(|()| self.stream.set_nodelay(true))
            .is_err()
        {
            return;
        }
        while let Some(target) = self.read_request() {
            if self.shared.device().is_off(self.shared.clock.now()) || !self.answer(&target) {
                return;
            }
        }
    }

    /// The target of the next request; none when there are no more.
    fn read_request(&mut self) -> Option<String> {
        loop {
            let end = self.buffer.windows(4).position(|four| four == b"\r\n\r\n");
            if let Some(end) = end {
                let head: Vec<u8> = self.buffer.drain(..end + 4).collect();
                return parse_request_target(&head).map(str::to_owned);
            }
            if self.buffer.len() > LONGEST_REQUEST || !self.read_more() {
                return None;
            }
        }
    }

    /// Reads what comes; false at the end.
    fn read_more(&mut self) -> bool {
        let mut bytes = [0; 1024];
        while !self.shared.stop.is_cancelled() {
            match self.stream.read(&mut bytes) {
                Ok(0) => return false,
                Ok(length) => {
                    self.buffer.extend(bytes.get(..length).unwrap_or(&[]));
                    return true;
                }
                Err(error) if is_pause(&error) => {
                    // A device that is switched off holds no connections.
                    if self.shared.device().is_off(self.shared.clock.now()) {
                        return false;
                    }
                }
                Err(_) => return false,
            }
        }
        false
    }

    /// Answers a request; false if the connection is to be closed.
    fn answer(&mut self, target: &str) -> bool {
        let (delays, keep_alive, fault) = {
            let device = self.shared.device();
            let options = &device.options;
            let command = target.trim_start_matches("/cmd/").split('?').next();
            let fault = options.faults.of_reply(command.unwrap_or(""));
            (options.delays, options.keep_alive, fault)
        };
        if !self.wait(delays.request, delays.request_mean) {
            return false;
        }
        let (status, body, effect) = self.ask_device(target);
        if !self.wait(delays.answer, delays.answer_mean) {
            return false;
        }
        self.shared.count(|sent| sent.replies += 1);
        let going_on = self.write(status, &body, keep_alive, fault);
        match effect {
            Effect::Nothing => {}
            Effect::Start(handle) => output::start(&self.shared, &handle),
            Effect::Reboot => self.shared.reboot(REBOOT),
        }
        going_on
    }

    fn ask_device(&self, target: &str) -> (u16, Value, Effect) {
        let now = self.shared.clock.now();
        let mut open_port = |handle: &str| self.shared.open_port(handle);
        self.shared.device().answer(target, now, &mut open_port)
    }

    fn wait(&mut self, least: Duration, mean: Duration) -> bool {
        let more = nanos(self.random.exponential(mean.as_secs_f64()));
        let until = self
            .shared
            .clock
            .now()
            .saturating_add(least)
            .saturating_add(more);
        self.shared.sleep_until(until)
    }

    fn write(
        &mut self,
        status: u16,
        body: &Value,
        keep_alive: bool,
        fault: Option<ReplyFault>,
    ) -> bool {
        let text = body.to_string();
        let half = text.get(..text.len() / 2).unwrap_or("");
        let (status, text, announced) = match fault {
            None => (status, text.as_str(), text.len()),
            Some(ReplyFault::Silence) => {
                while self.read_more() {}
                return false;
            }
            Some(ReplyFault::Close) => return false,
            Some(ReplyFault::Garbage) => {
                let _unread = self.stream.write_all(b"\x16\x03\x01 what?\r\n\r\n");
                return false;
            }
            Some(ReplyFault::TruncatedJson) => (status, half, half.len()),
            Some(ReplyFault::TruncatedBody) => (status, half, text.len()),
            Some(ReplyFault::Huge) => (status, text.as_str(), 1 << 30),
            Some(ReplyFault::HttpStatus(status)) => (status, "", 0),
            Some(ReplyFault::ErrorCode(code)) => {
                let refusal =
                    json!({ "error_code": code, "error_text": "as you wish" }).to_string();
                return self.write_answer(200, &refusal, refusal.len(), keep_alive);
            }
        };
        self.write_answer(status, text, announced, keep_alive) && text.len() == announced
    }

    fn write_answer(
        &mut self,
        status: u16,
        text: &str,
        announced: usize,
        keep_alive: bool,
    ) -> bool {
        let reason = if status == 200 { "OK" } else { "Error" };
        let connection = if keep_alive { "keep-alive" } else { "close" };
        let answer = format!(
            "HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain\r\nContent-Length: {announced}\r\n\
             Connection: {connection}\r\n\r\n{text}"
        );
        match self.stream.write_all(answer.as_bytes()) {
            Ok(()) => keep_alive,
            Err(error) => error.kind() == ErrorKind::Interrupted,
        }
    }
}
