import { check, group } from 'k6';
export default function () {
  const value = group('outer', () => {
    check(1, { 'in outer': true });
    return group('inner', () => { check(1, { 'in inner': false }); return 'value'; });
  });
  check(1, { 'in root': true });
  console.log(value);
}
