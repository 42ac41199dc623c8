import { group, check } from 'k6';
import { Trend } from 'k6/metrics';
import http from 'k6/http';
const steps = new Trend('steps', true);
function step(name, body) {
  return group(name, () => { const started = Date.now(); try { return body(); } finally { steps.add(Date.now() - started, { step: name }); } });
}
export default function () {
  const r = step('open', () => http.get(`${__ENV.BASE}/json`));
  console.log(step('read', () => r.json('name')), step('nothing', () => {}));
  try { step('broken', () => { throw new Error('inside'); }); } catch (e) { console.log(e.message); }
  check(r, { done: true });
}
