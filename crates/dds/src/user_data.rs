//! The user data of ROS, for properties that DDS has no field for: `typehash=RIHS01_…;`.

use timeloom_msg::TypeHash;

/// User data of a participant, exactly as `rmw_cyclonedds` sends it.
pub(crate) fn participant(enclave: &str) -> String {
    format!("enclave={enclave};")
}

/// User data of a publisher or subscription.
pub(crate) fn endpoint(hash: Option<TypeHash>) -> String {
    hash.map(|hash| format!("typehash={hash};"))
        .unwrap_or_default()
}

/// The role of a service endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Server,
    Client,
}

impl Role {
    fn key(self) -> &'static str {
        match self {
            Self::Server => "serviceid",
            Self::Client => "clientid",
        }
    }
}

/// User data of both endpoints of a server or client: peers find the pair by `id`.
pub(crate) fn service_endpoint(role: Role, id: &[u8; 16], hash: Option<TypeHash>) -> String {
    // The blank and the missing leading zeros are how rmw_cyclonedds prints it.
    let id: Vec<String> = id.iter().map(|byte| format!("{byte:x}")).collect();
    format!("{}= {};{}", role.key(), id.join("."), endpoint(hash))
}

/// The hash in the user data of a peer's endpoint.
pub(crate) fn type_hash(user_data: &[u8]) -> Option<TypeHash> {
    value(user_data, "typehash")?.parse().ok()
}

/// The identity of the client that an endpoint belongs to.
pub(crate) fn client_id(user_data: &[u8]) -> Option<&str> {
    value(user_data, Role::Client.key())
}

fn value<'a>(user_data: &'a [u8], key: &str) -> Option<&'a str> {
    // Fast DDS ends its user data with a zero byte.
    let text = user_data.strip_suffix(&[0]).unwrap_or(user_data);
    str::from_utf8(text)
        .ok()?
        .split(';')
        .find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "RIHS01_91a0593bacdcc50ea9bdcf849a938b128412cc1ea821245c663bcd26f83c295e";

    #[test]
    fn equal_to_the_user_data_of_rmw_cyclonedds() {
        assert_eq!(participant("/"), "enclave=/;");
        let hash = HASH.parse().unwrap();
        assert_eq!(endpoint(Some(hash)), format!("typehash={HASH};"));
        assert_eq!(endpoint(None), "");
        // From fastrtps_talker_listener_rtps.txt.
        let id = [
            1, 0x10, 0xd9, 0xc9, 0x30, 0x45, 0xcd, 0xe0, 0x70, 0xc1, 0x2d, 0xfd, 0, 0, 0, 7,
        ];
        assert_eq!(
            service_endpoint(Role::Server, &id, Some(hash)),
            format!("serviceid= 1.10.d9.c9.30.45.cd.e0.70.c1.2d.fd.0.0.0.7;typehash={HASH};")
        );
        // From play_clock_rtps.txt.
        let id = [
            1, 0x10, 0x61, 0xb, 2, 0x1a, 0x8f, 0xce, 0x53, 0x87, 0xf4, 0x16, 0, 0, 0, 8,
        ];
        assert_eq!(
            service_endpoint(Role::Client, &id, None),
            "clientid= 1.10.61.b.2.1a.8f.ce.53.87.f4.16.0.0.0.8;"
        );
    }

    #[test]
    fn encoded_user_data_is_read_back() {
        let hash: TypeHash = HASH.parse().unwrap();
        let text = service_endpoint(Role::Client, &[3; 16], Some(hash));
        assert_eq!(type_hash(text.as_bytes()), Some(hash));
        assert_eq!(
            client_id(text.as_bytes()),
            Some(" 3.3.3.3.3.3.3.3.3.3.3.3.3.3.3.3")
        );
        assert_eq!(
            type_hash(format!("typehash={HASH};\0").as_bytes()),
            Some(hash)
        );
    }

    #[test]
    fn foreign_user_data_is_ignored() {
        for data in [
            &b""[..],
            b"typehash",
            b"typehash=;",
            b"typehash=RIHS01_00;",
            b"\xff=;",
            b"xtypehash=1;",
        ] {
            assert_eq!(type_hash(data), None);
            assert_eq!(client_id(data), None);
        }
    }
}
