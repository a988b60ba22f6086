//! Each cost of the table is charged where it should be.

use super::{Coherence, Kind};
use crate::cost::{Costs, Machine, Placement};

/// Four nodes of two cores, one hop apart, without anything random.
fn exact(change: impl FnOnce(&mut Costs)) -> Coherence {
    let machine = Machine::uniform(4, 2).unwrap();
    let mut costs = Costs { jitter: 0, hold: 0, request: 0, ..machine.costs().clone() };
    change(&mut costs);
    Coherence::new(machine.calibrated("exact", 1_000, costs), 0)
}

/// Lines whose home is the node of `core`.
fn lines<const N: usize>(coherence: &mut Coherence, core: usize) -> [u32; N] {
    std::array::from_fn(|number| coherence.line(1_000_000 * (core + 1) + 64 * number, core))
}

#[test]
fn the_first_load_comes_from_memory_and_the_next_from_the_cache() {
    let mut coherence = exact(|_| ());
    let [line] = lines(&mut coherence, 0);
    assert_eq!(coherence.access(0, line, Kind::Load, 100), 100 + 136);
    assert_eq!(coherence.access(0, line, Kind::Load, 300), 300 + 3);
    // One hop away: from its owner's cache.
    assert_eq!(coherence.access(2, line, Kind::Load, 1_000), 1_000 + 172);
    // Now it is shared.
    assert_eq!(coherence.access(4, line, Kind::Load, 2_000), 2_000 + 176);
}

#[test]
fn writes_cost_by_who_has_the_line() {
    let mut coherence = exact(|_| ());
    let [line] = lines(&mut coherence, 0);
    assert_eq!(coherence.access(0, line, Kind::Store, 0), 136);
    assert_eq!(coherence.access(0, line, Kind::Store, 1_000), 1_001);
    assert_eq!(coherence.access(0, line, Kind::Rmw, 2_000), 2_020);
    assert_eq!(coherence.access(1, line, Kind::Rmw, 3_000), 3_110);
    assert_eq!(coherence.access(2, line, Kind::Store, 4_000), 4_191);
    assert_eq!(coherence.access(0, line, Kind::Load, 5_000), 5_172);
    // Both have it now: who wants to write must tell the other.
    assert_eq!(coherence.access(2, line, Kind::Store, 6_000), 6_286);
    assert_eq!(coherence.access(0, line, Kind::Load, 7_000), 7_172);
    assert_eq!(coherence.access(0, line, Kind::Rmw, 8_000), 8_312);
    let [fresh] = lines(&mut coherence, 2);
    assert_eq!(coherence.access(2, fresh, Kind::Rmw, 0), 136 + 20);
}

#[test]
fn a_clean_line_that_is_read_by_another_is_shared() {
    let mut coherence = exact(|_| ());
    let [line] = lines(&mut coherence, 0);
    coherence.access(0, line, Kind::Load, 0);
    coherence.access(2, line, Kind::Load, 1_000);
    // Nobody owns it: the first reader cannot write without asking either.
    assert_eq!(coherence.access(0, line, Kind::Store, 2_000), 2_286);
}

#[test]
fn ownership_passes_in_turn() {
    let mut coherence = exact(|costs| costs.link = 0);
    let [line] = lines(&mut coherence, 0);
    let first = coherence.access(0, line, Kind::Rmw, 0);
    let second = coherence.access(2, line, Kind::Rmw, 1);
    let third = coherence.access(4, line, Kind::Rmw, 2);
    assert_eq!((first, second, third), (156, 156 + 216, 156 + 2 * 216));
}

#[test]
fn a_line_that_is_being_read_is_soon_to_be_had() {
    let mut coherence = exact(|costs| costs.link = 0);
    let [line] = lines(&mut coherence, 0);
    coherence.access(0, line, Kind::Store, 0);
    assert_eq!(coherence.access(2, line, Kind::Load, 1_000), 1_172);
    // Its transfer holds the line for 40 cycles, not for 172.
    assert_eq!(coherence.access(4, line, Kind::Load, 1_001), 1_040 + 172);
}

#[test]
fn a_core_waits_for_a_line_that_is_on_its_way_to_it() {
    let mut coherence = exact(|_| ());
    let [line] = lines(&mut coherence, 0);
    let done = coherence.access(0, line, Kind::Store, 0);
    assert_eq!(coherence.access(0, line, Kind::Load, 10), done + 3);
}

#[test]
fn nothing_is_done_at_the_same_time_to_one_line() {
    let mut coherence = exact(|costs| {
        costs.link = 0;
        costs.read_hold = 0;
    });
    let [line] = lines(&mut coherence, 0);
    coherence.access(0, line, Kind::Store, 0);
    let readers = [2, 4, 6].map(|core| coherence.access(core, line, Kind::Load, 1_000));
    assert_eq!(readers, [1_172, 1_173, 1_174]);
}

#[test]
fn the_old_holder_has_a_line_for_a_part_of_its_transfer() {
    let mut coherence = exact(|costs| costs.hold = 50);
    let mut kept = [0; 2];
    for turn in 1..=200 {
        let [line] = lines(&mut coherence, 0);
        let now = turn * 10_000;
        coherence.access(0, line, Kind::Store, now);
        coherence.access(2, line, Kind::Store, now + 1_000);
        // Half of the time it still can write after half of the time.
        let still = coherence.access(0, line, Kind::Store, now + 1_000 + 95);
        kept[usize::from(still == now + 1_096)] += 1;
    }
    assert!(kept.iter().all(|&count| count > 60), "{kept:?}");
}

#[test]
fn readers_keep_their_copies_for_a_while_too() {
    let mut coherence = exact(|costs| costs.hold = 50);
    let [line] = lines(&mut coherence, 0);
    coherence.access(0, line, Kind::Load, 0);
    coherence.access(2, line, Kind::Load, 1_000);
    coherence.access(0, line, Kind::Store, 2_000);
    assert_eq!(coherence.access(2, line, Kind::Load, 2_000), 2_003);
    // But they cannot write to them.
    assert!(coherence.access(2, line, Kind::Store, 2_001) > 2_200);
}

#[test]
fn lines_queue_at_the_links_of_their_nodes() {
    let mut coherence = exact(|costs| costs.channel = 0);
    let there: [u32; 4] = lines(&mut coherence, 0);
    // All leave node 0, for different nodes.
    let out =
        [(2, 0), (4, 1), (6, 2)].map(|(core, n)| coherence.access(core, there[n], Kind::Load, 0));
    assert_eq!(out, [247, 247 + 23, 247 + 2 * 23]);
    // All come to node 3, from different nodes.
    let mut coherence = exact(|costs| costs.channel = 0);
    let into = [0, 2, 4].map(|home| {
        let [line] = lines(&mut coherence, home);
        coherence.access(6, line, Kind::Load, 0)
    });
    assert_eq!(into, [247, 247 + 23, 247 + 2 * 23]);
}

#[test]
fn requests_queue_at_the_links_of_the_home() {
    let mut coherence = exact(|costs| {
        costs.request = 10;
        costs.link = 0;
        costs.channel = 0;
    });
    // Nodes 1 and 2 have lines of node 0, and everybody else wants them.
    let there: [u32; 4] = lines(&mut coherence, 0);
    for (core, line) in [(2, there[0]), (2, there[1]), (4, there[2]), (4, there[3])] {
        coherence.access(core, line, Kind::Store, 0);
    }
    let wants = [(4, there[0]), (6, there[1]), (2, there[2]), (6, there[3])];
    let done = wants.map(|(core, line)| coherence.access(core, line, Kind::Load, 1_000));
    assert_eq!(done, [1_172, 1_182, 1_192, 1_202]);
}

#[test]
fn lines_queue_at_the_memory_of_their_node() {
    let mut coherence = exact(|_| ());
    let here: [u32; 3] = lines(&mut coherence, 0);
    let done = here.map(|line| coherence.access(0, line, Kind::Load, 0));
    assert_eq!(done, [136, 136 + 18, 136 + 2 * 18]);
}

#[test]
fn misses_queue_at_a_bus_where_there_is_one() {
    let mut coherence = exact(|costs| {
        costs.probe = 8;
        costs.channel = 0;
    });
    let (here, there): ([u32; 1], [u32; 1]) = (lines(&mut coherence, 0), lines(&mut coherence, 4));
    assert_eq!(coherence.access(0, here[0], Kind::Load, 0), 136);
    assert_eq!(coherence.access(4, there[0], Kind::Load, 0), 136 + 8);
}

#[test]
fn a_cache_forgets_what_it_used_long_ago() {
    let mut coherence = exact(|_| ());
    let many: [u32; 1_025] = lines(&mut coherence, 0);
    let now = |n: usize| 1_000 * n as u64;
    for (n, line) in many.into_iter().enumerate() {
        coherence.access(0, line, Kind::Load, now(n));
    }
    // The last has taken the first one's place, which is in the second level now.
    assert_eq!(coherence.access(0, many[1], Kind::Load, now(2_000)), now(2_000) + 3);
    assert_eq!(coherence.access(0, many[0], Kind::Load, now(2_001)), now(2_001) + 15);
    assert_eq!(coherence.access(0, many[0], Kind::Load, now(2_002)), now(2_002) + 3);
}

#[test]
fn a_placed_block_is_at_home_where_it_was_placed() {
    let mut coherence = exact(|_| ());
    let block = 1 << 30;
    // It was touched before, from node 0.
    let old = coherence.line(block, 0);
    coherence.place(block, 128, 3);
    let new = coherence.line(block + 64, 0);
    let beyond = coherence.line(block + 128, 0);
    let costs = [old, new, beyond].map(|line| coherence.access(0, line, Kind::Load, 0));
    assert_eq!(costs, [247, 247 + 23, 136]);
    // What lies there later is at home with whoever touches it first.
    let again = 1 << 31;
    coherence.place(again, 64, 3);
    coherence.lines.unplace(again);
    let line = coherence.line(again, 0);
    assert_eq!(coherence.access(0, line, Kind::Load, 10_000), 10_136);
}

#[test]
fn a_machine_may_put_all_memory_on_one_node() {
    let costs = Costs { jitter: 0, request: 0, ..Costs::opteron() };
    let machine = Machine::uniform(4, 2).unwrap().calibrated("exact", 1_000, costs);
    let mut one = Coherence::new(machine.clone().placement(Placement::OneNode(2)), 0);
    let here: [u32; 1] = lines(&mut one, 0);
    assert_eq!(one.access(0, here[0], Kind::Load, 0), 247, "not where it was touched");
    one.place(1 << 30, 64, 0);
    let placed = one.line(1 << 30, 0);
    assert_eq!(one.access(0, placed, Kind::Load, 1_000), 1_247, "not where it was placed");
    assert_eq!((one.node_for(0), one.node_for(7)), (2, 2));

    let mut any = Coherence::new(machine.placement(Placement::Scattered), 0);
    let many: [u32; 400] = lines(&mut any, 0);
    let local = many.iter().enumerate().filter(|&(n, &line)| {
        let now = 1_000 * n as u64;
        any.access(0, line, Kind::Load, now) == now + 136
    });
    assert!((50..150).contains(&local.count()));
}

#[test]
fn slower_links_are_longer_busy() {
    let machine = Machine::opteron_8x4().link_speed(50);
    assert_eq!((machine.costs().link, machine.costs().request), (46, 6));
}

#[test]
fn jitter_is_small_and_the_seeds() {
    let run = |seed| {
        let machine = Machine::uniform(1, 1).unwrap();
        let mut coherence = Coherence::new(machine, seed);
        let [line] = lines(&mut coherence, 0);
        (0..100).map(|n| coherence.access(0, line, Kind::Load, 1_000 * n) % 1_000).collect()
    };
    let times: Vec<u64> = run(1);
    assert!(times[1..].iter().all(|time| (3..=6).contains(time)), "{times:?}");
    assert!((3..=6).all(|time| times.contains(&time)));
    assert_eq!(run(1), times);
    assert_ne!(run(2), times);
}

#[test]
fn lines_that_are_asked_for_one_behind_the_other_come_faster() {
    let mut coherence = exact(|costs| (costs.stream, costs.stream_rmw) = (50, 75));
    let lines: [u32; 12] = lines(&mut coherence, 0);
    let mut now = 0;
    let mut took = |line: usize, kind| {
        now += 10_000;
        coherence.access(0, lines[line], kind, now) - now
    };
    assert_eq!(took(0, Kind::Load), 136);
    assert_eq!(took(1, Kind::Load), 136, "two neighbours");
    assert_eq!(took(2, Kind::Load), 68);
    assert_eq!(took(4, Kind::Store), 68, "the next but one");
    assert_eq!(took(7, Kind::Load), 136, "too far ahead");
    assert_eq!(took(6, Kind::Load), 68, "of the first stream");
    assert_eq!(took(8, Kind::Rmw), 102 + 20, "not as much faster");
}

#[test]
fn a_stream_may_go_down_from_its_second_step_on() {
    let mut coherence = exact(|costs| costs.stream = 50);
    let lines: [u32; 8] = lines(&mut coherence, 0);
    let mut now = 0;
    let mut took = |line: usize| {
        now += 10_000;
        coherence.access(0, lines[line], Kind::Load, now) - now
    };
    assert_eq!([took(7), took(6)], [136, 136], "it could be one to and fro");
    assert_eq!([took(5), took(3), took(2)], [68, 68, 68]);
    assert_eq!(took(4), 136, "it does not turn back");
}

#[test]
fn what_came_with_a_stream_is_written_to_at_the_same_price_once() {
    let mut coherence = exact(|costs| costs.stream = 50);
    let lines: [u32; 3] = lines(&mut coherence, 0);
    let mut now = 0;
    let mut took = |core: usize, line: usize, kind| {
        now += 10_000;
        coherence.access(core, lines[line], kind, now) - now
    };
    // The other core writes to all first.
    for (core, kind) in [(1, Kind::Store), (0, Kind::Load)] {
        (0..3).for_each(|line| _ = took(core, line, kind));
    }
    let first = took(0, 2, Kind::Store);
    took(1, 2, Kind::Store);
    let again = took(0, 2, Kind::Store);
    assert_eq!([first, again], [246 / 2, 83], "a word that goes to and fro is no stream");
}

#[test]
fn what_was_asked_for_ahead_is_waited_for_by_who_needs_it_too_early() {
    for kind in [Kind::Load, Kind::Store] {
        let mut coherence = exact(|_| {});
        let [line] = lines(&mut coherence, 0);
        // Another core of the same node has it.
        coherence.access(1, line, Kind::Store, 0);
        coherence.ask_ahead(0, line, kind, 1_000);
        let transfer = if kind == Kind::Load { 81 } else { 83 };
        let took =
            |coherence: &mut Coherence, now| coherence.access(0, line, Kind::Load, now) - now;
        assert_eq!(took(&mut coherence, 1_020), transfer - 20 + 3, "what is left of it");
        assert_eq!(took(&mut coherence, 1_200), 3, "it is there");
    }
}

#[test]
fn what_was_asked_for_ahead_can_be_taken_away_again() {
    let mut coherence = exact(|_| {});
    let [line] = lines(&mut coherence, 0);
    coherence.access(1, line, Kind::Store, 0);
    coherence.ask_ahead(0, line, Kind::Store, 1_000);
    coherence.access(1, line, Kind::Store, 2_000);
    assert_eq!(coherence.access(0, line, Kind::Load, 3_000), 3_081);
}
