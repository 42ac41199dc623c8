class A { #secret = 1; static made = 0; get secret() { return this.#secret; } static { A.made = 5; } }
function* numbers() { yield 1; yield* [2, 3]; }
export default async function () {
  const { a, ...rest } = { a: 1, b: 2, c: 3 };
  console.log(new A().secret, A.made, [...numbers()].join(), a, JSON.stringify(rest), 2 ** 10, null ?? 'x', undefined?.y);
  console.log([3, 1, 2].sort().at(-1), [1, [2, [3]]].flat(Infinity).join(), 'abc'.replaceAll('b', 'x'), Object.fromEntries([['k', 1]]).k, 10n ** 20n);
  label: for (let i = 0; i < 3; i++) { for (;;) { if (i === 1) break label; break; } }
  let x = null; x = x ?? 4;
  console.log(x, typeof Symbol.iterator, new Map([[1, 2]]).size, new Set([1, 1]).size, /(\d{4})/.exec('in 2024')[1], `tag${1}`);
  console.log(await Promise.allSettled([Promise.reject(new Error('r')), 1]).then((all) => all.map((r) => r.status).join()), await Promise.any([Promise.reject(1), 2]));
  console.log(new Date(Date.UTC(2024, 1, 29, 12)).toISOString().slice(0, 10), parseFloat('1e-7'), (0.1 + 0.2).toFixed(2), Number.MAX_SAFE_INTEGER, isNaN('x'), encodeURIComponent('a b&ü'));
  const p = new Proxy({}, { get: (_, k) => `got ${String(k)}` });
  console.log(p.thing, Reflect.ownKeys({ b: 1, a: 2 }).join(), new WeakMap() instanceof WeakMap, [1, 2, 3].includes(2), 'x'.padStart(3, '-'), Array.from({ length: 3 }, (_, i) => i * i).join());
}
