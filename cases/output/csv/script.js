import { Counter } from 'k6/metrics';
import { check } from 'k6';
const c = new Counter('mine');
export default function () { c.add(2, { extra: 'x' }); check(1, { 'a, "quoted" name': true }); }
