class Point { constructor() { this.x = 1; this._y = 2; } get sum() { return 3; } }
export default function () { console.log(new Point(), Object.create({ inherited: 1 }), new (class extends Array {})(), new String('boxed'), new Number(5)); }
