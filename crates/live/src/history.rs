//! The points of a run. If there are too many, neighbors are merged.

use crate::point::Point;

/// Maximum number of points.
const MAX_POINTS: usize = 1_200;

/// All points of a run, oldest first. Their number is bounded: when it reaches the limit, their length doubles.
#[derive(Debug)]
pub struct History {
    points: Vec<Point>,
    most: usize,
    /// The length of a point in seconds.
    span: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The point at this index is new, or still grows.
    Point(usize),
    /// Points were merged.
    All,
}

impl History {
    /// Creates an empty history of points that are `span` seconds long.
    pub fn new(span: f64) -> History {
        History {
            points: Vec::new(),
            most: MAX_POINTS,
            span,
        }
    }

    /// All points, oldest first. The last one may be shorter than the others.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// Removes the latencies, because they belong to another metric than the one now shown.
    pub fn clear_latencies(&mut self) {
        for point in &mut self.points {
            point.latency = None;
            for agent in &mut point.agents {
                (agent.p50, agent.p99) = (None, None);
            }
        }
    }

    /// Adds a short period to the latest point.
    pub fn extend(&mut self, rest: Point) -> Change {
        match self.points.last_mut() {
            Some(last) => last.append(&rest),
            None => self.points.push(rest),
        }
        Change::Point(self.points.len() - 1)
    }

    /// Adds the period after the latest point.
    pub fn push(&mut self, point: Point) -> Change {
        // Seconds are counted slightly before their end, so lengths are not exact.
        let nearly = self.span * 0.99;
        match self.points.last_mut() {
            Some(last) if last.span < nearly => last.append(&point),
            _ => self.points.push(point),
        }
        let is_complete = self.points.last().is_some_and(|last| last.span >= nearly);
        if self.points.len() < self.most || !is_complete {
            return Change::Point(self.points.len() - 1);
        }
        self.span *= 2.0;
        let mut merged: Vec<Point> = Vec::with_capacity(self.most);
        for point in self.points.drain(..) {
            match merged.last_mut() {
                Some(last) if last.span + point.span <= self.span * 1.01 => last.append(&point),
                _ => merged.push(point),
            }
        }
        self.points = merged;
        Change::All
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(number: u32) -> Point {
        Point {
            start: f64::from(number),
            span: 1.0,
            requests: u64::from(number),
            ..Point::default()
        }
    }

    #[test]
    fn a_long_run_keeps_everything_in_a_bounded_number_of_points() {
        let mut history = History::new(1.0);
        let day = 86_400;
        let mut merges = 0;
        for number in 0..day {
            merges += usize::from(history.push(second(number)) == Change::All);
        }
        assert!(history.points().len() <= MAX_POINTS);
        assert!(history.points().len() >= MAX_POINTS / 2);
        // The limit is reached after 1200 s, 2400 s, … 76,800 s.
        assert_eq!(merges, 7);
        let total: u64 = history.points().iter().map(|point| point.requests).sum();
        assert_eq!(total, (0..u64::from(day)).sum::<u64>());
        // The points have no gaps and do not overlap.
        let mut end = 0.0;
        for point in history.points() {
            assert_eq!(point.start, end);
            end = point.start + point.span;
        }
        assert_eq!(end, f64::from(day));
    }

    #[test]
    fn a_point_grows_until_it_has_its_length() {
        let mut history = History::new(2.0);
        let changes: Vec<Change> = (0..3).map(|number| history.push(second(number))).collect();
        assert_eq!(
            changes,
            [Change::Point(0), Change::Point(0), Change::Point(1)]
        );
        assert_eq!(history.points()[0].requests, 1);
        assert_eq!(history.points()[0].span, 2.0);
    }

    #[test]
    fn slightly_short_seconds_are_separate_points() {
        let mut history = History::new(1.0);
        let mut short = second(0);
        short.span = 0.995;
        history.push(short);
        assert_eq!(history.push(second(1)), Change::Point(1));
    }
}
