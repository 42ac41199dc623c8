//! Encodes the counts of exchanges by outcome.

use super::{HttpTally, Transport};
use crate::wire::{Reader, WireError, Writer};

impl HttpTally {
    pub(crate) fn encode(&self, out: &mut Writer) {
        let statuses: Vec<_> = self.statuses.iter().filter(|entry| entry.1 > 0).collect();
        out.number(statuses.len() as u64);
        for (status, count) in statuses {
            out.number(u64::from(*status));
            out.number(*count);
        }
        let transports: Vec<_> = self.transports.iter().filter(|entry| entry.1 > 0).collect();
        out.number(transports.len() as u64);
        for (transport, count) in transports {
            transport.iter().for_each(|part| out.text(part));
            out.number(*count);
        }
        for count in self.plain() {
            out.number(count);
        }
        let errors = self.errors.iter().flat_map(|(code, texts)| {
            let texts = texts.iter().filter(|(_, count)| *count > 0);
            texts.map(move |(text, count)| (*code, text, *count))
        });
        let errors: Vec<_> = errors.collect();
        out.number(errors.len() as u64);
        for (code, text, count) in errors {
            out.number(u64::from(code));
            out.text(text);
            out.number(count);
        }
    }

    /// The counts without a key, in the order in which they are written.
    fn plain(&self) -> [u64; 8] {
        [
            self.opened,
            self.resent,
            self.calls,
            self.failed_calls,
            self.messages_sent,
            self.messages_received,
            self.other_errors,
            self.exhausted,
        ]
    }

    pub(crate) fn decode(input: &mut Reader<'_>) -> Result<HttpTally, WireError> {
        let mut tally = HttpTally::default();
        for _ in 0..input.count(2)? {
            let status = u16::try_from(input.small()?);
            let status = status.map_err(|_| WireError::Invalid("status"))?;
            tally.status(status, input.amount()?);
        }
        for _ in 0..input.count(4)? {
            let transport: Transport = [input.text()?, input.text()?, input.text()?].map(Box::from);
            let count = input.amount()?;
            tally.transport(transport.each_ref().map(|part| &**part), count);
        }
        for place in [
            &mut tally.opened,
            &mut tally.resent,
            &mut tally.calls,
            &mut tally.failed_calls,
            &mut tally.messages_sent,
            &mut tally.messages_received,
            &mut tally.other_errors,
            &mut tally.exhausted,
        ] {
            *place = input.amount()?;
        }
        for _ in 0..input.count(3)? {
            let (code, text) = (input.small()?, input.text()?);
            tally.error(code, text, input.amount()?);
        }
        Ok(tally)
    }
}
