//! The player on the loopback, on virtual time: exact, and the same every time.

mod bags;
mod burst;
mod clock;
mod next;
mod owner;
mod pace;
mod requests;
mod seek;
mod services;
mod theatre;
mod timing;
