export default function () {
  const object = { method() { return 1; }, get value() { return 2; } };
  class Own { constructor() { this.x = 1; } /* comment */ go() {} }
  for (const f of [() => 1, async () => { await 1; }, function named(a, b) { return a + b; }, function* () { yield 1; }, object.method, Own, new Own().go, (x) => ({ x })]) console.log(String(f));
  console.log(`${(a) => a}`, [() => 2].join());
}
