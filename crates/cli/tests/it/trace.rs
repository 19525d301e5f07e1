//! `trace` over bags.

use crate::support::Sandbox;
use crate::trace_bag::Robot;

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    Robot::default().record(&sandbox.path("robot"));
    sandbox
}

#[test]
fn the_report_of_a_robot() {
    insta::assert_snapshot!(sandbox().run("trace report robot"), @"");
}
