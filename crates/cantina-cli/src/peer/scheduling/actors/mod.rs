//! Actors of crates that take long to compile: with the feature `actors`.

mod actix;
mod kameo;
mod ractor;

pub(super) use actix::DDB as ACTIX;
pub(super) use kameo::DDB as KAMEO;
pub(super) use ractor::DDB as RACTOR;
