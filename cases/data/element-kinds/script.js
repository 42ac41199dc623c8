import { SharedArray } from 'k6/data';
class Own { constructor() { this.x = 1; } method() { return 2; } }
const rows = new SharedArray('rows', () => [undefined, null, NaN, () => 1, new Date(0), new Own(), { a: undefined, b: () => 1 }, [[]], 'é', -0, Infinity, new Map([[1, 2]]), { toJSON: () => 'json' }, new Uint8Array([1, 2])]);
export default function () {
  for (let i = 0; i < rows.length; i++) console.log(i, typeof rows[i], JSON.stringify(rows[i]));
}
