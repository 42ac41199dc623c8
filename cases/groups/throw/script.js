import { check, group } from 'k6';
export default function () {
  try { group('broken', () => { throw new Error('inside'); }); } catch (e) { console.log(e.message); }
  check(1, { outside: true });
}
