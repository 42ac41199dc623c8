// Reads an output file with an independent library, and prints its contents as JSON.
import { readFileSync } from 'node:fs';
import { HistogramLogReader, build, listTags } from 'hdr-histogram-js';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';

// The intervals of each tag, and all of them as one distribution.
function histogramLog(text) {
  const tags = Object.fromEntries(listTags(text).map((tag) => [tag, { starts: [], all: build({ bitBucketSize: 64 }) }]));
  const reader = new HistogramLogReader(text, 64);
  for (let interval; (interval = reader.nextIntervalHistogram()) !== null; ) {
    const tag = tags[interval.tag];
    tag.starts.push(interval.startTimeStampMsec);
    tag.all.add(interval);
  }
  for (const tag of Object.values(tags)) {
    const { all } = tag;
    const at = (percentile) => all.getValueAtPercentile(percentile);
    tag.all = { count: all.totalCount, min: all.minNonZeroValue, max: all.maxValue, mean: all.mean, median: at(50), p95: at(95), p99: at(99) };
  }
  return tags;
}

const path = process.argv[2];
const contents = path.endsWith('.hlog')
  ? histogramLog(readFileSync(path, 'utf8'))
  : await parquetReadObjects({ file: await asyncBufferFromFile(path) });
const plain = (_, value) => (typeof value === 'bigint' ? Number(value) : value);
process.stdout.write(JSON.stringify(contents, plain));
