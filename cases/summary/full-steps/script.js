import { check, group } from 'k6';
import { Counter } from 'k6/metrics';
const seen = new Counter('seen');
export function setup() {
  seen.add(1);
  check(1, { 'set up': true });
  group('first', () => { seen.add(2); check(1, { prepared: true }); group('inner', () => check(0, { zero: (v) => v === 0 })); });
}
export default function () { group('main', () => seen.add(1)); }
export function teardown() { group('last', () => check(1, { 'cleaned up': true })); }
