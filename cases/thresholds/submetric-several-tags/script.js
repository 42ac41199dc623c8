import { Counter } from 'k6/metrics';
const c = new Counter('c1');
export const options = { thresholds: { 'c1{a:1,b:2}': ['count==1'], 'c1{a:1}': ['count==3'], 'c1{zz:9}': ['count==0'], 'c1{a:"1"}': ['count==3'], 'c1{ a : 1 }': ['count==3'] } };
export default function () { c.add(1, { a: '1', b: '2' }); c.add(2, { a: '1' }); c.add(5, { b: '2' }); }
