import { check, group } from 'k6';
export const options = { iterations: 3 };
export default function () {
  check(__ITER, { 'always passes': true, 'always fails': false, 'sometimes passes': (n) => n === 1 });
  group('a group', () => check(__ITER, { 'in a group': (n) => n < 2 }));
}
