export default function () {
  class A { constructor() { this.own = 1; } get computed() { return 2; } static s = 3; #hidden = 4; }
  console.log(new A(), A, Object.assign(Object.create(null), { a: 1 }), { get g() { return 5; } }, { [Symbol('s')]: 1, b: 2 });
  console.log(Object.create({ inherited: 1 }), Object.freeze({ f: 1 }), [Symbol('t')], { d: new Date(0), e: new Error('m'), r: /x/g, m: new Map([[1, { a: 2 }]]), s: new Set(['a']) });
}
