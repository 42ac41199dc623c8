import { Counter } from 'k6/metrics';
const c = new Counter('tagged');
export default function () {
  c.add(1, { text: 'a', number: 1.5, yes: true, none: null });
  c.add(1, { scenario: 'overridden', group: 'mine' });
  try { c.add(1, { list: [1] }); } catch (e) { console.log(String(e.message || e)); }
}
