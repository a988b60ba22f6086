//! zz
use cantina_check::*;
use std::collections::VecDeque;
use std::time::Instant;
mod generate;
use generate::Random;

fn simulate(spec: Spec, n: usize, threads: usize, puts_of_10: usize, batch: usize, dead: usize, seed: u64) -> History {
    let mut r = Random::new(seed);
    let mut inside: VecDeque<Item> = VecDeque::new();
    let mut next = 0u64;
    enum S { Idle, Started(u64, bool), Done(u64, Action) }
    let mut st: Vec<S> = (0..threads).map(|_| S::Idle).collect();
    let mut ops = Vec::new();
    let mut now = 1u64;
    while ops.len() < n {
        now += 1;
        let t = r.below(threads);
        st[t] = match std::mem::replace(&mut st[t], S::Idle) {
            S::Idle => S::Started(now, r.below(10) < puts_of_10),
            S::Started(s, put) => {
                let a = if put {
                    let mut items = vec![]; let mut full = None;
                    for _ in 0..batch {
                        next += 1;
                        if spec.bound().is_some_and(|b| inside.len() >= b.capacity) { full = Some(next); break; }
                        inside.push_back(next); items.push(next);
                    }
                    if batch > 1 { Action::PutAtOnce { items: items.into(), full } }
                    else if let Some(f) = full { Action::Full(f) } else { Action::Put(items[0]) }
                } else {
                    let mut items = vec![];
                    for _ in 0..batch {
                        let x = match spec.order() {
                            Order::Bag => { if inside.is_empty() { None } else { let i = r.below(inside.len()); inside.swap_remove_back(i) } }
                            Order::Queue => inside.pop_front(),
                            Order::Stack => inside.pop_back(),
                        };
                        items.extend(x);
                    }
                    if items.is_empty() { Action::Empty } else if batch > 1 { Action::GetAtOnce(items.into()) } else { Action::Get(items[0]) }
                };
                S::Done(s, a)
            }
            S::Done(s, a) => {
                if t < dead && ops.len() > n / 3 {
                    S::Done(s, a)
                } else {
                ops.push(Operation { thread: t, start: s, end: Some(now), action: a });
                S::Idle }
            }
        };
    }
    for (t, s) in st.into_iter().enumerate() {
        match s {
            S::Idle => {}
            S::Started(s, put) => ops.push(Operation { thread: t, start: s, end: None, action: if put { next += 1; Action::Put(next) } else { Action::Getting { max: 1 } } }),
            S::Done(s, a) => match a {
                Action::Put(_) | Action::PutAtOnce{full: None, ..} => ops.push(Operation { thread: t, start: s, end: None, action: a }),
                Action::Get(_) | Action::Empty => ops.push(Operation { thread: t, start: s, end: None, action: Action::Getting { max: 1 } }),
                Action::GetAtOnce(_) => ops.push(Operation { thread: t, start: s, end: None, action: Action::GettingAtOnce { max: batch } }),
                _ => ops.push(Operation { thread: t, start: s, end: Some(now), action: a }),
            }
        }
    }
    History::new(ops).unwrap()
}

fn go(name: &str, spec: Spec, n: usize, threads: usize, puts: usize, batch: usize, dead: usize) {
    let h = simulate(spec, n, threads, puts, batch, dead, 7);
    let t = Instant::now();
    let v = check(&h, &spec, BUDGET);
    let full = h.operations().iter().filter(|o| o.action.item_given_back().is_some()).count();
    let empty = h.operations().iter().filter(|o| o.action == Action::Empty).count();
    let s: String = v.to_string().chars().take(300).collect();
    println!("{name:30} {:>8} ops {full:>6} full {empty:>6} empty: {:>8.1?} {s}", h.len(), t.elapsed());
}

#[test]
fn zz() {
    let m = 1_000_000;
    if std::env::var("RATE").is_ok() {
        for cap in [8, 64, 256] { for threads in [2, 4, 8] { for n in [500, 2000, 10000] { for batch in [1, 3] { for order in [Spec::queue(), Spec::stack()] {
            let spec = order.bounded(cap, 0);
            let t = Instant::now();
            let unknown = (0..20).filter(|&seed| !check(&simulate(spec, n, threads, 6, batch, 0, seed + 1), &spec, BUDGET).is_linearizable()).count();
            if unknown > 0 { println!("{spec} {threads} threads {n} ops batch {batch}: {unknown} of 20 unknown, {:?} each", t.elapsed() / 20); }
        } } } } }
        return;
    }
    if std::env::var("DBG").is_ok() {
        let spec = Spec::queue().bounded(64, 0);
        go(&format!("{spec}"), spec, m/10, 8, 5, 1, 0);
        return;
    }
    go("bag", Spec::bag(), m, 8, 5, 1, 0);
    go("bag dead", Spec::bag(), m, 8, 5, 1, 3);
    go("bag growing", Spec::bag(), m, 8, 6, 1, 0);
    go("queue", Spec::queue(), m, 8, 5, 1, 0);
    go("queue growing", Spec::queue(), m, 8, 6, 1, 0);
    go("queue dead", Spec::queue(), m, 8, 5, 1, 3);
    go("stack", Spec::stack(), m, 8, 5, 1, 0);
    go("stack growing", Spec::stack(), m, 8, 6, 1, 0);
    go("stack empties", Spec::stack(), m, 8, 4, 1, 0);
    go("stack dead", Spec::stack(), m/10, 8, 5, 1, 3);
    for cap in [1, 4, 64, 1000] {
        for order in [Spec::bag(), Spec::queue(), Spec::stack()] {
            let spec = order.bounded(cap, 0);
            go(&format!("{spec}"), spec, m/10, 8, 5, 1, 0);
            go(&format!("{spec} mostly full"), spec, m/10, 8, 6, 1, 0);
            go(&format!("{spec} 3 dead"), spec, m/100, 8, 5, 1, 3);
            go(&format!("{spec} batch 3"), spec, m/10, 8, 5, 3, 0);
            go(&format!("{spec} batch 3 dead"), spec, m/100, 8, 5, 3, 2);
        }
    }
    for order in [Spec::bag(), Spec::queue(), Spec::stack()] {
        go(&format!("{order} batch 3"), order, m/10, 8, 5, 3, 0);
        go(&format!("{order} batch 8 of 4"), order, m/10, 4, 5, 8, 0);
    }
}
