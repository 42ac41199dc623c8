import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const show = (what, value) => {
  const listed = [];
  for (const name in value) listed.push(`${name} ${typeof value[name]}`);
  console.log(what, Object.keys(value).join(), '|', listed.join(), '|', Object.getOwnPropertyNames(value).length);
  console.log(what, JSON.stringify(value), '|', Object.entries({ ...value }).map(([name, own]) => `${name} ${typeof own}`).join());
};
const all = { counter: new Counter('members_counter'), gauge: new Gauge('members_gauge'), rate: new Rate('members_rate'), trend: new Trend('members_trend', true) };
export default function () {
  for (const name of Object.keys(all)) show(name, all[name]);
  const { counter } = all;
  console.log('name' in counter, 'add' in counter, counter.hasOwnProperty('add'), counter.propertyIsEnumerable('add'), 'nothing' in counter);
  console.log(JSON.stringify(Object.getOwnPropertyDescriptor(counter, 'name')), typeof counter.toString, counter.nothing);
  console.log(JSON.stringify(all), Object.values(counter).length);
}
