//! Pools that are built of rooms.

use crate::registry::{Batches, Facts, Family, Order, ProducerOf, Visitor};
use cantina::rooms::{RoomQueue, RoomStack};
use cantina_record::Kind;

pub(super) fn visit_all(visitor: &mut impl Visitor) {
    visitor.visit(RoomQueueFamily { name: "room-queue", capacity: 1024 });
    visitor.visit(RoomStackFamily { name: "room-stack", first_chunk: None });
}

pub(super) fn visit_variants(visitor: &mut impl Visitor) {
    for (name, capacity) in [("room-queue-of-1", 1), ("room-queue-of-3", 3)] {
        visitor.visit(RoomQueueFamily { name, capacity });
    }
    visitor.visit(RoomStackFamily { name: "room-stack-of-1", first_chunk: Some(1) });
}

#[derive(Clone, Debug)]
struct RoomQueueFamily {
    name: &'static str,
    capacity: usize,
}

impl Family for RoomQueueFamily {
    type Pool<T: Send + 'static> = RoomQueue<T>;

    fn facts(&self) -> Facts {
        Facts {
            name: self.name.to_owned(),
            kind: Kind::Ours,
            about: "a bounded queue in rooms: who puts never meets who gets",
            order: Order::Fifo,
            capacity: Some(self.capacity),
            non_blocking: false,
        }
    }

    fn batches(&self) -> Batches {
        Batches::TOGETHER
    }

    fn build<T: Send + 'static>(&self) -> RoomQueue<T> {
        let builder = RoomQueue::builder().capacity(self.capacity);
        builder.build().expect("a registered pool can be built")
    }

    fn with_capacity(&self, tasks: usize) -> Option<Self> {
        Some(Self { capacity: tasks, ..self.clone() })
    }

    fn put_batch<T: Send + 'static>(
        producer: &mut ProducerOf<Self, T>,
        tasks: impl Iterator<Item = T>,
        run: &mut Vec<T>,
    ) -> usize {
        run.extend(tasks);
        let put = producer.append(run);
        run.clear();
        put
    }
}

#[derive(Clone, Debug)]
struct RoomStackFamily {
    name: &'static str,
    first_chunk: Option<usize>,
}

impl Family for RoomStackFamily {
    type Pool<T: Send + 'static> = RoomStack<T>;

    fn facts(&self) -> Facts {
        Facts {
            name: self.name.to_owned(),
            kind: Kind::Ours,
            about: "a stack of chunks in rooms: who puts never meets who gets",
            order: Order::Lifo,
            capacity: None,
            non_blocking: false,
        }
    }

    fn batches(&self) -> Batches {
        Batches::TOGETHER
    }

    fn in_chunks_of(&self, tasks: usize) -> Self {
        Self { first_chunk: Some(tasks.next_power_of_two()), ..self.clone() }
    }

    fn build<T: Send + 'static>(&self) -> RoomStack<T> {
        let mut builder = RoomStack::builder();
        if let Some(tasks) = self.first_chunk {
            builder = builder.first_chunk(tasks);
        }
        builder.build().expect("a registered pool can be built")
    }
}
