//! Holds the examples beside this file; there is no library code here.
