//! Two measures of a panel against each other: a point for each pool in each column, a pool's points joined.

use super::super::escape::Escaped;
use super::super::labels::apart;
use super::super::scale::Scale;
use super::super::tip::tip;
use super::{Layout, begin_dot, begin_series, draw_levels, mark, unit};
use crate::view::column::Column;
use crate::view::experiment::Measure;
use crate::view::grid::{Cell, Line, Panel};
use crate::view::number::short;
use std::fmt::Write;

/// The room at the left for what is zero, where the others are on a logarithmic axis.
const ZERO: f64 = 40.0;

/// A point of a pool.
struct Point {
    across: f64,
    up: f64,
    is_comparable: bool,
    tip: String,
}

/// The picture of a panel: `across` from left to right, `up`, whose panel it is, from below. Nothing, where no row has both.
pub(in super::super) fn against(
    across: &Measure,
    up: &Measure,
    panel: &Panel,
    layout: &Layout,
) -> String {
    let series: Vec<(&Line, Vec<Point>)> = panel
        .lines
        .iter()
        .map(|line| (line, points(across, up, panel, line)))
        .filter(|(_, points)| !points.is_empty())
        .collect();
    if series.is_empty() {
        return String::new();
    }
    let all = || series.iter().flat_map(|(_, points)| points);
    let positive = || all().map(|point| point.across).filter(|&value| value > 0.0);
    let picture = Picture {
        layout,
        across: Scale::new(positive()),
        up: Scale::new(all().map(|point| point.up)),
        zero: if all().any(|point| point.across <= 0.0) { ZERO } else { 0.0 },
    };
    let mut svg = picture.begin(across, up);
    let names = picture.names(&series);
    for ((line, points), name) in series.iter().zip(names).rev() {
        picture.draw(&mut svg, line, points, name);
    }
    svg.push_str("</svg>");
    svg
}

fn points(across: &Measure, up: &Measure, panel: &Panel, line: &Line) -> Vec<Point> {
    let point = |(cell, column): (&Cell, &Column)| {
        let reading = cell.reading()?;
        let value = reading.row.number(across.value).filter(|value| value.is_finite())?;
        let tip = tip(up, line, &column.label, &reading);
        let tip = format!("{tip}; {} {}", across.title.to_lowercase(), short(value));
        let is_comparable = reading.is_comparable();
        Some(Point { across: value, up: reading.value, is_comparable, tip })
    };
    line.cells.iter().zip(&panel.columns).filter_map(point).collect()
}

struct Picture<'a> {
    layout: &'a Layout,
    across: Scale,
    up: Scale,
    /// The room for zeros.
    zero: f64,
}

impl Picture<'_> {
    fn x(&self, value: f64) -> f64 {
        let Layout { left, width, names, .. } = *self.layout;
        let (from, to) = (left + self.zero, width - names);
        if value > 0.0 { from + (to - from) * self.across.at(value) } else { left + 6.0 }
    }

    fn y(&self, value: f64) -> f64 {
        self.layout.top + self.layout.height * (1.0 - self.up.at(value))
    }

    /// The axes.
    fn begin(&self, across: &Measure, up: &Measure) -> String {
        let Layout { class, width, left, names, top, bottom, height, turned, .. } = *self.layout;
        let (foot, end) = (top + height, width - names);
        let name = format!("{} against {}", up.title, across.title.to_lowercase());
        let mut svg = format!(
            "<svg class=\"{class}\" viewBox=\"0 0 {width} {}\" role=\"img\" aria-label=\"{}\">\
             <text class=\"unit\" x=\"{}\" y=\"14\">{}</text>\
             <text class=\"unit\" x=\"{left}\" y=\"{:.1}\">{}</text><g class=\"axis\">",
            foot + bottom + 16.0,
            Escaped(name),
            if turned { 2.0 } else { 8.0 },
            Escaped(unit(up, &self.up)),
            foot + bottom + 8.0,
            Escaped(unit(across, &self.across)),
        );
        draw_levels(&mut svg, &self.up, (left, end), |tick| self.y(tick));
        let zero = (self.zero > 0.0).then(|| (0.0, "0".to_owned()));
        let ticks = self.across.ticks.iter().filter(|(tick, _)| *tick > 0.0).cloned();
        for (tick, label) in zero.into_iter().chain(ticks) {
            let x = self.x(tick);
            let _ = write!(
                svg,
                "<line x1=\"{x:.1}\" y1=\"{top}\" x2=\"{x:.1}\" y2=\"{foot:.1}\"/>\
                 <text class=\"column\" x=\"{x:.1}\" y=\"{:.1}\">{label}</text>",
                foot + 16.0
            );
        }
        svg.push_str("</g>");
        svg
    }

    /// Where the names go: beside each pool's last point, and those of zeros, which are below each other, apart.
    fn names(&self, series: &[(&Line, Vec<Point>)]) -> Vec<(f64, f64)> {
        let Layout { top, height, pitch, .. } = *self.layout;
        let last = series.iter().filter_map(|(_, points)| points.last());
        let mut places: Vec<_> = last.map(|last| (self.x(last.across), self.y(last.up))).collect();
        let left = self.x(0.0);
        let mut zeros: Vec<usize> = (0..places.len()).filter(|&at| places[at].0 <= left).collect();
        zeros.sort_by(|&a, &b| places[a].1.total_cmp(&places[b].1));
        let wishes: Vec<f64> = zeros.iter().map(|&at| places[at].1).collect();
        for (at, y) in zeros.into_iter().zip(apart(&wishes, pitch, top, top + height)) {
            places[at].1 = y;
        }
        places
    }

    fn draw(&self, svg: &mut String, line: &Line, points: &[Point], name: (f64, f64)) {
        begin_series(svg, line);
        if points.len() > 1 {
            let mut path = String::new();
            for (at, point) in points.iter().enumerate() {
                let letter = if at == 0 { 'M' } else { 'L' };
                let _ = write!(path, "{letter}{:.1} {:.1}", self.x(point.across), self.y(point.up));
            }
            let _ = write!(svg, "<path class=\"line\" d=\"{path}\"/>");
        }
        for point in points {
            let (x, y) = (self.x(point.across), self.y(point.up));
            begin_dot(svg, point.is_comparable, &point.tip);
            let _ = write!(
                svg,
                "<circle class=\"reach\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"9\"/>{}</g>",
                mark(line.kind, x, y)
            );
        }
        let (x, y, pool) = (name.0 + 9.0, name.1 + 4.0, Escaped(line.pool));
        let _ = write!(svg, "<text class=\"name\" x=\"{x:.1}\" y=\"{y:.1}\">{pool}</text>");
        svg.push_str("</g>");
    }
}
