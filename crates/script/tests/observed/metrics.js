import metrics, { Counter, Gauge, Rate, Trend } from 'k6/metrics';

function observe(name, body) {
  try {
    const value = body();
    console.log(name + ' => ' + typeof value + ' ' + JSON.stringify(value));
  } catch (e) {
    console.log(name + ' threw ' + e.message);
  }
}

const counter = new Counter('my_counter');
const gauge = new Gauge('my_gauge');
const rate = new Rate('my_rate');
const trend = new Trend('my_trend', true);
new Trend('my_plain_trend');

if (__VU == 0) {
  observe('again', () => new Counter('my_counter').name);
  observe('again as gauge', () => new Gauge('my_counter'));
  observe('again without time', () => new Trend('my_trend'));
  observe('again with time', () => new Trend('my_plain_trend', true));
  observe('built-in', () => new Counter('http_reqs').name);
  observe('built-in as trend', () => new Trend('http_reqs'));
  observe('built-in without time', () => new Trend('http_req_duration'));
  for (const name of ['', 'a', 'ab', '1a', 'a-b', 'a b', 'a.b', 'é', '_x', 'A'.repeat(129), 'A'.repeat(130), undefined, null, 5]) {
    observe('name ' + name, () => new Counter(name).name);
  }
  observe('nothing', () => new Counter());
  observe('without new', () => Counter('without_new').name);
  observe('truthy', () => new Trend('truthy', 'yes').name);
  observe('JSON', () => JSON.stringify(counter));
  observe('String', () => String(counter));
  observe('add here', () => counter.add(1));
  observe('names', () => Object.keys(metrics).sort());
}

export default function () {
  observe('new here', () => new Counter('late'));
  for (const value of [1, 0, -1, '5', 'abc', true, false, null, undefined, NaN, Infinity, {}, [], [3], new Date(5)]) {
    observe('add ' + typeof value, () => counter.add(value));
  }
  observe('gauge null', () => gauge.add(null));
  observe('rate true', () => rate.add(true));
  observe('rate 5', () => rate.add(5));
  observe('rate text', () => rate.add('a'));
  observe('trend', () => trend.add(-5));
  observe('nothing', () => counter.add());
  observe('tags', () => counter.add(1, { a: 'b', n: 5, b: true }));
  for (const tag of [{}, null, undefined, [1]]) {
    observe('tag ' + typeof tag, () => counter.add(1, { a: tag }));
  }
  for (const tags of ['x', 5, null, undefined]) {
    observe('tags ' + typeof tags, () => counter.add(1, tags));
  }
}
