//! crossfire: channels made for the shape at hand, unbounded and bounded.

use super::{CAPACITY, Peer};
use cantina_lab::experiment::{Drive, Shapes, drive};
use cantina_lab::workload::{Ends, Get, Parcel, Put, Room, Shape, Subject, Tally};
use crossfire::{
    BlockingRxTrait, BlockingTxTrait, MRx, MTx, Rx, Tx, detect_backoff_cfg, mpmc, mpsc, spsc,
};
use std::ops::Range;

pub(super) const UNBOUNDED: Peer = Peer {
    name: "crossfire",
    about: "an unbounded channel, spsc, mpsc or mpmc as the shape allows; try_send and try_recv",
    package: "crossfire",
    shapes: Shapes::Any,
    allocates: true,
    quick: false,
    drive: || by_shape(drive(UnboundedSpsc), drive(UnboundedMpsc), drive(UnboundedMpmc)),
};

pub(super) const BOUNDED: Peer = Peer {
    name: "crossfire-bounded",
    about: "a channel bounded to 65,536, spsc, mpsc or mpmc as the shape allows; try_send and \
            try_recv",
    package: "crossfire",
    shapes: Shapes::Any,
    allocates: false,
    quick: false,
    drive: || by_shape(drive(BoundedSpsc), drive(BoundedMpsc), drive(BoundedMpmc)),
};

/// Drives the narrowest channel that has the shape.
fn by_shape(spsc: Drive, mpsc: Drive, mpmc: Drive) -> Drive {
    // As its documentation asks for.
    detect_backoff_cfg();
    Box::new(move |payload, assignment| {
        let drive = match assignment.shape {
            Shape { producers: 1, consumers: 1 } => &spsc,
            Shape { consumers: 1, .. } => &mpsc,
            Shape { .. } => &mpmc,
        };
        drive(payload, assignment)
    })
}

struct UnboundedSpsc;
struct UnboundedMpsc;
struct UnboundedMpmc;
struct BoundedSpsc;
struct BoundedMpsc;
struct BoundedMpmc;
struct ChannelPut<S>(S);
struct ChannelGet<R>(R);

impl Subject for UnboundedSpsc {
    type Put<T: Parcel> = ChannelPut<Tx<spsc::List<T>>>;
    type Get<T: Parcel> = ChannelGet<Rx<spsc::List<T>>>;

    fn ends<T: Parcel>(&self, _: Shape) -> Ends<Self::Put<T>, Self::Get<T>> {
        let (sender, receiver) = spsc::unbounded_blocking();
        Ends::made([ChannelPut(sender)], [ChannelGet(receiver)])
    }
}

impl Subject for UnboundedMpsc {
    type Put<T: Parcel> = ChannelPut<MTx<mpsc::List<T>>>;
    type Get<T: Parcel> = ChannelGet<Rx<mpsc::List<T>>>;

    fn ends<T: Parcel>(&self, shape: Shape) -> Ends<Self::Put<T>, Self::Get<T>> {
        let (sender, receiver) = mpsc::unbounded_blocking();
        let put = (0..shape.producers).map(|_| ChannelPut(sender.clone()));
        Ends::made(put, [ChannelGet(receiver)])
    }
}

impl Subject for UnboundedMpmc {
    type Put<T: Parcel> = ChannelPut<MTx<mpmc::List<T>>>;
    type Get<T: Parcel> = ChannelGet<MRx<mpmc::List<T>>>;

    fn ends<T: Parcel>(&self, shape: Shape) -> Ends<Self::Put<T>, Self::Get<T>> {
        let (sender, receiver) = mpmc::unbounded_blocking();
        let put = (0..shape.producers).map(|_| ChannelPut(sender.clone()));
        Ends::made(put, (0..shape.consumers).map(|_| ChannelGet(receiver.clone())))
    }
}

impl Subject for BoundedSpsc {
    type Put<T: Parcel> = ChannelPut<Tx<spsc::Array<T>>>;
    type Get<T: Parcel> = ChannelGet<Rx<spsc::Array<T>>>;

    fn ends<T: Parcel>(&self, _: Shape) -> Ends<Self::Put<T>, Self::Get<T>> {
        let (sender, receiver) = spsc::bounded_blocking(CAPACITY);
        Ends::made([ChannelPut(sender)], [ChannelGet(receiver)])
    }
}

impl Subject for BoundedMpsc {
    type Put<T: Parcel> = ChannelPut<MTx<mpsc::Array<T>>>;
    type Get<T: Parcel> = ChannelGet<Rx<mpsc::Array<T>>>;

    fn ends<T: Parcel>(&self, shape: Shape) -> Ends<Self::Put<T>, Self::Get<T>> {
        let (sender, receiver) = mpsc::bounded_blocking(CAPACITY);
        let put = (0..shape.producers).map(|_| ChannelPut(sender.clone()));
        Ends::made(put, [ChannelGet(receiver)])
    }
}

impl Subject for BoundedMpmc {
    type Put<T: Parcel> = ChannelPut<MTx<mpmc::Array<T>>>;
    type Get<T: Parcel> = ChannelGet<MRx<mpmc::Array<T>>>;

    fn ends<T: Parcel>(&self, shape: Shape) -> Ends<Self::Put<T>, Self::Get<T>> {
        let (sender, receiver) = mpmc::bounded_blocking(CAPACITY);
        let put = (0..shape.producers).map(|_| ChannelPut(sender.clone()));
        Ends::made(put, (0..shape.consumers).map(|_| ChannelGet(receiver.clone())))
    }
}

impl<T: Parcel, S: BlockingTxTrait<T>> Put<T> for ChannelPut<S> {
    fn put(&mut self, numbers: Range<u64>, room: &Room<'_>) {
        for number in numbers {
            let send = |task| self.0.try_send(task).map_err(|error| error.into_inner());
            if !room.put(T::numbered(number), send) {
                return;
            }
        }
    }
}

impl<T: Parcel, R: BlockingRxTrait<T>> Get<T> for ChannelGet<R> {
    #[inline]
    fn get(&mut self, tally: &mut Tally) -> bool {
        let Ok(task) = self.0.try_recv() else { return false };
        tally.add(&task);
        true
    }
}
