import { Metric, Counter } from 'k6/metrics';
import { nothing, check } from 'k6';
import { absent, present } from './common.js';
export default function () {
  console.log(!Metric, typeof Counter, !nothing, typeof check, absent, present);
  for (const call of [() => new Metric('a'), () => nothing(), () => absent()]) {
    try { call(); } catch (e) { console.log(e.name); }
  }
}
