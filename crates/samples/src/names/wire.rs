//! Encodes the results of requests by name.

use super::{NameTally, Part};
use crate::sink::wire::{Budget, decode_histogram, encode_histogram};
use crate::wire::{Reader, WireError, Writer};

impl NameTally {
    /// Encodes the entries with requests. `so_far` is the sum of everything encoded before.
    pub(crate) fn encode(&self, so_far: &NameTally, out: &mut Writer) {
        let named = self.by_name.iter().flat_map(|(name, methods)| {
            let methods = methods.iter().filter(|(_, part)| part.requests > 0);
            methods.map(move |(method, part)| (name, method, part))
        });
        let named: Vec<_> = named.collect();
        out.number(named.len() as u64);
        for (name, method, part) in named {
            out.text(name);
            out.text(method);
            part.encode(so_far.found(name, method), out);
        }
        self.others.encode(Some(&so_far.others), out);
    }

    fn found(&self, name: &str, method: &str) -> Option<&Part> {
        let mut methods = self.by_name.get(name)?.iter();
        let found = methods.find(|(known, _)| **known == *method);
        found.map(|(_, part)| part)
    }

    pub(crate) fn decode(
        input: &mut Reader<'_>,
        budget: &mut Budget,
    ) -> Result<NameTally, WireError> {
        let mut tally = NameTally::default();
        for _ in 0..input.count(5)? {
            let (name, method) = (input.text()?, input.text()?);
            let part = Part::decode(input, budget)?;
            tally.part(name, method).merge(&part);
        }
        tally.others.merge(&Part::decode(input, budget)?);
        Ok(tally)
    }
}

impl Part {
    fn encode(&self, so_far: Option<&Part>, out: &mut Writer) {
        out.number(self.requests);
        out.number(self.failed);
        let before = so_far.map_or(0, |part| part.times.count());
        encode_histogram(&self.times, before, out);
    }

    fn decode(input: &mut Reader<'_>, budget: &mut Budget) -> Result<Part, WireError> {
        Ok(Part {
            requests: input.amount()?,
            failed: input.amount()?,
            times: decode_histogram(input, budget)?,
        })
    }
}
