//! `rmw_dds_common/msg/ParticipantEntitiesInfo`, sent on `ros_discovery_info`: the endpoints of each node.

use timeloom_wire::Gid;

/// The topic, outside of the ROS naming scheme.
pub(crate) const TOPIC: &std::ffi::CStr = c"ros_discovery_info";
/// Its type.
pub(crate) const TYPE: &std::ffi::CStr = c"rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_";
/// The hash of its type.
pub(crate) const TYPE_HASH: &str =
    "RIHS01_91a0593bacdcc50ea9bdcf849a938b128412cc1ea821245c663bcd26f83c295e";

/// The nodes of a participant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParticipantInfo {
    pub(crate) participant: Gid,
    pub(crate) nodes: Vec<NodeInfo>,
}

/// A node and its endpoints.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct NodeInfo {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) readers: Vec<Gid>,
    pub(crate) writers: Vec<Gid>,
}

/// Gid sizes of Iron and later, and of Humble, where the last eight bytes are meaningless.
const GID_SIZES: [usize; 2] = [16, 24];

impl ParticipantInfo {
    /// The payload as Jazzy and later send it.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = vec![0, 1, 0, 0];
        out.extend(self.participant.0);
        put_count(&mut out, self.nodes.len());
        for node in &self.nodes {
            put_text(&mut out, &node.namespace);
            put_text(&mut out, &node.name);
            for gids in [&node.readers, &node.writers] {
                put_count(&mut out, gids.len());
                out.extend(gids.iter().flat_map(|gid| gid.0));
            }
        }
        out
    }

    /// Reads a payload with gids of either size: only the right size consumes all of it.
    pub(crate) fn decode(payload: &[u8]) -> Option<Self> {
        let (&[high, low, _, _], body) = payload.split_first_chunk::<4>()?;
        if high != 0 || low > 1 {
            return None;
        }
        GID_SIZES.iter().find_map(|gid_size| {
            let mut reader = Reader {
                body,
                at: 0,
                little_endian: low == 1,
                gid_size: *gid_size,
            };
            let info = reader.participant()?;
            // Senders pad to a multiple of four.
            (body.len() - reader.at < 4).then_some(info)
        })
    }
}

fn put_count(out: &mut Vec<u8>, count: usize) {
    // Positions count from after the header of four bytes: the same alignment.
    out.resize(out.len().next_multiple_of(4), 0);
    out.extend(u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
}

fn put_text(out: &mut Vec<u8>, text: &str) {
    put_count(out, text.len() + 1);
    out.extend(text.as_bytes());
    out.push(0);
}

/// A position in a body; every length is checked against the remaining bytes before anything is allocated.
struct Reader<'a> {
    body: &'a [u8],
    at: usize,
    little_endian: bool,
    gid_size: usize,
}

impl<'a> Reader<'a> {
    fn participant(&mut self) -> Option<ParticipantInfo> {
        let participant = self.gid()?;
        // A node takes at least four lengths.
        let count = self.count(16)?;
        let nodes = (0..count).map(|_| self.node()).collect::<Option<_>>()?;
        Some(ParticipantInfo { participant, nodes })
    }

    fn node(&mut self) -> Option<NodeInfo> {
        Some(NodeInfo {
            namespace: self.text()?,
            name: self.text()?,
            readers: self.gids()?,
            writers: self.gids()?,
        })
    }

    fn gids(&mut self) -> Option<Vec<Gid>> {
        let count = self.count(self.gid_size)?;
        (0..count).map(|_| self.gid()).collect()
    }

    fn gid(&mut self) -> Option<Gid> {
        let bytes = self.take(self.gid_size)?;
        bytes.first_chunk().map(|gid| Gid(*gid))
    }

    fn text(&mut self) -> Option<String> {
        let length = self.count(1)?;
        let bytes = self.take(length)?;
        let bytes = bytes.strip_suffix(&[0]).unwrap_or(bytes);
        str::from_utf8(bytes).ok().map(Into::into)
    }

    /// Number of elements that follow, with at least `size` bytes each.
    fn count(&mut self, size: usize) -> Option<usize> {
        self.at = self.at.next_multiple_of(4);
        let bytes = *self.take(4)?.first_chunk()?;
        let count = if self.little_endian {
            u32::from_le_bytes(bytes)
        } else {
            u32::from_be_bytes(bytes)
        } as usize;
        let left = self.body.len().saturating_sub(self.at);
        (count.checked_mul(size)? <= left).then_some(count)
    }

    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let bytes = self.body.get(self.at..self.at.checked_add(length)?)?;
        self.at += length;
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From `talker_listener_rtps.txt` and `fastrtps_talker_listener_rtps.txt`: Cyclone's listener and Fast DDS's.
    const CAPTURED: [&str; 3] = [
        "000100000110794e3fcc63d62398dd4e000001c101000000020000002f000000090000006c697374656e65720000000000000000010000000110794e3fcc63d62398dd4e00000603",
        "00010000010f78fd717b3e5400000000000001c101000000020000002f000000090000006c697374656e65720000000001000000010f78fd717b3e54000000000000050403000000010f78fd717b3e540000000000000303010f78fd717b3e540000000000000403010f78fd717b3e540000000000000603",
        "0001000001100f11b5d0103bc4363cf4000001c100000000",
    ];

    fn bytes(hex: &str) -> Vec<u8> {
        let digits = hex.as_bytes().chunks(2);
        digits
            .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
            .collect()
    }

    #[test]
    fn captured_payloads_are_read_and_written_byte_for_byte() {
        for captured in CAPTURED.map(bytes) {
            let info = ParticipantInfo::decode(&captured).unwrap();
            assert_eq!(info.encode(), captured);
        }
        let info = ParticipantInfo::decode(&bytes(CAPTURED[0])).unwrap();
        assert_eq!(info.nodes[0].name, "listener");
        assert_eq!(info.nodes[0].namespace, "/");
        assert_eq!(info.nodes[0].writers.len(), 1);
    }

    #[test]
    fn gids_of_humble_are_read() {
        let jazzy = ParticipantInfo::decode(&bytes(CAPTURED[1])).unwrap();
        for info in [jazzy, ParticipantInfo::decode(&bytes(CAPTURED[2])).unwrap()] {
            let mut humble = vec![0, 1, 0, 0];
            humble.extend(info.participant.0);
            humble.extend([0; 8]);
            put_count(&mut humble, info.nodes.len());
            for node in &info.nodes {
                put_text(&mut humble, &node.namespace);
                put_text(&mut humble, &node.name);
                for gids in [&node.readers, &node.writers] {
                    put_count(&mut humble, gids.len());
                    humble.extend(gids.iter().flat_map(|gid| [&gid.0[..], &[0; 8]].concat()));
                }
            }
            assert_eq!(ParticipantInfo::decode(&humble), Some(info));
        }
    }

    #[test]
    fn truncated_and_absurd_payloads_are_refused() {
        let whole = bytes(CAPTURED[1]);
        for length in 0..whole.len() {
            assert_eq!(ParticipantInfo::decode(&whole[..length]), None, "{length}");
        }
        for place in (20..whole.len() - 4).step_by(4) {
            let mut broken = whole.clone();
            broken[place..place + 4].copy_from_slice(&u32::MAX.to_le_bytes());
            // No panic and no allocation of four billion; a gid may be anything.
            drop(ParticipantInfo::decode(&broken));
        }
        assert_eq!(ParticipantInfo::decode(&[0, 3, 0, 0]), None);
        let huge = [&[0, 1, 0, 0][..], &[0; 16], &[0xff; 4]].concat();
        assert_eq!(ParticipantInfo::decode(&huge), None);
    }
}
