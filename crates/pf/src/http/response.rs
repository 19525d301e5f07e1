use crate::error::{Error, Result};

/// The longest head of an answer.
const LONGEST_HEAD: usize = 8 << 10;
/// The longest body of an answer: no list of parameters comes near it.
const LONGEST_BODY: usize = 256 << 10;

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status, such as 200.
    pub status: u16,
    /// Whether the connection can take another request.
    pub keep_alive: bool,
    /// The body.
    pub body: Vec<u8>,
}

/// How the end of a body is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    Length(usize),
    Chunked,
    UntilClose,
}

#[derive(Debug, Clone, Copy)]
struct Head {
    status: u16,
    keep_alive: bool,
    framing: Framing,
    length: usize,
}

/// Reads one answer from bytes as they come; it never holds more than the limits of head and body.
#[derive(Debug, Clone, Default)]
pub struct ResponseParser {
    buffer: Vec<u8>,
    head: Option<Head>,
}

impl ResponseParser {
    /// A parser that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes bytes; the answer once it is whole.
    ///
    /// # Errors
    ///
    /// [`Error::NoHttp`] for what is none, [`Error::ReplyTooLarge`] beyond the limits.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Option<Response>> {
        self.buffer.extend_from_slice(bytes);
        self.read_head()?;
        let Some(head) = self.head else {
            return Ok(None);
        };
        let body = self.buffer.get(head.length..).unwrap_or(&[]);
        // Chunks bring their own lengths with them.
        if body.len() > LONGEST_BODY * 2 {
            return Err(too_large(body.len()));
        }
        let body = match head.framing {
            Framing::Length(length) => body.get(..length).map(<[u8]>::to_vec),
            Framing::Chunked => read_chunks(body)?,
            Framing::UntilClose => None,
        };
        Ok(body.map(|body| response(head, body)))
    }

    /// Takes the end of the connection.
    ///
    /// # Errors
    ///
    /// [`Error::ReplyCut`] if the answer was not whole.
    pub fn end(&mut self) -> Result<Response> {
        let cut = Error::ReplyCut {
            received: self.buffer.len(),
        };
        let head = self.head.ok_or(cut)?;
        let body = self.buffer.get(head.length..).unwrap_or(&[]);
        match head.framing {
            Framing::UntilClose => Ok(response(head, body.to_vec())),
            _ => Err(Error::ReplyCut {
                received: self.buffer.len(),
            }),
        }
    }

    fn read_head(&mut self) -> Result<()> {
        if self.head.is_some() {
            return Ok(());
        }
        let window = self.buffer.get(..LONGEST_HEAD).unwrap_or(&self.buffer);
        let end = window.windows(4).position(|four| four == b"\r\n\r\n");
        let Some(end) = end else {
            return if self.buffer.len() >= LONGEST_HEAD {
                Err(too_large(self.buffer.len()))
            } else {
                check_start(&self.buffer)
            };
        };
        let text = String::from_utf8_lossy(window.get(..end).unwrap_or(&[])).into_owned();
        self.head = Some(parse_head(&text, end + 4)?);
        Ok(())
    }
}

/// Fails at the first invalid byte, without waiting for the rest.
fn check_start(bytes: &[u8]) -> Result<()> {
    const START: &[u8] = b"HTTP/1.";
    let common = bytes.len().min(START.len());
    if bytes.get(..common) == START.get(..common) {
        return Ok(());
    }
    let start = bytes.get(..bytes.len().min(16)).unwrap_or(&[]);
    Err(Error::NoHttp {
        start: String::from_utf8_lossy(start).into_owned(),
    })
}

fn parse_head(text: &str, length: usize) -> Result<Head> {
    let no_http = || Error::NoHttp {
        start: text.chars().take(16).collect(),
    };
    let mut lines = text.split("\r\n");
    let mut words = lines.next().unwrap_or("").split(' ');
    let version = words.next().unwrap_or("");
    if !version.starts_with("HTTP/1.") {
        return Err(no_http());
    }
    let status = words.next().and_then(|word| word.parse().ok());
    let status: u16 = status.ok_or_else(no_http)?;
    let mut framing = Framing::UntilClose;
    let mut keep_alive = version != "HTTP/1.0";
    for line in lines {
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        let value = value.trim();
        if name.eq_ignore_ascii_case("content-length") {
            let length: usize = value.parse().map_err(|_no_number| no_http())?;
            if length > LONGEST_BODY {
                return Err(too_large(length));
            }
            // Chunks win, as the standard has it.
            if framing != Framing::Chunked {
                framing = Framing::Length(length);
            }
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            framing = Framing::Chunked;
        } else if name.eq_ignore_ascii_case("connection") {
            keep_alive = value.eq_ignore_ascii_case("keep-alive")
                || (keep_alive && !value.eq_ignore_ascii_case("close"));
        }
    }
    Ok(Head {
        status,
        keep_alive: keep_alive && framing != Framing::UntilClose,
        framing,
        length,
    })
}

/// The body without the lengths of its chunks; none until the last one is there.
fn read_chunks(mut rest: &[u8]) -> Result<Option<Vec<u8>>> {
    let mut body = Vec::new();
    loop {
        let Some(end) = rest.windows(2).position(|pair| pair == b"\r\n") else {
            return Ok(None);
        };
        let line = rest
            .get(..end)
            .and_then(|line| std::str::from_utf8(line).ok());
        let digits = line.and_then(|line| line.split(';').next()).unwrap_or("");
        let length =
            usize::from_str_radix(digits.trim(), 16).map_err(|_no_number| Error::NoHttp {
                start: digits.chars().take(16).collect(),
            })?;
        if body.len().saturating_add(length) > LONGEST_BODY {
            return Err(too_large(body.len().saturating_add(length)));
        }
        let start = end + 2;
        let Some(chunk) = rest.get(start..start + length) else {
            return Ok(None);
        };
        let Some(after) = rest.get(start + length + 2..) else {
            return Ok(None);
        };
        if length == 0 {
            return Ok(Some(body));
        }
        body.extend_from_slice(chunk);
        rest = after;
    }
}

fn response(head: Head, body: Vec<u8>) -> Response {
    Response {
        status: head.status,
        keep_alive: head.keep_alive,
        body,
    }
}

fn too_large(bytes: usize) -> Error {
    Error::ReplyTooLarge {
        bytes,
        limit: LONGEST_BODY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(text: &str) -> Result<Option<Response>> {
        ResponseParser::new().push(text.as_bytes())
    }

    #[test]
    fn bodies_end_by_length_by_chunks_or_with_the_connection() {
        let length = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
        let chunks =
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1;x\r\n}\r\n0\r\n\r\n";
        for text in [length, chunks] {
            let response = whole(text).unwrap().unwrap();
            assert_eq!(
                (response.body.as_slice(), response.keep_alive),
                (b"{}".as_slice(), true)
            );
            let mut parser = ResponseParser::new();
            let bytes = text.as_bytes();
            for byte in &bytes[..bytes.len() - 1] {
                assert_eq!(parser.push(&[*byte]).unwrap(), None, "{text}");
            }
            assert!(parser.clone().end().is_err());
            assert_eq!(
                parser.push(&bytes[bytes.len() - 1..]).unwrap(),
                Some(response)
            );
        }
        let mut parser = ResponseParser::new();
        assert_eq!(
            parser.push(b"HTTP/1.0 404 Not Found\r\n\r\nwhat").unwrap(),
            None
        );
        let response = parser.end().unwrap();
        assert_eq!((response.status, response.keep_alive), (404, false));
        assert_eq!(response.body, b"what");
    }

    #[test]
    fn connections_that_close_say_so() {
        let text = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
        assert!(!whole(text).unwrap().unwrap().keep_alive);
        let old = "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n";
        assert!(whole(old).unwrap().unwrap().keep_alive);
    }

    #[test]
    fn what_is_no_answer_or_too_long_is_refused_at_once() {
        assert!(matches!(whole("SSH-2.0"), Err(Error::NoHttp { .. })));
        let huge = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", 1 << 30);
        assert!(matches!(whole(&huge), Err(Error::ReplyTooLarge { .. })));
        let head = format!("HTTP/1.1 200 OK\r\nX: {}", "x".repeat(LONGEST_HEAD));
        assert!(matches!(whole(&head), Err(Error::ReplyTooLarge { .. })));
        let chunk = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n";
        assert!(matches!(whole(chunk), Err(Error::ReplyTooLarge { .. })));
    }
}
