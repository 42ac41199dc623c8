import { check } from 'k6';
export default function () {
  for (const name of ['', ' ', 'ü€😀', 'a"b', "a'b", 'a\nb', 'a{b}', 'x'.repeat(300), '5', '%s', '__proto__']) { try { console.log(check(1, { [name]: true })); } catch (e) { console.log('threw', e.name); } }
}
