//! Serves a service for clients with either encoding.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use timeloom_time::{Duration, Event, Time, TimeBase};
use timeloom_wire::{
    EndpointEvent, Error, Gid, Request, RequestHandler, RequestId, Result, ServiceServer,
    ServiceSpec,
};

use crate::inbox::{Inbox, SampleHandler};
use crate::node::{AnnouncedEndpoints, NodeCore};
use crate::service_ends::{ServiceEndpoints, ends_of};
use crate::service_header::{CycloneHeader, Dialect};
use crate::shared::{Shared, refused};
use crate::sys::{
    EndpointListener, MatchedEndpoint, RawReader, RawWriter, ReaderHandle, SampleIdentity,
    TakenSample, Written,
};
use crate::user_data::{self, Role};
use timeloom_wire::backend::NoteKind;

pub(crate) struct DdsServer {
    _reader: RawReader,
    core: Arc<Core>,
    _announced: AnnouncedEndpoints,
}

struct Core {
    service: String,
    handler: Arc<dyn RequestHandler>,
    shared: Arc<Shared>,
    writer: RawWriter,
    /// Set when a client's reader of replies is discovered.
    matched: Event,
    reader: OnceLock<ReaderHandle>,
    ended: AtomicBool,
}

/// Time that a reply waits for the discovery of its reader: discovery has no order between a client's two endpoints. As
/// in `rmw_cyclonedds`.
const PATIENCE: Duration = Duration::from_millis(100);

impl DdsServer {
    pub(crate) fn new(
        node: &Arc<NodeCore>,
        service: &ServiceSpec,
        handler: Arc<dyn RequestHandler>,
    ) -> Result<Self> {
        let ends = ServiceEndpoints::new(&node.shared, service, Role::Server)?;
        let shared = Arc::clone(&node.shared);
        let failed = |code| refused(format!("serve `{}`", service.name), code);
        let matched = Event::new(&TimeBase::machine());
        let writer = ends
            .writer(shared.domain(), Arc::new(Matched(matched.clone())))
            .map_err(failed)?;
        let core = Arc::new(Core {
            service: service.name.clone(),
            handler,
            writer,
            matched,
            reader: OnceLock::new(),
            ended: AtomicBool::new(false),
            shared: Arc::clone(&shared),
        });
        let inbox = Arc::new(Inbox::new(&core, &shared));
        let reader = ends.reader(shared.domain(), inbox).map_err(failed)?;
        core.reader.get_or_init(|| reader.handle());
        Ok(Self {
            _announced: AnnouncedEndpoints::new(node, ends_of(&reader, &core.writer)),
            _reader: reader,
            core,
        })
    }
}

impl Drop for DdsServer {
    fn drop(&mut self) {
        self.core.ended.store(true, Ordering::Release);
    }
}

impl ServiceServer for DdsServer {
    fn reply(&self, id: &RequestId, payload: Bytes) -> Result<()> {
        self.core.reply(id, payload)
    }
}

impl ServiceServer for Core {
    fn reply(&self, id: &RequestId, payload: Bytes) -> Result<()> {
        if !self.reader_in_sight(id) {
            return Err(Error::ClientGone {
                service: self.service.clone(),
                client: id.client,
            });
        }
        let no_encapsulation = || Error::NoEncapsulation {
            topic: self.service.clone(),
            length: payload.len(),
        };
        let (payload, related) = match Dialect::from_number(id.dialect) {
            Dialect::Cyclone => {
                let (client, _) = cyclone_client(&id.client);
                let header = CycloneHeader {
                    client,
                    sequence: id.sequence,
                };
                (header.join(&payload).ok_or_else(no_encapsulation)?, None)
            }
            Dialect::Standard => {
                let related = SampleIdentity {
                    guid: id.client.0,
                    sequence: id.sequence,
                };
                (payload, Some(related))
            }
        };
        let written = Written {
            source_time: self.shared.clock.now().nanos(),
            related,
            flush: true,
        };
        let sent = self.writer.write(payload, &written);
        sent.map(drop)
            .map_err(|code| refused(format!("answer `{}`", self.service), code))
    }
}

/// A client of `rmw_cyclonedds` is identified by a number that it chose, which the reply repeats, and its writer.
fn client_gid(number: u64, publication: u64) -> Gid {
    let mut gid = Gid::UNKNOWN;
    gid.0[..8].copy_from_slice(&number.to_le_bytes());
    gid.0[8..].copy_from_slice(&publication.to_le_bytes());
    gid
}

fn cyclone_client(gid: &Gid) -> (u64, u64) {
    let (number, publication) = gid.0.split_at(8);
    let read = |bytes: &[u8]| {
        bytes
            .first_chunk()
            .map_or(0, |bytes| u64::from_le_bytes(*bytes))
    };
    (read(number), read(publication))
}

impl Core {
    /// Waits until the client's reader of replies is discovered; false if it is not, or if the client is gone.
    fn reader_in_sight(&self, id: &RequestId) -> bool {
        loop {
            self.matched.clear();
            match self.reply_reader(id) {
                Some(there) if there => return true,
                Some(_) if self.matched.wait_for(PATIENCE) => {}
                _ => return false,
            }
        }
    }

    /// Whether the client's reader of replies is discovered; `None` if the client is gone.
    fn reply_reader(&self, id: &RequestId) -> Option<bool> {
        let readers = self.writer.readers();
        match Dialect::from_number(id.dialect) {
            Dialect::Standard => Some(
                readers
                    .iter()
                    .any(|reader| belongs_to(&reader.guid, &id.client)),
            ),
            Dialect::Cyclone => {
                let (_, publication) = cyclone_client(&id.client);
                let caller = self.reader.get()?.writer(publication)?;
                Some(readers.iter().any(|reader| is_of_client(reader, &caller)))
            }
        }
    }
}

impl SampleHandler for Core {
    fn handle_sample(&self, sample: TakenSample) {
        match request(sample) {
            Ok(request) if !self.ended.load(Ordering::Acquire) => {
                self.handler.request(request, self);
            }
            Ok(_) => {}
            Err(text) => {
                let text = format!("request of `{}`: {text}", self.service);
                self.shared.notes.add(NoteKind::MalformedRequest, &text);
            }
        }
    }
}

/// Whether it is the client's reader, or (for old versions, which send the writer) one of the same participant.
fn belongs_to(reader: &[u8; 16], client: &Gid) -> bool {
    const READER_KINDS: [u8; 2] = [0x04, 0x07];
    let told_reader = READER_KINDS.contains(&(client.0[15] & 0x3f));
    *reader == client.0 || (!told_reader && reader[..12] == client.0[..12])
}

fn is_of_client(reader: &MatchedEndpoint, caller: &MatchedEndpoint) -> bool {
    match user_data::client_id(&caller.user_data) {
        Some(id) => user_data::client_id(&reader.user_data) == Some(id),
        // Without an id: any reader of the same participant.
        None => reader.guid[..12] == caller.guid[..12],
    }
}

fn request(sample: TakenSample) -> std::result::Result<Request, String> {
    let source_time = (sample.source_time != 0).then(|| Time::from_nanos(sample.source_time));
    let dialect = if sample.related.is_some() {
        Dialect::Standard
    } else {
        Dialect::of(&sample.writer)
    };
    let length = sample.payload.len();
    let (client, sequence, payload) = match dialect {
        Dialect::Cyclone => {
            let (header, payload) = CycloneHeader::split(&sample.payload).ok_or_else(|| {
                format!("{length} bytes from {} have no header", Gid(sample.writer))
            })?;
            (
                client_gid(header.client, sample.publication),
                header.sequence,
                payload,
            )
        }
        Dialect::Standard => {
            let client = sample.related.map_or(sample.writer, |related| related.guid);
            (Gid(client), sample.sequence.cast_signed(), sample.payload)
        }
    };
    let id = RequestId {
        client,
        sequence,
        dialect: dialect.number(),
    };
    Ok(Request {
        id,
        payload,
        source_time,
    })
}

/// Wakes threads that wait for a reader of replies.
struct Matched(Event);

impl EndpointListener for Matched {
    fn event(&self, event: EndpointEvent) {
        if matches!(event, EndpointEvent::Matched { .. }) {
            self.0.set();
        }
    }
}
