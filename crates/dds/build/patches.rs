//! Additions to Cyclone DDS: the numbers and inline `QoS` that it reads and writes but does not expose.
//!
//! Five hooks that are null unless we set them, three functions, receive buffers that are used again, one abort less, no
//! loss at the start of foreign streams, a limit to the participants that are believed, and no C++ compiler. An anchor
//! that is not found exactly once fails the build: the C compiler then checks the rest, so no private layout is guessed at
//! run time.

use std::path::Path;

struct Patch {
    /// The last parts of its path.
    file: &'static str,
    edits: &'static [(&'static str, &'static str)],
}

const PATCHES: [Patch; 10] = [
    // The library has no C++; if C++ is requested, a cross compiler such as zig first builds a C++ library for minutes.
    Patch {
        file: "cyclonedds/CMakeLists.txt",
        edits: &[("LANGUAGES C CXX)", "LANGUAGES C)")],
    },
    Patch {
        file: "ddsi_transmit.c",
        edits: &[
            // Declared after the last include.
            (
                "#include \"dds__whc.h\"\n",
                "#include \"dds__whc.h\"\n\
                 void (*timeloom_inline_qos_hook) (struct ddsi_xmsg *m, const struct ddsi_serdata *d) = NULL;\n\
                 void (*timeloom_write_hook) (struct ddsi_serdata *d, const ddsi_guid_t *writer, uint64_t seq) = NULL;\n\
                 static void timeloom_written (struct ddsi_writer *wr, struct ddsi_serdata *d, ddsi_seqno_t seq)\n\
                 {\n  const ddsi_guid_t guid = ddsi_hton_guid (wr->e.guid);\n\
                   if (timeloom_write_hook) timeloom_write_hook (d, &guid, seq);\n}\n",
            ),
            (
                "  seq = ++wr->seq;\n  wr->sent_bytes",
                "  seq = ++wr->seq;\n  timeloom_written (wr, serdata, seq);\n  wr->sent_bytes",
            ),
            (
                "  if (ddsi_xmsg_addpar_sentinel_ifparam (*pmsg) > 0)\n",
                "  if (timeloom_inline_qos_hook) timeloom_inline_qos_hook (*pmsg, serdata);\n  \
                 if (ddsi_xmsg_addpar_sentinel_ifparam (*pmsg) > 0)\n",
            ),
            (
                "    rc = ddsi_xmsg_addpar_sentinel_ifparam (*pmsg);\n",
                "    if (timeloom_inline_qos_hook) timeloom_inline_qos_hook (*pmsg, serdata);\n    \
                 rc = ddsi_xmsg_addpar_sentinel_ifparam (*pmsg);\n",
            ),
        ],
    },
    Patch {
        file: "ddsi_receive.c",
        edits: &[
            (
                "static struct ddsi_serdata *remote_make_sample (",
                "void (*timeloom_receive_hook) (struct ddsi_serdata *d, const ddsi_guid_t *writer, uint64_t seq, const unsigned char *qos, size_t qos_size, int little_endian) = NULL;\n\
                 static void timeloom_received (struct ddsi_serdata *d, const struct ddsi_rsample_info *sampleinfo, const struct ddsi_rdata *fragchain, unsigned char flags)\n\
                 {\n\
                   if (timeloom_receive_hook == NULL || sampleinfo->pwr == NULL) return;\n\
                   const ddsi_guid_t guid = ddsi_hton_guid (sampleinfo->pwr->e.guid);\n\
                   const ddsi_rtps_data_datafrag_common_t *msg = (const ddsi_rtps_data_datafrag_common_t *) DDSI_RMSG_PAYLOADOFF (fragchain->rmsg, DDSI_RDATA_SUBMSG_OFF (fragchain));\n\
                   const size_t qos = DDSI_RDATA_SUBMSG_OFF (fragchain) + offsetof (ddsi_rtps_data_datafrag_common_t, octetsToInlineQos) + sizeof (msg->octetsToInlineQos) + msg->octetsToInlineQos;\n\
                   const size_t end = DDSI_RDATA_PAYLOAD_OFF (fragchain);\n\
                   const size_t size = ((flags & DDSI_DATA_FLAG_INLINE_QOS) && qos < end) ? end - qos : 0;\n\
                   timeloom_receive_hook (d, &guid, sampleinfo->seq, DDSI_RMSG_PAYLOADOFF (fragchain->rmsg, qos), size, msg->smhdr.flags & DDSI_RTPS_SUBMESSAGE_FLAG_ENDIANNESS);\n\
                 }\n\n\
                 static struct ddsi_serdata *remote_make_sample (",
            ),
            (
                "    if ((*tk = ddsi_tkmap_lookup_instance_ref (gv->m_tkmap, sample)) == NULL)\n    {\n      ddsi_serdata_unref (sample);\n      sample = NULL;",
                "    timeloom_received (sample, sampleinfo, fragchain, data_smhdr_flags);\n    \
                 if ((*tk = ddsi_tkmap_lookup_instance_ref (gv->m_tkmap, sample)) == NULL)\n    {\n      ddsi_serdata_unref (sample);\n      sample = NULL;",
            ),
            // All that a foreign volatile writer still has is for its readers, or it says that it is not: Cyclone takes
            // all up to the first heartbeat for history, and loses what was sent before it saw the writer.
            (
                "    gap_end_seq = lastseq + 1;\n",
                "    const bool timeloom_request_all = !ddsi_vendor_is_eclipse (rst->vendor) && pwr->c.xqos->durability.kind == DDS_DURABILITY_VOLATILE;\n    \
                 gap_end_seq = timeloom_request_all ? firstseq : lastseq + 1;\n",
            ),
            // What a writer says of its last number, whether its data comes or not.
            (
                "static int handle_Heartbeat (struct ddsi_receiver_state *rst, ddsrt_etime_t tnow, struct ddsi_rmsg *rmsg, const ddsi_rtps_heartbeat_t *msg, ddsrt_wctime_t timestamp, ddsi_rtps_submessage_kind_t prev_smid)\n",
                "void (*timeloom_heartbeat_hook) (const ddsi_guid_t *writer, uint64_t last) = NULL;\n\
                 static int handle_Heartbeat (struct ddsi_receiver_state *rst, ddsrt_etime_t tnow, struct ddsi_rmsg *rmsg, const ddsi_rtps_heartbeat_t *msg, ddsrt_wctime_t timestamp, ddsi_rtps_submessage_kind_t prev_smid)\n",
            ),
            // Not those of discovery: the upper bits of the kind say so.
            (
                "  // Inserting a GAP for [1..gap_end_seq) is our way of implementing the processing of\n",
                "  if (timeloom_heartbeat_hook && (src.entityid.u & 0xc0) == 0)\n  {\n    \
                 const ddsi_guid_t guid = ddsi_hton_guid (src);\n    \
                 timeloom_heartbeat_hook (&guid, lastseq);\n  }\n  \
                 // Inserting a GAP for [1..gap_end_seq) is our way of implementing the processing of\n",
            ),
            // The first data of a foreign volatile writer begins its stream. Cyclone waits for the first heartbeat and
            // takes all up to there for history, which loses what Fast DDS sends right after it is matched.
            (
                "  /* Track highest sequence number we know of -- we track both\n",
                "  if (!pwr->have_seen_heartbeat && pwr->n_reliable_readers > 0 && !ddsi_vendor_is_eclipse (rst->vendor) && pwr->c.xqos->durability.kind == DDS_DURABILITY_VOLATILE)\n  {\n    \
                 if (sampleinfo->seq > 1) ddsi_reorder_drop_upto (pwr->reorder, sampleinfo->seq);\n    \
                 pwr->have_seen_heartbeat = 1;\n  }\n  \
                 /* Track highest sequence number we know of -- we track both\n",
            ),
        ],
    },
    // Asks the writers of a reader for a heartbeat: an acknowledgement that wants an answer.
    Patch {
        file: "ddsi_acknack.c",
        edits: &[
            (
                "#include \"ddsi__xevent.h\"\n",
                "#include \"ddsi__xevent.h\"\n\
                 #include \"ddsi__vendor.h\"\n\
                 #include \"dds/ddsrt/heap.h\"\n\
                 #include \"dds/ddsi/ddsi_thread.h\"\n",
            ),
            // Fast DDS answers an empty acknowledgement with a heartbeat only if its base is 0, as its own are, and if
            // its count is new. Without an answer, its endpoints are known after up to 1 s and kept samples after 3 s.
            (
                "  an->readerSNState.bitmap_base = ddsi_to_seqno (1);\n",
                "  const bool timeloom_base_0 = ddsi_vendor_is_eprosima (pwr->c.vendor);\n  \
                 an->readerSNState.bitmap_base = ddsi_to_seqno (timeloom_base_0 ? 0 : 1);\n",
            ),
            (
                "  *countp = 0;\n",
                "  *countp = timeloom_base_0 ? rwn->count++ : 0;\n",
            ),
            (
                "void ddsi_acknack_xevent_cb (struct ddsi_domaingv *gv,",
                "static struct ddsi_xmsg *timeloom_question (struct ddsi_proxy_writer *pwr, struct ddsi_pwr_rd_match *rwn)\n\
             {\n\
               struct ddsi_xmsg *msg = ddsi_xmsg_new (pwr->e.gv->xmsgpool, &rwn->rd_guid, NULL, DDSI_ACKNACK_SIZE_MAX, DDSI_XMSG_KIND_CONTROL);\n\
               if (msg == NULL) return NULL;\n\
               struct ddsi_reorder *reorder;\n\
               ddsi_seqno_t base = 1;\n\
               int notail;\n\
               const bool base_0 = ddsi_vendor_is_eprosima (pwr->c.vendor);\n\
               if (base_0) base = 0;\n\
               else if (pwr->have_seen_heartbeat) add_acknack_getsource (pwr, rwn, &reorder, &base, &notail);\n\
               ddsi_xmsg_setdst_pwr (msg, pwr);\n\
               struct ddsi_xmsg_marker sm_marker;\n\
               ddsi_rtps_acknack_t *an = ddsi_xmsg_append (msg, &sm_marker, DDSI_ACKNACK_SIZE (0));\n\
               ddsi_xmsg_submsg_init (msg, sm_marker, DDSI_RTPS_SMID_ACKNACK);\n\
               an->readerId = ddsi_hton_entityid (rwn->rd_guid.entityid);\n\
               an->writerId = ddsi_hton_entityid (pwr->e.guid.entityid);\n\
               an->readerSNState.bitmap_base = ddsi_to_seqno (base);\n\
               an->readerSNState.numbits = 0;\n\
               ddsi_count_t * const countp = (ddsi_count_t *) ((char *) an + offsetof (ddsi_rtps_acknack_t, bits) + DDSI_SEQUENCE_NUMBER_SET_BITS_SIZE (0));\n\
               *countp = (base_0 || pwr->have_seen_heartbeat) ? rwn->count++ : 0;\n\
               ddsi_xmsg_submsg_setnext (msg, sm_marker);\n\
               return msg;\n\
             }\n\n\
             void timeloom_ask_heartbeats (struct ddsi_reader *rd);\n\
             void timeloom_ask_heartbeats (struct ddsi_reader *rd)\n\
             {\n\
               ddsrt_avl_iter_t it;\n\
               uint32_t count = 0;\n\
               ddsi_thread_state_awake (ddsi_lookup_thread_state (), rd->e.gv);\n\
               ddsrt_mutex_lock (&rd->e.lock);\n\
               ddsi_guid_t * const writers = ddsrt_malloc ((rd->num_writers + 1) * sizeof (*writers));\n\
               for (const struct ddsi_rd_pwr_match *m = ddsrt_avl_iter_first (&ddsi_rd_writers_treedef, &rd->writers, &it); m != NULL && count < rd->num_writers; m = ddsrt_avl_iter_next (&it))\n    \
                 writers[count++] = m->pwr_guid;\n\
               ddsrt_mutex_unlock (&rd->e.lock);\n\
               for (uint32_t i = 0; i < count; i++)\n  {\n    \
                 struct ddsi_proxy_writer *pwr = ddsi_entidx_lookup_proxy_writer_guid (rd->e.gv->entity_index, &writers[i]);\n    \
                 if (pwr == NULL) continue;\n    \
                 ddsrt_mutex_lock (&pwr->e.lock);\n    \
                 struct ddsi_pwr_rd_match *rwn = ddsrt_avl_lookup (&ddsi_pwr_readers_treedef, &pwr->readers, &rd->e.guid);\n    \
                 struct ddsi_xmsg *msg = (rwn != NULL && rwn->acknack_xevent != NULL) ? timeloom_question (pwr, rwn) : NULL;\n    \
                 ddsrt_mutex_unlock (&pwr->e.lock);\n    \
                 if (msg) ddsi_qxev_msg (pwr->evq, msg);\n  }\n\
               ddsrt_free (writers);\n\
               ddsi_thread_state_asleep (ddsi_lookup_thread_state ());\n\
             }\n\n\
             void ddsi_acknack_xevent_cb (struct ddsi_domaingv *gv,",
            ),
        ],
    },
    Patch {
        file: "dds_matched.c",
        edits: &[(
            "dds_return_t dds_get_matched_publications (dds_entity_t reader,",
            "void timeloom_ask_heartbeats (struct ddsi_reader *rd);\n\
             dds_return_t timeloom_ask_writers (dds_entity_t reader);\n\
             dds_return_t timeloom_ask_writers (dds_entity_t reader)\n\
             {\n\
               dds_reader *rd;\n\
               dds_return_t ret = dds_reader_lock (reader, &rd);\n\
               if (ret != DDS_RETCODE_OK) return ret;\n\
               timeloom_ask_heartbeats (rd->m_rd);\n\
               dds_reader_unlock (rd);\n\
               return DDS_RETCODE_OK;\n\
             }\n\n\
             void timeloom_trim_spares (struct ddsi_rbufpool *rbp);\n\
             int timeloom_count_spares (struct ddsi_rbufpool *rbp);\n\
             dds_return_t timeloom_receive_buffers (dds_entity_t participant, bool trim);\n\
             dds_return_t timeloom_receive_buffers (dds_entity_t participant, bool trim)\n\
             {\n\
               dds_entity *e;\n\
               int kept = 0;\n\
               dds_return_t ret = dds_entity_pin (participant, &e);\n\
               if (ret != DDS_RETCODE_OK) return ret;\n\
               struct ddsi_domaingv * const gv = &e->m_domain->gv;\n\
               for (uint32_t i = 0; i < gv->n_recv_threads; i++)\n  {\n    \
                 if (gv->recv_threads[i].arg.rbpool == NULL) continue;\n    \
                 if (trim) timeloom_trim_spares (gv->recv_threads[i].arg.rbpool);\n    \
                 kept += timeloom_count_spares (gv->recv_threads[i].arg.rbpool);\n  }\n\
               dds_entity_unpin (e);\n\
               return kept;\n\
             }\n\n\
             dds_return_t dds_get_matched_publications (dds_entity_t reader,",
        )],
    },
    // Receive buffers that are empty are kept for the next ones, up to eight (of 1 MiB each): the operating system would
    // take their memory back, and give it again one page at a time. Any thread may release one.
    Patch {
        file: "ddsi_radmin.c",
        edits: &[
            (
                "struct ddsi_rbufpool {\n",
                "#define TIMELOOM_SPARES 8\n\
                 struct ddsi_rbufpool {\n  \
                 ddsrt_atomic_voidp_t timeloom_spares[TIMELOOM_SPARES];\n  \
                 ddsrt_atomic_uint32_t timeloom_used;\n",
            ),
            (
                "static void ddsi_rbuf_release (struct ddsi_rbuf *rbuf);\n",
                "static void ddsi_rbuf_release (struct ddsi_rbuf *rbuf);\n\
                 static void *timeloom_take_spare (struct ddsi_rbufpool *rbp)\n\
                 {\n  \
                   for (int i = 0; i < TIMELOOM_SPARES; i++)\n  {\n    \
                     void *spare = ddsrt_atomic_ldvoidp (&rbp->timeloom_spares[i]);\n    \
                     if (spare && ddsrt_atomic_casvoidp (&rbp->timeloom_spares[i], spare, NULL)) return spare;\n  }\n  \
                   return NULL;\n\
                 }\n\n\
                 static bool timeloom_keep_spare (struct ddsi_rbufpool *rbp, void *spare)\n\
                 {\n  \
                   for (int i = 0; i < TIMELOOM_SPARES; i++)\n    \
                     if (ddsrt_atomic_casvoidp (&rbp->timeloom_spares[i], NULL, spare)) return true;\n  \
                   return false;\n\
                 }\n\n\
                 static void timeloom_free_spares (struct ddsi_rbufpool *rbp)\n\
                 {\n  \
                   void *spare;\n  \
                   while ((spare = timeloom_take_spare (rbp)) != NULL) ddsrt_free (spare);\n\
                 }\n\n\
                 void timeloom_trim_spares (struct ddsi_rbufpool *rbp);\n\
                 void timeloom_trim_spares (struct ddsi_rbufpool *rbp)\n\
                 {\n  \
                   if (ddsrt_atomic_ld32 (&rbp->timeloom_used) == 0) timeloom_free_spares (rbp);\n  \
                   ddsrt_atomic_st32 (&rbp->timeloom_used, 0);\n\
                 }\n\n\
                 int timeloom_count_spares (struct ddsi_rbufpool *rbp);\n\
                 int timeloom_count_spares (struct ddsi_rbufpool *rbp)\n\
                 {\n  \
                   int kept = 0;\n  \
                   for (int i = 0; i < TIMELOOM_SPARES; i++)\n    \
                     kept += ddsrt_atomic_ldvoidp (&rbp->timeloom_spares[i]) != NULL;\n  \
                   return kept;\n\
                 }\n",
            ),
            (
                "  rbp->rbuf_size = rbuf_size;\n",
                "  rbp->rbuf_size = rbuf_size;\n  \
                 for (int i = 0; i < TIMELOOM_SPARES; i++) ddsrt_atomic_stvoidp (&rbp->timeloom_spares[i], NULL);\n  \
                 ddsrt_atomic_st32 (&rbp->timeloom_used, 0);\n",
            ),
            (
                "  ddsi_rbuf_release (rbp->current);\n#if USE_VALGRIND\n",
                "  ddsi_rbuf_release (rbp->current);\n  timeloom_free_spares (rbp);\n#if USE_VALGRIND\n",
            ),
            (
                "  if ((rb = ddsrt_malloc (sizeof (struct ddsi_rbuf) + rbp->rbuf_size)) == NULL)\n",
                "  ddsrt_atomic_st32 (&rbp->timeloom_used, 1);\n  \
                 if ((rb = timeloom_take_spare (rbp)) == NULL && (rb = ddsrt_malloc (sizeof (struct ddsi_rbuf) + rbp->rbuf_size)) == NULL)\n",
            ),
            (
                "    ddsrt_free (rbuf);\n",
                "    if (!timeloom_keep_spare (rbp, rbuf)) ddsrt_free (rbuf);\n",
            ),
        ],
    },
    Patch {
        file: "dds_write.c",
        edits: &[(
            "dds_return_t dds_forwardcdr (",
            "dds_return_t timeloom_forwardcdr (dds_entity_t writer, struct ddsi_serdata *serdata, bool flush);\n\
             dds_return_t timeloom_forwardcdr (dds_entity_t writer, struct ddsi_serdata *serdata, bool flush)\n\
             {\n\
               dds_writer *wr;\n\
               dds_return_t ret = dds_writer_lock (writer, &wr);\n\
               if (ret != DDS_RETCODE_OK) return ret;\n\
               ret = dds_writecdr_impl (wr, wr->m_xp, serdata, flush);\n\
               dds_writer_unlock (wr);\n\
               return ret;\n\
             }\n\n\
             dds_return_t dds_forwardcdr (",
        )],
    },
    // A peer that invents participants takes no more memory than this many need; existing ones stay.
    Patch {
        file: "ddsi_discovery_spdp.c",
        edits: &[
            (
                "enum participant_guid_is_known_result {\n",
                "#define TIMELOOM_MOST_PARTICIPANTS 2000\n\
                 static bool timeloom_crowded (const struct ddsi_domaingv *gv)\n\
                 {\n\
                   struct ddsi_entity_enum_proxy_participant all;\n\
                   uint32_t count = 0;\n\
                   ddsi_entidx_enum_proxy_participant_init (&all, gv->entity_index);\n\
                   while (count < TIMELOOM_MOST_PARTICIPANTS && ddsi_entidx_enum_proxy_participant_next (&all) != NULL)\n    \
                     count++;\n\
                   ddsi_entidx_enum_proxy_participant_fini (&all);\n\
                   return count == TIMELOOM_MOST_PARTICIPANTS;\n\
                 }\n\n\
                 enum participant_guid_is_known_result {\n",
            ),
            (
                "    return (pgik_result == PGIKR_KNOWN_BUT_INTERESTING) ? HSR_INTERESTING : HSR_NOT_INTERESTING;\n",
                "    return (pgik_result == PGIKR_KNOWN_BUT_INTERESTING) ? HSR_INTERESTING : HSR_NOT_INTERESTING;\n  \
                 if (timeloom_crowded (gv))\n  {\n    \
                   GVWARNING (\"there are %d participants, as many as are believed: \"PGUIDFMT\" is ignored\\n\", TIMELOOM_MOST_PARTICIPANTS, PGUID (datap->participant_guid));\n    \
                   return HSR_NOT_INTERESTING;\n  }\n",
            ),
        ],
    },
    // Who left without a word: its lease ran out.
    Patch {
        file: "ddsi_lease.c",
        edits: &[
            (
                "#include \"ddsi__proxy_participant.h\"\n",
                "#include \"ddsi__proxy_participant.h\"\n\
                 void (*timeloom_lease_hook) (const ddsi_guid_t *participant) = NULL;\n",
            ),
            (
                "        ddsi_delete_proxy_participant_by_guid (gv, &g, ddsrt_time_wallclock(), true);\n",
                "        if (timeloom_lease_hook)\n        {\n          \
                 const ddsi_guid_t guid = ddsi_hton_guid (g);\n          \
                 timeloom_lease_hook (&guid);\n        }\n        \
                 ddsi_delete_proxy_participant_by_guid (gv, &g, ddsrt_time_wallclock(), true);\n",
            ),
        ],
    },
    Patch {
        file: "ddsi_spdp_schedule.c",
        edits: &[(
            // A peer that cannot be looked up is logged and left out; otherwise Cyclone aborts the process.
            "    rc = add_peer_address (adm, list->peer, prune_delay);\n",
            "    (void) add_peer_address (adm, list->peer, prune_delay);\n",
        )],
    },
];

/// The patched text of a file, or the file as it is.
pub(crate) fn patched(path: &Path, content: Vec<u8>) -> Vec<u8> {
    let Some(patch) = PATCHES.iter().find(|patch| path.ends_with(patch.file)) else {
        return content;
    };
    let mut text = String::from_utf8(content).expect("C sources are text");
    for (anchor, replacement) in patch.edits {
        let found = text.matches(anchor).count();
        assert!(
            found == 1,
            "{}: found {found} times, not once: {anchor}",
            patch.file
        );
        text = text.replace(anchor, replacement);
    }
    text.into_bytes()
}
