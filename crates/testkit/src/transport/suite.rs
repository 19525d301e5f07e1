use std::panic::{AssertUnwindSafe, catch_unwind};

use super::check_context::CheckContext;
use super::harness::Harness;

/// One thing that every transport must do.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// The name of the check.
    pub name: &'static str,
    /// Runs it; panics if the claim does not hold.
    pub run: fn(&CheckContext<'_>),
}

/// Makes one `#[test]` per check out of a function that makes a harness (`fn() -> Box<dyn Harness>`).
#[macro_export]
macro_rules! transport_conformance {
    ($harness:path) => {
        $crate::transport_conformance!(@list tests $harness);
    };
    (@list $what:ident $($harness:path)?) => {
        $crate::transport_conformance! { @$what $($harness)?;
            payloads: small_payloads_arrive_as_sent
                payloads_of_64_kib_arrive_as_sent
                payloads_of_1_mb_arrive_as_sent
                payloads_of_8_mb_arrive_as_sent
                a_payload_without_encapsulation_is_refused
                names_that_ros_forbids_are_refused;
            streams: samples_come_in_order_with_consecutive_numbers
                best_effort_samples_arrive
                several_writers_reach_several_readers
                publisher_and_subscription_of_one_participant_match
                the_given_source_time_is_received
                a_pause_follows_the_last_sample
                keep_last_overflow_is_a_gap
                a_batch_waits_for_its_flush
                acknowledgements_can_be_waited_for;
            durability: a_late_joiner_gets_exactly_the_depth
                a_volatile_late_joiner_gets_nothing_old
                a_volatile_writer_keeps_nothing_for_late_joiners;
            matching: incompatible_qos_does_not_match_and_both_hear_it
                matched_counts_go_up_and_down
                types_that_differ_do_not_match;
            reentry: a_subscription_can_be_dropped_inside_its_receiver
                a_receiver_can_publish
                a_receiver_can_subscribe
                no_call_begins_after_the_drop;
            graph: nodes_and_endpoints_are_seen_with_types_and_hashes
                qos_of_every_policy_is_seen_exactly
                a_watcher_that_joins_late_sees_the_same
                peers_that_leave_are_gone
                two_nodes_of_one_name_are_two
                no_graph_event_after_the_drop_of_the_watch;
            services: services_answer_both_ways
                two_clients_get_only_their_own_replies
                concurrent_calls_are_answered_in_any_order
                a_server_that_goes_is_not_counted
                a_client_that_goes_harms_no_server
                servers_and_clients_are_in_the_graph;
        }
    };
    (@tests $harness:path; $($module:ident: $($check:ident)*;)*) => {
        $($(
            #[test]
            fn $check() {
                $crate::transport::run(stringify!($check), &|| $harness());
            }
        )*)*
    };
    (@table; $($module:ident: $($check:ident)*;)*) => {
        &[$($($crate::transport::Check {
            name: stringify!($check),
            run: $crate::transport::checks::$module::$check,
        },)*)*]
    };
}

/// All checks.
pub const CHECKS: &[Check] = crate::transport_conformance!(@list table);

/// Runs one check.
///
/// # Panics
/// When it fails, or when there is none of that name.
pub fn run(name: &str, make: &dyn Fn() -> Box<dyn Harness>) {
    let check = CHECKS
        .iter()
        .find(|check| check.name == name)
        .unwrap_or_else(|| panic!("there is no transport check `{name}`"));
    let harness = make();
    (check.run)(&CheckContext::new(&*harness, check.name));
}

/// Runs all checks, each with a harness of its own.
///
/// # Panics
/// When one or more fail, with all their names.
pub fn conformance(make: &dyn Fn() -> Box<dyn Harness>) {
    let failed: Vec<_> = CHECKS
        .iter()
        .filter(|check| catch_unwind(AssertUnwindSafe(|| run(check.name, make))).is_err())
        .map(|check| check.name)
        .collect();
    assert!(
        failed.is_empty(),
        "{} of {} transport checks failed: {failed:?}",
        failed.len(),
        CHECKS.len()
    );
}
