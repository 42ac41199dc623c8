import { check } from 'k6';
export default function () {
  const value = { a: 1 };
  check(value, { 'one argument': function (...all) { console.log(all.length, all[0] === value, this === undefined || typeof this); return all.length === 1; } });
  for (const result of [true, 1, 'text', [], {}, false, 0, '', null, undefined, NaN]) console.log(JSON.stringify(result), check(1, { result: () => result }));
}
