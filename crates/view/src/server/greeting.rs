use std::collections::BTreeMap;
use std::sync::Arc;

use super::Shared;
use crate::http::{RequestHead, Response};
use crate::peer::Peer;
use crate::protocol::{Capability, Moment, ServerInfo, Subprotocol};
use crate::source::Ability;

impl Shared {
    /// The key and the protocol of a handshake, or the response to any other request.
    pub(super) fn greet(&self, head: &RequestHead) -> Result<(String, Subprotocol), Response> {
        let (host, origin) = (head.header("host"), head.header("origin"));
        self.access_rules
            .admit(host.as_deref(), origin.as_deref())
            .map_err(|refusal| Response::text("403 Forbidden", refusal))?;
        if !head.is_upgrade() {
            return Err(self.answer(head));
        }
        if head.header("sec-websocket-version").as_deref() != Some("13") {
            let wrong = Response::text("426 Upgrade Required", "WebSocket version 13 is needed");
            return Err(wrong.header("Sec-WebSocket-Version", "13"));
        }
        let bad = |reason: String| Response::text("400 Bad Request", reason);
        let key = head
            .header("sec-websocket-key")
            .ok_or_else(|| bad("missing Sec-WebSocket-Key".into()))?;
        let offered = head.header("sec-websocket-protocol").unwrap_or_default();
        let subprotocol = Subprotocol::choose(&offered).ok_or_else(|| {
            let names = Subprotocol::ALL.map(Subprotocol::name).join(", ");
            bad(format!("no supported sub-protocol; supported are: {names}"))
        })?;
        let most = self.options.most_clients;
        if self.hub.clients().len() >= most {
            let full = format!("too many clients: the limit is {most}");
            return Err(Response::text("503 Service Unavailable", full));
        }
        Ok((key, subprotocol))
    }

    fn answer(&self, head: &RequestHead) -> Response {
        match (head.method.as_str(), head.path.as_str()) {
            ("GET" | "HEAD", "/" | "/index.html") => self.page.response(),
            ("GET" | "HEAD", "/status.json") => {
                Response::new("200 OK", "application/json", self.report())
            }
            ("GET" | "HEAD", _) => {
                Response::text("404 Not Found", "not found; try / or /status.json")
            }
            _ => Response::text("405 Method Not Allowed", "only GET and HEAD are supported")
                .header("Allow", "GET, HEAD"),
        }
    }

    /// Sends the server info to a new client.
    pub(super) fn welcome(&self, peer: &Arc<Peer>) {
        if !peer.subprotocol.is_foxglove() {
            return;
        }
        let description = self.source.description();
        let mut capabilities = Vec::new();
        let mut can = |ability: Ability, capability| {
            if ability == Ability::Yes {
                capabilities.push(capability);
            }
        };
        can(description.time, Capability::Time);
        can(description.services, Capability::Services);
        can(description.publish, Capability::ClientPublish);
        can(description.graph, Capability::ConnectionGraph);
        if description.range_ns.is_some() {
            capabilities.push(Capability::PlaybackControl);
        }
        let program = format!("timeloom {}", env!("CARGO_PKG_VERSION"));
        let info = ServerInfo {
            name: description.name,
            capabilities,
            supported_encodings: vec!["cdr"],
            metadata: BTreeMap::from([("server".to_owned(), program)]),
            session_id: self.session_id.clone(),
            data_start_time: description
                .range_ns
                .map(|(start, _)| Moment::from_ns(start)),
            data_end_time: description.range_ns.map(|(_, end)| Moment::from_ns(end)),
        };
        peer.send_text(info.encode());
        if let Some(playback) = self.source.playback() {
            peer.send(super::announcer::state(&playback, false, None));
        }
    }
}
