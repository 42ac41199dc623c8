import { check } from 'k6';
export default function () {
  try { check(1, { before: true, breaks: () => { throw new Error('in a check'); }, after: true }); } catch (e) { console.log(e.message); }
  check(1, { breaks: () => { throw new Error('again'); } });
}
