import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
function attempt(name, body) {
  try { console.log(name, body()); } catch (e) { console.log(name, 'threw', e.name); }
}

const counter = new Counter('a_counter'), gauge = new Gauge('a_gauge'), rate = new Rate('a_rate'), trend = new Trend('a_trend', true);
attempt('same', () => new Counter('a_counter').name);
attempt('other type', () => new Trend('a_counter').name);
attempt('other content', () => new Trend('a_trend', false).name);
for (const name of ['', 'a b', 'a-b', '9a', 'a.b', 'x'.repeat(129), 'é', null, undefined, 5]) attempt('name ' + String(name).slice(0, 5), () => typeof new Counter(name));
attempt('without new', () => typeof Counter('z'));
export default function () {
  for (const value of [1, 0, -1, 1.5, true, false, '2', 'x', '', null, undefined, {}, [3]]) {
    for (const metric of [counter, gauge, rate, trend]) attempt(`${metric.name} ${String(value)}`, () => metric.add(value));
  }
  for (const tags of [{ a: 1 }, { a: null }, { a: {} }, { a: [1] }, null, [], { '': 'x' }]) attempt('tags ' + JSON.stringify(tags), () => counter.add(1, tags));
  attempt('no value', () => counter.add());
}
