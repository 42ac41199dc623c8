import { Counter, Gauge, Rate, Trend } from 'k6/metrics';

const values = {
  zero: '0',
  space: ' ',
  empty: '',
  zeros: '00',
  hex: '0x0',
  minus: '-0',
  list: [],
  list_of_zero: [0],
  date: new Date(0),
  number_object: new Number(0),
  boolean_object: new Boolean(false),
  string_object: new String(''),
  converted: { valueOf: () => 0 },
  plain: 0,
  minus_zero: -0,
  no: false,
  five: '5',
  list_of_seven: [7],
};
const metrics = {};
for (const name of Object.keys(values)) {
  metrics[name] = [
    new Counter(`counter_${name}`), new Gauge(`gauge_${name}`), new Rate(`rate_${name}`), new Trend(`trend_${name}`),
  ];
}

export default function () {
  for (const [name, all] of Object.entries(metrics)) {
    console.log(name, ...all.map((metric) => metric.add(values[name])));
  }
}
