/// The protocol of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subprotocol {
    /// `foxglove.sdk.v1`: what Foxglove, `PlotJuggler` and new Lichtblicks offer.
    SdkV1,
    /// `foxglove.websocket.v1`: the same bytes under the name that older clients know.
    WebSocketV1,
    /// `foxglove.sdk.v1.1`: schemas are advertised once per connection, in a table.
    SdkV1_1,
    /// `timeloom.view.v1`: our own page.
    Page,
}

impl Subprotocol {
    /// All protocols, preferred ones first.
    pub const ALL: [Self; 4] = [Self::SdkV1, Self::WebSocketV1, Self::SdkV1_1, Self::Page];

    /// The name in the handshake.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SdkV1 => "foxglove.sdk.v1",
            Self::WebSocketV1 => "foxglove.websocket.v1",
            Self::SdkV1_1 => "foxglove.sdk.v1.1",
            Self::Page => "timeloom.view.v1",
        }
    }

    /// Selects a protocol from the client's `sec-websocket-protocol`; names must match exactly.
    ///
    /// Version 1 is preferred over 1.1 whatever the client's order: every client was tested with it.
    pub fn choose(offered: &str) -> Option<Self> {
        let names: Vec<&str> = offered.split(',').map(str::trim).collect();
        Self::ALL
            .into_iter()
            .find(|known| names.contains(&known.name()))
    }

    /// Whether it is a version of the Foxglove protocol.
    pub const fn is_foxglove(self) -> bool {
        !matches!(self, Self::Page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_accepted_alone() {
        for known in Subprotocol::ALL {
            assert_eq!(Subprotocol::choose(known.name()), Some(known));
        }
    }

    #[test]
    fn version_1_is_preferred_over_1_1() {
        let chosen = Subprotocol::choose("foxglove.sdk.v1.1, foxglove.sdk.v1");
        assert_eq!(chosen, Some(Subprotocol::SdkV1));
        let lichtblick = Subprotocol::choose("foxglove.websocket.v1,foxglove.sdk.v1");
        assert_eq!(lichtblick, Some(Subprotocol::SdkV1));
    }

    #[test]
    fn similar_protocol_names_are_refused() {
        for name in [
            "",
            "foxglove.sdk.v11",
            "foxglove.sdk.v1.10",
            "foxglove.sdk.v2",
            "x-foxglove.sdk.v1",
        ] {
            assert_eq!(Subprotocol::choose(name), None, "{name}");
        }
    }
}
