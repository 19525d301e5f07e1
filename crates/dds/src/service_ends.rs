//! The two topics of a service, as its server or a client uses them.

use std::ffi::CString;
use std::sync::Arc;

use timeloom_msg::QosProfile;
use timeloom_msg::name::{dds_service_topics, validate_full_topic_name};
use timeloom_wire::{Gid, Result, ServiceSpec};

use crate::node::{c_string, service_type};
use crate::own_nodes::EndpointGids;
use crate::shared::Shared;
use crate::sys::{DdsResult, Domain, EndpointListener, Qos, RawReader, RawWriter};
use crate::user_data::{Role, service_endpoint};

/// The parts that the endpoints of a server or client are created from.
pub(crate) struct ServiceEndpoints {
    reads: End,
    writes: End,
}

struct End {
    topic: CString,
    type_name: CString,
    qos: Qos,
}

/// A client may call often before the server has discovered it: this many calls are kept until they are acknowledged,
/// whatever the depth of the profile, so that no call overwrites another.
const LEAST_DEPTH: u64 = 1000;

impl ServiceEndpoints {
    pub(crate) fn new(shared: &Shared, service: &ServiceSpec, role: Role) -> Result<Self> {
        validate_full_topic_name(&service.name)?;
        let id = shared.next_service_id();
        let profile = QosProfile {
            depth: service.qos.depth.max(LEAST_DEPTH),
            ..service.qos
        };
        let (request, reply) = dds_service_topics(&service.name);
        let end = |topic: &str, suffix, hash, qos: fn(&_, &str) -> Qos| -> Result<End> {
            Ok(End {
                topic: c_string(topic)?,
                type_name: service_type(&service.type_name, suffix)?,
                qos: qos(&profile, &service_endpoint(role, &id, hash)),
            })
        };
        let requests = |qos| end(&request, "_Request", service.request_hash, qos);
        let replies = |qos| end(&reply, "_Response", service.response_hash, qos);
        let (reads, writes) = match role {
            Role::Server => (requests(Qos::reader)?, replies(Qos::writer)?),
            Role::Client => (replies(Qos::reader)?, requests(Qos::writer)?),
        };
        Ok(Self { reads, writes })
    }

    pub(crate) fn reader(
        &self,
        domain: &Arc<Domain>,
        listener: Arc<dyn EndpointListener>,
    ) -> DdsResult<RawReader> {
        let End {
            topic,
            type_name,
            qos,
        } = &self.reads;
        RawReader::new(domain, topic, type_name, qos, listener)
    }

    pub(crate) fn writer(
        &self,
        domain: &Arc<Domain>,
        listener: Arc<dyn EndpointListener>,
    ) -> DdsResult<RawWriter> {
        let End {
            topic,
            type_name,
            qos,
        } = &self.writes;
        RawWriter::new(domain, topic, type_name, qos, listener)
    }
}

/// The gids of both.
pub(crate) fn ends_of(reader: &RawReader, writer: &RawWriter) -> EndpointGids {
    EndpointGids {
        readers: vec![Gid(reader.guid())],
        writers: vec![Gid(writer.guid())],
    }
}
