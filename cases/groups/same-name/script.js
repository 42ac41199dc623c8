import { group, check } from 'k6';
export default function () {
  for (let i = 0; i < 2; i++) group('a', () => { check(i, { 'is zero': (n) => n === 0 }); group('b', () => check(1, { inner: true })); });
  group('b', () => check(1, { outer: true }));
}
export function handleSummary({ root_group }) {
  const show = (g) => `${g.path}(${g.checks.map((c) => `${c.name} ${c.passes} ${c.fails}`).join()})[${g.groups.map(show).join()}]`;
  return { stdout: show(root_group) + '\n' };
}
