use std::sync::Arc;

use bytes::Bytes;
use timeloom_node::player::Control;
use timeloom_time::Time;

use super::Shared;
use crate::channel::ChannelId;
use crate::error::{Error, Result};
use crate::hub::Change;
use crate::outgoing::Outgoing;
use crate::peer::Peer;
use crate::protocol::{
    self, ClientMessage, Level, PageRequest, PlaybackCommand, PlaybackRequest, PlaybackStatus,
    ServiceCall, Subprotocol, Subscription,
};
use crate::source::Demand;

/// Limit for concurrent service calls of a client.
const MOST_CALLS: usize = 8;

impl Shared {
    pub(super) fn hear_text(self: &Arc<Self>, peer: &Arc<Peer>, text: &str) {
        let done = if peer.subprotocol == Subprotocol::Page {
            self.hear_page(text)
        } else {
            protocol::parse_text(text).and_then(|message| self.hear(peer, message))
        };
        self.complain(peer, done);
    }

    pub(super) fn hear_binary(self: &Arc<Self>, peer: &Arc<Peer>, data: Bytes) {
        let done = if peer.subprotocol == Subprotocol::Page {
            Err(Error::Unsupported {
                what: "a binary message".into(),
            })
        } else {
            protocol::parse_binary(data).and_then(|message| self.hear(peer, message))
        };
        self.complain(peer, done);
    }

    #[expect(clippy::unused_self, reason = "reads as what the server does")]
    fn complain(&self, peer: &Peer, done: Result<()>) {
        if let Err(error) = done {
            peer.notify(Level::Error, &error.to_string());
        }
    }

    /// Executes a request of the page. The next snapshot shows the result, and the pulse notifies clients.
    fn hear_page(&self, text: &str) -> Result<()> {
        let start = self
            .source
            .description()
            .range_ns
            .map_or(0, |range| range.0);
        self.source
            .control(PageRequest::parse(text)?.control(start)?)
    }

    fn hear(self: &Arc<Self>, peer: &Arc<Peer>, message: ClientMessage) -> Result<()> {
        match message {
            ClientMessage::Subscribe(wanted) => {
                for subscription in wanted {
                    let done = self.subscribe(peer, subscription);
                    self.complain(peer, done);
                }
                Ok(())
            }
            ClientMessage::Unsubscribe(ids) => {
                for id in ids {
                    self.unsubscribe(peer, id);
                }
                Ok(())
            }
            ClientMessage::Advertise(channels) => {
                let mut session = peer.state();
                channels
                    .into_iter()
                    .try_for_each(|channel| session.advertise(channel))
            }
            ClientMessage::Unadvertise(ids) => {
                let mut session = peer.state();
                let unknown = ids.into_iter().find(|id| !session.unadvertise(*id));
                unknown.map_or(Ok(()), |id| Err(no_channel(id)))
            }
            ClientMessage::Publish { channel, payload } => self.publish(peer, channel, payload),
            ClientMessage::Call(call) => {
                self.call(peer, call);
                Ok(())
            }
            ClientMessage::Playback(request) => self.steer(request),
            ClientMessage::SubscribeGraph => {
                peer.state().follow_graph(true);
                Ok(())
            }
            ClientMessage::UnsubscribeGraph => {
                peer.state().follow_graph(false);
                Ok(())
            }
            ClientMessage::Unsupported(operation) => Err(Error::Unsupported { what: operation }),
        }
    }

    fn subscribe(&self, peer: &Arc<Peer>, wanted: Subscription) -> Result<()> {
        let number = wanted.channel_id;
        let channel = u32::try_from(number)
            .map(ChannelId)
            .map_err(|_too_large| Error::Refused(format!("there is no channel {number}")))?;
        peer.state().subscribe(wanted.id, channel)?;
        match self.hub.subscribe(peer, channel, wanted.id) {
            Ok(Change::Demand) => self.source.demand(channel, Demand::Wanted),
            Ok(Change::None) => {}
            Err(error) => {
                peer.state().unsubscribe(wanted.id);
                return Err(error);
            }
        }
        Ok(())
    }

    fn unsubscribe(&self, peer: &Peer, id: u32) {
        let channel = peer.state().unsubscribe(id);
        // The subscriptions of a withdrawn channel are already gone.
        if let Some(channel) = channel
            && self.hub.unsubscribe(peer, channel, id) == Change::Demand
        {
            self.source.demand(channel, Demand::Unwanted);
        }
    }

    fn publish(&self, peer: &Peer, channel: u32, payload: Bytes) -> Result<()> {
        let known = peer.state().channel(channel).cloned();
        let known = known.ok_or_else(|| no_channel(channel))?;
        self.source
            .publish(&known.topic, &known.schema_name, payload)
    }

    /// Calls a service on its own thread, so that a slow service does not block the client.
    fn call(self: &Arc<Self>, peer: &Arc<Peer>, call: ServiceCall) {
        let (service, number) = (call.service, call.call);
        let fail = move |peer: &Peer, error: &Error| {
            peer.send_text(protocol::service_failure(
                service,
                number,
                &error.to_string(),
            ));
        };
        if let Err(error) = peer.state().begin_call(MOST_CALLS) {
            return fail(peer, &error);
        }
        let (shared, caller) = (Arc::clone(self), Arc::clone(peer));
        let run = move || {
            match shared.call_now(&call) {
                Ok(response) => {
                    let mut data = protocol::service_response(service, number, &call.encoding);
                    data.extend(&response);
                    caller.send(Outgoing::binary(data));
                }
                Err(error) => fail(&caller, &error),
            }
            caller.state().end_call();
        };
        let name = format!("view-call-{}", peer.id);
        if let Err(source) = std::thread::Builder::new().name(name.clone()).spawn(run) {
            peer.state().end_call();
            fail(peer, &Error::Thread { name, source });
        }
    }

    fn call_now(&self, call: &ServiceCall) -> Result<Bytes> {
        let number = call.service;
        let service = self
            .hub
            .service(number)
            .ok_or_else(|| Error::Refused(format!("there is no service {number}")))?;
        if call.encoding != "cdr" {
            return Err(Error::Refused(format!(
                "{} can't be called with {}: only cdr is taken",
                service.name, call.encoding
            )));
        }
        self.source.call(&service.name, call.payload.clone())
    }

    /// Executes a request of playback controls: seek, then rate, then play or pause. It always replies.
    fn steer(&self, request: PlaybackRequest) -> Result<()> {
        let mut announcer = self.announcer.lock();
        let Some(before) = self.source.playback() else {
            return Err(Error::Unsupported {
                what: "playback control".into(),
            });
        };
        // Messages after the seek must not arrive before the client clears its plots.
        self.hub.hold();
        let mut done = Ok(());
        let mut send = |control| {
            if done.is_ok() {
                done = self.source.control(control);
            }
        };
        if let Some(time) = request.seek_ns {
            send(Control::Seek(Time::from_nanos(
                i64::try_from(time).unwrap_or(i64::MAX),
            )));
        }
        let rate = as_written(request.speed);
        // NaN differs from every rate, and the player refuses it.
        let same_rate = (rate - before.rate).abs() <= f64::EPSILON;
        if !same_rate {
            send(Control::SetRate(rate));
        }
        let ended = before.status == PlaybackStatus::Ended && request.seek_ns.is_none();
        match request.command {
            PlaybackCommand::Play if !ended => send(Control::Resume),
            PlaybackCommand::Pause if !ended => send(Control::Pause),
            _ => {}
        }
        let after = self.source.playback().unwrap_or(before);
        let did_seek = request.seek_ns.is_some() && after.seeks != before.seeks;
        announcer.answer(&self.hub, after, did_seek, request.id);
        self.hub.release();
        done
    }
}

fn no_channel(id: u32) -> Error {
    Error::Refused(format!("channel {id} was not advertised by this client"))
}

/// A single-precision rate as its shortest decimal: 0.1, not 0.100000001490116.
fn as_written(speed: f32) -> f64 {
    speed.to_string().parse().unwrap_or(f64::from(speed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_the_shortest_decimal() {
        for (speed, rate) in [(0.1f32, 0.1f64), (1.0, 1.0), (2.5, 2.5), (0.05, 0.05)] {
            assert!((as_written(speed) - rate).abs() < f64::EPSILON);
        }
        assert!(as_written(f32::NAN).is_nan());
    }
}
