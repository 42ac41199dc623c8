import { Counter } from 'k6/metrics';
import { check, group } from 'k6';
const c = new Counter('mine');
export default function () { group('g', () => { c.add(1, { own: 'x' }); check(1, { fine: true }); }); }
