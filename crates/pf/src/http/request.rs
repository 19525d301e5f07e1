#[cfg(feature = "simulator")]
use percent_encoding::percent_decode_str;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The text of a GET request.
pub(crate) fn request_text(host: &str, target: &str) -> String {
    format!(
        "GET {target} HTTP/1.1\r\nHost: {host}\r\nAccept: */*\r\nConnection: keep-alive\r\n\r\n"
    )
}

/// The target of a GET request, if this is the whole head of one.
#[cfg(feature = "simulator")]
pub(crate) fn parse_request_target(head: &[u8]) -> Option<&str> {
    let head = std::str::from_utf8(head).ok()?;
    let mut words = head.lines().next()?.split(' ');
    let target = (words.next()? == "GET").then(|| words.next())??;
    words.next()?.starts_with("HTTP/1.").then_some(target)
}

/// Characters of a query that are escaped: all but those that the vendor's driver leaves as they are.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// A name or value of a query, with `%XX` for special characters.
pub(crate) fn escape(value: &str) -> impl std::fmt::Display {
    utf8_percent_encode(value, ESCAPED)
}

/// The name or value that was escaped; invalid escapes are kept as they are.
#[cfg(feature = "simulator")]
pub(crate) fn unescape(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_go_there_and_back() {
        assert_eq!(escape("a;b=ü").to_string(), "a%3Bb%3D%C3%BC");
        for text in ["a;b=ü", "", "100%", "%zz%4"] {
            assert_eq!(unescape(&escape(text).to_string()), text);
        }
        assert_eq!(unescape("a;b%3Bc%"), "a;b;c%");
    }

    #[test]
    fn a_request_is_understood_by_the_other_side() {
        let text = request_text("10.0.10.9", "/cmd/get_parameter?list=a%3Bb");
        let target = parse_request_target(text.as_bytes());
        assert_eq!(target, Some("/cmd/get_parameter?list=a%3Bb"));
        for wrong in ["", "POST / HTTP/1.1", "GET /", "GET / FTP/1.1"] {
            assert_eq!(parse_request_target(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
