//! House rules that the compiler does not check.
//!
//! * Flavoured source takes what synchronizes from `machine`, never from `std`.
//! * Each ordering and each fence carries a label in a comment above: its edge, or one of [`ALONE`].
//! * Each edge stands in an `# Orderings` table of its story and has two ends, or one if the table says
//!   that the other is the caller's. A story is a file, or the files of a folder.
//! * [`fence_after_rmw`](cantina_machine::fence::fence_after_rmw) orders SeqCst accesses and no others: a story that calls it has no weaker
//!   one, but for edges that it names as such below its table.
//! * What builds with Rust 1.85 has no `if let` that goes on with `&&`: its lints are of the flavours, too, which need a later one.
//! * No file is longer than 500 lines.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const MAX_LINES: usize = 500;
/// How far above the access its label may stand.
const REACH: usize = 4;
/// Labels that need no partner: of what one thread accesses, of a look that may be wrong because something else decides, of an access
/// that decides and carries nothing, and of a number nobody decides on.
const ALONE: [&str; 4] = ["own", "hint", "bare", "stat"];

/// What the rules have found, as `file:line: why`.
type Faults = Vec<String>;

struct Source {
    path: PathBuf,
    text: String,
}

fn sources(folder: &Path) -> Vec<Source> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                found.push(Source { path, text });
            }
        }
    }
    found
}

/// The words of a line, comments left out.
fn words(line: &str) -> Vec<&str> {
    let code = line.split("//").next().unwrap_or_default();
    code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()).collect()
}

fn too_long(source: &Source) -> Faults {
    let lines = source.text.lines().count();
    let fault = || format!("{}:{lines}: two stories: split it", source.path.display());
    (lines > MAX_LINES).then(fault).into_iter().collect()
}

fn bypasses_the_machine(source: &Source) -> Faults {
    let forbidden = ["sync", "thread", "time", "UnsafeCell", "spin_loop"];
    let mut faults = Vec::new();
    for (number, line) in source.text.lines().enumerate() {
        let words = words(line);
        let from_std = ["std::", "core::", "alloc::"].iter().any(|path| line.contains(path));
        let has = |name: &&str| words.contains(name);
        if from_std && forbidden.iter().any(has) || ["thread_local", "loom"].iter().any(has) {
            faults.push(format!(
                "{}:{}: take it from `machine`",
                source.path.display(),
                number + 1
            ));
        }
    }
    faults
}

/// A condition that goes on behind a `let`, or has one behind another condition.
fn chains_a_let(source: &Source) -> Faults {
    let mut faults = Vec::new();
    let mut begun = false;
    for (number, line) in source.text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or_default().trim();
        let is_let =
            ["if let ", "while let ", "} else if let "].iter().any(|l| code.starts_with(l));
        if code.starts_with("&& let ")
            || code.contains(" && let ")
            || begun && code.starts_with("&& ")
        {
            let (path, number) = (source.path.display(), number + 1);
            faults.push(format!("{path}:{number}: not before Rust 1.88"));
        }
        // Its head goes on as long as no block has begun.
        begun = (begun || is_let) && !code.ends_with('{');
    }
    faults
}

/// Whether a line needs a label: it names an ordering or calls a fence, and imports nothing.
fn is_ordered(line: &str) -> bool {
    const MARKS: [&str; 7] =
        ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst", "light", "heavy"];
    let words = words(line);
    let fences = ["fence_after_rmw", "full"].iter().any(|name| words.contains(name));
    let calls_fence = fences && line.contains("fence");
    !words.contains(&"use") && (MARKS.iter().any(|mark| words.contains(mark)) || calls_fence)
}

fn label(line: &str) -> Option<&str> {
    let (label, _) = line.trim().strip_prefix("// ")?.split_once(':')?;
    (!label.contains(' ')).then_some(label)
}

/// The rules about edges, for the files of one story.
fn edges(story: &[&Source]) -> Faults {
    let mut faults = Vec::new();
    let mut ends: BTreeMap<&str, usize> = story
        .iter()
        .flat_map(|source| source.text.lines())
        .filter_map(|line| {
            let edge = line.strip_prefix("//! | `")?.split('`').next()?;
            Some((edge, usize::from(line.contains("the caller's"))))
        })
        .collect();
    for source in story {
        let lines: Vec<&str> = source.text.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            let mut fault = |why: String| {
                faults.push(format!("{}:{}: {why}", source.path.display(), number + 1));
            };
            if let Some(count) = label(line).and_then(|label| ends.get_mut(label)) {
                *count += 1;
            }
            if !is_ordered(line) {
                continue;
            }
            let above = &lines[number.saturating_sub(REACH)..number];
            match above.iter().rev().find_map(|line| label(line)) {
                None => fault("an ordering without a label".to_owned()),
                Some(label) if ALONE.contains(&label) || ends.contains_key(label) => {}
                Some(label) => fault(format!("no table has the edge `{label}`")),
            }
        }
    }
    let lonely = ends.iter().filter(|(_, count)| **count < 2);
    faults.extend(lonely.map(|(edge, count)| format!("edge `{edge}` has {count} of two ends")));
    faults
}

/// What a story says of itself: the edges that do with less than SeqCst.
const WEAKER: &str = "//! Weaker than SeqCst: ";

/// The rule about the fence that loom takes for more than it is: in a story that calls it everything that goes by an edge is SeqCst, but for
/// the edges that the story names.
fn weak_beside_fence_after_rmw(story: &[&Source]) -> Faults {
    const WEAK: [&str; 4] = ["Relaxed", "Acquire", "Release", "AcqRel"];
    let lines = || story.iter().flat_map(|source| source.text.lines());
    if !lines().any(|line| is_ordered(line) && words(line).contains(&"fence_after_rmw")) {
        return Faults::new();
    }
    let said = lines().filter_map(|line| line.strip_prefix(WEAKER));
    let mut weaker: BTreeMap<&str, bool> = said
        .flat_map(|edges| edges.split('`').skip(1).step_by(2))
        .map(|edge| (edge, false))
        .collect();
    let mut faults = Vec::new();
    for source in story {
        let lines: Vec<&str> = source.text.lines().collect();
        for (number, line) in lines.iter().enumerate().filter(|(_, line)| is_ordered(line)) {
            let above = &lines[number.saturating_sub(REACH)..number];
            if !words(line).iter().any(|word| WEAK.contains(word)) {
                continue;
            }
            // Not everybody has to have labels: what has none may go by any edge.
            let label = above.iter().rev().find_map(|line| label(line)).unwrap_or("an edge");
            if ALONE.contains(&label) {
                continue;
            }
            match weaker.get_mut(label) {
                Some(used) => *used = true,
                None => faults.push(format!(
                    "{}:{}: `{label}` may go by fence_after_rmw: SeqCst, or it is no fence",
                    source.path.display(),
                    number + 1
                )),
            }
        }
    }
    let unused = weaker.iter().filter(|(_, used)| !**used);
    faults.extend(unused.map(|(edge, _)| format!("edge `{edge}` is SeqCst all the same")));
    faults
}

/// The files of each story: a folder with a `mod.rs` is one, and so is any other file, with the folder of its name.
fn stories(sources: &[Source]) -> Vec<Vec<&Source>> {
    let mut stories: BTreeMap<PathBuf, Vec<&Source>> = BTreeMap::new();
    for source in sources {
        let is_there = |path: &Path| sources.iter().any(|other| other.path == path);
        let mut path = source.path.clone();
        // What lies in a folder beside a file of its name is a part of that file.
        while is_there(&path.parent().unwrap().with_extension("rs")) {
            path = path.parent().unwrap().with_extension("rs");
        }
        let folder = path.parent().unwrap();
        let story = if is_there(&folder.join("mod.rs")) { folder.to_owned() } else { path };
        stories.entry(story).or_default().push(source);
    }
    stories.into_values().collect()
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn flavoured_sources_take_everything_from_the_machine() {
    let crates = ["crates/cantina/src", "crates/cantina-lab/src"];
    let faults: Faults = crates
        .iter()
        .flat_map(|folder| sources(&workspace().join(folder)))
        .flat_map(|source| bypasses_the_machine(&source))
        .collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn every_edge_of_the_library_has_two_ends() {
    let sources = sources(&workspace().join("crates/cantina/src"));
    let faults: Faults = stories(&sources).iter().flat_map(|story| edges(story)).collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn an_edge_that_goes_by_the_fence_after_an_rmw_is_seq_cst() {
    let crates = ["crates/cantina/src", "crates/cantina-lab/src"];
    let sources: Vec<Source> =
        crates.iter().flat_map(|folder| sources(&workspace().join(folder))).collect();
    let stories = stories(&sources);
    let faults: Faults =
        stories.iter().flat_map(|story| weak_beside_fence_after_rmw(story)).collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn what_is_for_old_compilers_chains_no_lets() {
    let faults: Faults = ["cantina", "cantina-machine", "cantina-derive"]
        .iter()
        .flat_map(|name| sources(&workspace().join("crates").join(name).join("src")))
        .flat_map(|source| chains_a_let(&source))
        .collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn no_file_tells_two_stories() {
    let faults: Faults = ["crates", "flavours"]
        .iter()
        .flat_map(|folder| sources(&workspace().join(folder)))
        .flat_map(|source| too_long(&source))
        .collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn faults_are_found() {
    let source = |text: &str| Source { path: "it.rs".into(), text: text.to_owned() };
    for text in ["use std::sync::Arc;", "use std::{fmt, thread};", "thread_local! {}"] {
        assert_eq!(bypasses_the_machine(&source(text)).len(), 1, "{text}");
    }
    for text in [
        "x.load(Relaxed);",
        "// lost: in no table\nx.load(Acquire);",
        "fence::full();",
        "self.fence.light();",
        "//! | `half` | a | b | c |\n// half: one end\nx.load(Acquire);",
    ] {
        assert_eq!(edges(&[&source(text)]).len(), 1, "{text}");
    }
    for text in [
        "if let Some(x) = y\n    && x\n{",
        "if x && let Some(y) = z {",
        "if x\n    && let y = z\n{",
    ] {
        assert_eq!(chains_a_let(&source(text)).len(), 1, "{text}");
    }
    let unchained = source("if let Some(x) = y {\n    if x\n        && y\n    {");
    assert_eq!(chains_a_let(&unchained), Faults::new());
    assert_eq!(too_long(&source(&"\n".repeat(501))).len(), 1);
    let good = source("use std::fmt;\n// own: ours\nx.load(Relaxed);\n// machine::sync");
    assert_eq!(edges(&[&good]), Faults::new());
    assert_eq!(bypasses_the_machine(&good), Faults::new());
    let both =
        source("//! | `e` | a | b |\n// e: this\nx.load(Acquire);\n// e: that\nx.store(Release);");
    assert_eq!(edges(&[&both]), Faults::new());
    let fenced = "fn put() {\n    // e: put\n    x.fetch_add(1, SeqCst);\n    // e: then the look\n    fence_after_rmw();\n}\n";
    let look = |ordering: &str| {
        source(&format!("fn look() {{\n    // e: the look\n    y.load({ordering});\n}}\n"))
    };
    for (ordering, faults) in [("SeqCst", 0), ("Relaxed", 1), ("Acquire", 1)] {
        let story = [&source(fenced), &look(ordering)];
        assert_eq!(weak_beside_fence_after_rmw(&story).len(), faults, "{ordering}");
    }
    let weak_before = source(&fenced.replace("fetch_add(1, SeqCst)", "store(1, Release)"));
    assert_eq!(weak_beside_fence_after_rmw(&[&weak_before]).len(), 1);
    let own = source(&look("Relaxed").text.replace("// e: the look", "// own: ours"));
    assert_eq!(weak_beside_fence_after_rmw(&[&source(fenced), &own]), Faults::new());
    let unlabelled = source(&look("Relaxed").text.replace("    // e: the look\n", ""));
    assert_eq!(weak_beside_fence_after_rmw(&[&source(fenced), &unlabelled]).len(), 1);
    let named = source(&format!("{WEAKER}`e`.\n{fenced}"));
    assert_eq!(weak_beside_fence_after_rmw(&[&named, &look("Acquire")]), Faults::new());
    assert_eq!(weak_beside_fence_after_rmw(&[&named, &look("SeqCst")]).len(), 1);
    assert_eq!(weak_beside_fence_after_rmw(&[&look("Acquire")]), Faults::new());
}

/// In the library itself: each access that such a fence may order, made weaker.
#[test]
fn a_weaker_access_in_a_story_with_that_fence_is_found() {
    let sources = sources(&workspace().join("crates/cantina/src"));
    let calls = |source: &&Source| source.text.contains("fence_after_rmw();");
    let mut weakened = 0;
    for story in stories(&sources).iter().filter(|story| story.iter().any(calls)) {
        for (at, source) in story.iter().enumerate() {
            let lines: Vec<&str> = source.text.lines().collect();
            for (number, line) in lines.iter().enumerate() {
                let above = &lines[number.saturating_sub(REACH)..number];
                let label = above.iter().rev().find_map(|line| label(line));
                let is_alone = label.is_none_or(|label| ALONE.contains(&label));
                if is_alone || !is_ordered(line) || !words(line).contains(&"SeqCst") {
                    continue;
                }
                let weaker = line.replace("SeqCst", "Relaxed");
                let mut changed = lines.clone();
                changed[number] = &weaker;
                let changed = Source { path: source.path.clone(), text: changed.join("\n") };
                let mut story = story.clone();
                story[at] = &changed;
                let found = weak_beside_fence_after_rmw(&story);
                assert_eq!(found.len(), 1, "{}:{}", source.path.display(), number + 1);
                weakened += 1;
            }
        }
    }
    assert!(weakened > 50, "{weakened}");
}
