export default function () {
  for (const value of [new Uint8Array(4), new Int8Array(4), new Uint16Array(4), new Int32Array(4), new Uint32Array(4), new Float32Array(4), new Float64Array(4), new ArrayBuffer(4), new DataView(new ArrayBuffer(4)), [0, 0], new Uint8Array(0), new Uint8Array(65536), new Uint8Array(65537), null, undefined]) {
    try { const out = crypto.getRandomValues(value); console.log(Object.prototype.toString.call(value), value.length, out === value); } catch (e) { console.log(Object.prototype.toString.call(value), 'threw', e.name); }
  }
  const id = crypto.randomUUID();
  console.log(id.length, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id), id !== crypto.randomUUID());
}
