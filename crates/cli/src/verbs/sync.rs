//! `timeloom sync`: the clocks of sensors, on the clock of the host.

mod bag_samples;
mod calibrate;
mod convert;
mod device_field;
mod fit;
mod limits_arguments;
mod lines;
mod output;
mod pf;
mod pf_arguments;
mod pf_device;
mod pf_lines;
mod relay;
mod retime;
mod simulate;
mod summary;
mod watch;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom sync fit samples.csv                                  offset, drift, jitter, bound, epochs
  timeloom sync fit samples.csv --causal --output fitted.csv     every row as it would have been seen live
  timeloom sync fit my_bag --topic /scan --plot scan.html        the clock behind header.stamp
  timeloom sync retime my_bag -o better --topic /scan            header.stamp on the host's clock
  timeloom sync calibrate samples.csv                            the constant delay, for --least-delay
  timeloom sync convert fitted.csv events.csv                    other device times by the same mapping
  timeloom sync simulate p2 --seed 7 -o samples.csv              samples with the truth beside them
  timeloom sync watch /scan                                      live: offset, drift, bound
  timeloom sync relay /imu --output /imu/synced                  the topic again, with corrected stamps
  timeloom sync pf --host 10.0.10.9                              drive a lidar: scans with true stamps";

crate::verbs::subverbs! {
    /// Relate a sensor's clock to the host's: fit, calibrate, convert, retime, simulate, watch, relay, pf, pf-device
    #[command(after_help = EXAMPLES)]
    {
        Fit => fit,
        Calibrate => calibrate,
        Convert => convert,
        Retime => retime,
        Simulate => simulate,
        Watch => watch,
        Relay => relay,
        Pf => pf,
        PfDevice => pf_device,
    }
}
