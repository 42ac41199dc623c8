import { fail } from 'k6';
export default function () {
  try { fail('on purpose'); } catch (e) { console.log(String(e), e instanceof Error, e.message); }
}
