use httparse::Status;

use crate::error::{Error, Result};

/// The largest number of headers of an answer.
const MOST_HEADERS: usize = 64;
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

/// The framing of a body.
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
    /// [`Error::NoHttp`] for other protocols, [`Error::ReplyTooLarge`] beyond the limits.
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
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut response = httparse::Response::new(&mut headers);
        let mut config = httparse::ParserConfig::default();
        // Embedded servers are sloppy; only the headers below matter.
        config.ignore_invalid_headers_in_responses(true);
        match config.parse_response(&mut response, window) {
            Ok(Status::Complete(length)) => self.head = Some(Head::new(&response, length)?),
            Ok(Status::Partial) if self.buffer.len() < LONGEST_HEAD => {}
            Ok(Status::Partial) => return Err(too_large(self.buffer.len())),
            Err(_invalid) => return Err(no_http(window)),
        }
        Ok(())
    }
}

impl Head {
    fn new(response: &httparse::Response<'_, '_>, length: usize) -> Result<Self> {
        let mut framing = Framing::UntilClose;
        let mut keep_alive = response.version == Some(1);
        for header in response.headers.iter() {
            let (name, value) = (header.name, header.value.trim_ascii());
            if name.eq_ignore_ascii_case("content-length") {
                let length = std::str::from_utf8(value).ok();
                let length = length.and_then(|text| text.parse::<usize>().ok());
                let length = length.ok_or_else(|| no_http(value))?;
                if length > LONGEST_BODY {
                    return Err(too_large(length));
                }
                // Chunks take precedence, as in the standard.
                if framing != Framing::Chunked {
                    framing = Framing::Length(length);
                }
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                framing = Framing::Chunked;
            } else if name.eq_ignore_ascii_case("connection") {
                keep_alive = value.eq_ignore_ascii_case(b"keep-alive")
                    || (keep_alive && !value.eq_ignore_ascii_case(b"close"));
            }
        }
        Ok(Self {
            status: response.code.unwrap_or_default(),
            keep_alive: keep_alive && framing != Framing::UntilClose,
            framing,
            length,
        })
    }
}

fn no_http(bytes: &[u8]) -> Error {
    let start = bytes.get(..bytes.len().min(16)).unwrap_or(&[]);
    Error::NoHttp {
        start: String::from_utf8_lossy(start).into_owned(),
    }
}

/// The body without the lengths of its chunks; none until the last chunk has arrived.
fn read_chunks(mut rest: &[u8]) -> Result<Option<Vec<u8>>> {
    let mut body = Vec::new();
    loop {
        let (start, length) = match httparse::parse_chunk_size(rest) {
            Ok(Status::Complete(found)) => found,
            Ok(Status::Partial) => return Ok(None),
            Err(_invalid) => return Err(no_http(rest)),
        };
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if body.len().saturating_add(length) > LONGEST_BODY {
            return Err(too_large(body.len().saturating_add(length)));
        }
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
    fn invalid_and_oversized_replies_are_refused_at_once() {
        assert!(matches!(whole("SSH-2.0"), Err(Error::NoHttp { .. })));
        let huge = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", 1 << 30);
        assert!(matches!(whole(&huge), Err(Error::ReplyTooLarge { .. })));
        let head = format!("HTTP/1.1 200 OK\r\nX: {}", "x".repeat(LONGEST_HEAD));
        assert!(matches!(whole(&head), Err(Error::ReplyTooLarge { .. })));
        let chunk = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n";
        assert!(matches!(whole(chunk), Err(Error::ReplyTooLarge { .. })));
    }
}
