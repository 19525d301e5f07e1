use crate::error::{Error, Result};

/// Limit for the length of a head.
pub(crate) const LONGEST_HEAD: usize = 16 * 1024;
const MOST_HEADERS: usize = 64;

/// The first line and the headers of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestHead {
    /// The method, such as `GET`.
    pub method: String,
    /// The path, without the query.
    pub path: String,
    headers: Vec<(String, String)>,
}

impl RequestHead {
    /// Parses the head at the start of `data`; returns it with its length, or `None` while it is incomplete.
    ///
    /// # Errors
    /// When it is longer than 16 KiB, has more than 64 headers, or is not HTTP/1.
    pub fn parse(data: &[u8]) -> Result<Option<(Self, usize)>> {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut request = httparse::Request::new(&mut headers);
        let status = request.parse(data).map_err(|error| wrong(data, error))?;
        let length = match status {
            httparse::Status::Complete(length) => length,
            httparse::Status::Partial => data.len(),
        };
        if length > LONGEST_HEAD {
            return Err(wrong(data, "the head is longer than 16 KiB"));
        }
        if status.is_partial() {
            return Ok(None);
        }
        let target = request.path.unwrap_or_default();
        let head = Self {
            method: request.method.unwrap_or_default().to_owned(),
            path: target
                .split(['?', '#'])
                .next()
                .unwrap_or_default()
                .to_owned(),
            headers: request
                .headers
                .iter()
                .map(|header| text_header(header, data))
                .collect::<Result<_>>()?,
        };
        Ok(Some((head, length)))
    }

    /// A header by its lower-case name; several with one name are joined by commas.
    pub fn header(&self, name: &str) -> Option<String> {
        let values: Vec<&str> = self
            .headers
            .iter()
            .filter(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
            .collect();
        (!values.is_empty()).then(|| values.join(", "))
    }

    /// Whether the request is a WebSocket handshake.
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

fn wrong(data: &[u8], reason: impl std::fmt::Display) -> Error {
    Error::malformed("HTTP request", data.len(), reason)
}

fn text_header(header: &httparse::Header<'_>, data: &[u8]) -> Result<(String, String)> {
    let value = std::str::from_utf8(header.value).map_err(|error| wrong(data, error))?;
    Ok((header.name.to_ascii_lowercase(), value.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const UPGRADE: &str = "GET /?x=1 HTTP/1.1\r\nHost: localhost:8765\r\nUpgrade: WebSocket\r\n\
        Connection: keep-alive, Upgrade\r\nX: a\r\nx: b\r\n\r\nrest";

    #[test]
    fn parsing_stops_after_the_head() {
        let (head, length) = RequestHead::parse(UPGRADE.as_bytes()).unwrap().unwrap();
        assert_eq!((head.method.as_str(), head.path.as_str()), ("GET", "/"));
        assert_eq!(head.header("x").as_deref(), Some("a, b"));
        assert!(head.is_upgrade());
        assert_eq!(&UPGRADE[length..], "rest");
    }

    #[test]
    fn an_incomplete_head_returns_none() {
        let whole = UPGRADE.len() - "rest".len();
        for cut in 0..whole {
            assert_eq!(
                RequestHead::parse(&UPGRADE.as_bytes()[..cut]).unwrap(),
                None
            );
        }
    }

    #[test]
    fn malformed_and_oversized_heads_are_refused() {
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
