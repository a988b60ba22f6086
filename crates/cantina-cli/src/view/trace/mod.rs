//! `trace.html`: one page that plays a simulated run, step by step, and asks the network for nothing.
//!
//! The page is a story as JSON and a script that draws it. [`tell`] makes the story of a log: what
//! the steps are, which words they touch, what those words are, and when nodes were linked and
//! retired. What a pool says about its words is in `machine::trace`; a role that is added there gets
//! a letter in `story`, and its drawing in `script/picture.js`, or `script/homes.js` for chunks, or
//! `script/grove.js` for trees, or `script/counted.js` for those that count, or `script/hall.js` for rooms. Whatever is not described is still drawn as memory: lines, words, who wrote last and who shares them.

mod places;
mod reach;
mod rows;
mod story;
mod teller;
#[cfg(test)]
mod tests;

pub(crate) use story::Story;
pub(crate) use teller::{PUT, tell};

use super::page::POLICY;
use super::page::escape::{Escaped, json_in_script};
use serde::Serialize;
use std::fmt::Write;

const STYLE: &str = include_str!("style.css");
const BODY: &str = include_str!("body.html");
/// In the order in which they need each other.
const SCRIPTS: [&str; 14] = [
    include_str!("script/story.js"),
    include_str!("script/chunks.js"),
    include_str!("script/trees.js"),
    include_str!("script/rooms.js"),
    include_str!("script/todo.js"),
    include_str!("script/words.js"),
    include_str!("script/lanes.js"),
    include_str!("script/picture.js"),
    include_str!("script/homes.js"),
    include_str!("script/grove.js"),
    include_str!("script/hall.js"),
    include_str!("script/counted.js"),
    include_str!("script/memory.js"),
    include_str!("script/player.js"),
];

/// What stands above the story.
#[derive(Debug, Serialize)]
pub(crate) struct Heading {
    /// The pool's name.
    pub(crate) pool: String,
    /// What it is.
    pub(crate) about: String,
    /// What it ran on.
    pub(crate) machine: String,
    /// Whether times mean something.
    pub(crate) timed: bool,
    /// What to type for the same again.
    pub(crate) command: String,
    /// What went wrong, if something did.
    pub(crate) failure: Option<String>,
}

impl Story {
    /// How many steps there are.
    pub(crate) fn steps(&self) -> usize {
        self.steps.len()
    }
}

/// The page of a story.
pub(crate) fn page(heading: &Heading, story: &Story) -> String {
    let Heading { pool, about, machine, command, failure, .. } = heading;
    let mut html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\"/>\
         <title>{} step by step · Cantina</title>\n<style>\n{STYLE}</style></head>\n<body>\n",
        Escaped(POLICY),
        Escaped(pool)
    );
    let _ = writeln!(
        html,
        "<header><p class=\"brand\">Cantina</p><h1>{}</h1><p class=\"about\">{}</p>\
         <p class=\"facts\"><span>{}</span><code title=\"The same run again\">{}</code></p></header>",
        Escaped(pool),
        Escaped(about),
        Escaped(machine),
        Escaped(command)
    );
    if let Some(failure) = failure {
        let failure = Escaped(failure);
        let _ = writeln!(html, "<p class=\"failure\"><strong>It failed.</strong> {failure}</p>");
    }
    html.push_str(BODY);
    for (id, json) in
        [("heading", serde_json::to_string(heading)), ("story", serde_json::to_string(story))]
    {
        let json = json_in_script(&json.expect("plain data"));
        let _ = writeln!(html, "<script type=\"application/json\" id=\"{id}\">{json}</script>");
    }
    let _ =
        write!(html, "<script>\n\"use strict\";\n{}</script>\n</body></html>\n", SCRIPTS.concat());
    html
}
