// Adds known values to metrics of every kind. values.json contains the summary that k6 v1.8.1 creates:
//   k6 run --quiet values.js
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';

export const options = {
  summaryTrendStats: ['count', 'avg', 'min', 'med', 'max', 'p(0)', 'p(1)', 'p(33.3)', 'p(90)', 'p(95)', 'p(99.9)', 'p(100)'],
  thresholds: { 'ramp{odd:true}': ['avg>=0'] },
};

const constant = new Trend('constant');
const ramp = new Trend('ramp');
const mixed = new Trend('mixed', true);
const one = new Trend('one');
const two = new Trend('two');
const thousand = new Trend('thousand');
const many = new Trend('many');
const counter = new Counter('counter');
const gauge = new Gauge('gauge');
const rate = new Rate('rate');

export default function () {
  for (let n = 0; n < 100; n++) constant.add(0.1);
  for (let n = 1; n <= 10; n++) ramp.add(n, { odd: String(n % 2 === 1) });
  for (let n = 0; n < 201; n++) mixed.add(((n * 7919) % 1009) / 8 - 40);
  one.add(42.5);
  two.add(1);
  two.add(2);
  for (let n = 0; n < 1000; n++) thousand.add(((n * 7919) % 1009) / 8);
  for (let n = 0; n < 20000; n++) many.add(0.05 + ((n * 7919) % 10007) / 64);
  for (let n = 0; n < 7; n++) counter.add(0.25 * n);
  for (const value of [3, -1, 8, 2]) gauge.add(value);
  for (const value of [true, false, 1, 0, 5, -1, 0.5]) rate.add(value);
}

export function handleSummary(data) {
  const metrics = {};
  for (const name of ['constant', 'ramp', 'ramp{odd:true}', 'mixed', 'one', 'two', 'thousand', 'many', 'counter', 'gauge', 'rate']) {
    metrics[name] = data.metrics[name];
  }
  delete metrics.counter.values.rate; // Depends on the duration of the run.
  return { 'values.json': JSON.stringify(metrics, null, 1) + '\n' };
}
