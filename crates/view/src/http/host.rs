use std::net::IpAddr;

/// The host of an authority such as `robot:8765` or `[::1]:8765`, without its port.
pub(super) fn host_of(authority: &str) -> &str {
    if let Some(rest) = authority.strip_prefix('[') {
        return rest.split(']').next().unwrap_or_default();
    }
    authority.split(':').next().unwrap_or_default()
}

/// The authority of a URL such as `http://robot:8765`.
pub(super) fn authority_of(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    rest.split('/').next()
}

/// Whether the host is an IP address, which DNS rebinding cannot forge.
pub(super) fn is_address(host: &str) -> bool {
    host.parse::<IpAddr>().is_ok()
}

/// Whether the host is this machine, by name or by address.
pub(super) fn is_local(host: &str) -> bool {
    let name = host.eq_ignore_ascii_case("localhost");
    name || host
        .parse::<IpAddr>()
        .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_removed_from_hosts() {
        for (authority, host) in [
            ("localhost", "localhost"),
            ("localhost:8765", "localhost"),
            ("127.0.0.1:1", "127.0.0.1"),
            ("[::1]:8765", "::1"),
            ("[::1]", "::1"),
            ("", ""),
        ] {
            assert_eq!(host_of(authority), host);
        }
        assert_eq!(authority_of("https://a.b:1/c"), Some("a.b:1"));
        assert_eq!(authority_of("null"), None);
    }

    #[test]
    fn local_names_and_addresses_are_recognised() {
        assert!(is_local("localhost") && is_local("127.0.0.1") && is_local("::1"));
        assert!(!is_local("192.168.0.1") && !is_local("localhost.evil.example"));
    }
}
