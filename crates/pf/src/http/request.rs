use std::fmt::Write as _;

/// The text of a GET request.
pub(crate) fn request_text(host: &str, target: &str) -> String {
    format!(
        "GET {target} HTTP/1.1\r\nHost: {host}\r\nAccept: */*\r\nConnection: keep-alive\r\n\r\n"
    )
}

/// The target of a GET request, if this is the whole head of one.
pub(crate) fn parse_request_target(head: &[u8]) -> Option<&str> {
    let head = std::str::from_utf8(head).ok()?;
    let mut words = head.lines().next()?.split(' ');
    let target = (words.next()? == "GET").then(|| words.next())??;
    words.next()?.starts_with("HTTP/1.").then_some(target)
}

/// A value of a query: what is not plain becomes `%XX`, as the vendor's driver does it.
pub(crate) fn escape(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ok = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// The value that was escaped; what is no escape stays as it is.
pub(crate) fn unescape(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let code = bytes.get(at + 1..at + 3).filter(|_| byte == b'%');
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        if let Some(value) = code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            out.push(value);
            at += 3;
        } else {
            out.push(byte);
            at += 1;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_go_there_and_back() {
        assert_eq!(escape("a;b=ü"), "a%3Bb%3D%C3%BC");
        for text in ["a;b=ü", "", "100%", "%zz%4"] {
            assert_eq!(unescape(&escape(text)), text);
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
