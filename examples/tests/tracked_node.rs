//! The example of a tracked node measures its filter.

#[path = "../examples/tracked_node.rs"]
mod tracked_node;

#[test]
fn the_tracked_node_example_measures_its_filter() {
    let report = tracked_node::run().expect("a report");
    let [hop] = report.hops.as_slice() else {
        panic!("one hop: {:?}", report.hops);
    };
    assert_eq!((&*hop.from, &*hop.to), ("/imu", "/imu_filtered"));
    assert_eq!(hop.nodes, ["/filter"]);
    assert_eq!(hop.total.count, 10);
    // Virtual time also counts each reading of the clock.
    assert_eq!(hop.total.p50_ns / 100_000, 50);
    tracked_node::main().expect("it prints the hop");
}
