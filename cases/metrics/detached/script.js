import { Counter, Rate, Trend } from 'k6/metrics';
const counter = new Counter('detached_counter'), rate = new Rate('detached_rate'), trend = new Trend('detached_trend');
export default function () {
  const { add } = counter, copy = { ...rate }, assigned = Object.assign({}, trend);
  console.log(add(1), add(2, { kind: 'detached' }), copy.add(true), assigned.add(5), add.call(trend, 4));
  [1, 2].forEach((value) => trend.add(value));
  console.log(Object.create(counter).add(8), Reflect.get(rate, 'add')(false), (0, counter.add)(16));
  const table = { counter: counter.add, rate: rate.add };
  console.log(table.counter(32), table.rate(1), copy.name, assigned.name);
}
