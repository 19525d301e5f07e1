//! Every estimator passes the suite.

use timeloom_sync::{Limits, Method, conformance};

#[test]
fn every_method_passes() {
    for method in Method::ALL {
        conformance::run(&|| method.estimator(&Limits::default()));
    }
}

#[test]
fn names_lead_to_methods() {
    for method in Method::ALL {
        assert_eq!(method.name().parse::<Method>().unwrap(), method);
        assert_eq!(method.estimator(&Limits::default()).name(), method.name());
    }
    let error = "kalman".parse::<Method>().unwrap_err().to_string();
    assert_eq!(
        error,
        "unknown estimator \"kalman\", expected one of envelope, psle, hull, mean, regression"
    );
}
