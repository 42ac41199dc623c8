class Point { constructor() { this.x = 1; } get y() { return 2; } toJSON() { return 'not asked'; } }
export function setup() {
  return {
    map: new Map([['a', 1]]), set: new Set([1, 2]), date: new Date(500), nothing: undefined, list: [undefined, null],
    bytes: new Uint8Array([1, 2]), words: new Uint16Array([1, 2]), buffer: new ArrayBuffer(2), pattern: /x/g, symbol: Symbol('s'), big: 5n,
    point: new Point(), error: new Error('x'), text: '<&>', numbers: [1.5, 1e21, 1e-7, -0],
  };
}
export default function (data) { for (const key of Object.keys(data).sort()) console.log(key, JSON.stringify(data[key])); }
export function teardown(data) { console.log(Object.keys(data).sort().join(), Object.is(data.numbers[3], -0)); }
