import { fail } from 'k6';
export const options = { vus: 1, iterations: 6 };
const given = ['a text', undefined, null, '', 5, { a: 1 }];
export default function () {
  try { fail(given[__ITER]); } catch (e) { console.log(String(e), e.name, e.message, e instanceof Error); throw e; }
}
