use crate::error::{Error, Result};

/// The longest head that is read.
pub(crate) const LONGEST_HEAD: usize = 16 * 1024;
const MOST_HEADERS: usize = 64;

/// The first line and the headers of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestHead {
    /// `GET` and the like.
    pub method: String,
    /// The path, without the query.
    pub path: String,
    headers: Vec<(String, String)>,
}

impl RequestHead {
    /// Reads a head off the front of what came so far: the head and its length, or `None` while it is not complete.
    ///
    /// # Errors
    /// When it is longer than 16 KiB, has more than 64 headers, or is no HTTP/1.1.
    pub fn parse(data: &[u8]) -> Result<Option<(Self, usize)>> {
        let end = data.windows(4).position(|four| four == b"\r\n\r\n");
        let Some(end) = end.filter(|end| *end <= LONGEST_HEAD) else {
            return if data.len() > LONGEST_HEAD {
                Err(wrong(data, "the head is longer than 16 KiB"))
            } else {
                Ok(None)
            };
        };
        let head = data.get(..end).unwrap_or_default();
        let text = std::str::from_utf8(head).map_err(|error| wrong(head, error))?;
        let mut lines = text.split("\r\n");
        let (method, path) = first_line(lines.next().unwrap_or_default(), head)?;
        let headers = lines
            .map(|line| header(line, head))
            .collect::<Result<Vec<_>>>()?;
        if headers.len() > MOST_HEADERS {
            return Err(Error::TooMany {
                what: "headers of a request",
                count: headers.len(),
                limit: MOST_HEADERS,
            });
        }
        let head = Self {
            method,
            path,
            headers,
        };
        Ok(Some((head, end + 4)))
    }

    /// A header by its name in small letters; several of one name are joined by commas.
    pub fn header(&self, name: &str) -> Option<String> {
        let values: Vec<&str> = self
            .headers
            .iter()
            .filter(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
            .collect();
        (!values.is_empty()).then(|| values.join(", "))
    }

    /// Whether the client wants to go on as a WebSocket.
    pub fn is_upgrade(&self) -> bool {
        let is = |name: &str, wanted: &str| {
            self.header(name).is_some_and(|value| {
                value
                    .split(',')
                    .any(|part| part.trim().eq_ignore_ascii_case(wanted))
            })
        };
        is("upgrade", "websocket") && is("connection", "upgrade")
    }
}

fn wrong(head: &[u8], reason: impl std::fmt::Display) -> Error {
    Error::malformed("HTTP request", head.len(), reason)
}

fn first_line(line: &str, head: &[u8]) -> Result<(String, String)> {
    let mut parts = line.split(' ');
    match (parts.next(), parts.next(), parts.next(), parts.next()) {
        (Some(method), Some(target), Some("HTTP/1.1" | "HTTP/1.0"), None) => {
            let path = target.split(['?', '#']).next().unwrap_or_default();
            Ok((method.to_owned(), path.to_owned()))
        }
        _ => Err(wrong(head, "the first line is no HTTP/1.1")),
    }
}

fn header(line: &str, head: &[u8]) -> Result<(String, String)> {
    let (name, value) = line
        .split_once(':')
        .ok_or_else(|| wrong(head, "a header has no colon"))?;
    Ok((name.to_ascii_lowercase(), value.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const UPGRADE: &str = "GET /?x=1 HTTP/1.1\r\nHost: localhost:8765\r\nUpgrade: WebSocket\r\n\
        Connection: keep-alive, Upgrade\r\nX: a\r\nx: b\r\n\r\nrest";

    #[test]
    fn a_head_is_read_and_the_rest_is_left() {
        let (head, length) = RequestHead::parse(UPGRADE.as_bytes()).unwrap().unwrap();
        assert_eq!((head.method.as_str(), head.path.as_str()), ("GET", "/"));
        assert_eq!(head.header("x").as_deref(), Some("a, b"));
        assert!(head.is_upgrade());
        assert_eq!(&UPGRADE[length..], "rest");
    }

    #[test]
    fn an_incomplete_head_waits() {
        let whole = UPGRADE.len() - "rest".len();
        for cut in 0..whole {
            assert_eq!(
                RequestHead::parse(&UPGRADE.as_bytes()[..cut]).unwrap(),
                None
            );
        }
    }

    #[test]
    fn nonsense_and_excess_are_refused() {
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(65));
        for text in [
            "x\r\n\r\n",
            "GET / SPDY\r\n\r\n",
            "GET / HTTP/1.1\r\nnope\r\n\r\n",
            &many,
        ] {
            assert!(RequestHead::parse(text.as_bytes()).is_err(), "{text}");
        }
        assert!(RequestHead::parse(&vec![b'x'; LONGEST_HEAD + 1]).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(data: Vec<u8>) {
            drop(RequestHead::parse(&data));
        }
    }
}
