//! Calls a service of a server with either encoding.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use bytes::Bytes;
use timeloom_wire::{Error, Reply, ReplyReceiver, Result, ServiceClient, ServiceSpec};

use crate::discovery::IgnoreEvents;
use crate::inbox::{Inbox, SampleHandler};
use crate::node::{AnnouncedEndpoints, NodeCore};
use crate::service_ends::{ServiceEndpoints, ends_of};
use crate::service_header::{CycloneHeader, Dialect};
use crate::shared::{Shared, refused};
use crate::sys::{RawReader, RawWriter, SampleIdentity, TakenSample, Written};
use crate::user_data::Role;
use timeloom_wire::backend::NoteKind;
use timeloom_wire::backend::lock;

pub(crate) struct DdsClient {
    reader: RawReader,
    core: Arc<Core>,
    _announced: AnnouncedEndpoints,
}

struct Core {
    service: String,
    receiver: Arc<dyn ReplyReceiver>,
    shared: Arc<Shared>,
    writer: RawWriter,
    /// Our identity for servers of Cyclone.
    number: u64,
    /// Our identity for other servers.
    guid: OnceLock<[u8; 16]>,
    /// The number of the last call.
    last: Mutex<i64>,
    ended: AtomicBool,
}

const ENCAPSULATION: usize = 4;

impl DdsClient {
    pub(crate) fn new(
        node: &Arc<NodeCore>,
        service: &ServiceSpec,
        receiver: Arc<dyn ReplyReceiver>,
    ) -> Result<Self> {
        let ends = ServiceEndpoints::new(&node.shared, service, Role::Client)?;
        let shared = Arc::clone(&node.shared);
        let failed = |code| refused(format!("be a client of `{}`", service.name), code);
        let writer = ends
            .writer(shared.domain(), Arc::new(IgnoreEvents))
            .map_err(failed)?;
        let core = Arc::new(Core {
            service: service.name.clone(),
            receiver,
            number: writer.instance().map_err(failed)?,
            writer,
            guid: OnceLock::new(),
            last: Mutex::default(),
            ended: AtomicBool::new(false),
            shared: Arc::clone(&shared),
        });
        let inbox = Arc::new(Inbox::new(&core, &shared));
        let reader = ends.reader(shared.domain(), inbox).map_err(failed)?;
        core.guid.get_or_init(|| reader.guid());
        Ok(Self {
            _announced: AnnouncedEndpoints::new(node, ends_of(&reader, &core.writer)),
            reader,
            core,
        })
    }
}

impl Drop for DdsClient {
    fn drop(&mut self) {
        self.core.ended.store(true, Ordering::Release);
    }
}

impl ServiceClient for DdsClient {
    fn call(&self, payload: Bytes) -> Result<i64> {
        self.core.call(&payload)
    }

    fn servers(&self) -> usize {
        let mut replies: Vec<_> = self
            .reader
            .handle()
            .writers()
            .into_iter()
            .map(|writer| writer.guid)
            .collect();
        // A server is a reader and a writer of one participant.
        let mut answered = |reader: &[u8; 16]| {
            let writer = replies
                .iter()
                .position(|writer| writer[..12] == reader[..12]);
            writer.map(|writer| replies.swap_remove(writer)).is_some()
        };
        let requests = self.core.writer.readers();
        requests
            .iter()
            .filter(|reader| answered(&reader.guid))
            .count()
    }
}

impl Core {
    fn call(&self, payload: &Bytes) -> Result<i64> {
        if payload.len() < ENCAPSULATION {
            return Err(Error::NoEncapsulation {
                topic: self.service.clone(),
                length: payload.len(),
            });
        }
        let dialect = self.dialect()?;
        // Call numbers are the sequence numbers on the wire, as the standard's encoding requires.
        let mut last = lock(&self.last);
        let (payload, related) = match dialect {
            Dialect::Cyclone => {
                let header = CycloneHeader {
                    client: self.number,
                    sequence: *last + 1,
                };
                (header.join(payload).unwrap_or_default(), None)
            }
            Dialect::Standard => {
                let related = self.guid.get().map(|guid| SampleIdentity {
                    guid: *guid,
                    sequence: SampleIdentity::UNKNOWN_SEQUENCE,
                });
                (payload.clone(), related)
            }
        };
        let written = Written {
            source_time: self.shared.clock.now().nanos(),
            related,
            flush: true,
        };
        let sequence = self
            .writer
            .write(payload, &written)
            .map_err(|code| refused(format!("call `{}`", self.service), code))?;
        *last = match dialect {
            Dialect::Cyclone => *last + 1,
            Dialect::Standard => sequence.cast_signed(),
        };
        Ok(*last)
    }

    /// The encoding of the existing servers; our own if there is none yet.
    ///
    /// A request reaches all servers, and one with the other encoding would misread it: with both encodings present the
    /// call fails.
    fn dialect(&self) -> Result<Dialect> {
        let servers = self.writer.readers();
        let mut dialects = servers.iter().map(|server| Dialect::of(&server.guid));
        let first = dialects.next().unwrap_or(Dialect::Cyclone);
        if dialects.any(|dialect| dialect != first) {
            let reason = "it has servers of two encodings, of rmw_cyclonedds and of rmw_fastrtps, and one of them would \
                          misread the request: stop one of them";
            return Err(refused(format!("call `{}`", self.service), reason));
        }
        Ok(first)
    }

    /// Old versions of Fast DDS answer to the writer.
    fn is_us(&self, guid: &[u8; 16]) -> bool {
        self.guid.get() == Some(guid) || self.writer.guid() == *guid
    }
}

impl SampleHandler for Core {
    fn handle_sample(&self, sample: TakenSample) {
        let reply = if let Some(related) = sample.related {
            let ours = self.is_us(&related.guid);
            ours.then_some((related.sequence, sample.payload))
        } else if let Some((header, payload)) = CycloneHeader::split(&sample.payload) {
            let ours = header.client == self.number;
            ours.then_some((header.sequence, payload))
        } else {
            let length = sample.payload.len();
            let text = format!("reply of `{}`: {length} bytes have no header", self.service);
            self.shared.notes.add(NoteKind::MalformedReply, &text);
            None
        };
        if let (Some((sequence, payload)), false) = (reply, self.ended.load(Ordering::Acquire)) {
            self.receiver.reply(Reply { sequence, payload });
        }
    }
}
