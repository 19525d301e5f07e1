//! The memory that Cyclone receives packets in.

use super::ffi::{dds_entity_t, timeloom_receive_buffers};

/// The receive buffers of a participant, which keep the memory of large samples for the next ones.
pub(crate) struct ReceiveBuffers(pub(super) dds_entity_t);

impl ReceiveBuffers {
    /// Gives back what was not used since the last call; returns whether nothing is kept any more.
    pub(crate) fn trim(&self) -> bool {
        // SAFETY: any handle may be asked for; a participant that is gone keeps nothing.
        unsafe { timeloom_receive_buffers(self.0, true) <= 0 }
    }

    /// Whether there are any.
    #[cfg(test)]
    fn is_any_kept(&self) -> bool {
        // SAFETY: as above.
        unsafe { timeloom_receive_buffers(self.0, false) > 0 }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::sync::Arc;
    use std::sync::mpsc::{Sender, channel};
    use std::thread;

    use bytes::Bytes;
    use timeloom_msg::QosProfile;
    use timeloom_msg::qos::Durability;
    use timeloom_wire::backend::Notes;

    use super::*;
    use crate::config::configuration;
    use crate::dispatcher::Dispatcher;
    use crate::options::Options;
    use crate::payload_pool::PayloadPool;
    use crate::sys::entity::Domain;
    use crate::sys::listener::EndpointListener;
    use crate::sys::qos::Qos;
    use crate::sys::reader::{RawReader, ReaderHandle};
    use crate::sys::writer::{RawWriter, Written};

    /// Two of them find each other; nothing trims by itself, because the dispatcher has ended.
    fn domain(number: u32) -> Arc<Domain> {
        let text = configuration(&Options::loopback(97), Some(97), std::process::id());
        let dispatcher = Dispatcher::start(&Arc::new(Notes::new(None))).unwrap();
        let pool = PayloadPool::new(dispatcher.dispatch());
        let text = CString::new(text).unwrap();
        Domain::new(number, &text, &Qos::with_user_data(""), Box::new(()), pool).unwrap()
    }

    struct Sizes(Sender<usize>);

    impl EndpointListener for Sizes {
        fn data_available(&self, reader: ReaderHandle) {
            reader.take(|sample| self.0.send(sample.payload.len()).unwrap_or_default());
        }
    }

    /// The writer keeps the sample for the reader, so that nothing waits for discovery.
    #[test]
    fn the_memory_of_a_large_sample_is_kept_for_the_next_one_and_given_back_in_quiet() {
        let (sending, receiving) = (domain(200_001), domain(200_002));
        let profile = QosProfile {
            durability: Durability::TransientLocal,
            ..QosProfile::DEFAULT
        };
        let (sizes, received) = channel();
        let (topic, of_type) = (c"rt/large", c"std_msgs::msg::dds_::String_");
        let qos = Qos::writer(&profile, "");
        let ignore = Arc::new(crate::discovery::IgnoreEvents);
        let writer = RawWriter::new(&sending, topic, of_type, &qos, ignore).unwrap();
        let written = Written {
            source_time: 1,
            related: None,
            flush: true,
        };
        let payload = Bytes::from(vec![0; 5_000_000]);
        writer.write(payload, &written).unwrap();
        let qos = Qos::reader(&profile, "");
        let listener = Arc::new(Sizes(sizes));
        let _reader = RawReader::new(&receiving, topic, of_type, &qos, listener).unwrap();
        assert_eq!(received.recv(), Ok(5_000_000));
        let buffers = ReceiveBuffers(receiving.handle());
        // The receive thread releases them after the callback.
        while !buffers.is_any_kept() {
            thread::yield_now();
        }
        while !buffers.trim() {
            thread::yield_now();
        }
    }

    #[test]
    fn a_participant_that_is_gone_keeps_nothing() {
        let domain = domain(200_003);
        let buffers = ReceiveBuffers(domain.handle());
        drop(domain);
        assert!(buffers.trim());
    }
}
