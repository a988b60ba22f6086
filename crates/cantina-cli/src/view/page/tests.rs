//! What holds for every page, whatever is in the record.

use super::page;
use crate::view::Experiment;
use crate::view::samples::{HEIGHT, SPEED, bare, height, record, speed, speeds};
use cantina_record::{Facts, Kind, Record, Row};
use roxmltree::{Document, Node, ParsingOptions};

const KNOWN: [Experiment; 2] = [SPEED, HEIGHT];

/// A record with something of everything.
fn rich() -> Record {
    let mut rows = speeds();
    rows.extend(speeds().into_iter().map(|row| Row { machine: "sim:opteron-8x4".into(), ..row }));
    rows.extend([height("cafe", 4, 40), height("cafe", 8, 0)]);
    rows.push(Row { experiment: "unheard-of".into(), ..height("cafe", 4, 40) });
    record(rows)
}

fn parse(page: &str) -> Document<'_> {
    let options = ParsingOptions { allow_dtd: true, ..Default::default() };
    Document::parse_with_options(page, options).unwrap_or_else(|error| panic!("{error}\n{page}"))
}

fn elements<'a>(
    document: &'a Document,
    name: &'a str,
) -> impl Iterator<Item = Node<'a, 'a>> + Clone {
    document.descendants().filter(move |node| node.has_tag_name(name))
}

fn text(node: Node) -> String {
    node.descendants().filter(Node::is_text).filter_map(|node| node.text()).collect()
}

fn embedded(document: &Document) -> Record {
    let holder = elements(document, "script").find(|node| node.attribute("id") == Some("record"));
    Record::from_json(&text(holder.unwrap())).unwrap()
}

#[test]
fn every_page_is_well_formed() {
    let odd = [
        record(Vec::new()),
        record(vec![bare(&SPEED, Kind::Ours, "a", (1, 1))]),
        record(vec![speed(Kind::Ours, "a", (u64::MAX, 0), 0.0)]),
        record(vec![speed(Kind::Ours, "a", (1, 1), -5.0), speed(Kind::Peer, "b", (1, 1), 1e300)]),
        record(vec![speed(Kind::Peer, &"long".repeat(200), (1, 1), 1e-300)]),
        Record { machine: Facts::new(), commit: "unknown".into(), rows: speeds() },
        rich(),
    ];
    for record in odd {
        let page = page(&record, &KNOWN);
        assert!(!page.contains("NaN") && !page.contains(">inf"), "{page}");
        assert!(!page.contains("--bar:-"), "{page}");
        parse(&page);
    }
}

#[test]
fn a_page_asks_the_network_for_nothing() {
    let page = page(&rich(), &KNOWN);
    for outside in ["http:", "https:", "//cdn", "@import", "url(", "<link", "<img", "<iframe"] {
        assert!(!page.contains(outside), "{outside}");
    }
    let document = parse(&page);
    for node in document.descendants().filter(Node::is_element) {
        for name in ["src", "href", "action", "data", "poster", "srcset"] {
            assert_eq!(node.attribute(name), None, "{:?}", node.tag_name());
        }
    }
    let policy = elements(&document, "meta")
        .find(|node| node.attribute("http-equiv") == Some("Content-Security-Policy"));
    assert!(policy.unwrap().attribute("content").unwrap().starts_with("default-src 'none'"));
}

#[test]
fn nothing_in_a_record_becomes_markup() {
    let hostile = "</script><script>alert('x')</script>\"<!--&\x1b";
    let row = Row { machine: format!("sim:{hostile}"), ..speed(Kind::Peer, hostile, (1, 1), 1.0) };
    let row = row.with("allocator", hostile).with("version", hostile).with("other", hostile);
    let skipped = bare(&SPEED, Kind::Ours, hostile, (2, 2)).with("skipped", hostile);
    let unknown = Row { experiment: hostile.into(), ..row.clone() };
    let parameter = bare(&HEIGHT, Kind::Ours, hostile, (2, 2));
    let parameter = parameter.with("height", hostile).with("max_overtakers", 1);
    let record = Record {
        machine: Facts::new()
            .with("cpu", hostile)
            .with("command", hostile)
            .with("measured", hostile),
        commit: hostile.into(),
        rows: vec![row, skipped, unknown, parameter],
    };
    let page = page(&record, &KNOWN);
    let document = parse(&page);
    assert_eq!(elements(&document, "script").count(), 2);
    assert!(!page.contains("<script>alert"), "{page}");
    assert!(!page.contains('\x1b'), "{page}");
    assert_eq!(embedded(&document), record, "the record inside is the record");
}

#[test]
fn a_page_holds_its_record() {
    let record = rich();
    assert_eq!(embedded(&parse(&page(&record, &KNOWN))), record);
}

#[test]
fn every_pool_stands_in_the_plot_and_in_the_table() {
    let page = page(&record(speeds()), &KNOWN);
    let document = parse(&page);
    for pool in ["locked", "treiber", "ring", "channel"] {
        let marked = |tag: &str| {
            elements(&document, tag)
                .filter(|node| node.attribute("data-pool") == Some(pool))
                .count()
        };
        assert_eq!(marked("g"), 2, "{pool}: the wide and the narrow plot");
        assert_eq!(marked("tr"), 1, "{pool}");
    }
    let best: Vec<String> = elements(&document, "b").map(text).collect();
    assert_eq!(best, ["62.0", "54.0", "210"]);
}

#[test]
fn what_is_bought_with_something_is_drawn_against_it() {
    let both = |pool: &str, at, overtakers, failed: f64| {
        height(pool, at, overtakers).with("cas_per_get", failed)
    };
    let rows = [both("cafe", 0, 0, 2.0), both("cafe", 4, 30, 0.5), both("cafe", 8, 9_000, 0.1)];
    let rows = rows.into_iter().chain([both("other", 4, 7, 0.25), height("half", 4, 7)]);
    let page = page(&record(rows.collect()), &KNOWN);
    let document = parse(&page);
    let name = Some("Failed CAS against overtakers");
    let pictures = elements(&document, "svg").filter(|node| node.attribute("aria-label") == name);
    assert_eq!(pictures.clone().count(), 2, "wide and narrow");
    for picture in pictures {
        let of = |pool: &'static str| {
            let series =
                picture.descendants().filter(move |node| node.attribute("data-pool") == Some(pool));
            series
                .flat_map(|series| series.descendants())
                .filter(|node| node.has_tag_name("circle"))
        };
        let places = |pool| -> Vec<f64> {
            let marks = of(pool).filter(|node| node.attribute("class") == Some("mark"));
            marks.map(|mark| mark.attribute("cx").unwrap().parse().unwrap()).collect()
        };
        let (cafe, other) = (places("cafe"), places("other"));
        assert_eq!((cafe.len(), other.len(), places("half").len()), (3, 1, 0));
        assert!(
            cafe[0] < other[0] && other[0] < cafe[1] && cafe[1] < cafe[2],
            "{cafe:?} {other:?}"
        );
    }
    let alone = self::page(&record(vec![height("cafe", 4, 40)]), &KNOWN);
    assert!(!alone.contains(" against "), "nothing has both");
}

#[test]
fn labels_at_the_side_do_not_overlap() {
    let many = |shape| {
        (0..40).map(move |at| speed(Kind::Peer, &format!("p{at}"), shape, 50.0 + f64::from(at)))
    };
    let page = page(&record(many((1, 1)).chain(many((2, 2))).collect()), &KNOWN);
    let document = parse(&page);
    let plots = elements(&document, "svg").filter(|node| node.attribute("role") == Some("img"));
    assert_eq!(plots.clone().count(), 2);
    for plot in plots {
        let names = plot.descendants().filter(|node| node.attribute("class") == Some("name"));
        let height = |node: Node| node.attribute("y").unwrap().parse::<f64>().unwrap();
        let mut heights: Vec<f64> = names.map(height).collect();
        assert_eq!(heights.len(), 40);
        heights.sort_by(f64::total_cmp);
        assert!(heights.windows(2).all(|pair| pair[1] - pair[0] > 12.0), "{heights:?}");
    }
}

#[test]
fn a_long_name_is_cut_beside_the_plot_and_whole_in_the_table() {
    let long = "crossbeam-channel-with-a-bound-and-a-batch";
    let row = |shape| speed(Kind::Peer, long, shape, 10.0);
    let page = page(&record(vec![row((1, 1)), row((2, 2))]), &KNOWN);
    let document = parse(&page);
    let names: Vec<String> = elements(&document, "text")
        .filter(|node| node.attribute("class") == Some("name"))
        .map(text)
        .collect();
    assert_eq!(names, ["crossbeam-channel-with-a-bo…", "crossbeam-channel-w…"]);
    assert!(elements(&document, "th").any(|node| text(node) == long));
}

#[test]
fn a_line_is_broken_where_a_column_is_missing() {
    let row = |pool, shape| speed(Kind::Ours, pool, shape, 10.0);
    let gap = [row("gap", (1, 1)), row("gap", (4, 4))];
    let full = [row("full", (1, 1)), row("full", (2, 2)), row("full", (4, 4))];
    let page = page(&record([&gap[..], &full].concat()), &KNOWN);
    let document = parse(&page);
    let lines = |pool: &str| {
        let series = elements(&document, "g").filter(|g| g.attribute("data-pool") == Some(pool));
        let paths = series.flat_map(|series| series.children());
        paths.filter(|path| path.attribute("class") == Some("line")).count()
    };
    assert_eq!((lines("gap"), lines("full")), (0, 2), "in the wide and the narrow plot");
}

#[test]
fn a_simulated_machine_has_a_scale_of_its_own() {
    let rows = |machine: &str, factor: f64| -> Vec<Row> {
        let row = |shape, mops| speed(Kind::Ours, "a", shape, mops * factor);
        let rows = [row((1, 1), 10.0), row((2, 2), 20.0)];
        rows.map(|row| Row { machine: machine.into(), ..row }).to_vec()
    };
    let marks = |rows: Vec<Row>| -> Vec<String> {
        let page = page(&record(rows), &KNOWN);
        let document = parse(&page);
        let marks = elements(&document, "circle");
        marks.map(|mark| mark.attribute("cy").unwrap().to_owned()).collect()
    };
    let real = marks(rows("real", 1.0));
    let both = marks([rows("real", 1.0), rows("sim:fast", 1000.0)].concat());
    assert_eq!(both, [real.clone(), real].concat());
}

#[test]
fn a_reader_is_told_what_the_numbers_are_worth() {
    let plain = page(&record(speeds()), &KNOWN);
    assert!(plain.contains("belong to the regime") && !plain.contains("30 %"));
    assert!(plain.contains("read of the first two cores"));
    assert!(plain.contains("cargo run --release -- bench"));
    assert!(plain.contains("git checkout 0123abc"));
    assert!(!plain.contains("debug build"));
    assert!(!plain.contains("Simulated numbers"));
    assert!(!plain.contains("uncommitted"));

    let both = page(&rich(), &KNOWN);
    assert!(both.contains("Simulated numbers") && both.contains("belong to the regime"));
    let simulated = speeds().into_iter().map(|row| Row { machine: "sim:4x4".into(), ..row });
    let simulated = page(&record(simulated.collect()), &KNOWN);
    assert!(simulated.contains("Simulated numbers") && !simulated.contains("belong to the regime"));
    let sample = record(speeds());
    let debug = Record { machine: sample.machine.clone().with("build", "debug"), ..sample.clone() };
    assert!(page(&debug, &KNOWN).contains("A debug build"));
    let dirty = page(&Record { commit: "0123abc-dirty".into(), ..sample.clone() }, &KNOWN);
    assert!(dirty.contains("git checkout 0123abc\n") && dirty.contains("uncommitted"));
    let unknown = page(&Record { commit: "unknown".into(), ..sample }, &KNOWN);
    assert!(!unknown.contains("git checkout"));
}

#[test]
fn what_is_no_value_yet_and_who_dropped_out_is_marked_and_the_regime_named() {
    use Kind::{Ours, Peer};
    let rows = vec![
        speed(Ours, "a", (1, 1), 50.0).with("converged", false).with("regime", "far"),
        speed(Ours, "b-batch", (1, 1), 25.0).with("regime", "far"),
        speed(Peer, "c-batch", (1, 1), 50.0).with("regime", "far"),
        bare(&SPEED, Peer, "d", (1, 1)).with("skipped", "left out by --quick"),
    ];
    let page = page(&record(rows), &KNOWN);
    let document = parse(&page);
    let marked: Vec<String> = elements(&document, "i").map(text).collect();
    assert_eq!(marked, ["~ 50.0"]);
    assert_eq!(elements(&document, "b").map(text).collect::<Vec<_>>(), ["50.0"]);
    for part in ["not converged", "the same of batches", "0.500 ×", "Regime: far.", "3 pools"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(page.contains("d: left out by --quick"), "{page}");
}

/// The marks of a page, by pool: how many are dotted, and how many are not.
fn marks(page: &str, pool: &str) -> (usize, usize) {
    let document = parse(page);
    let series = elements(&document, "g").filter(|g| g.attribute("data-pool") == Some(pool));
    let dots = |class: &str| {
        let nodes = series.clone().flat_map(|series| series.children());
        nodes.filter(|node| node.attribute("class") == Some(class)).count()
    };
    (dots("dot apart"), dots("dot"))
}

#[test]
fn what_is_not_to_be_compared_is_marked_and_dotted() {
    let row = |pool, shape, mops: f64| {
        let row = speed(Kind::Ours, pool, shape, mops).with("regime", "far");
        row.with("regime_moved", false)
    };
    let rows = [row("a", (1, 1), 50.0), row("a", (2, 2), 60.0), row("b", (1, 1), 20.0)];
    let plain = page(&record(rows.to_vec()), &KNOWN);
    assert_eq!((marks(&plain, "a"), marks(&plain, "b")), ((0, 4), (0, 2)), "wide and narrow");
    assert!(!plain.contains("mark is dotted"));
    let others = [
        (rows[0].clone().with("converged", false), "~ 50.0", "~ not converged"),
        (rows[0].clone().with("regime_moved", true), "! 50.0", "! not in the regime of most"),
    ];
    for (other, text, told) in others {
        let page = page(&record(vec![other, rows[1].clone(), rows[2].clone()]), &KNOWN);
        assert_eq!((marks(&page, "a"), marks(&page, "b")), ((2, 2), (0, 2)));
        let marked: Vec<String> = elements(&parse(&page), "i").map(self::text).collect();
        assert_eq!(marked, [text]);
        assert!(page.contains(told) && page.contains("; its mark is dotted."), "{page}");
    }
    let alone = record(vec![rows[0].clone().with("converged", false)]);
    assert!(!page(&alone, &KNOWN).contains("mark is dotted"), "there is no plot");
}

#[test]
fn what_is_not_to_be_compared_is_dotted_where_it_is_drawn_against_something_too() {
    let both = |at, failed: f64| height("cafe", at, 7).with("cas_per_get", failed);
    let odd = both(8, 0.1).with("converged", false);
    let page = page(&record(vec![both(4, 0.5), odd]), &KNOWN);
    // Three pictures, wide and narrow: two measures, and one against the other.
    assert_eq!(marks(&page, "cafe"), (6, 6));
}

#[test]
fn repetitions_on_a_busy_machine_are_added_up() {
    let with = |field: &str, count: u64| {
        let rows = speeds().into_iter().map(|row| row.with(field, count)).collect();
        page(&record(rows), &KNOWN)
    };
    assert!(with("discarded", 2).contains("busy, measured again: 18."));
    assert!(with("disturbed", 1).contains("busy, kept nevertheless: 9."));
    assert!(!with("discarded", 0).contains("busy"));
}

#[test]
fn repetitions_on_other_cores_are_not_called_busy() {
    let with = |discarded: u64, strays: u64| {
        let row = |row: Row| row.with("discarded", discarded).with("strays", strays);
        page(&record(speeds().into_iter().map(row).collect()), &KNOWN)
    };
    let (some, all) = (with(3, 1), with(2, 2));
    for (page, busy, strays) in [(&some, 18, 9), (&all, 0, 18)] {
        assert!(page.contains(&format!("than in most, measured again: {strays}.")), "{page}");
        assert_eq!(page.contains(&format!("busy, measured again: {busy}.")), busy > 0);
    }
    assert!(!all.contains("busy"));
}

#[test]
fn who_steals_batches_is_named_on_the_page_and_in_the_table() {
    use crate::view::tables;
    let steals = |row: Row| match row.pool.as_str() {
        "ring" => row.with("steals_batches", true),
        _ => row,
    };
    let rows: Vec<Row> = speeds().into_iter().map(steals).collect();
    let told = "ring: called for one task at a time, and steal many: compare with batches, too";
    let count = |text: &str| text.matches(told).count();
    assert_eq!(
        (count(&page(&record(rows.clone()), &KNOWN)), count(&tables(&SPEED, &rows, None))),
        (1, 1)
    );
    assert_eq!(
        (count(&page(&record(speeds()), &KNOWN)), count(&tables(&SPEED, &speeds(), None))),
        (0, 0)
    );
}

#[test]
fn rows_of_an_unknown_experiment_are_shown_as_they_are() {
    let page = page(&record(speeds()), &[]);
    assert!(page.contains("does not know the experiment"));
    // However far the table is moved, it is seen whose the numbers are.
    assert!(page.contains(".bare th:first-child { position: sticky; left: 0; background: var("));
    assert!(page.contains(".bare tbody th { min-width: 34vw; max-width: 40vw;"));
    let document = parse(&page);
    assert_eq!(elements(&document, "tr").count(), 1 + speeds().len());
}
