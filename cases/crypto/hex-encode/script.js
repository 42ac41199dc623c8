import { hexEncode } from 'k6/crypto';
export default function () {
  for (const value of ['', 'AZ', 'é€', new Uint8Array([0, 15, 255]), new Uint8Array([0, 15, 255]).buffer, [1, 2], 5, null, undefined, {}]) {
    try { console.log(hexEncode(value)); } catch (e) { console.log(Object.prototype.toString.call(value), 'threw', e.name); }
  }
}
