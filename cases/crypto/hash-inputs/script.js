import crypto from 'k6/crypto';
export default function () {
  for (const value of ['', 'é€😀', '\ud800', '\0', new Uint8Array([1, 2, 3]), new Uint8Array([1, 2, 3]).buffer, new Uint16Array([1]), new DataView(new ArrayBuffer(2)), [1, 2, 3], null, undefined, 5, true, {}, 'x'.repeat(100000)]) {
    try { console.log(Object.prototype.toString.call(value), crypto.sha256(value, 'hex')); } catch (e) { console.log(Object.prototype.toString.call(value), 'threw', e.name); }
  }
}
